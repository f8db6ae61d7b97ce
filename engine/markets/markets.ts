/**
 * Markets, tokens and books: registration, and the changes that a catalog may bring. negRisk and
 * the token ids of a market never change (docs/protocol.md#market-terms).
 */

import { canRescale, NO_LEVEL, rescale, Side } from '../book/matching.ts';
import * as commands from '../commands.ts';
import type { Core } from '../context.ts';
import { eachOrder } from '../orders/books.ts';
import { closeOrder } from '../orders/orders.ts';
import type { RuleCode } from '../orders/reject-reasons.ts';
import * as rules from '../orders/reject-reasons.ts';
import { indexFind, indexInsert, tagOf } from '../tables/hash-index.ts';
import type { EndReasonCode } from '../tables/layout.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  BookSlot,
  MarketSlot,
  MicroShares,
  Ticks,
  TicksPerUnit,
  TokenSlot,
} from '../tables/units.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  BOOK_F,
  BOOK_I,
  Book,
  EndReason,
  ID_WORDS,
  MARKET_F,
  MARKET_I,
  Market,
  MarketFlag,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} = layout;
const { MarketChangeCommand, MarketCommand } = commands;
const { Rule } = rules;
const SIDES = [Side.bid, Side.ask] as const;

/** Market slot of a condition id (8 words from `offset`), or 0. */
export function findMarket(t: Tables, key: Int32Array, offset: number): MarketSlot | 0 {
  const tag = tagOf(key, offset, ID_WORDS);
  const { marketIndex, marketI } = t;
  return indexFind(marketIndex, marketI, MARKET_I, Market.condition, key, offset, ID_WORDS, tag);
}

/** Token slot of a token id (8 words from `offset`), or 0. */
export function findToken(t: Tables, key: Int32Array, offset: number): TokenSlot | 0 {
  const tag = tagOf(key, offset, ID_WORDS);
  return indexFind(t.tokenIndex, t.tokenI, TOKEN_I, Token.id, key, offset, ID_WORDS, tag);
}

