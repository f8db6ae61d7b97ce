/**
 * State of an engine for the fill model: the paper orders at a price level, and the source level there. It is read
 * from the tables, so a restart needs no state of the model.
 *
 * Thread: any, while no other one writes the book: the caller compares the version of the book (tables/depth.ts)
 * before and after a message, or applies what the model says before it goes on.
 */
import { assert, NO_LEVEL, readSide } from '../book/matching.ts';
import { type CommandBuffer, encodeMarketChange } from '../commands.ts';
import {
  bookMarket,
  bookTicks,
  isMirroredToken,
  marketFeeBps,
  marketFlags,
  marketMinSize,
  orderIdAt,
  tokenBook,
} from '../reads.ts';
import { ID_WORDS } from '../tables/codes.ts';
import { Flag, ORDER_I, Order } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import {
  type BookRow,
  type MicroShares,
  type OrderRow,
  PIPS_PER_UNIT,
  type TicksPerUnit,
  type TokenRow,
} from '../tables/units.ts';
import type { SourceLevel } from './source-book.ts';

export interface PaperOrder {
  readonly id: Int32Array;
  readonly remaining: MicroShares;
}

/** View of one book. Sides and pips are those of its first outcome; orders of both outcomes are in it. */
export interface PaperOrders {
  readonly ticksPerUnit: TicksPerUnit;
  /** Paper orders at a price, oldest first; `before`: at better prices, best first. */
  at(side: number, pips: number): readonly PaperOrder[];
  before(side: number, pips: number): readonly PaperOrder[];
  sourceAt(side: number, pips: number): number;
  sourceLevels(side: number): readonly SourceLevel[];
  changeTicks(ticksPerUnit: TicksPerUnit, out: CommandBuffer): void;
}

const NONE: readonly PaperOrder[] = [];

export class EngineOrders implements PaperOrders {
  private readonly t: Tables;
  private readonly book: BookRow;

  constructor(t: Tables, token: TokenRow) {
    assert(!isMirroredToken(t, token), 'a book is mirrored by its first outcome');
    this.t = t;
    this.book = tokenBook(t, token);
  }

  get ticksPerUnit(): TicksPerUnit {
    return bookTicks(this.t, this.book);
  }

  at(side: number, pips: number): readonly PaperOrder[] {
    const level = this.levelOf(pips);
    return level === 0 ? NONE : this.ordersAt(side, level, NONE);
  }

  before(side: number, pips: number): readonly PaperOrder[] {
    const { matching } = this.t;
    let found: readonly PaperOrder[] = NONE;
    const step = PIPS_PER_UNIT / this.ticksPerUnit;
    const isBetter = (level: number): boolean =>
      side === 0 ? level * step > pips : level * step < pips;
    let level = matching.best(this.book, side as 0 | 1);
    while (level !== NO_LEVEL && isBetter(level)) {
      found = this.ordersAt(side, level, found);
      level = matching.worse(this.book, side as 0 | 1, level);
    }
    return found;
  }

  sourceAt(side: number, pips: number): number {
    const { matching: m } = this.t;
    const level = this.levelOf(pips);
    if (level === 0) return 0;
    for (let slot = m.first(this.book, level); slot !== 0; slot = m.next(slot)) {
      if (this.isSource(slot)) return m.side(slot) === side ? m.remaining(slot) : 0;
    }
    return 0;
  }

  sourceLevels(side: number): readonly SourceLevel[] {
    const { ticksPerUnit } = this;
    const levels = new Int32Array(ticksPerUnit);
    const sizes = new Float64Array(ticksPerUnit);
    const count = readSide(this.t.matching, this.book, side as 0 | 1, levels, sizes);
    const found: SourceLevel[] = [];
    for (const level of levels.subarray(0, count)) {
      const pips = level * (PIPS_PER_UNIT / ticksPerUnit);
      const size = this.sourceAt(side, pips);
      if (size > 0) found.push({ pips, size });
    }
    return found;
  }

  changeTicks(ticksPerUnit: TicksPerUnit, out: CommandBuffer): void {
    const { t } = this;
    const market = bookMarket(t, this.book);
    encodeMarketChange(out, market, {
      flags: marketFlags(t, market),
      ticksPerUnit,
      baseFeeBps: marketFeeBps(t, market),
      minSize: marketMinSize(t, market),
    });
  }

  /** 0 = the price is off the grid. */
  private levelOf(pips: number): number {
    const level = (pips * this.ticksPerUnit) / PIPS_PER_UNIT;
    return Number.isInteger(level) ? level : 0;
  }

  private ordersAt(
    side: number,
    level: number,
    before: readonly PaperOrder[],
  ): readonly PaperOrder[] {
    const { matching: m, orderI } = this.t;
    let found = before;
    for (let slot = m.first(this.book, level); slot !== 0; slot = m.next(slot)) {
      if (m.side(slot) !== side || this.isSource(slot)) continue;
      const at = orderIdAt(m.userData(slot) as OrderRow);
      const id = orderI.slice(at, at + ID_WORDS);
      found = [...found, { id, remaining: m.remaining(slot) as MicroShares }];
    }
    return found;
  }

  private isSource(slot: number): boolean {
    const row = this.t.matching.userData(slot);
    return (this.t.orderI[(row << ORDER_I) + Order.flags]! & Flag.source) !== 0;
  }
}
