/**
 * Orders that a taker would meet, in the order in which it would meet them, with the terms of its market: a read of one
 * version of the book, from any thread. What it would do to them is in preview.ts.
 *
 * Walks are bounded, and end on inconsistent tables too: the copy is valid only if readFacing() returns true.
 */
import { NO_LEVEL, Side, visitSide } from '../book/matching.ts';
import { SelfTrade } from '../context.ts';
import { MarketFlag } from '../tables/codes.ts';
import {
  BOOK_I,
  Book,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import {
  type AccountRow,
  type BookRow,
  isTickGrid,
  MICRO,
  type MicroShares,
  mulDivFloor,
  type OrderRow,
  type Ticks,
  type TicksPerUnit,
  type TokenRow,
} from '../tables/units.ts';
import { hasPlace } from './books.ts';
import { mayEnd } from './match.ts';

/** @internal Tests reach the bound. Levels of one walk. */
export const PREVIEW_LEVELS_MAX = 1_000;
/** @internal Tests reach the bound. Orders of one walk: two milliseconds at most. */
export const PREVIEW_ORDERS_MAX = 4_096;

/** Order that may be signed: what its sender knows of it. */
export interface Ticket {
  readonly token: TokenRow;
  readonly isBuy: boolean;
  /** True for FOK and FAK, which may be without a price. */
  readonly isImmediate: boolean;
  /** True for a FOK: all of it or nothing. */
  readonly isWhole: boolean;
  readonly postOnly: boolean;
  /** True where its expiration is not in the future. */
  readonly isExpired: boolean;
  /** Millionths; undefined = any. */
  readonly price: number | undefined;
  /** Micro-shares; undefined: `amount` decides. */
  readonly shares: number | undefined;
  /** Micro-units of collateral; undefined: `shares` decides. */
  readonly amount: number | undefined;
}

/** Copy of one read, used again from read to read. Prices are ticks of the ticket's token. */
export class FacingOrders {
  /** Version of the book; only an even one of a known grid can be read. */
  version = 0;
  isReadable = false;
  grid: TicksPerUnit = 100;
  minSize = 0 as MicroShares;
  baseFeeBps = 0;
  /** Millionths; 0 = no schedule. */
  feeRate = 0;
  feeExponent = 0;
  /** Seconds. */
  takerDelay = 0;
  isTradable = false;
  /** Limit of the ticket on the grid; 0 = no price, or none of the grid. */
  limit: Ticks | 0 = 0;
  /** Best price of the other side, own orders included; 0 = none. */
  best: Ticks | 0 = 0;
  /** Price of the own order that stops the taker; 0 = none does. */
  stop: Ticks | 0 = 0;
  /** True where the walk ended at a bound before it had enough. */
  isCut = false;
  /** True where a resting order would have a row. */
  hasRoom = false;
  /** Micro-shares that rest at the limit already. */
  atLimit = 0;
  levels = 0;
  count = 0;
  readonly ticks = new Int32Array(PREVIEW_ORDERS_MAX);
  readonly sizes = new Float64Array(PREVIEW_ORDERS_MAX);
  /** 1 = an order of the same token; 0 = of the other outcome, with which it mints or merges. */
  readonly same = new Uint8Array(PREVIEW_ORDERS_MAX);
}

/** Reads the terms under which a ticket would trade, and the version of its book. */
export function readTerms(t: Tables, ticket: Ticket, out: FacingOrders): void {
  const { bookI, marketF, marketI, tokenI } = t;
  const token = ticket.token << TOKEN_I;
  const book = tokenI[token + Token.book]! as BookRow;
  out.version = Atomics.load(bookI, (book << BOOK_I) + Book.version);
  const row = tokenI[token + Token.market]!;
  const market = row << MARKET_I;
  const grid = bookI[(book << BOOK_I) + Book.ticksPerUnit]!;
  out.isReadable = (out.version & 1) === 0 && isTickGrid(grid);
  out.grid = grid as TicksPerUnit;
  out.limit = limitOf(ticket, grid);
  out.minSize = marketF[(row << MARKET_F) + Market.minSize]! as MicroShares;
  out.baseFeeBps = marketI[market + Market.baseFeeBps]!;
  out.feeRate = marketI[market + Market.feeRate]!;
  out.feeExponent = marketI[market + Market.feeExponent]!;
  out.takerDelay = marketI[market + Market.takerDelay]!;
  out.isTradable = (marketI[market + Market.flags]! & MarketFlag.tradable) !== 0;
  out.hasRoom = hasPlace(t, book);
}

/**
 * Reads what a ticket of an account would meet under terms that were just read; 0 = an account without orders. Returns
 * false when a writer was inside since; then `out` is invalid. `agent`: as of mayEnd().
 */
export function readFacing(
  t: Tables,
  ticket: Ticket,
  account: AccountRow | 0,
  agent: number,
  out: FacingOrders,
): boolean {
  if (!out.isReadable) return false;
  const { bookI, matching, tokenI } = t;
  const { grid } = out;
  const token = ticket.token << TOKEN_I;
  const book = tokenI[token + Token.book]! as BookRow;
  const isMirrored = tokenI[token + Token.mirrored] === 1;
  const side = ticket.isBuy === isMirrored ? Side.ask : Side.bid;
  const facing = side === Side.bid ? Side.ask : Side.bid;
  const own = (tick: number): Ticks => (isMirrored ? grid - tick : tick) as Ticks;
  const best = matching.best(book, facing);
  out.best = best === NO_LEVEL ? 0 : own(best);
  const isLevel = out.limit !== 0 && matching.levels(book) === grid;
  out.atLimit = isLevel ? matching.quantityAt(book, own(out.limit)) : 0;
  const isRead = visitSide(matching, book, facing, visitor(t, ticket, account, agent, own, out));
  return isRead && Atomics.load(bookI, (book << BOOK_I) + Book.version) === out.version;
}

/** Ticks of a price. Off the grid an immediate order gets the next one in its favour, any other none. */
function limitOf({ isBuy, isImmediate, price }: Ticket, grid: number): Ticks | 0 {
  if (price === undefined) return 0;
  const scaled = (price * grid) / MICRO;
  const near = isBuy ? Math.min(Math.floor(scaled), grid - 1) : Math.max(Math.ceil(scaled), 1);
  const ticks = isImmediate ? near : scaled;
  return Number.isInteger(ticks) && ticks >= 1 && ticks < grid ? (ticks as Ticks) : 0;
}

/** Copies orders until the ticket has enough, its limit or an order of its own account is reached, or a bound is. */
function visitor(
  t: Tables,
  { amount, isBuy, shares, token }: Ticket,
  account: AccountRow | 0,
  agent: number,
  own: (tick: number) => Ticks,
  out: FacingOrders,
): (tick: number, size: number, word: number) => boolean {
  const { orderI, state } = t;
  const { grid, limit } = out;
  const policy = account === 0 ? SelfTrade.allow : state[State.selfTrade]!;
  const wanted = shares ?? Number.POSITIVE_INFINITY;
  // What a sale brings depends on its fee: it has enough when the side ends.
  const cash = isBuy ? (amount ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  let [found, cost, last, visited] = [0, 0, 0, 0];
  out.stop = 0;
  out.isCut = false;
  out.levels = 0;
  out.count = 0;
  return (tick, size, word) => {
    const ticks = own(tick);
    if (found >= wanted || cost >= cash) return false;
    if (limit !== 0 && !reaches(isBuy, ticks, limit)) return false;
    if (visited === PREVIEW_ORDERS_MAX || (ticks !== last && out.levels === PREVIEW_LEVELS_MAX)) {
      out.isCut = true;
      return false;
    }
    visited += 1;
    const order = word << ORDER_I;
    if (policy !== SelfTrade.allow && orderI[order + Order.maker] === account) {
      if (policy === SelfTrade.cancelMaker && mayEnd(t, word as OrderRow, agent)) return true;
      out.stop = ticks;
      return false;
    }
    if (ticks !== last) out.levels += 1;
    last = ticks;
    out.ticks[out.count] = ticks;
    out.sizes[out.count] = size;
    out.same[out.count] = orderI[order + Order.token] === token ? 1 : 0;
    out.count += 1;
    found += size;
    cost += mulDivFloor(size, ticks, grid);
    return true;
  };
}

/** True when a price of the other side is within the limit, both in ticks of the taker's token. */
export function reaches(isBuy: boolean, ticks: number, limit: number): boolean {
  return isBuy ? ticks <= limit : ticks >= limit;
}