/** Applies a market command: two outcomes share one mirrored book, any other number has one each. */
export function registerMarket(
  core: Core,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RuleCode {
  const { t } = core;
  const count = i32[at + MarketCommand.tokenCount]!;
  if (findMarket(t, i32, at + MarketCommand.condition) !== 0) return Rule.marketRefused;
  for (let outcome = 0; outcome < count; outcome++) {
    const id = at + MarketCommand.tokens + ID_WORDS * outcome;
    if (findToken(t, i32, id) !== 0) return Rule.marketRefused;
    for (let other = 0; other < outcome; other++) {
      const same = at + MarketCommand.tokens + ID_WORDS * other;
      let differs = false;
      for (let w = 0; w < ID_WORDS; w++) if (i32[id + w] !== i32[same + w]) differs = true;
      if (!differs) return Rule.marketRefused;
    }
  }
  if (t.state[State.markets]! + 1 > t.capacities.markets) return Rule.tableFull;
  if (t.state[State.tokens]! + count > t.capacities.tokens) return Rule.tableFull;

  core.changes += 1;
  const isPair = count === 2;
  const market = t.state[State.markets]! + 1;
  const firstToken = t.state[State.tokens]! + 1;
  const firstBook = t.state[State.books]! + 1;
  const bookCount = isPair ? 1 : count;
  t.state[State.markets] = market;
  t.state[State.tokens] = firstToken + count - 1;
  t.state[State.books] = firstBook + bookCount - 1;
  const grid = i32[at + MarketCommand.ticksPerUnit]!;
  const row = market << MARKET_I;
  for (let w = 0; w < ID_WORDS; w++) {
    t.marketI[row + Market.condition + w] = i32[at + MarketCommand.condition + w]!;
  }
  t.marketI[row + Market.flags] = i32[at + MarketCommand.flags]!;
  t.marketI[row + Market.ticksPerUnit] = grid;
  t.marketI[row + Market.baseFeeBps] = i32[at + MarketCommand.baseFeeBps]!;
  t.marketI[row + Market.firstToken] = firstToken;
  t.marketI[row + Market.tokenCount] = count;
  t.marketI[row + Market.firstBook] = firstBook;
  t.marketI[row + Market.bookCount] = bookCount;
  t.marketF[(market << MARKET_F) + Market.minSize] = f64[at / 2 + MarketCommand.minSize]!;
  t.marketF[(market << MARKET_F) + Market.registeredAt] = core.time;
  for (let outcome = 0; outcome < count; outcome++) {
    const token = firstToken + outcome;
    const tokenRow = token << TOKEN_I;
    for (let w = 0; w < ID_WORDS; w++) {
      t.tokenI[tokenRow + Token.id + w] = i32[at + MarketCommand.tokens + ID_WORDS * outcome + w]!;
    }
    t.tokenI[tokenRow + Token.market] = market;
    t.tokenI[tokenRow + Token.outcome] = outcome;
    t.tokenI[tokenRow + Token.book] = isPair ? firstBook : firstBook + outcome;
    t.tokenI[tokenRow + Token.mirrored] = isPair ? outcome : 0;
    t.tokenI[tokenRow + Token.complement] = isPair ? firstToken + 1 - outcome : 0;
    indexInsert(t.tokenIndex, tagOf(t.tokenI, tokenRow + Token.id, ID_WORDS), token);
  }
  for (let book = firstBook; book < firstBook + bookCount; book++) {
    t.matching.open(book, grid);
    t.bookI[(book << BOOK_I) + Book.market] = market;
    t.bookI[(book << BOOK_I) + Book.ticksPerUnit] = grid;
    t.bookI[(book << BOOK_I) + Book.firstToken] = firstToken + (book - firstBook);
    t.bookF[(book << BOOK_F) + Book.changedAt] = core.time;
  }
  const minSize = f64[at / 2 + MarketCommand.minSize]! as MicroShares;
  core.events.market(market as MarketSlot, true, i32[at + MarketCommand.baseFeeBps]!, minSize);
  // Last, so that a reader that finds the market finds all of it.
  indexInsert(t.marketIndex, tagOf(t.marketI, row + Market.condition, ID_WORDS), market);
  core.note(market);
  return Rule.accepted;
}

/** Applies a market change: flags, fee, minimum size, tick. An ended market loses its orders. */
export function changeMarket(core: Core, i32: Int32Array, f64: Float64Array, at: number): RuleCode {
  const { t } = core;
  const market = i32[at + MarketChangeCommand.market]! as MarketSlot;
  if (market < 1 || market > t.state[State.markets]!) return Rule.marketRefused;
  const row = market << MARKET_I;
  const before = t.marketI[row + Market.flags]!;
  const flags = i32[at + MarketChangeCommand.flags]!;
  if (((flags ^ before) & MarketFlag.negRisk) !== 0) return Rule.marketRefused;
  const grid = i32[at + MarketChangeCommand.ticksPerUnit]! as TicksPerUnit;
  const firstBook = t.marketI[row + Market.firstBook]! as BookSlot;
  const endBook = firstBook + t.marketI[row + Market.bookCount]!;
  const endsNow = (flags & MarketFlag.ended) !== 0 && (before & MarketFlag.ended) === 0;
  if (grid !== t.marketI[row + Market.ticksPerUnit]!) {
    // One that ends has nothing left to move, so it never fails for want of room.
    const moved = endsNow ? 0 : countBooksInUse(t, firstBook, endBook);
    if (!canRescale(t.matching, grid, moved)) return Rule.tableFull;
  }

  core.changes += 1;
  core.note(market);
  // Before anything else: a reader must not see new terms under an old version.
  for (let book = firstBook; book < endBook; book++) core.touch(book);
  if (endsNow) {
    for (let book = firstBook; book < endBook; book++) {
      cancelWhere(core, book, EndReason.marketEnded, () => true);
    }
  }
  if (grid !== t.marketI[row + Market.ticksPerUnit]!) {
    for (let book = firstBook; book < endBook; book++) regrid(core, book, grid);
    t.marketI[row + Market.ticksPerUnit] = grid;
  }
  t.marketI[row + Market.flags] = flags;
  const baseFeeBps = i32[at + MarketChangeCommand.baseFeeBps]!;
  t.marketI[row + Market.baseFeeBps] = baseFeeBps;
  const minSize = f64[at / 2 + MarketChangeCommand.minSize]! as MicroShares;
  t.marketF[(market << MARKET_F) + Market.minSize] = minSize;
  core.events.market(market, false, baseFeeBps, minSize);
  return Rule.accepted;
}

/** Books in which orders rest. */
function countBooksInUse(t: Tables, first: BookSlot, end: number): number {
  let count = 0;
  for (let book: number = first; book < end; book++) {
    const isEmpty = SIDES.every((side) => t.matching.best(book, side) === NO_LEVEL);
    if (!isEmpty) count += 1;
  }
  return count;
}

function cancelWhere(
  core: Core,
  book: BookSlot,
  reason: EndReasonCode,
  matches: (tick: Ticks) => boolean,
): void {
  eachOrder(core.t, book, (slot, tick) => {
    if (matches(tick)) closeOrder(core, slot, reason);
  });
}

/**
 * Moves a book to another grid: orders off the new grid are cancelled first, the other
 * levels are rescaled and keep their queues. A finer grid that is a multiple of the old one loses
 * nothing; 0.0025 to 0.001 is finer too and loses what is between its ticks.
 * Rules: docs/protocol.md#market-terms
 */
function regrid(core: Core, book: BookSlot, grid: TicksPerUnit): void {
  const { t } = core;
  const at = book << BOOK_I;
  const oldGrid = t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit;
  core.touch(book);
  const isOnGrid = (tick: number): boolean => (tick * grid) % oldGrid === 0;
  cancelWhere(core, book, EndReason.tickChange, (tick) => !isOnGrid(tick));
  eachOrder(t, book, (slot, tick) => {
    t.orderI[(slot << ORDER_I) + Order.price] = (tick * grid) / oldGrid;
  });
  rescale(t.matching, book, grid, grid, oldGrid);
  t.bookI[at + Book.ticksPerUnit] = grid;
  core.events.tick(book, oldGrid, grid);
}
