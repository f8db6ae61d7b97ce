/**
 * Preview of an order: what to sign, its fills with the fee of each, what is left, and the reason that would refuse
 * it now. Prices and fees are those of matching (settle-fill.ts), so a preview is the execution
 * where the book has not changed since. Pure. Rules: docs/protocol.md#preview-of-an-order
 */
import { AMOUNT_MAX } from '../tables/capacities.ts';
import { nearestTicks } from '../tables/prices.ts';
import {
  collateralOf,
  feeOf,
  largestScheduleFee,
  type MicroCollateral,
  type MicroShares,
  scheduleFeeOf,
  type Ticks,
} from '../tables/units.ts';
import { type FacingOrders, reaches, type Ticket } from './facing-orders.ts';
import type { Payer } from './payer.ts';
import { RejectReason, type RejectReasonCode } from './reject-reasons.ts';

/** Shares that follow from an amount are whole hundredths: they are exact at every price of every grid. */
const AMOUNT_SHARES_STEP = 10_000;

/** Amounts are micro-units and micro-shares, prices ticks of the ticket's token. */
export interface Preview {
  /** Limit to sign; 0 = the book has no price for it, or the price is none of the grid. */
  readonly ticks: Ticks | 0;
  readonly shares: number;
  /** Collateral to sign: the shares at the limit. */
  readonly collateral: number;
  readonly isCrossing: boolean;
  readonly filled: number;
  /** Paid by a buyer, received by a seller, before the fee. */
  readonly cost: number;
  /** Fee in collateral, and fee in shares: at most one of them is not 0. */
  readonly fee: number;
  readonly feeShares: number;
  readonly worst: Ticks | 0;
  readonly orders: number;
  readonly levels: number;
  /** Rest that stays in the book, and rest that ends. */
  readonly rests: number;
  readonly dropped: number;
  /** Cash that a BUY needs to be accepted, with the largest fee. */
  readonly needed: number;
  readonly reason: RejectReasonCode;
}

interface Sized {
  readonly ticks: Ticks | 0;
  readonly shares: number;
}

interface Fills {
  readonly filled: number;
  readonly cost: number;
  readonly fee: number;
  readonly feeShares: number;
  readonly worst: Ticks | 0;
  readonly orders: number;
  readonly levels: number;
}

const NO_FILLS: Fills = {
  filled: 0,
  cost: 0,
  fee: 0,
  feeShares: 0,
  worst: 0,
  orders: 0,
  levels: 0,
};

/** @param payer undefined: nobody in particular asks, and funds count as there */
export function previewOrder(
  ticket: Ticket,
  book: FacingOrders,
  payer: Payer | undefined,
): Preview {
  const { isBuy, isImmediate, postOnly } = ticket;
  const { ticks, shares } = sized(ticket, book);
  const collateral = ticks === 0 ? 0 : collateralOf(shares as MicroShares, ticks, book.grid);
  const isCrossing = ticks !== 0 && book.best !== 0 && reaches(isBuy, book.best, ticks);
  const isTaker = isCrossing && !postOnly;
  const fills = isTaker ? fillsOf(book, isBuy, shares, ticks, collateral) : NO_FILLS;
  const left = shares - fills.filled;
  const isStopped = left > 0 && book.stop !== 0 && reaches(isBuy, book.stop, ticks);
  const isKept = !isImmediate && !(isTaker && isStopped);
  const fee = isBuy && isTaker && ticks !== 0 ? largestFee(book, shares, ticks) : 0;
  const order = {
    ticks,
    shares,
    collateral,
    isCrossing,
    ...fills,
    rests: isKept ? left : 0,
    dropped: isKept ? 0 : left,
    needed: collateral + fee,
  };
  return { ...order, reason: reasonOf(ticket, book, payer, order, isStopped) };
}

