/**
 * Daily rebates (REBATES=daily): after midnight of UTC the leading node pays those of the day before, again each
 * minute until all are paid. A day that was paid costs nothing a second time, so a start and a new leader simply try
 * it again. Rules: docs/ledger.md#rebates
 *
 * Thread: I/O.
 */
import { RebatesReader } from '../../storage/projection/reader.ts';
import { microText } from '../common/decimal.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import { dateOf, lastWholeDay, payRebates, type RebateParts } from '../wallet/rebate-payments.ts';
import type { NodeParts } from './node-parts.ts';

export function rebateParts(
  { clock, stores, tables, tradesIndex }: NodeParts,
  ledger: LedgerCommands,
): RebateParts {
  return {
    t: tables,
    ledger,
    rebates: new RebatesReader(stores.projections),
    tradesEnd: () => tradesIndex.end,
    now: clock.now,
  };
}

const TRY_MS = 60_000;

export interface DailyRebateParts extends RebateParts {
  readonly leads: () => boolean;
  readonly log: (level: 'info' | 'warn', line: string) => void;
}

interface Progress {
  readonly day: number;
  isPaid: boolean;
  /** Account of the first wallet that may not be paid yet. */
  from: number;
  /** Causes of a delay that are in the log. */
  readonly told: Set<string>;
}

export class DailyRebates {
  private readonly parts: DailyRebateParts;
  private readonly timer: NodeJS.Timeout;
  private readonly closing = new AbortController();
  private progress = progressOf(-1);
  private running: Promise<void> | undefined;

  constructor(parts: DailyRebateParts) {
    this.parts = parts;
    this.timer = setInterval(() => this.begin(), TRY_MS);
    this.begin();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.closing.abort();
    await this.running;
  }

  private begin(): void {
    const { leads, now } = this.parts;
    if (this.running !== undefined) return;
    const day = lastWholeDay(now());
    if (day !== this.progress.day) this.progress = progressOf(day);
    if (this.progress.isPaid || !leads()) return;
    this.running = this.pay(this.progress)
      .catch((error: Error) => this.tell(this.progress, error.message))
      .finally(() => {
        this.running = undefined;
      });
  }

  private async pay(progress: Progress): Promise<void> {
    const { day, from } = progress;
    const { signal } = this.closing;
    const { amount, paid, stopped } = await payRebates(this.parts, day, { from, signal });
    if (paid > 0)
      this.parts.log('info', `rebates of ${dateOf(day)}: ${microText(amount)} to ${paid} wallets`);
    if (stopped === undefined) progress.isPaid = true;
    else {
      const { account, outcome } = stopped;
      progress.from = account;
      this.tell(progress, outcome.kind === 'refused' ? outcome.text : outcome.body);
    }
  }

  private tell({ day, told }: Progress, cause: string): void {
    if (told.has(cause) || this.closing.signal.aborted) return;
    told.add(cause);
    this.parts.log('warn', `rebates of ${dateOf(day)} wait: ${cause}`);
  }
}

function progressOf(day: number): Progress {
  return { day, isPaid: false, from: 0, told: new Set() };
}
