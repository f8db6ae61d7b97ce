/**
 * Orders of one book at one version of it, for the fill model. A worker may write meanwhile.
 *
 * Thread: the I/O thread.
 */
import { readSide } from '../../engine/book/matching.ts';
import type { CommandBuffer } from '../../engine/commands.ts';
import { isLevel } from '../../engine/orders/source-rows.ts';
import {
  EngineOrders,
  type PaperOrder,
  type PaperOrders,
} from '../../engine/paper/paper-orders.ts';
import type { SourceLevel } from '../../engine/paper/source-book.ts';
import { bookTicks, orderIdAt, tokenBook } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import { bookVersion } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  type BookRow,
  type MicroShares,
  type OrderRow,
  PIPS_PER_UNIT,
  type TicksPerUnit,
  type TokenRow,
} from '../../engine/tables/units.ts';

interface Level {
  readonly pips: number;
  readonly paper: readonly PaperOrder[];
  readonly source: number;
}
type Sides = readonly [readonly Level[], readonly Level[]];

/** Tries before a wait. A writer changes a book for microseconds, unless its thread is descheduled. */
const TRIES = 4;
const NONE: readonly PaperOrder[] = [];

const levels = new Int32Array(PIPS_PER_UNIT);
const sizes = new Float64Array(PIPS_PER_UNIT);

export class StillOrders implements PaperOrders {
  ticksPerUnit: TicksPerUnit;
  private readonly tables: Tables;
  private readonly token: TokenRow;
  private readonly book: BookRow;
  private readonly whenBatchesDone: (callback: () => void) => void;
  private version = -1;
  /** Levels of each side, the best first. */
  private sides: Sides = [[], []];

  constructor(tables: Tables, token: TokenRow, whenBatchesDone: (callback: () => void) => void) {
    this.tables = tables;
    this.token = token;
    this.book = tokenBook(tables, token);
    this.ticksPerUnit = bookTicks(tables, this.book);
    this.whenBatchesDone = whenBatchesDone;
  }

  async load(): Promise<void> {
    for (;;) {
      for (let tries = 0; tries < TRIES; tries++) {
        const version = bookVersion(this.tables, this.token);
        if (version === this.version) return;
        if ((version & 1) !== 0) continue;
        const ticksPerUnit = bookTicks(this.tables, this.book);
        const bids = this.sideOf(0, ticksPerUnit);
        const asks = this.sideOf(1, ticksPerUnit);
        if (bids === undefined || asks === undefined) continue;
        if (bookVersion(this.tables, this.token) !== version) continue;
        this.version = version;
        this.ticksPerUnit = ticksPerUnit;
        this.sides = [bids, asks];
        return;
      }
      await new Promise<void>((resolve) => this.whenBatchesDone(resolve));
    }
  }

  at(side: number, pips: number): readonly PaperOrder[] {
    return this.find(side, pips)?.paper ?? NONE;
  }

  before(side: number, pips: number): readonly PaperOrder[] {
    const better = (level: Level): boolean => (side === 0 ? level.pips > pips : level.pips < pips);
    return this.sides[side as 0 | 1].filter(better).flatMap(({ paper }) => paper);
  }

  sourceAt(side: number, pips: number): number {
    return this.find(side, pips)?.source ?? 0;
  }

  sourceLevels(side: number): readonly SourceLevel[] {
    return this.sides[side as 0 | 1]
      .filter(({ source }) => source > 0)
      .map(({ pips, source }) => ({ pips, size: source }));
  }

  changeTicks(ticksPerUnit: TicksPerUnit, out: CommandBuffer): void {
    new EngineOrders(this.tables, this.token).changeTicks(ticksPerUnit, out);
  }

  private find(side: number, pips: number): Level | undefined {
    return this.sides[side as 0 | 1].find((level) => level.pips === pips);
  }

  /** Returns undefined if the memory is inconsistent. Every walk ends. */
  private sideOf(side: 0 | 1, ticksPerUnit: TicksPerUnit): Level[] | undefined {
    const { matching: m, orderI } = this.tables;
    const count = readSide(m, this.book, side, levels, sizes);
    if (count === -1) return undefined;
    const found: Level[] = [];
    let left = this.tables.orderRows;
    for (let i = 0; i < count; i++) {
      const level = levels[i]!;
      const paper: PaperOrder[] = [];
      let source = 0;
      for (let slot = m.first(this.book, level); slot !== 0; slot = m.next(slot)) {
        left -= 1;
        if (left < 0 || m.side(slot) !== side) return undefined;
        const row = m.userData(slot) as OrderRow;
        const remaining = m.remaining(slot) as MicroShares;
        if (isLevel(this.tables, row)) source = remaining;
        else paper.push({ id: orderI.slice(orderIdAt(row), orderIdAt(row) + ID_WORDS), remaining });
      }
      found.push({ pips: level * (PIPS_PER_UNIT / ticksPerUnit), paper, source });
    }
    return found;
  }
}
