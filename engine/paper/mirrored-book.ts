/**
 * Mirror of a source's book: messages become `level`, `print` and `fill` commands. It compares the source with what
 * the engine was last sent and encodes the difference. Its caller applies each message before the next one, because
 * paper orders are read from the engine's tables (paper-orders.ts).
 *
 *   source   what the source said, in its own prices
 *   wanted   the same on the grid of the book, without levels that cross each other
 *   sent     what the engine was last given
 *
 * Rules: docs/guides/paper-and-backtests.md#the-fill-model
 * Thread: one, which is the caller's.
 */
import { type CommandBuffer, encodeFill, encodeLevel, encodePrint, Side } from '../commands.ts';
import {
  type MicroShares,
  PIPS_PER_UNIT,
  type Pips,
  type TicksPerUnit,
  type TokenRow,
} from '../tables/units.ts';
import { DoubleReports } from './double-reports.ts';
import { keyOf, Levels, pipsOfKey } from './levels.ts';
import type { PaperOrder, PaperOrders } from './paper-orders.ts';
import { Place, type QueueRule } from './place.ts';
import { SourceBook, type SourceChange, type SourceLevel } from './source-book.ts';

/**
 * Time at which quantity that paper orders took comes back: with the next change of the level, or with the next
 * message.
 */
export const IMPACTS = ['keep', 'restore'] as const;
export type Impact = (typeof IMPACTS)[number];

export interface MirroredBookOptions {
  readonly token: TokenRow;
  readonly impact: Impact;
  readonly queue: QueueRule;
  readonly paper: PaperOrders;
}

const SIDES = [Side.buy, Side.sell] as const;
const NO_PLACES: ReadonlyMap<string, Place> = new Map();

export class MirroredBook {
  readonly source = new SourceBook();
  /** Unix milliseconds of the message at hand by the source's clock, set by its feeder (double-reports.ts). */
  time = 0;
  private readonly options: MirroredBookOptions;
  private readonly sent: readonly [Levels, Levels] = [new Levels(), new Levels()];
  /** Paper orders seen when their level was last touched, by side and price, then by id. */
  private readonly places = new Map<number, Map<string, Place>>();
  private readonly reports = new Map<number, DoubleReports>();
  /** Keys by side at which wanted and sent may differ. Mostly one, so a list; `touchAll` makes long ones. */
  private readonly touched: readonly [number[], number[]] = [[], []];
  private step: number;
  /** False before the first snapshot and after lost messages. */
  private isKnown = false;
  /** True while some source levels are not sent: the source is crossed, or prices are off the grid. */
  private isIrregular = false;

  constructor(options: MirroredBookOptions) {
    this.options = options;
    this.step = PIPS_PER_UNIT / options.paper.ticksPerUnit;
    this.resume();
  }

  /** Replaces all source levels. After the first snapshot orders queue behind all of it. */
  snapshot(bids: readonly SourceLevel[], asks: readonly SourceLevel[], out: CommandBuffer): void {
    this.replace(bids, asks, out);
    this.isKnown = true;
  }

  change(side: number, pips: number, size: number, out: CommandBuffer): void {
    this.changes([{ side, pips, size }], out);
  }

  changes(changes: readonly SourceChange[], out: CommandBuffer): void {
    if (!this.isKnown) return;
    this.begin();
    for (const { pips, side, size } of changes)
      this.setLevel(side as 0 | 1, keyOf(side, pips), size);
    this.send(out);
  }

  print(side: number, pips: number, size: number, out: CommandBuffer): void {
    this.prints([{ side, pips, size }], out);
  }

  /** Applies the trade prints of one message together; a side is that of the taker. */
  prints(prints: readonly SourceChange[], out: CommandBuffer): void {
    const { token } = this.options;
    /** Micro-shares for each order, by id. */
    const given = new Map<string, number>();
    for (const { pips, side, size } of prints) {
      encodePrint(out, { token, side, pips: pips as Pips, size: size as MicroShares });
      if (!this.isKnown) continue;
      this.share(side === Side.buy ? Side.sell : Side.buy, pips, size, given, out);
    }
  }

