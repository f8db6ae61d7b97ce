/**
 * Books of the exchange: ticks of a grid over the levels of the matching core. A tick is the level of the same
 * number, so level 0 (price zero) is never used and 0 means "no tick".
 */

import { NO_LEVEL, readSide, Side } from '../book/matching.ts';
import type { EngineContext } from '../context.ts';
import { EventKind } from '../events.ts';
import { BOOK_I, Book, ORDER_F, Order, State } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { BookRow, MicroShares, OrderRow, Ticks } from '../tables/units.ts';

export function bestTick(t: Tables, book: BookRow, side: Side): Ticks | 0 {
  const level = t.matching.best(book, side);
  return level === NO_LEVEL ? 0 : (level as Ticks);
}

/** Places of open orders that are taken: of those that rest, and of those that wait for a taker delay. */
export function placesTaken({ state }: Pick<Tables, 'state'>): number {
  return state[State.openOrders]! + state[State.sourceLevels]! + state[State.delays]!;
}

/**
 * True when one more order can rest in a book. Delayed orders hold their places, so that no capacity decides what
 * becomes of them later: a replay may have larger tables.
 */
export function hasPlace(t: Tables, book: BookRow): boolean {
  return placesTaken(t) < t.capacities.orders && t.matching.hasRoom(book);
}

/** Calls `visit` for each order of a book, lowest price first, in queue order. `visit` may remove it. */
export function eachOrder(
  t: Tables,
  book: BookRow,
  visit: (row: OrderRow, tick: Ticks) => void,
): void {
  const { matching: m } = t;
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
  const ticksOf = (side: Side): Int32Array => {
    const ticks = new Int32Array(grid);
    return ticks.subarray(0, readSide(m, book, side, ticks, new Float64Array(grid)));
  };
  for (const tick of [...ticksOf(Side.bid).reverse(), ...ticksOf(Side.ask)]) {
    for (let restingSlot = m.first(book, tick); restingSlot !== 0; ) {
      const next = m.next(restingSlot);
      visit(m.userData(restingSlot) as OrderRow, tick as Ticks);
      restingSlot = next;
    }
  }
}

export function rest(
  context: EngineContext,
  order: OrderRow,
  book: BookRow,
  side: Side,
  tick: Ticks,
): number {
  const { t } = context;
  const { matching: m } = t;
  context.touch(book);
  const restingSlot = m.rest(
    book,
    side,
    tick,
    t.orderF[(order << ORDER_F) | Order.remaining]!,
    order,
  );
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
  context.events.level(EventKind.levelPlaced, book, tick, grid, m.total as MicroShares, 0);
  return restingSlot;
}