function sized(ticket: Ticket, book: FacingOrders): Sized {
  const { amount, isBuy, isImmediate, price, shares = 0 } = ticket;
  const sized = (ticks: Ticks | 0): Sized => {
    if (ticks === 0 || amount === undefined) return { ticks, shares: fitting(ticket, book, ticks) };
    const isSale = !isBuy && isImmediate;
    return { ticks, shares: (isSale ? sharesOfSale : sharesFor)(ticket, book, ticks) };
  };
  if (price !== undefined) return sized(book.limit);
  // Own orders alone: their price is what it would meet.
  if (book.count === 0) return sized(book.stop);
  if (amount === undefined) return sized(priceOf(book, shares));
  if (isBuy) return purchase(ticket, book);
  const sold = sharesOfSale(ticket, book, 0);
  return { ticks: priceOf(book, sold), shares: sold };
}

/** Price of the order that completes a quantity; of the last one where there are not so many. */
function priceOf({ count, sizes, ticks }: FacingOrders, shares: number): Ticks {
  let found = sizes[0]!;
  let i = 0;
  while (found < shares && i + 1 < count) {
    i += 1;
    found += sizes[i]!;
  }
  return ticks[i]! as Ticks;
}

/** Shares of a ticket, rounded down to what can be signed at this price. */
function fitting({ isBuy, isImmediate, shares = 0 }: Ticket, book: FacingOrders, ticks: Ticks | 0) {
  if (ticks === 0 || shares === 0 || shares > AMOUNT_MAX) return shares;
  const collateral = collateralOf(shares as MicroShares, ticks, book.grid);
  const read = isImmediate && nearestTicks(isBuy, collateral, shares as MicroShares, book.grid);
  if (read === ticks) return shares;
  const step = book.grid / commonDivisor(ticks, book.grid);
  return shares - (shares % step);
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** Most shares whose collateral at a price, with the largest fee of a taking BUY, is at most the amount. */
function sharesFor({ amount = 0, isBuy, postOnly }: Ticket, book: FacingOrders, ticks: Ticks) {
  const { best, grid } = book;
  const takes = isBuy && !postOnly && best !== 0 && reaches(isBuy, best, ticks);
  const need = (shares: number): number =>
    collateralOf(shares as MicroShares, ticks, grid) +
    (takes ? largestFee(book, shares, ticks) : 0);
  return mostSteps(0, sharesAt(amount, ticks, grid), (shares) => need(shares) <= amount);
}

/** Shares that an amount is worth at a price, rounded down; at most those of an order. */
function sharesAt(amount: number, ticks: Ticks, grid: number): number {
  const whole = Math.floor(amount / ticks);
  const part = Math.floor(((amount - whole * ticks) * grid) / ticks);
  return Math.min(AMOUNT_MAX, whole * grid + part);
}

/** Largest multiple of the step from `least` to `most` that suits; `least` counts as one that does. */
function mostSteps(least: number, most: number, suits: (shares: number) => boolean): number {
  let low = Math.floor(least / AMOUNT_SHARES_STEP);
  let high = Math.floor(most / AMOUNT_SHARES_STEP);
  if (high > low && suits(high * AMOUNT_SHARES_STEP)) return high * AMOUNT_SHARES_STEP;
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (suits(middle * AMOUNT_SHARES_STEP)) low = middle;
    else high = middle;
  }
  return low * AMOUNT_SHARES_STEP;
}

/**
 * Limit and shares with which an amount buys most: at a worse price more is on offer, and less can be paid. All or
 * nothing takes the first price at which there is enough.
 */
function purchase(ticket: Ticket, book: FacingOrders): Sized {
  const ends = levelEnds(book);
  const at = (k: number): Sized => {
    const ticks = book.ticks[ends[k]!.last]! as Ticks;
    return { ticks, shares: sharesFor(ticket, book, ticks) };
  };
  const isEnough = (k: number): boolean => ends[k]!.offered >= at(k).shares;
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  const chosen = at(low);
  if (ticket.isWhole || low === 0) return chosen;
  return chosen.shares > ends[low - 1]!.offered ? chosen : at(low - 1);
}

