/** The markets of a recording as a strategy sees them, with its shares and money in each. */

import type * as matching from '../../engine/book/matching.ts';
import { NO_LEVEL, Side } from '../../engine/book/matching.ts';
import { bookTicks, tokenBook } from '../../engine/reads.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  type BookRow,
  type MarketRow,
  MICRO,
  mulDivFloor,
  PIPS_PER_UNIT,
  type TokenRow,
} from '../../engine/tables/units.ts';
import { Equity } from './equity.ts';
import { Holding } from './holding.ts';
import type { OwnOrder } from './orders.ts';
import { Series } from './series.ts';
import type { Book, Level, Market } from './strategy.ts';
import { MID_PARTS, TradeTally } from './tally.ts';

const POINTS_MAX = 1_000;

export interface MarketNames {
  readonly id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
}

export class TradedMarket implements Market {
  readonly id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly row: MarketRow;
  readonly first: TokenRow;
  readonly books: readonly [TokenBook, TokenBook];
  state: Market['state'] = 'open';
  payout: readonly number[] | undefined;
  minSize: number;

  readonly holding = new Holding();
  /** Micro-shares of each outcome. */
  readonly shares: [number, number] = [0, 0];
  /** Micro-units received from this market, net of fees; negative if more was paid. */
  flow = 0;
  value = 0;
  readonly tally = new TradeTally();
  /** Profit in micro-units over time. */
  readonly equity = new Equity(0);
  /** Micro-shares. */
  sharesMax = 0;
  /** Own orders in the book. */
  readonly resting: OwnOrder[] = [];
  /** Sides with an own order at the best price, and since when; undefined before the first order. */
  sidesAtBest = 0;
  bestSince: number | undefined;
  /** Sum of the source's best bid and best ask, in MID_PARTS; NaN before the first pair. */
  mids = Number.NaN;
  /** Columns: middle of the source's prices, net shares. */
  readonly series = new Series(2, POINTS_MAX);

  constructor(
    tables: Tables,
    names: MarketNames,
    row: MarketRow,
    first: TokenRow,
    minSize: number,
  ) {
    this.id = names.id;
    this.question = names.question;
    this.outcomes = names.outcomes;
    this.tokens = names.tokens;
    this.row = row;
    this.first = first;
    this.minSize = minSize;
    this.books = [new TokenBook(tables, this, 0), new TokenBook(tables, this, 1)];
  }

  toJSON(): object {
    const { id, minSize, outcomes, payout, question, state, tokens } = this;
    return { id, question, outcomes, tokens, state, payout, minSize };
  }

  /** Counts the sides of the book with an own order at the best price. */
  countAtBest(): number {
    const { books, resting } = this;
    if (resting.length === 0) return 0;
    const atBid = resting.some((order) => this.isBid(order) && books[0].isBest(order, true));
    const atAsk = resting.some((order) => !this.isBid(order) && books[0].isBest(order, false));
    return Number(atBid) + Number(atAsk);
  }

  private isBid({ side, token }: OwnOrder): boolean {
    return (side === 'BUY') === (token === this.tokens[0]);
  }

  /** Values the shares at the middle of the source's prices, or at cost before the first pair of prices. */
  valueNow(): number {
    const [first, second] = this.shares;
    if (first === 0 && second === 0) return 0;
    // Without a price, one outcome is worth as much as the other.
    const mids = Number.isNaN(this.mids) ? PIPS_PER_UNIT : this.mids;
    return mulDivFloor(first, mids, MID_PARTS) + mulDivFloor(second, MID_PARTS - mids, MID_PARTS);
  }
}

const depth = new Depth();

export class TokenBook implements Book {
  readonly token: string;
  readonly market: TradedMarket;
  readonly row: TokenRow;
  // Private, so that a printed book does not show the tables.
  readonly #tables: Tables;
  readonly #book: BookRow;
  readonly #isMirrored: boolean;

  constructor(tables: Tables, market: TradedMarket, outcome: 0 | 1) {
    this.#tables = tables;
    this.market = market;
    this.token = market.tokens[outcome]!;
    this.row = (market.first + outcome) as TokenRow;
    this.#book = tokenBook(tables, this.row);
    this.#isMirrored = outcome === 1;
  }

  get tick(): number {
    return 1 / bookTicks(this.#tables, this.#book);
  }

  get bid(): number | undefined {
    return this.best(this.#isMirrored ? Side.ask : Side.bid);
  }

  get ask(): number | undefined {
    return this.best(this.#isMirrored ? Side.bid : Side.ask);
  }

  get mid(): number | undefined {
    const { mids } = this.market;
    if (Number.isNaN(mids)) return undefined;
    return (this.#isMirrored ? MID_PARTS - mids : mids) / MID_PARTS;
  }

  get bids(): Level[] {
    readDepth(this.#tables, this.row, depth);
    return levelsOf(depth.bids, depth.ticksPerUnit);
  }

  get asks(): Level[] {
    readDepth(this.#tables, this.row, depth);
    return levelsOf(depth.asks, depth.ticksPerUnit);
  }

  toJSON(): object {
    const { ask, bid, mid, tick, token } = this;
    return { token, bid, ask, mid, tick };
  }

  /** True for an order of either outcome at the best price of a side. Called for the book of the first outcome. */
  isBest({ pips, token }: OwnOrder, isBid: boolean): boolean {
    const best = this.#tables.matching.best(this.#book, isBid ? Side.bid : Side.ask);
    if (best === NO_LEVEL) return false;
    const own = token === this.token ? pips : PIPS_PER_UNIT - pips;
    return own * bookTicks(this.#tables, this.#book) === best * PIPS_PER_UNIT;
  }

  private best(side: matching.Side): number | undefined {
    const ticks = this.#tables.matching.best(this.#book, side);
    if (ticks === NO_LEVEL) return undefined;
    const grid = bookTicks(this.#tables, this.#book);
    return (this.#isMirrored ? grid - ticks : ticks) / grid;
  }
}

/** Returns the levels best first, the reverse of the order in which they are read. */
function levelsOf({ count, sizes, ticks }: DepthSide, grid: number): Level[] {
  return Array.from({ length: count }, (_, i) => {
    const at = count - 1 - i;
    return { price: ticks[at]! / grid, size: sizes[at]! / MICRO };
  });
}
