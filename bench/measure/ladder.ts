/**
 * The prices and sizes of a measuring run, so that every order has one outcome: makers rest a deep
 * level on both sides of the middle of each book, FOK orders reach across it and fill, GTC orders
 * stay behind it and rest.
 * Thread: the tool's only one.
 * Non-goals: books with orders of others in them, which may fill some of it otherwise.
 */

import { MICRO, notional, SIZE_STEP } from '../load/load-amounts.ts';
import { BUY, SELL, type Side } from '../load/load-book.ts';
import type { LoadMarket, LoadToken } from '../load/load-market.ts';
import type { LoadOrder } from '../load/load-orders.ts';
import type { Random } from '../random.ts';

/** Sizes reach this far above the minimum of the market. */
const SHARES_SPREAD = 10;
/** Each maker's order; its collateral is exact in a double at any price. */
const MAKER_SHARES = 800_000;
/** Shares that makers rest for each that is expected to be taken. */
const MAKER_RESERVE = 2;

/** The makers' orders that `taken` FOK orders of the whole run need, for one side of one book. */
export function makerOrders(
  token: LoadToken,
  account: number,
  bookSide: Side,
  taken: number,
): LoadOrder[] {
  const { minSizeMicro } = token.market;
  const shares = taken * (minSizeMicro / MICRO + SHARES_SPREAD) * MAKER_RESERVE;
  const micro = Math.max(minSizeMicro, MAKER_SHARES * MICRO);
  const count = 1 + Math.ceil((shares * MICRO) / micro);
  const order = orderAt(
    token,
    account,
    'GTC',
    bookSide,
    insideTicks(token.market, bookSide),
    micro,
  );
  return Array.from({ length: count }, () => order);
}

/** The tokens of which each has a book of its own, one for a binary pair. */
export function bookTokens(markets: readonly LoadMarket[]): LoadToken[] {
  return markets.flatMap(({ tokens }) => tokens.filter(({ slot }) => slot === 0));
}

export function takerOrder(random: Random, token: LoadToken, account: number): LoadOrder {
  const { market } = token;
  const bookSide = drawSide(random);
  const across = insideTicks(market, other(bookSide));
  const further = random.below(reachTicks(market) + 1);
  const ticks = bookSide === BUY ? across + further : across - further;
  const bounded = Math.min(market.ticksPerUnit - 1, Math.max(1, ticks));
  return orderAt(token, account, 'FOK', bookSide, bounded, drawMicro(random, market));
}

export function restingOrder(random: Random, token: LoadToken, account: number): LoadOrder {
  const { market } = token;
  const bookSide = drawSide(random);
  const inside = insideTicks(market, bookSide);
  const behind = random.between(1, reachTicks(market));
  const ticks = bookSide === BUY ? inside - behind : inside + behind;
  const bounded = Math.min(market.ticksPerUnit - 1, Math.max(1, ticks));
  return orderAt(token, account, 'GTC', bookSide, bounded, drawMicro(random, market));
}

/** Price of the makers of a side, in ticks of the book: one tick beside the middle. */
function insideTicks({ ticksPerUnit }: LoadMarket, bookSide: Side): number {
  const middle = Math.floor(ticksPerUnit / 2);
  return bookSide === BUY ? middle - 1 : middle + 1;
}

function reachTicks({ ticksPerUnit }: LoadMarket): number {
  return Math.max(1, Math.floor(ticksPerUnit / 10));
}

function drawSide(random: Random): Side {
  return random.below(2) === 0 ? BUY : SELL;
}

function other(side: Side): Side {
  return side === BUY ? SELL : BUY;
}

function drawMicro(random: Random, { minSizeMicro }: LoadMarket): number {
  const steps = random.below((SHARES_SPREAD * MICRO) / SIZE_STEP);
  return Math.max(1, Math.ceil(minSizeMicro / SIZE_STEP) + steps) * SIZE_STEP;
}

/** An order of the book in the terms of the token: the second one of a pair is the mirror. */
function orderAt(
  token: LoadToken,
  account: number,
  type: 'GTC' | 'FOK',
  bookSide: Side,
  bookTicks: number,
  micro: number,
): LoadOrder {
  const { ticksPerUnit } = token.market;
  const side = token.slot === 0 ? bookSide : other(bookSide);
  const ticks = token.slot === 0 ? bookTicks : ticksPerUnit - bookTicks;
  const collateral = notional(micro, ticks, ticksPerUnit);
  const [makerAmount, takerAmount] = side === BUY ? [collateral, micro] : [micro, collateral];
  const terms = { type, side, ticks, micro, makerAmount, takerAmount, collateralMax: makerAmount };
  return { token, slot: token.slot, account, ...terms };
}