interface LevelEnd {
  /** Index of its last order. */
  readonly last: number;
  /** Shares up to there. */
  readonly offered: number;
}

function levelEnds({ count, sizes, ticks }: FacingOrders): readonly LevelEnd[] {
  const ends: LevelEnd[] = [];
  let offered = 0;
  for (let i = 0; i < count; i++) {
    offered += sizes[i]!;
    if (i + 1 === count || ticks[i + 1] !== ticks[i]) ends.push({ last: i, offered });
  }
  return ends;
}

/** Shares whose sale brings the amount after fees, or a little less; at the last price what the book lacks. */
function sharesOfSale({ amount = 0 }: Ticket, book: FacingOrders, limit: Ticks | 0): number {
  const { count, grid, sizes, ticks } = book;
  let [shares, net] = [0, 0];
  const brings = (i: number, size: number): number => {
    const { cost, fee } = fillOf(book, i, size, false);
    return cost - fee;
  };
  for (let i = 0; i < count; i++) {
    const whole = brings(i, sizes[i]!);
    if (net + whole > amount) {
      const [before, got] = [shares, net];
      const most = before + sizes[i]!;
      return mostSteps(before, most, (all) => got + brings(i, all - before) <= amount);
    }
    shares += sizes[i]!;
    net += whole;
  }
  const last = limit || (ticks[count - 1]! as Ticks);
  const more = sharesAt(amount - net, last, grid);
  return mostSteps(0, Math.min(AMOUNT_MAX, shares + more), () => true);
}

function largestFee({ feeExponent, feeRate, grid }: FacingOrders, shares: number, limit: Ticks) {
  if (feeRate === 0) return 0;
  return largestScheduleFee(shares as MicroShares, limit, grid, feeRate, feeExponent);
}

/** Part of the taker in a fill with the order at `i`: the maker's part is rounded down, its own is the rest. */
function fillOf(book: FacingOrders, i: number, shares: number, isBuy: boolean) {
  const { baseFeeBps, feeExponent, feeRate, grid } = book;
  const ticks = book.ticks[i]! as Ticks;
  const size = shares as MicroShares;
  const isSame = book.same[i] === 1;
  const makerLeg = collateralOf(size, (isSame ? ticks : grid - ticks) as Ticks, grid);
  const cost = isSame ? makerLeg : ((size - makerLeg) as MicroCollateral);
  if (feeRate !== 0) {
    return { cost, fee: scheduleFeeOf(size, ticks, grid, feeRate, feeExponent), feeShares: 0 };
  }
  const fee = feeOf(isBuy, size, ticks, grid, baseFeeBps);
  return isBuy ? { cost, fee: 0, feeShares: fee } : { cost, fee, feeShares: 0 };
}

/** Fills within the limit. A buyer never pays more than its signed collateral. */
function fillsOf(
  book: FacingOrders,
  isBuy: boolean,
  shares: number,
  limit: Ticks,
  collateral: number,
): Fills {
  const { count, sizes, ticks } = book;
  let left = shares;
  let [cost, fee, feeShares, orders, levels, worst] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < count && left > 0 && reaches(isBuy, ticks[i]!, limit); i++) {
    const size = Math.min(sizes[i]!, left);
    const fill = fillOf(book, i, size, isBuy);
    cost += isBuy ? Math.min(fill.cost, collateral - cost) : fill.cost;
    fee += fill.fee;
    feeShares += fill.feeShares;
    if (ticks[i] !== worst) levels += 1;
    worst = ticks[i]!;
    orders += 1;
    left -= size;
  }
  return { filled: shares - left, cost, fee, feeShares, worst: worst as Ticks | 0, orders, levels };
}

