/**
 * The engine: a deterministic function of (tables, batch, time). The same batches on the same
 * tables give the same tables, records and digest, whether they come from a client or the log.
 *
 *   engine.begin(timeMs, persistedClosedSequence)   agents and orders expire, markets end, due payouts begin, old ids leave
 *   engine.apply(i32, f64, at)              one command: a RejectReasonCode, 0 = accepted
 *   engine.end()                            true when anything changed (then it is logged)
 *
 * Results are read from the tables: fills [before, after) in the ring of fills, closed orders
 * [before, after) in their ring, and for an accepted order context.making and context.taking.
 * The order in which they happened is in the engine events (events.ts).
 */

import { applyAgent, endDueAgents } from './agents.ts';
import { assert } from './book/matching.ts';
import {
  CancelCommand,
  CancelOwnerCommand,
  CommandKind,
  ConfigureCommand,
  commandKind,
  commandWords,
  OrderCommand,
  requestKind,
  SeasonStepCommand,
  WalletLimitsCommand,
} from './commands.ts';
import { type Applier, EngineContext } from './context.ts';
import { endDue } from './due.ts';
import { EventBuffer } from './events.ts';
import { applyFunds } from './funds.ts';
import { applyHouse } from './house.ts';
import { applyInvite, redeemInvite } from './invites.ts';
import { setFeeSchedule } from './markets/fee-schedules.ts';
import { changeMarket, registerMarket } from './markets/markets.ts';
import { beginDueResolutions, proposePayout, withdrawProposal } from './markets/proposals.ts';
import { resolveMarket, resolveStep } from './markets/resolve.ts';
import { setTakerDelay } from './markets/taker-delay.ts';
import { findAccount, newestOwned, nextOwned } from './orders/accounts.ts';
import { delayedWhere, isDelayed } from './orders/delayed.ts';
import { closeOrder, evictClosed, findOrder, orderStatus } from './orders/orders.ts';
import { placing } from './orders/place.ts';
import { placingDelayed } from './orders/place-delayed.ts';
import { prefetch } from './orders/prefetch.ts';
import type { RejectReasonCode } from './orders/reject-reasons.ts';
import { RejectReason } from './orders/reject-reasons.ts';
import { applySource } from './orders/source.ts';
import { settleFault } from './orders/unsettled.ts';
import { applyRelay } from './relay.ts';
import { endSeason, seasonIsEnding, seasonStep } from './season.ts';
import { AMOUNT_MAX } from './tables/capacities.ts';
import { EndReason, Status } from './tables/codes.ts';
import {
  ACCOUNT_I,
  Account,
  Flag,
  Ledger,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from './tables/layout.ts';
import type { EngineMemory, Tables } from './tables/tables.ts';
import type { MarketRow, OrderRow, TokenRow } from './tables/units.ts';
import { sameAddress } from './tables/words.ts';

/** EngineContext.nextOwned where delayed orders are left: the next command begins anew. */
const FROM_HEAD = -1 as OrderRow;

const REFUSED_WHILE_SEASON_ENDS = [
  CommandKind.redeem,
  CommandKind.order,
  CommandKind.delayedOrder,
  CommandKind.unsettledOrder,
  CommandKind.deposit,
  CommandKind.withdraw,
  CommandKind.split,
  CommandKind.merge,
  CommandKind.declare,
  CommandKind.payFees,
  CommandKind.payRebate,
  CommandKind.drawFees,
  CommandKind.relay,
  CommandKind.resolve,
  CommandKind.propose,
  CommandKind.house,
] as const;

export class Engine {
  readonly context: EngineContext;
  readonly t: Tables;

  /** Reads the rows of the commands at words [at, end) into the caches. Changes nothing. */
  readonly ahead: (i32: Int32Array, at: number, end: number) => void;
  /** Appliers by kind; those of `whileSeasonEnds` refuse what trades or pays. */
  private readonly always: Readonly<Record<number, Applier>>;
  private readonly whileSeasonEnds: Readonly<Record<number, Applier>>;
  private appliers: Readonly<Record<number, Applier>>;
  private readonly placeDelayed: (row: OrderRow) => void;
  private readonly forget: (persistedClosedSequence: number) => void;

  constructor(memory: EngineMemory, events = new EventBuffer(0)) {
    const context = new EngineContext(memory, events);
    this.context = context;
    this.t = context.t;
    // The functions of every message close over the core: the compiler then takes tables for constants.
    this.ahead = (i32, at, end) => prefetch(context, i32, at, end);
    const funds: Applier = (i32, f64, at) => applyFunds(context, i32, f64, at);
    const source: Applier = (i32, f64, at) => applySource(context, i32, f64, at);
    const register: Applier = (i32, f64, at) => registerMarket(context, i32, f64, at);
    const change: Applier = (i32, f64, at) => changeMarket(context, i32, f64, at);
    const place = placing(context);
    this.placeDelayed = placingDelayed(context);
    this.always = {
      [CommandKind.order]: place,
      [CommandKind.delayedOrder]: place,
      [CommandKind.unsettledOrder]: (i32, f64, at) => this.placeUnsettled(i32, f64, at),
      [CommandKind.settle]: (i32, _f64, at) => settleFault(context, i32, at),
      [CommandKind.cancel]: (i32, _f64, at) => cancelOrder(context, i32, at),
      [CommandKind.cancelOwner]: (i32, f64, at) => cancelOwner(context, i32, f64, at),
      [CommandKind.market]: register,
      [CommandKind.marketWithEnd]: register,
      [CommandKind.marketChange]: change,
      [CommandKind.marketChangeWithEnd]: change,
      [CommandKind.feeSchedule]: (i32, _f64, at) => setFeeSchedule(context, i32, at),
      [CommandKind.takerDelay]: (i32, _f64, at) => setTakerDelay(context, i32, at),
      [CommandKind.configure]: (i32, f64, at) => configure(context, i32, f64, at),
      [CommandKind.walletLimits]: (_i32, f64, at) => {
        const first = at / 2 + WalletLimitsCommand.openOrders;
        context.changes += 1;
        setWalletLimits(context, f64[first]!, f64[first + 1]!);
        return RejectReason.accepted;
      },
      [CommandKind.agent]: (i32, f64, at) => applyAgent(context, i32, f64, at),
      [CommandKind.house]: (i32, _f64, at) => applyHouse(context, i32, at),
      [CommandKind.deposit]: funds,
      [CommandKind.withdraw]: funds,
      [CommandKind.split]: funds,
      [CommandKind.merge]: funds,
      [CommandKind.declare]: funds,
      [CommandKind.payFees]: funds,
      [CommandKind.payRebate]: funds,
      [CommandKind.drawFees]: funds,
      [CommandKind.relay]: (i32, f64, at) => applyRelay(context, i32, f64, at),
      [CommandKind.invite]: (i32, f64, at) => applyInvite(context, i32, f64, at),
      [CommandKind.redeem]: (i32, _f64, at) => redeemInvite(context, i32, at),
      [CommandKind.resolve]: (i32, f64, at) => resolveMarket(context, i32, f64, at),
      [CommandKind.resolveStep]: (i32, _f64, at) => resolveStep(context, i32, at),
      [CommandKind.propose]: (i32, f64, at) => proposePayout(context, i32, f64, at),
      [CommandKind.withdrawProposal]: (i32, f64, at) => withdrawProposal(context, i32, f64, at),
      [CommandKind.controlRecord]: (i32, _f64, at) => passOn(context, i32, at),
      [CommandKind.level]: source,
      [CommandKind.print]: source,
      [CommandKind.fill]: source,
      [CommandKind.season]: (i32, f64, at) => this.endSeason(i32, f64, at),
      [CommandKind.textId]: (i32, f64, at) => this.applierOf(requestKind(i32, at))(i32, f64, at),
    };
    const refuse: Applier = () => RejectReason.seasonEnding;
    this.whileSeasonEnds = {
      ...this.always,
      ...Object.fromEntries(REFUSED_WHILE_SEASON_ENDS.map((kind) => [kind, refuse])),
    };
    this.appliers = this.always;
    this.forget = (persistedClosedSequence) => evictClosed(context, persistedClosedSequence);
    // Until a command says otherwise, as many as there is room for.
    if (this.t.state[State.batch] === 0) this.t.state[State.history] = memory.capacities.history;
  }

  /**
   * Opens a batch at `time` (unix milliseconds, not before the last one). `persistedClosedSequence` is the sequence
   * up to which final states of orders are on disk.
   */
  begin(time: number, persistedClosedSequence: number): void {
    const { context, t } = this;
    assert(Number.isInteger(time) && time >= t.state[State.time]!, 'time does not go back');
    context.time = time;
    // A whole number to the compiler, too.
    context.digest = t.state[State.digest]! | 0;
    context.changes = 0;
    context.persistedClosedSequence = persistedClosedSequence;
    context.events.clear();
    this.chooseAppliers();
    endDueAgents(context);
    endDue(context, this.placeDelayed);
    beginDueResolutions(context);
    this.forget(persistedClosedSequence);
  }

  /** Applies the command at word `at`. A refusal changes no table, except under cancel-both (cancelFirst, place.ts). */
  apply(i32: Int32Array, f64: Float64Array, at: number): RejectReasonCode {
    return this.applierOf(commandKind(i32, at))(i32, f64, at);
  }

  /** Places an order whose immediate fills are settled later; without a ledger they are settled at once. */
  private placeUnsettled(i32: Int32Array, f64: Float64Array, at: number): RejectReasonCode {
    const { context, t } = this;
    if (t.state[State.ledger] !== 0) context.settleMs = i32[at + OrderCommand.settleMs]!;
    context.settleFails = i32[at + OrderCommand.fails]!;
    context.settleFault = i32[at + OrderCommand.fault]!;
    const reason = this.applierOf(CommandKind.order)(i32, f64, at);
    context.settleMs = 0;
    return reason;
  }

  private endSeason(i32: Int32Array, f64: Float64Array, at: number): RejectReasonCode {
    const isStep = commandWords(i32, at) === SeasonStepCommand.words;
    const { context } = this;
    const reason = isStep ? seasonStep(context, i32, at) : endSeason(context, i32, f64, at);
    this.chooseAppliers();
    return reason;
  }

  private chooseAppliers(): void {
    this.appliers = seasonIsEnding(this.t) ? this.whileSeasonEnds : this.always;
  }

  private applierOf(kind: number): Applier {
    const applier = this.appliers[kind];
    assert(applier !== undefined, 'a command has a known kind');
    return applier;
  }

  end(): boolean {
    const { context, t } = this;
    context.publishVersions();
    if (context.changes === 0) return false;
    if (t.state[State.ledger] !== 0) balance(t);
    t.state[State.time] = context.time;
    t.state[State.batch]! += 1;
    t.state[State.digest] = context.digest;
    return true;
  }
}

/** Asserts that money in the ledger equals deposits less withdrawals (docs/ledger.md#invariants). */
function balance({ ledger }: Tables): void {
  const there =
    ledger[Ledger.cash]! +
    ledger[Ledger.collateral]! +
    ledger[Ledger.fees]! +
    ledger[Ledger.rounding]!;
  ledger[Ledger.imbalance] = there - ledger[Ledger.deposited]!;
  assert(ledger[Ledger.imbalance] === 0, 'the ledger adds up');
}

function cancelOrder(context: EngineContext, i32: Int32Array, at: number): RejectReasonCode {
  const { t } = context;
  const slot = findOrder(t, i32, at + CancelCommand.id);
  if (slot <= 0) return RejectReason.orderNotFound;
  if (!mayCancel(t, slot as OrderRow, i32, at + CancelCommand.signer))
    return RejectReason.orderNotFound;
  context.changes += 1;
  closeOrder(context, slot as OrderRow, EndReason.canceled);
  return RejectReason.accepted;
}

/** True for the signer of an order, and for whoever signs for the wallet that an agent has signed it for. */
function mayCancel(
  { accountI, orderI }: Tables,
  row: OrderRow,
  i32: Int32Array,
  signer: number,
): boolean {
  const w = row << ORDER_I;
  const owner = orderI[w | Order.owner]! << ACCOUNT_I;
  if (sameAddress(accountI, owner, i32, signer)) return true;
  if ((orderI[w | Order.flags]! & Flag.agent) === 0) return false;
  const binding = (orderI[w | Order.maker]! << ACCOUNT_I) | Account.binding;
  return sameAddress(accountI, accountI[binding]! << ACCOUNT_I, i32, signer);
}

function cancelOwner(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  context.nextOwned = 0;
  const owner = findAccount(t, i32, at + CancelOwnerCommand.signer);
  if (owner === 0) return RejectReason.accepted;
  const market = i32[at + CancelOwnerCommand.market]! as MarketRow | 0;
  const token = i32[at + CancelOwnerCommand.token]! as TokenRow | 0;
  const newest = f64[at / 2 + CancelOwnerCommand.newest]!;
  const from = i32[at + CancelOwnerCommand.from]! as OrderRow | 0;
  // An order that ended meanwhile leads nowhere: then the list is walked from its head again.
  const isThere =
    from > 0 &&
    from <= t.state[State.orderRows]! &&
    orderStatus(t, from as OrderRow) === Status.live &&
    t.orderI[(from << ORDER_I) | Order.owner] === owner &&
    !isDelayed(t, from as OrderRow);
  const isChosen = (row: OrderRow): boolean => {
    const its = t.orderI[(row << ORDER_I) | Order.token]! as TokenRow;
    return (
      t.orderF[(row << ORDER_F) | Order.created]! <= newest &&
      (token === 0 || token === its) &&
      (market === 0 || market === t.tokenI[(its << TOKEN_I) | Token.market])
    );
  };
  let left = i32[at + CancelOwnerCommand.limit]!;
  // Those that wait come first: they are in no list of their owner.
  if (!isThere && t.delayed.size > 0) {
    const waiting = delayedWhere(
      context,
      (row) => t.orderI[(row << ORDER_I) | Order.owner] === owner && isChosen(row),
    );
    for (const row of waiting.subarray(0, left)) {
      context.changes += 1;
      closeOrder(context, row as OrderRow, EndReason.canceled);
    }
    if (waiting.length > left) {
      context.nextOwned = FROM_HEAD;
      return RejectReason.accepted;
    }
    left -= waiting.length;
  }
  let row = isThere ? from : newestOwned(t, owner);
  for (; row !== 0 && left > 0; left--) {
    const next = nextOwned(t, row);
    if (isChosen(row)) {
      context.changes += 1;
      closeOrder(context, row, EndReason.canceled);
    }
    row = next;
  }
  context.nextOwned = row;
  return RejectReason.accepted;
}

function configure(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const limits = i32[at + ConfigureCommand.limits]!;
  const policy = limits & ConfigureCommand.selfTradeMask;
  const openOrders = limits >>> ConfigureCommand.openOrdersShift;
  const history = f64[at / 2 + ConfigureCommand.history]!;
  const words = commandWords(i32, at);
  // The first batch says whether there is a ledger; a later command of this form says nothing of it.
  const hasLedger =
    words >= ConfigureCommand.wordsWithLedger && f64[at / 2 + ConfigureCommand.ledger] !== 0;
  const isFirst = t.state[State.batch] === 0 && hasLedger;
  if (isFirst && t.capacities.positions === 0) return RejectReason.tableFull;
  context.changes += 1;
  if (isFirst) {
    t.state[State.ledger] = 1;
    context.mix(1);
  }
  t.state[State.selfTrade] = policy;
  t.state[State.history] = history;
  t.state[State.openOrdersPerAccount] = openOrders;
  context.mix(limits);
  context.mix(history);
  if (words > ConfigureCommand.wordsWithoutOrderRows) {
    const orderRows = f64[at / 2 + ConfigureCommand.orderRows]!;
    t.state[State.orderRowsMax] = orderRows;
    context.mix(orderRows);
  }
  if (words > ConfigureCommand.wordsWithoutWallets) {
    const wallets = f64[at / 2 + ConfigureCommand.walletsPerSigner]!;
    t.state[State.walletsPerSigner] = wallets;
    context.mix(wallets);
  }
  if (words === ConfigureCommand.wordsWithLimits) {
    const orders = f64[at / 2 + ConfigureCommand.openOrdersPerWallet]!;
    setWalletLimits(context, orders, f64[at / 2 + ConfigureCommand.exposurePerWallet]!);
  }
  return RejectReason.accepted;
}

function setWalletLimits(context: EngineContext, orders: number, exposure: number): void {
  const { ledger, state } = context.t;
  state[State.openOrdersPerWallet] = orders;
  // Costs stay right for a later limit.
  const isKept = ledger[Ledger.exposurePerWallet] !== 0;
  if (state[State.ledger] !== 0)
    ledger[Ledger.exposurePerWallet] = exposure === 0 && isKept ? AMOUNT_MAX : exposure;
  context.mix(orders);
  context.mix(exposure);
}

/** Mixes a control record into the digest; it changes no row. */
function passOn(context: EngineContext, i32: Int32Array, at: number): RejectReasonCode {
  context.changes += 1;
  const end = at + commandWords(i32, at);
  for (let word = at; word < end; word++) context.mixWord(i32[word]!);
  return RejectReason.accepted;
}
