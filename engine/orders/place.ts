/**
 * Placing an order: the rules that need the tables, in order; then the reservation of every row that it may need;
 * only then the first change. Rules: docs/protocol.md#order-of-checks
 */

import type * as matching from '../book/matching.ts';
import { assert } from '../book/matching.ts';
import * as commands from '../commands.ts';
import type { Applier, EngineContext } from '../context.ts';
import * as core from '../context.ts';
import {
  agentLeft,
  agentSizeMax,
  findAgent,
  isActiveAgent,
  markAgentAccount,
  mayListAgentOrder,
  mayTradeMarket,
} from '../ledger/agents.ts';
import { exposureLeft } from '../ledger/exposure.ts';
import { isHouse } from '../ledger/house.ts';
import {
  freeCash,
  hasPositionRoom,
  holdPosition,
  lacksFunds,
  lookUpPosition,
} from '../ledger/reservations.ts';
import * as limits from '../tables/capacities.ts';
import * as codes from '../tables/codes.ts';
import { indexPut, indexRoom } from '../tables/hash-index.ts';
import * as layout from '../tables/layout.ts';
import { exactTicks, nearestTicks } from '../tables/prices.ts';
import type {
  AccountRow,
  AgentRow,
  BookRow,
  MarketRow,
  MicroCollateral,
  MicroShares,
  OrderRow,
  Ticks,
  TicksPerUnit,
  TokenRow,
} from '../tables/units.ts';
import { largestScheduleFee } from '../tables/units.ts';
import { copyFour, copyId, sameAddress } from '../tables/words.ts';
import { findAccount, makeAccount } from './accounts.ts';
import { bindWallet } from './binding.ts';
import { hasPlace } from './books.ts';
import { delayOrder, hasDelayRoom, mayDelay, takerDelay } from './delayed.ts';
import { crosses, matchTaker, mayEnd, NEW_AGENT, probeLiquidity } from './match.ts';
import {
  closeOrder,
  closeUnrested,
  findEntry,
  opening,
  orderTag,
  rowRoom,
  takeOrder,
} from './orders.ts';
import type { RejectReasonCode } from './reject-reasons.ts';
import * as rules from './reject-reasons.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { EndReason, MarketFlag } = codes;
const {
  ACCOUNT_I,
  Account,
  BOOK_I,
  Book,
  Flag,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} = layout;
const { OrderCommand, OrderFlag, OrderType, PrecheckFlags } = commands;
const { AMOUNT_MAX } = limits;
const { RejectReason } = rules;
const { SelfTrade } = core;

const MS = 1_000;