/** Returns the first rule that fails, in the order of place.ts. */
function reasonOf(
  ticket: Ticket,
  book: FacingOrders,
  payer: Payer | undefined,
  order: Omit<Preview, 'reason'>,
  isStopped: boolean,
): RejectReasonCode {
  const { isImmediate, postOnly, price } = ticket;
  const { collateral, ticks } = order;
  const shares = ticks === 0 ? (ticket.shares ?? ticket.amount!) : order.shares;
  if (postOnly && isImmediate) return RejectReason.postOnlyType;
  if (!book.isTradable) return RejectReason.marketNotReady;
  if (shares === 0 || (ticks !== 0 && collateral === 0)) return RejectReason.amountsNotPositive;
  if (ticket.isExpired) return RejectReason.expirationPast;
  if (shares > AMOUNT_MAX) return RejectReason.sizeAboveMaximum;
  if (ticks === 0 && price !== undefined) return RejectReason.tick;
  const isSized = ticks !== 0 || ticket.shares !== undefined;
  if (isSized && shares < book.minSize) return RejectReason.sizeBelowMinimum;
  if (ticks === 0) return unfilled(ticket);
  const lacking = payer === undefined ? RejectReason.accepted : lackOf(ticket, book, payer, order);
  if (lacking !== RejectReason.accepted) return lacking;
  return unmatched(ticket, book, order, isStopped);
}

/** Returns what the payer or the tables lack. */
function lackOf(
  { isBuy, isImmediate }: Ticket,
  book: FacingOrders,
  payer: Payer,
  { collateral, isCrossing, needed, shares }: Omit<Preview, 'reason'>,
): RejectReasonCode {
  const { agent, funds } = payer;
  if (agent !== undefined) {
    if (agent.reason !== RejectReason.accepted) return agent.reason;
    if (shares > agent.sizeMax) return RejectReason.agentSize;
  }
  if (funds !== undefined && (isBuy ? funds.cash.free < needed : funds.shares.free < shares))
    return RejectReason.notEnough;
  if (isBuy && collateral > payer.exposureLeft) return RejectReason.exposureTooHigh;
  if (isBuy && agent !== undefined && needed > agent.left) return RejectReason.agentCash;
  const mayRest = payer.mayRest && agent?.mayRest !== false;
  if (!isImmediate && !mayRest) return RejectReason.tooManyOpen;
  if (!payer.mayHaveWallet) return RejectReason.tooManyWallets;
  if (!payer.hasAccountRoom || (!isImmediate && !book.hasRoom)) return RejectReason.tableFull;
  if (!isImmediate && !isCrossing && book.atLimit + shares > AMOUNT_MAX)
    return RejectReason.sizeAboveMaximum;
  const waits = isCrossing && book.takerDelay !== 0;
  if (!payer.hasPositionRoom || (waits && !payer.hasDelayRoom)) return RejectReason.tableFull;
  if (waits && !payer.mayDelay) return RejectReason.tooManyDelayed;
  return waits && agent?.mayRest === false ? RejectReason.tooManyOpen : RejectReason.accepted;
}

function unmatched(
  ticket: Ticket,
  book: FacingOrders,
  { filled, isCrossing, shares }: Omit<Preview, 'reason'>,
  isStopped: boolean,
): RejectReasonCode {
  const { isBuy, isImmediate, isWhole, postOnly } = ticket;
  if (!isCrossing) return isImmediate ? unfilled(ticket) : RejectReason.accepted;
  if (postOnly) return isBuy ? RejectReason.postOnlyCrossesAsk : RejectReason.postOnlyCrossesBid;
  if (isWhole ? filled === shares || book.isCut : filled > 0) return RejectReason.accepted;
  if (isStopped) return RejectReason.selfTrade;
  return isImmediate && !book.isCut ? unfilled(ticket) : RejectReason.accepted;
}

function unfilled({ isWhole }: Ticket): RejectReasonCode {
  return isWhole ? RejectReason.fokUnfilled : RejectReason.fakUnfilled;
}
