/**
 * Relayed batches: calls of a wallet that its owner signed, with a nonce that counts them. They are applied together
 * or not at all. Rules: docs/ledger.md#relayed-batches
 */
import { assert } from './book/matching.ts';
import { commandWords, RelayCall, RelayCommand, RelayKind } from './commands.ts';
import type { EngineContext } from './context.ts';
import { freeCash, moveSets, tokensOf } from './funds.ts';
import { findPosition, positionRoom } from './ledger/positions.ts';
import { findAccount, makeAccount } from './orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from './orders/reject-reasons.ts';
import { AMOUNT_MAX } from './tables/capacities.ts';
import {
  CASH_I,
  Cash,
  Ledger,
  MARKET_I,
  Market,
  POSITION_F,
  Position,
  State,
} from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type { AccountRow, MarketRow, TokenRow } from './tables/units.ts';

export interface RelayFault {
  readonly reason: RejectReasonCode;
  /** Index of the call that is refused; -1 = the batch is. */
  readonly call: number;
}

interface Call {
  readonly kind: number;
  readonly market: MarketRow | 0;
  readonly amount: number;
}

export function applyRelay(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const fault = relayFault(t, i32, f64, at);
  if (fault !== undefined) return fault.reason;
  context.changes += 1;
  const end = at + commandWords(i32, at);
  for (let word = at; word < end; word++) context.mixWord(i32[word]!);
  const found = findAccount(t, i32, at + RelayCommand.wallet);
  const wallet = found !== 0 ? found : makeAccount(t, i32, at + RelayCommand.wallet);
  t.cashI[(wallet << CASH_I) + Cash.relayed]! += 1;
  t.ledger[Ledger.relayed]! += 1;
  for (const { amount, kind, market } of callsAt(i32, f64, at)) {
    if (kind === RelayKind.split) moveSets({ context, t }, wallet, market as MarketRow, amount);
    if (kind === RelayKind.merge) moveSets({ context, t }, wallet, market as MarketRow, -amount);
  }
  return RejectReason.accepted;
}

/** Relayed batches of a wallet, which is the nonce of its next one. */
export function relayedCount({ cashI }: Pick<Tables, 'cashI'>, wallet: AccountRow | 0): number {
  return wallet === 0 ? 0 : cashI[(wallet << CASH_I) + Cash.relayed]!;
}

/** Returns why a command would be refused now; undefined = it would not. Changes nothing. */
export function relayFault(
  t: Tables,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RelayFault | undefined {
  if (t.state[State.ledger] === 0) return { reason: RejectReason.ledgerOff, call: -1 };
  const wallet = findAccount(t, i32, at + RelayCommand.wallet);
  if (i32[at + RelayCommand.nonce] !== relayedCount(t, wallet))
    return { reason: RejectReason.nonceMismatch, call: -1 };
  if (wallet === 0 && t.state[State.accounts]! >= t.capacities.accounts)
    return { reason: RejectReason.tableFull, call: -1 };
  const trial = new Trial(t, wallet);
  for (const [call, fields] of callsAt(i32, f64, at).entries()) {
    const reason = trial.take(fields);
    if (reason !== RejectReason.accepted) return { reason, call };
  }
  return undefined;
}

function callsAt(i32: Int32Array, f64: Float64Array, at: number): Call[] {
  return Array.from({ length: i32[at + RelayCommand.count]! }, (_, i) => {
    const call = at + RelayCommand.calls + RelayCall.words * i;
    return {
      kind: i32[call + RelayCall.kind]!,
      market: i32[call + RelayCall.market]! as MarketRow | 0,
      amount: f64[call / 2 + RelayCall.amount]!,
    };
  });
}

/** Check of the calls of a batch, each after those before it. */
class Trial {
  private readonly t: Tables;
  private readonly wallet: AccountRow | 0;
  private cash: number;
  /** Complete sets that the calls so far add, by market. */
  private readonly sets = new Map<MarketRow, number>();
  /** Markets of which complete sets were split, and rows of positions that this may take. */
  private readonly opened = new Set<MarketRow>();
  private rows = 0;

  constructor(t: Tables, wallet: AccountRow | 0) {
    this.t = t;
    this.wallet = wallet;
    this.cash = wallet === 0 ? 0 : freeCash(t, wallet);
  }

  take({ amount, kind, market }: Call): RejectReasonCode {
    if (kind === RelayKind.approve) return RejectReason.accepted;
    assert(kind > 0 && kind <= RelayKind.redeem, 'a call has a known kind');
    const { t } = this;
    if (market <= 0 || market > t.state[State.markets]!) return RejectReason.marketUnknown;
    const its = market as MarketRow;
    const isResolved = t.marketI[(its << MARKET_I) + Market.resolution] !== 0;
    // The payout needs no command: it has come, or is coming.
    if (kind === RelayKind.redeem)
      return isResolved ? RejectReason.accepted : RejectReason.marketUnresolved;
    if (!Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
      return RejectReason.amountInvalid;
    if (isResolved) return RejectReason.marketResolved;
    return kind === RelayKind.split ? this.split(its, amount) : this.merge(its, amount);
  }

  private split(market: MarketRow, amount: number): RejectReasonCode {
    if (this.cash < amount) return RejectReason.notEnough;
    if (!this.opened.has(market)) {
      this.opened.add(market);
      this.rows += this.missingRows(market);
      if (!positionRoom(this.t, this.rows)) return RejectReason.tableFull;
    }
    this.move(market, amount);
    return RejectReason.accepted;
  }

  private merge(market: MarketRow, amount: number): RejectReasonCode {
    if (this.freeSets(market) + (this.sets.get(market) ?? 0) < amount)
      return RejectReason.notEnough;
    this.move(market, -amount);
    return RejectReason.accepted;
  }

  private move(market: MarketRow, sets: number): void {
    this.cash -= sets;
    this.sets.set(market, (this.sets.get(market) ?? 0) + sets);
  }

  private missingRows(market: MarketRow): number {
    const { t, wallet } = this;
    const { count, first } = tokensOf(t, market);
    if (wallet === 0) return count;
    let missing = 0;
    for (let token = first; token < first + count; token++)
      if (findPosition(t, wallet, token as TokenRow) === 0) missing += 1;
    return missing;
  }

  /** Free shares of the outcome that the wallet has the fewest of. */
  private freeSets(market: MarketRow): number {
    const { t, wallet } = this;
    if (wallet === 0) return 0;
    const { count, first } = tokensOf(t, market);
    let least = Number.POSITIVE_INFINITY;
    for (let token = first; token < first + count; token++) {
      const d = findPosition(t, wallet, token as TokenRow) << POSITION_F;
      least = Math.min(
        least,
        t.positionF[d + Position.total]! - t.positionF[d + Position.reserved]!,
      );
    }
    return least;
  }
}