/**
 * Returns the function that applies an order command. A refusal changes no table, except under cancel-both. The tables are
 * captured once, so V8 treats them as constants.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it encloses the hot path, whose tables are constants.
export function placing(context: EngineContext): Applier {
  const { t } = context;
  const { bookI, marketF, orderIndex, state, tokenI } = t;
  const open = opening(context);
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: the hot path; a call that is not inlined costs time.
  return (i32, f64, at) => {
    const precheck = i32[at + OrderCommand.precheck]!;
    const early = (precheck & PrecheckFlags.reasonMask) as RejectReasonCode;
    if (early !== RejectReason.accepted) return early;
    const tag = orderTag(i32, at + OrderCommand.id);
    const entry = findEntry(t, tag, i32, at + OrderCommand.id);
    if ((precheck & PrecheckFlags.known) !== 0 || orderIndex[2 * entry + 1] !== 0)
      return RejectReason.duplicate;
    const flags = i32[at + OrderCommand.flags]!;
    const type = (flags >>> OrderFlag.typeShift) & 3;
    const sells = flags & OrderFlag.sell;
    const shares = f64[(at >>> 1) + OrderCommand.shares]! as MicroShares;
    const token = i32[at + OrderCommand.token]! << TOKEN_I;
    const market = tokenI[token | Token.market]! as MarketRow;
    const book = tokenI[token | Token.book]! as BookRow;
    const refused = checkTerms(context, precheck, flags, market, f64, at);
    if (refused !== RejectReason.accepted) return refused;
    const grid = bookI[(book << BOOK_I) | Book.ticksPerUnit]! as TicksPerUnit;
    const collateral = f64[(at >>> 1) + OrderCommand.collateral]! as MicroCollateral;
    const ticks = isResting(type)
      ? exactTicks(collateral, shares, grid)
      : nearestTicks(sells === 0, collateral, shares, grid);
    if (ticks === 0) return RejectReason.tick;
    if (shares < marketF[(market << MARKET_F) | Market.minSize]!)
      return RejectReason.sizeBelowMinimum;
    if ((precheck & PrecheckFlags.signature) !== 0) return RejectReason.signature;
    const maker = findAccount(t, i32, at + OrderCommand.maker);
    const isOwnWallet = sameAddress(i32, at + OrderCommand.maker, i32, at + OrderCommand.signer);
    const owner = isOwnWallet ? maker : findAccount(t, i32, at + OrderCommand.signer);
    let agent: AgentRow | 0 = 0;
    if (!bindingAllows(context, flags, precheck, i32, at, maker)) {
      agent = findAgent(t, maker, i32, at + OrderCommand.signer);
      const unbound = agentRefusal(context, precheck, agent, market, shares);
      if (unbound !== RejectReason.accepted) return unbound;
    }
    const hasLedger = state[State.ledger] !== 0;
    if (hasLedger && !hasFunds(context, i32, f64, at, maker)) return RejectReason.notEnough;

    const mirrored = tokenI[token | Token.mirrored]!;
    // Without branches that nobody can guess: a mirrored token turns both side and price round.
    const side = (sells ^ mirrored) as matching.Side;
    const limit = ((ticks ^ -mirrored) + (-mirrored & (grid + 1))) as Ticks;
    const best = t.matching.best(book, (1 - side) as matching.Side);
    const isCrossing = crosses(side, best, limit);
    const fee =
      hasLedger && isCrossing ? worstFee(context, flags, market, f64, at, ticks, grid) : 0;
    if (fee !== 0 && freeCash(t, maker) < collateral + fee) return RejectReason.notEnough;
    if (hasLedger && sells === 0 && collateral > exposureLeft(t, maker))
      return RejectReason.exposureTooHigh;
    if (agent !== 0 && sells === 0 && collateral + fee > agentLeft(t, agent, context.time))
      return RejectReason.agentCash;
    const full = checkRoom(
      context,
      type,
      book,
      isCrossing,
      limit,
      shares,
      maker,
      owner,
      isOwnWallet,
      agent,
    );
    if (full !== RejectReason.accepted) return full;
    if (hasLedger && !hasPositionRoom(context)) return RejectReason.tableFull;
    const delay = isCrossing ? takerDelay(t, market, i32, at) : 0;
    if (delay !== 0) {
      if (!hasDelayRoom(t)) return RejectReason.tableFull;
      if (!mayDelay(t, owner)) return RejectReason.tooManyDelayed;
      if (agent !== 0 && !mayListAgentOrder(t, agent)) return RejectReason.tooManyOpen;
    }
    if (isCrossing || !isResting(type)) {
      const ender = agent === 0 ? 0 : owner || NEW_AGENT;
      const unmatched = checkMatch(context, flags, book, side, limit, best, maker, ender, shares);
      if (unmatched !== RejectReason.accepted) return unmatched;
    }
    if ((flags & OrderFlag.trial) !== 0) return RejectReason.accepted;
    const makerSlot = maker !== 0 ? maker : makeAccount(t, i32, at + OrderCommand.maker);
    const ownerSlot = isOwnWallet ? makerSlot : ownerOf(context, owner, i32, at);
    if (agent !== 0 && owner === 0) markAgentAccount(t, ownerSlot);
    const row = takeOrder(context);
    fillRow(context, row, i32, f64, at, makerSlot, ownerSlot, side, limit);
    if (agent !== 0) t.orderI[(row << ORDER_I) | Order.flags]! |= Flag.agent;
    if (hasLedger) holdPosition(context, row, makerSlot, (token >>> TOKEN_I) as TokenRow);
    register(context, entry, tag, row);
    if (delay !== 0) {
      delayOrder(context, row, delay);
      context.events.delayed(limit, grid);
    } else {
      context.events.placed(limit, grid);
      if (!isCrossing || accept(context, row, type, book, limit))
        open(row, book, side, limit, ownerSlot);
    }
    // Only now: orders of agents that this ends were counted by the checks above.
    if (agent === 0 && t.accountI[(makerSlot << ACCOUNT_I) | Account.binding] !== ownerSlot)
      bindWallet(context, makerSlot, ownerSlot);
    return RejectReason.accepted;
  };
}

export function isResting(type: number): boolean {
  return type <= OrderType.GTD;
}

function checkTerms(
  context: EngineContext,
  precheck: number,
  flags: number,
  market: MarketRow,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { marketI } = context.t;
  const offset = market << MARKET_I;
  if ((marketI[offset | Market.flags]! & MarketFlag.tradable) === 0)
    return RejectReason.marketNotReady;
  const expiration = f64[(at >>> 1) + OrderCommand.expiration]!;
  const isDated = ((flags >>> OrderFlag.typeShift) & 3) === OrderType.GTD;
  const isFeeLow = flags >>> OrderFlag.feeShift < marketI[offset | Market.baseFeeBps]!;
  if (precheck === 0 && expiration === 0 && !isDated && !isFeeLow) return RejectReason.accepted;
  if ((precheck & PrecheckFlags.amounts) !== 0) return RejectReason.amountsNotPositive;
  if (isDated) {
    if (expiration === 0) return RejectReason.expirationRequired;
    if (expiration * MS <= context.time) return RejectReason.expirationPast;
  } else if (expiration !== 0) {
    return RejectReason.expirationInvalid;
  }
  if ((precheck & PrecheckFlags.feeNegative) !== 0) return RejectReason.feeNegative;
  if ((precheck & PrecheckFlags.feeTooHigh) !== 0) return RejectReason.feeTooHigh;
  if (isFeeLow) return RejectReason.feeBelowBase;
  if ((precheck & PrecheckFlags.taker) !== 0) return RejectReason.takerNotPublic;
  if ((precheck & PrecheckFlags.tooLarge) !== 0) return RejectReason.sizeAboveMaximum;
  return RejectReason.accepted;
}

/** Returns the reason against the signer of a wallet that is not its own, and against an agent's market and size. */
function agentRefusal(
  { t }: EngineContext,
  precheck: number,
  agent: AgentRow | 0,
  market: MarketRow,
  shares: MicroShares,
): RejectReasonCode {
  if (agent === 0) {
    const isForeign = (precheck & PrecheckFlags.foreignWallet) !== 0;
    return isForeign ? RejectReason.signature : RejectReason.binding;
  }
  if (!isActiveAgent(t, agent)) return RejectReason.agentEnded;
  if (!mayTradeMarket(t, agent, market)) return RejectReason.agentMarket;
  return shares > agentSizeMax(t, agent) ? RejectReason.agentSize : RejectReason.accepted;
}

