/**
 * Books: ladders in the level table, and the queue of orders at each level. Ticks index the levels
 * of a ladder directly, so level 0 (price zero) is never used.
 */
import { assert } from './assert.ts';
import type { Core } from './core.ts';
import * as events from './events.ts';
import { type LadderShape, ladderShape, nextAbove, nextBelow, occupy, vacate } from './ladder.ts';
import * as layout from './layout.ts';
import type { Tables } from './tables.ts';
import type { BookSlot, MicroShares, OrderSlot, Ticks, TicksPerUnit } from './units.ts';
import { gridIndex, TICK_GRIDS } from './units.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  BOOK_I,
  Book,
  Flag,
  LEVEL_F,
  LEVEL_I,
  Level,
  LINK_I,
  Link,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} = layout;

const { EventKind } = events;

const SHAPES: readonly LadderShape[] = TICK_GRIDS.map((grid) => ladderShape(grid));

assert(State.levelFree + TICK_GRIDS.length <= State.expiries, 'each grid has its free ladders');

export function shapeOf(ticksPerUnit: TicksPerUnit): LadderShape {
  return SHAPES[gridIndex(ticksPerUnit)]!;
}

/** True when a ladder of this grid can be had. */
export function ladderAvailable(t: Tables, ticksPerUnit: TicksPerUnit): boolean {
  if (t.state[State.levelFree + gridIndex(ticksPerUnit)]! !== 0) return true;
  return t.state[State.levelRows]! + shapeOf(ticksPerUnit).rows <= t.capacities.levels;
}

/** Takes an empty ladder; the caller made sure that there is one. */
export function takeLadder(t: Tables, ticksPerUnit: TicksPerUnit): number {
  const free = State.levelFree + gridIndex(ticksPerUnit);
  const recycled = t.state[free]!;
  if (recycled !== 0) {
    t.state[free] = t.levelI[recycled << LEVEL_I]!;
    t.levelI[recycled << LEVEL_I] = 0;
    return recycled;
  }
  assert(ladderAvailable(t, ticksPerUnit), 'a ladder is reserved before it is taken');
  const base = t.state[State.levelRows]! + 1;
  t.state[State.levelRows] = base - 1 + shapeOf(ticksPerUnit).rows;
  return base;
}

/** Gives an empty ladder back: its first word links the list of free ones. */
export function giveLadder(t: Tables, base: number, ticksPerUnit: TicksPerUnit): void {
  const free = State.levelFree + gridIndex(ticksPerUnit);
  assert(t.levelI[base << LEVEL_I] === 0, 'only an empty ladder is given back');
  t.levelI[base << LEVEL_I] = t.state[free]!;
  t.state[free] = base;
}

/** Row of a level in the level table. */
export function levelRow(t: Tables, book: BookSlot, tick: Ticks): number {
  const at = book << BOOK_I;
  const base = t.bookI[at + Book.base]!;
  return base + shapeOf(t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit).firstLevelRow + tick;
}

/** Total resting quantity at a level; 0 where the book has no ladder yet. */
export function levelQuantity(t: Tables, book: BookSlot, tick: Ticks): MicroShares {
  if (t.bookI[(book << BOOK_I) + Book.base] === 0) return 0 as MicroShares;
  return t.levelF[(levelRow(t, book, tick) << LEVEL_F) + Level.quantity]! as MicroShares;
}

/** The next worse occupied level of a side after `tick` (0: from price zero on); 0 = none. */
export function worseLevel(t: Tables, book: BookSlot, ask: boolean, tick: Ticks | 0): Ticks | 0 {
  const at = book << BOOK_I;
  const shape = shapeOf(t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit);
  const base = t.bookI[at + Book.base]! << LEVEL_I;
  const found = ask
    ? nextAbove(shape, t.levelI, base, tick)
    : nextBelow(shape, t.levelI, base, tick);
  return found === -1 ? 0 : (found as Ticks);
}

/** Puts an order at the end of the queue of its level. Its columns are already set. */
export function rest(core: Core, slot: OrderSlot, book: BookSlot): void {
  const { t } = core;
  core.touch(book);
  const order = slot << ORDER_I;
  const tick = t.orderI[order + Order.price]! as Ticks;
  const ask = (t.orderI[order + Order.flags]! & Flag.ask) !== 0;
  const at = book << BOOK_I;
  const shape = shapeOf(t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit);
  let base = t.bookI[at + Book.base]!;
  if (base === 0) {
    base = takeLadder(t, shape.levels as TicksPerUnit);
    t.bookI[at + Book.base] = base;
  }
  const row = base + shape.firstLevelRow + tick;
  const level = row << LEVEL_I;
  const tail = t.levelI[level + Level.tail]!;
  t.linkI[(slot << LINK_I) + Link.next] = 0;
  t.linkI[(slot << LINK_I) + Link.prev] = tail;
  if (tail === 0) {
    t.levelI[level + Level.head] = slot;
    occupy(shape, t.levelI, base << LEVEL_I, tick);
    const bestAt = at + (ask ? Book.bestAsk : Book.bestBid);
    const best = t.bookI[bestAt]!;
    if (best === 0 || (ask ? tick < best : tick > best)) t.bookI[bestAt] = tick;
  } else {
    t.linkI[(tail << LINK_I) + Link.next] = slot;
  }
  t.levelI[level + Level.tail] = slot;
  const quantity =
    t.levelF[(row << LEVEL_F) + Level.quantity]! + t.orderF[(slot << ORDER_F) + Order.remaining]!;
  t.levelF[(row << LEVEL_F) + Level.quantity] = quantity;
  t.bookI[at + Book.orders]! += 1;
  core.events.level(EventKind.levelPlaced, book, tick, shape.levels, quantity as MicroShares, 0);
}

/** Takes a resting order out of its level, whatever remains of it. */
export function unrest(core: Core, slot: OrderSlot): void {
  const { t } = core;
  const order = slot << ORDER_I;
  const book = t.tokenI[(t.orderI[order + Order.token]! << TOKEN_I) + Token.book]! as BookSlot;
  core.touch(book);
  const at = book << BOOK_I;
  const shape = shapeOf(t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit);
  const base = t.bookI[at + Book.base]!;
  const tick = t.orderI[order + Order.price]! as Ticks;
  const row = base + shape.firstLevelRow + tick;
  const level = row << LEVEL_I;
  const before = t.linkI[(slot << LINK_I) + Link.prev]!;
  const after = t.linkI[(slot << LINK_I) + Link.next]!;
  if (before === 0) t.levelI[level + Level.head] = after;
  else t.linkI[(before << LINK_I) + Link.next] = after;
  if (after === 0) t.levelI[level + Level.tail] = before;
  else t.linkI[(after << LINK_I) + Link.prev] = before;
  const quantity =
    t.levelF[(row << LEVEL_F) + Level.quantity]! - t.orderF[(slot << ORDER_F) + Order.remaining]!;
  t.levelF[(row << LEVEL_F) + Level.quantity] = quantity;
  t.bookI[at + Book.orders]! -= 1;
  // It is finished next.
  core.events.level(
    EventKind.levelFinished,
    book,
    tick,
    shape.levels,
    quantity as MicroShares,
    t.state[State.finished]!,
  );
  if (before !== 0 || after !== 0) return;
  vacate(shape, t.levelI, base << LEVEL_I, tick);
  if (t.bookI[at + Book.bestAsk] === tick) {
    t.bookI[at + Book.bestAsk] = worseLevel(t, book, true, tick);
  } else if (t.bookI[at + Book.bestBid] === tick) {
    t.bookI[at + Book.bestBid] = worseLevel(t, book, false, tick);
  }
}
