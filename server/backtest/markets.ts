/** The markets of a recording as a strategy sees them: what the source has, and what the strategy has of each. */

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
import { Holding } from './holding.ts';
import { Series } from './series.ts';
import type { Book, Level, Market } from './strategy.ts';

/** Points of the series of one market. */
const POINTS_MAX = 1_000;
/** Sums of a best bid and a best ask are of twice as many parts as a price. */
export const MID_PARTS = 2 * PIPS_PER_UNIT;

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
  /** Micro-units that the strategy got from this market, net of fees; negative = it paid more. */
  flow = 0;
  /** What its shares are worth, in micro-units, as it was counted last. */
  value = 0;
  fills = 0;
  /** The source's best bid and best ask, of MID_PARTS; NaN = it never had any. */
  mids = Number.NaN;
  /** Middle of the source's prices, net shares. */
  readonly series = new Series(2, POINTS_MAX);

  constructor(t: Tables, names: MarketNames, row: MarketRow, first: TokenRow, minSize: number) {
    this.id = names.id;
    this.question = names.question;
    this.outcomes = names.outcomes;
    this.tokens = names.tokens;
    this.row = row;
    this.first = first;
    this.minSize = minSize;
    this.books = [new TokenBook(t, this, 0), new TokenBook(t, this, 1)];
  }

  toJSON(): object {
    const { id, minSize, outcomes, payout, question, state, tokens } = this;
    return { id, question, outcomes, tokens, state, payout, minSize };
  }

  /** What its shares are worth now: at what it paid, or at the middle of the source's prices. */
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
  // Who prints a book does not want the tables.
  readonly #t: Tables;
  readonly #book: BookRow;
  readonly #isMirrored: boolean;

  constructor(t: Tables, market: TradedMarket, outcome: 0 | 1) {
    this.#t = t;
    this.market = market;
    this.token = market.tokens[outcome]!;
    this.row = (market.first + outcome) as TokenRow;
    this.#book = tokenBook(t, this.row);
    this.#isMirrored = outcome === 1;
  }

  get tick(): number {
    return 1 / bookTicks(this.#t, this.#book);
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
    readDepth(this.#t, this.row, depth);
    return levelsOf(depth.bids, depth.ticksPerUnit);
  }

  get asks(): Level[] {
    readDepth(this.#t, this.row, depth);
    return levelsOf(depth.asks, depth.ticksPerUnit);
  }

  toJSON(): object {
    const { ask, bid, mid, tick, token } = this;
    return { token, bid, ask, mid, tick };
  }

  private best(side: matching.Side): number | undefined {
    const ticks = this.#t.matching.best(this.#book, side);
    if (ticks === NO_LEVEL) return undefined;
    const grid = bookTicks(this.#t, this.#book);
    return (this.#isMirrored ? grid - ticks : ticks) / grid;
  }
}

/** Best first: the other way round than it is read. */
function levelsOf({ count, sizes, ticks }: DepthSide, grid: number): Level[] {
  return Array.from({ length: count }, (_, i) => {
    const at = count - 1 - i;
    return { price: ticks[at]! / grid, size: sizes[at]! / MICRO };
  });
}
