/**
 * Payment of the rebates of a day, each wallet once: its request id is the end of the day and its address. Rules:
 * docs/ledger.md#rebates
 *
 * Thread: I/O. A day becomes several batches of the engine; other batches may run between them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FundsFields } from '../../engine/commands.ts';
import { addressAt } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import { DAY_MS } from '../../storage/projection/periods.ts';
import { ProjectionUnready, type RebatesReader } from '../../storage/projection/reader.ts';
import { nextIteration } from '../common/event-loop.ts';
import { addressText } from '../market-data/account-texts.ts';
import type { LedgerCommands, LedgerOutcome } from './ledger-commands.ts';
import { operatorRequestId } from './request-id.ts';

/** Rows of a day that are read at once, and payments of one batch of the engine. */
const ROWS_PER_READ = 1_000;
const PAYMENTS_PER_BATCH = 100;
/** Wait for fills that are committed to count: the projection commits some times a second. */
const LOOK_MS = 50;
const LOOKS_MAX = 200;

export interface RebateParts {
  readonly t: Tables;
  readonly ledger: Pick<LedgerCommands, 'fundsOf' | 'whenCommitted'>;
  readonly rebates: Pick<RebatesReader, 'ofDay' | 'reaches'>;
  /** Number behind the newest committed fill. */
  readonly tradesEnd: () => number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface PaidRebates {
  /** Wallets that were paid now, and before, and what the former got in micro-units. */
  paid: number;
  repeated: number;
  amount: number;
  /** First outcome that paid nothing; batches behind it were not tried. */
  stopped?: {
    readonly outcome: Exclude<LedgerOutcome, { readonly kind: 'done' }>;
    readonly account: number;
  };
}

interface PaymentOptions {
  /** Account that the payment begins with; those before it are paid. */
  readonly from?: number;
  /** Ends the wait for fills to count. */
  readonly signal?: AbortSignal;
}

interface Payment {
  readonly account: number;
  amount: bigint;
}

/** Day of UTC that a date names; `undefined` where there is no such day. */
export function dayOf(date: string): number | undefined {
  const time = Date.parse(`${date}T00:00:00Z`);
  const isDay = time >= 0 && new Date(time).toISOString().startsWith(date);
  return isDay ? time / DAY_MS : undefined;
}

export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Day whose rebates are complete last. */
export function lastWholeDay(now: number): number {
  return Math.floor(now / DAY_MS) - 1;
}

/**
 * Pays a day that is over. Fills that come meanwhile are of later days and hold nothing up. Throws ProjectionUnready
 * where the earlier ones do not count soon.
 */
export async function payRebates(
  parts: RebateParts,
  day: number,
  { from = 0, signal }: PaymentOptions = {},
): Promise<PaidRebates> {
  const result: PaidRebates = { paid: 0, repeated: 0, amount: 0 };
  const due = await paymentsOf(parts, day, from, await endOf(parts, signal));
  for (let at = 0; at < due.length && result.stopped === undefined; at += PAYMENTS_PER_BATCH) {
    const batch = due.slice(at, at + PAYMENTS_PER_BATCH);
    const outcomes = await parts.ledger.fundsOf(
      'payRebate',
      batch.map((payment) => fieldsOf(parts.t, day, payment)),
    );
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.kind !== 'done') result.stopped ??= { outcome, account: batch[i]!.account };
      else if (outcome.isRepeated) result.repeated += 1;
      else {
        result.paid += 1;
        result.amount += outcome.first!.amount;
      }
    }
  }
  return result;
}

/**
 * Number behind the newest fill that may be of a day that is over: a batch gets its time at its dispatch, so those
 * that are dispatched by now have to be committed first.
 */
async function endOf(
  { ledger, rebates, tradesEnd }: RebateParts,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (!(await ledger.whenCommitted())) throw new ProjectionUnready();
  const end = tradesEnd();
  for (let looks = 0; !rebates.reaches(end); looks++) {
    if (looks === LOOKS_MAX) throw new ProjectionUnready();
    await sleep(LOOK_MS, undefined, { signal });
  }
  return end;
}

async function paymentsOf(
  { rebates }: RebateParts,
  day: number,
  from: number,
  end: number,
): Promise<readonly Payment[]> {
  const due: Payment[] = [];
  for (let after = { account: from, market: 0 }; ; ) {
    const rows = rebates.ofDay(day, after, ROWS_PER_READ, end);
    for (const { account, amount } of rows) {
      const last = due.at(-1);
      if (last?.account === account) last.amount += amount;
      else due.push({ account, amount });
    }
    if (rows.length < ROWS_PER_READ) return due;
    after = rows.at(-1)!;
    await nextIteration();
  }
}

function fieldsOf(t: Tables, day: number, { account, amount }: Payment): FundsFields {
  const at = addressAt(account as AccountRow);
  const wallet = t.accountI.slice(at, at + ADDRESS_WORDS);
  const id = operatorRequestId(`${(day + 1) * DAY_MS}-rebate-${addressText(t.accountI, at)}`)!;
  return { id, wallet, amount: Number(amount) };
}