/**
 * Refuses a wallet that another key has signed for; with a ledger, the key must be known already. Type 0 and
 * derived wallets are never refused: an earlier user of a derived wallet was not its owner
 * (docs/protocol.md#wallet-binding).
 */
function bindingAllows(
  context: EngineContext,
  flags: number,
  precheck: number,
  i32: Int32Array,
  at: number,
  maker: AccountRow | 0,
): boolean {
  if ((precheck & PrecheckFlags.foreignWallet) !== 0) return false;
  if (((flags >>> OrderFlag.signatureShift) & 3) === 0) return true;
  if ((precheck & PrecheckFlags.derivedWallet) !== 0) return true;
  const { accountI, state } = context.t;
  // Row 0 belongs to nobody: a wallet without an account is not bound.
  const bound = accountI[(maker << ACCOUNT_I) | Account.binding]!;
  if (bound === 0) return state[State.ledger] === 0;
  const signer = at + OrderCommand.signer;
  return sameAddress(accountI, bound << ACCOUNT_I, i32, signer);
}

/** True when the maker's free funds suffice. Leaves its position in the context. */
function hasFunds(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  maker: AccountRow | 0,
): boolean {
  lookUpPosition(context, maker, i32[at + OrderCommand.token]! as TokenRow);
  const sells = i32[at + OrderCommand.flags]! & OrderFlag.sell;
  const shares = f64[(at >>> 1) + OrderCommand.shares]!;
  const collateral = f64[(at >>> 1) + OrderCommand.collateral]!;
  return !lacksFunds(context.t, maker, context.position, sells, shares, collateral);
}