  private share(
    side: 0 | 1,
    pips: number,
    size: number,
    given: Map<string, number>,
    out: CommandBuffer,
  ): void {
    const { paper } = this.options;
    let left = size;
    const give = (order: PaperOrder, reached: number): void => {
      const name = nameOf(order);
      const before = given.get(name) ?? 0;
      const filled = Math.min(order.remaining - before, reached);
      if (filled <= 0) return;
      encodeFill(out, order.id, filled as MicroShares);
      given.set(name, before + filled);
      left -= filled;
    };
    for (const order of paper.before(side, pips)) give(order, left);
    const key = keyOf(side, pips);
    const orders = paper.at(side, pips);
    const places = this.placesAt(side, key, orders);
    this.reportsAt(side, key).print(size, this.time);
    for (const order of orders) {
      const reached = places.get(nameOf(order))!.print(size, this.time);
      // What earlier paper orders got of the print is not left for this one.
      give(order, reached - (size - left));
    }
  }

  /** Applies another tick of the source. Paper orders off its grid end. */
  changeTicks(ticksPerUnit: TicksPerUnit, out: CommandBuffer): void {
    this.options.paper.changeTicks(ticksPerUnit, out);
  }

  /** Removes all source levels, when the source is stale or silent. The next snapshot restores them. */
  clear(out: CommandBuffer): void {
    this.isKnown = false;
    this.replace([], [], out);
    this.places.clear();
    this.reports.clear();
  }

  /** Reads the source levels of the engine, at a start or after a refused command. The next message repairs them. */
  resume(): void {
    for (const side of SIDES) {
      this.sent[side].clear();
      for (const { pips, size } of this.options.paper.sourceLevels(side)) {
        this.sent[side].set(keyOf(side, pips), size);
      }
      this.touchAll(side);
    }
  }

  private replace(
    bids: readonly SourceLevel[],
    asks: readonly SourceLevel[],
    out: CommandBuffer,
  ): void {
    this.begin();
    for (const side of SIDES) {
      const now = new Map<number, number>();
      for (const { pips, size } of side === Side.buy ? bids : asks) {
        now.set(keyOf(side, pips), size);
      }
      for (const key of [...this.source.sides[side].keys]) {
        if (!now.has(key)) this.setLevel(side, key, 0);
      }
      for (const [key, size] of now) this.setLevel(side, key, size);
    }
    this.send(out);
  }

  private begin(): void {
    const { impact, paper } = this.options;
    const step = PIPS_PER_UNIT / paper.ticksPerUnit;
    if (step !== this.step) this.changeGrid(step);
    if (impact === 'restore') for (const side of SIDES) this.noteTaken(side);
  }

  private changeGrid(step: number): void {
    this.step = step;
    this.isIrregular = true;
    for (const side of SIDES) {
      for (const key of [...this.sent[side].keys]) {
        if (key % step !== 0) this.sent[side].set(key, 0);
      }
    }
  }

  /** Records what takers took. Takers take the best levels first, so the first whole one ends the search. */
  private noteTaken(side: 0 | 1): void {
    const sent = this.sent[side];
    for (let i = sent.keys.length - 1; i >= 0; i--) {
      const key = sent.keys[i]!;
      const stands = this.options.paper.sourceAt(side, pipsOfKey(side, key));
      if (stands === sent.sizes[i]) return;
      sent.set(key, stands);
      this.touch(side, key);
    }
  }

  private setLevel(side: 0 | 1, key: number, size: number): void {
    const levels = this.source.sides[side];
    const known = levels.get(key);
    if (known === size) return;
    const tick = key - (key % this.step);
    // Between irregular messages a tick has one price.
    const isAlone = tick === key && !this.isIrregular;
    const places = this.isKnown ? this.placesAt(side, tick) : NO_PLACES;
    const before = isAlone ? known : this.sizeAt(side, tick);
    levels.set(key, size);
    this.touch(side, tick);
    if (tick !== key) this.isIrregular = true;
    if (!this.isKnown) return;
    const after = isAlone ? size : this.sizeAt(side, tick);
    if (after < before) this.reportsAt(side, tick).decrease(before, after, this.time);
    if (places.size === 0) return;
    for (const place of places.values()) place.resized(before, after, this.time);
  }