/** Largest fee of a schedule that a taking BUY may pay on top of its collateral (docs/protocol.md#fees). */
export function worstFee(
  { t }: Pick<EngineContext, 't'>,
  flags: number,
  market: MarketRow,
  f64: Float64Array,
  at: number,
  limit: Ticks,
  grid: TicksPerUnit,
): number {
  const rate = t.marketI[(market << MARKET_I) | Market.feeRate]!;
  if (rate === 0 || (flags & (OrderFlag.sell | OrderFlag.postOnly)) !== 0) return 0;
  const exponent = t.marketI[(market << MARKET_I) | Market.feeExponent]!;
  const shares = f64[(at >>> 1) + OrderCommand.shares]! as MicroShares;
  return largestScheduleFee(shares, limit, grid, rate, exponent);
}

export function mayHaveWallet(
  { t }: Pick<EngineContext, 't'>,
  wallet: AccountRow | 0,
  signer: AccountRow | 0,
): boolean {
  const most = t.state[State.walletsPerSigner]!;
  if (most === 0 || signer === 0 || t.wallets[signer]! < most) return true;
  return wallet !== 0 && t.accountI[(wallet << ACCOUNT_I) | Account.binding] === signer;
}

export function mayRest(
  { t }: Pick<EngineContext, 't'>,
  owner: AccountRow | 0,
  wallet: AccountRow | 0,
): boolean {
  const most = t.state[State.openOrdersPerAccount]!;
  if (most !== 0 && t.accountI[(owner << ACCOUNT_I) | Account.openCount]! >= most) return false;
  const ofWallet = t.state[State.openOrdersPerWallet]!;
  return ofWallet === 0 || t.walletOrders[wallet]! < ofWallet || isHouse(t, wallet);
}

function checkRoom(
  context: EngineContext,
  type: number,
  book: BookRow,
  isCrossing: boolean,
  limit: Ticks,
  shares: MicroShares,
  maker: AccountRow | 0,
  owner: AccountRow | 0,
  isOwnWallet: boolean,
  agent: AgentRow | 0,
): RejectReasonCode {
  const { t } = context;
  const { matching: m } = t;
  const rests = isResting(type);
  if (rests && !mayRest(context, owner, maker)) return RejectReason.tooManyOpen;
  if (rests && agent !== 0 && !mayListAgentOrder(t, agent)) return RejectReason.tooManyOpen;
  if (!isOwnWallet && agent === 0 && !mayHaveWallet(context, maker, owner))
    return RejectReason.tooManyWallets;
  if (maker === 0 || owner === 0) {
    const wanted = isOwnWallet || maker !== 0 || owner !== 0 ? 1 : 2;
    if (t.state[State.accounts]! + wanted > t.capacities.accounts) return RejectReason.tableFull;
  }
  if (!rowRoom(context)) return RejectReason.tableFull;
  if (!rests) return RejectReason.accepted;
  if (!hasPlace(t, book)) return RejectReason.tableFull;
  // What lies at the limit of an order that crosses is of the other side, and goes before it rests.
  if (isCrossing || m.quantityAt(book, limit) + shares <= AMOUNT_MAX) return RejectReason.accepted;
  return RejectReason.sizeAboveMaximum;
}

/**
 * Returns the reason for which post-only, FOK, FAK or self-trade refuse the order. `best`: best level of the other
 * side; `agent`: as of mayEnd().
 */
export function checkMatch(
  context: EngineContext,
  flags: number,
  book: BookRow,
  side: matching.Side,
  limit: Ticks,
  best: number,
  maker: AccountRow | 0,
  agent: number,
  shares: MicroShares,
): RejectReasonCode {
  const isCrossing = crosses(side, best, limit);
  if ((flags & OrderFlag.postOnly) !== 0) {
    return (flags & OrderFlag.sell) === 0
      ? RejectReason.postOnlyCrossesAsk
      : RejectReason.postOnlyCrossesBid;
  }
  const type = (flags >>> OrderFlag.typeShift) & 3;
  const policy = context.selfTrade();
  if (type === OrderType.FOK) {
    probeLiquidity(context, book, side, limit, maker, agent, shares);
    if (context.probedQuantity === shares) return RejectReason.accepted;
    return context.probeStopped ? RejectReason.selfTrade : RejectReason.fokUnfilled;
  }
  if (isCrossing && policy !== SelfTrade.allow) {
    probeLiquidity(context, book, side, limit, maker, agent, 1 as MicroShares);
    if (context.probedQuantity === 0 && context.probeStopped) {
      const isTrial = (flags & OrderFlag.trial) !== 0;
      if (policy === SelfTrade.cancelBoth && !isTrial)
        cancelFirst(context, book, best as Ticks, agent);
      return RejectReason.selfTrade;
    }
    if (context.probedQuantity > 0) return RejectReason.accepted;
  }
  if (type === OrderType.FAK && (!isCrossing || policy !== SelfTrade.allow)) {
    return RejectReason.fakUnfilled;
  }
  return RejectReason.accepted;
}

/** Ends the maker under cancel-both, though the taker is refused. */
function cancelFirst(context: EngineContext, book: BookRow, tick: Ticks, agent: number): void {
  const { matching: m } = context.t;
  const first = m.userData(m.first(book, tick)) as OrderRow;
  if (!mayEnd(context.t, first, agent)) return;
  context.changes += 1;
  closeOrder(context, first, EndReason.selfTrade);
}

function ownerOf(
  context: EngineContext,
  owner: AccountRow | 0,
  i32: Int32Array,
  at: number,
): AccountRow {
  return owner !== 0 ? owner : makeAccount(context.t, i32, at + OrderCommand.signer);
}

/** Adds a row to the index of ids. `entry`: entry at which the search for it ended. */
function register(context: EngineContext, entry: number, tag: number, row: OrderRow): void {
  const { orderI, orderIndex } = context.t;
  // An order that was forgotten for its row may have left a place nearer to where the search begins.
  const indexEntry = context.hasForgotten ? indexRoom(orderIndex, tag) : entry;
  context.hasForgotten = false;
  context.isDelayed = false;
  indexPut(orderIndex, indexEntry, tag, row);
  context.changes += 1;
  context.making = 0;
  context.taking = 0;
  context.mixWord(orderI[(row << ORDER_I) | Order.id]!);
}

/** Matches an order that crosses. Returns true when the remainder rests; otherwise the order has closed. */
export function accept(
  context: EngineContext,
  row: OrderRow,
  type: number,
  book: BookRow,
  limit: Ticks,
): boolean {
  const stopped = matchTaker(context, row, book, limit);
  const remaining = context.t.orderF[(row << ORDER_F) | Order.remaining]!;
  assert(type !== OrderType.FOK || remaining === 0, 'a FOK that was taken is filled whole');
  if (remaining > 0 && !stopped && type !== OrderType.FAK) return true;
  const unfilled = stopped ? EndReason.selfTrade : EndReason.fakRemainder;
  closeUnrested(context, row, book, limit, remaining === 0 ? EndReason.filled : unfilled);
  return false;
}

function fillRow(
  context: EngineContext,
  row: OrderRow,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  maker: AccountRow,
  owner: AccountRow,
  side: matching.Side,
  limit: Ticks,
): void {
  const { t } = context;
  const flags = i32[at + OrderCommand.flags]!;
  const isSell = (flags & OrderFlag.sell) !== 0;
  const signatureType = (flags >>> OrderFlag.signatureShift) & 3;
  const d = row << ORDER_F;
  const { orderF, orderI } = t;
  const shares = f64[(at >>> 1) + OrderCommand.shares]!;
  orderF[d | Order.remaining] = shares;
  orderF[d | Order.original] = shares;
  orderF[d | Order.budget] = isSell ? 0 : f64[(at >>> 1) + OrderCommand.collateral]!;
  orderF[d | Order.expiry] = f64[(at >>> 1) + OrderCommand.expiration]!;
  orderF[d | Order.created] = context.time;
  const w = row << ORDER_I;
  orderI[w | Order.price] = limit;
  orderI[w | Order.flags] =
    side |
    (isSell ? Flag.sell : 0) |
    (((flags >>> OrderFlag.typeShift) & 3) << Flag.typeShift) |
    (signatureType << Flag.signatureShift) |
    ((flags >>> OrderFlag.feeShift) << Flag.feeShift);
  orderI[w | Order.token] = i32[at + OrderCommand.token]!;
  orderI[w | Order.heap] = 0;
  orderI[w | Order.restingSlot] = 0;
  orderI[w | Order.maker] = maker;
  orderI[w | Order.owner] = owner;
  copyId(i32, at + OrderCommand.id, orderI, w | Order.id);
  copyFour(i32, at + OrderCommand.apiKey, orderI, w | Order.apiKey);
}