  private touch(side: 0 | 1, key: number): void {
    const touched = this.touched[side];
    if (!touched.includes(key)) touched.push(key);
  }

  /** Size of the source at a tick. A price between two ticks counts at the one further from the spread. */
  private sizeAt(side: 0 | 1, tick: number): number {
    return this.source.sides[side].sum(tick, tick + this.step);
  }

  private reportsAt(side: 0 | 1, key: number): DoubleReports {
    const name = nameOfLevel(side, key);
    let reports = this.reports.get(name);
    if (reports === undefined) {
      reports = new DoubleReports(() => undefined);
      this.reports.set(name, reports);
    }
    reports.pass(this.time);
    return reports;
  }

  /** Queue positions of the paper orders at a price. A new one is behind the whole source level. */
  private placesAt(
    side: 0 | 1,
    key: number,
    orders: readonly PaperOrder[] = this.options.paper.at(side, pipsOfKey(side, key)),
  ): ReadonlyMap<string, Place> {
    if (orders.length === 0) {
      if (this.places.size > 0) this.places.delete(nameOfLevel(side, key));
      return NO_PLACES;
    }
    const name = nameOfLevel(side, key);
    const { queue } = this.options;
    const seen = this.places.get(name);
    const places = new Map<string, Place>();
    const reports = this.reportsAt(side, key);
    for (const order of orders) {
      const id = nameOf(order);
      const ahead = this.sizeAt(side, key);
      places.set(id, seen?.get(id) ?? new Place(ahead, reports.decreasesOf(), queue));
    }
    this.places.set(name, places);
    return places;
  }

  /** Encodes the difference: removals first, so that no level meets one that is gone; then the best first. */
  private send(out: CommandBuffer): void {
    const isCrossed = this.source.crossed;
    if (isCrossed || this.isIrregular) {
      for (const side of SIDES) this.touchAll(side);
      this.isIrregular = isCrossed || SIDES.some((side) => this.isOffGrid(side));
    }
    for (const side of SIDES) {
      for (const key of this.touched[side]) {
        if (this.wanted(side, key) === 0 && this.sent[side].get(key) > 0) {
          this.sendLevel(side, key, 0, out);
        }
      }
    }
    for (const side of SIDES) {
      const touched = this.touched[side];
      if (touched.length > 1) touched.sort(descending);
      for (const key of touched) {
        const size = this.wanted(side, key);
        if (size !== this.sent[side].get(key)) this.sendLevel(side, key, size, out);
      }
      touched.length = 0;
    }
  }

  private sendLevel(side: 0 | 1, key: number, size: number, out: CommandBuffer): void {
    const { token } = this.options;
    this.sent[side].set(key, size);
    encodeLevel(out, { token, side, pips: pipsOfKey(side, key), size: size as MicroShares });
  }

  private wanted(side: 0 | 1, tick: number): number {
    if (!this.isIrregular) return this.source.sides[side].get(tick);
    // A price of 0 or 1 is none.
    if (tick === 0) return 0;
    const end = Math.min(tick + this.step, this.source.firstCrossed(side));
    return this.source.sides[side].sum(tick, end);
  }

  private touchAll(side: 0 | 1): void {
    const touched = this.touched[side];
    const keys = new Set(touched);
    for (const key of this.sent[side].keys) keys.add(key);
    for (const key of this.source.sides[side].keys) keys.add(key - (key % this.step));
    touched.length = 0;
    touched.push(...keys);
  }

  private isOffGrid(side: 0 | 1): boolean {
    return this.source.sides[side].keys.some((key) => key % this.step !== 0);
  }
}

function descending(a: number, b: number): number {
  return b - a;
}

function nameOfLevel(side: number, key: number): number {
  return 2 * key + side;
}

function nameOf({ id }: PaperOrder): string {
  return id.join();
}
