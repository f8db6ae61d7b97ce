/**
 * Volumes of markets: the collateral of taker fills (usdcSize of GET /trades), of all time and of the
 * last 24 hours, derived from fills alone and kept in LMDB (storage/projection/history-rows.ts).
 *
 * The window of 24 hours is 288 parts of five minutes, the present one included: a fill leaves it up
 * to five minutes early. Sums are exact, as whole units and millionths; what is told stops at
 * 2^53 - 1 micro-units.
 *
 * Thread: I/O. Non-goals: when to write (history-keeper.ts).
 */
import type { Tables } from '../../engine/tables/tables.ts';
import { type MarketRow, MICRO, type MicroCollateral } from '../../engine/tables/units.ts';
import type { HistorySink, HistoryStore } from '../../storage/projection/history.ts';
import {
  DAMAGED,
  decodeHour,
  decodeTotal,
  encodeHour,
  encodeTotal,
  HOUR_PARTS,
  hourKey,
  newSums,
  type Sums,
  totalKey,
} from '../../storage/projection/history-rows.ts';

const PART_MS = 300_000;
const DAY_PARTS = 24 * HOUR_PARTS;
/** A sum from here on may not be a whole number of micro-units as a double. */
const WHOLE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / MICRO);

/** What a market traded in one hour. */
interface Cell {
  readonly hour: number;
  readonly market: MarketRow;
  /** Fills before it are counted, by what was read from LMDB. */
  readonly through: number;
  readonly sums: Sums;
  isDirty: boolean;
}

/** A row to be written or removed, by its key. */
export type VolumeWrite =
  | { readonly total: MarketRow }
  | { readonly cell: Cell }
  | { readonly removed: Buffer };

export class Volumes {
  /** Counts every change of a figure, also those that the clock brings about. */
  changes = 0;
  private readonly store: HistoryStore;
  private readonly totals: Sums;
  private readonly days: Sums;
  /** By market: fills before it are in its total, by what was read from LMDB. */
  private readonly through: Float64Array;
  /** By market: the value of `changes` after its last change. */
  private readonly changedAt: Float64Array;
  private readonly isDirty: Uint8Array;
  private dirtyTotals: MarketRow[] = [];
  private dirtyCells: Cell[] = [];
  private removed: Buffer[] = [];
  /** Hours since 1970 that the window touches. */
  private readonly hours = new Map<number, Map<MarketRow, Cell>>();
  /** The present part of five minutes since 1970: the window is the 288 that end with it. */
  private part = 0;

  constructor(tables: Tables, store: HistoryStore) {
    const markets = tables.capacities.markets + 1;
    this.store = store;
    this.totals = newSums(markets);
    this.days = newSums(markets);
    this.through = new Float64Array(markets);
    this.changedAt = new Float64Array(markets);
    this.isDirty = new Uint8Array(markets);
  }

  /** Micro-units of collateral that the market has traded in all. */
  totalOf(market: MarketRow): MicroCollateral {
    return told(this.totals, market);
  }

  /** The same of the 24 hours before `nowMs` (unix milliseconds). */
  dayOf(market: MarketRow, nowMs: number): MicroCollateral {
    this.advance(Math.floor(nowMs / PART_MS));
    return told(this.days, market);
  }

  /** Markets with a figure that changed after `changes` was `since`. */
  changedSince(since: number, nowMs: number): MarketRow[] {
    this.advance(Math.floor(nowMs / PART_MS));
    const changed: MarketRow[] = [];
    if (since === this.changes) return changed;
    for (let market = 1; market < this.changedAt.length; market++) {
      if (this.changedAt[market]! > since) changed.push(market as MarketRow);
    }
    return changed;
  }

  /** Counts a fill; they come in the order of their sequences, some of them again after a kill. */
  add(market: MarketRow, sequence: number, timeMs: number, collateral: MicroCollateral): void {
    const part = Math.floor(timeMs / PART_MS);
    this.advance(part);
    if (sequence >= this.through[market]!) {
      addTo(this.totals, market, collateral);
      this.touch(market);
      if (this.isDirty[market] === 0) {
        this.isDirty[market] = 1;
        this.dirtyTotals.push(market);
      }
    }
    if (part <= this.part - DAY_PARTS) return;
    const cell = this.cellOf(Math.floor(part / HOUR_PARTS), market);
    if (sequence < cell.through) return;
    addTo(cell.sums, part % HOUR_PARTS, collateral);
    addTo(this.days, market, collateral);
    this.touch(market);
    if (!cell.isDirty) {
      cell.isDirty = true;
      this.dirtyCells.push(cell);
    }
  }

  /**
   * Reads what is kept of the first `end` fills; false = some of it is damaged, or counts fills that there are
   * not any more, and this object cannot be used.
   */
  load(end: number): boolean {
    const { tables } = this.store;
    if (tables === undefined) return true;
    for (const { key, value } of tables.totals.getRange()) {
      const row = decodeTotal(key, value, this.totals);
      if (row === DAMAGED || row.through > end) return false;
      this.through[row.market] = row.through;
      this.touch(row.market as MarketRow);
    }
    const newest = [...tables.hours.getKeys({ reverse: true, limit: 1 })][0];
    if (newest === undefined) return true;
    // All of the newest hour may be ahead of it: what is after the window's end counts as well.
    const last = newest.readUInt32BE(0);
    this.part = last * HOUR_PARTS;
    for (const { key, value } of tables.hours.getRange()) {
      const row = decodeHour(key, value);
      if (row === DAMAGED || row.through > end || row.market >= this.through.length) return false;
      if (row.hour < last - DAY_PARTS / HOUR_PARTS) this.removed.push(key);
      else this.loadHour(row.hour, row.market as MarketRow, row.through, row.sums);
    }
    return true;
  }

  /** Rows to be written, each with put(). */
  beginWrite(): readonly VolumeWrite[] {
    const writes: VolumeWrite[] = [
      ...this.dirtyTotals.map((total) => ({ total })),
      ...this.dirtyCells.map((cell) => ({ cell })),
      ...this.removed.map((removed) => ({ removed })),
    ];
    this.dirtyTotals = [];
    this.dirtyCells = [];
    this.removed = [];
    return writes;
  }

  /**
   * Puts a row as it is now; only inside a transaction of the store.
   *
   * @param end fills before it have been counted
   */
  put(write: VolumeWrite, end: number, into: HistorySink): void {
    if ('total' in write) {
      const market = write.total;
      const key = totalKey(market);
      this.isDirty[market] = 0;
      into.totals.put(key, encodeTotal(key, market, end, this.totals));
    } else if ('cell' in write) {
      const { cell } = write;
      cell.isDirty = false;
      // A long catching up passes through hours that have left the window since.
      if (this.hours.get(cell.hour)?.get(cell.market) !== cell) return;
      const key = hourKey(cell.hour, cell.market);
      into.hours.put(key, encodeHour(key, end, cell.sums));
    } else {
      into.hours.remove(write.removed);
    }
  }

  private loadHour(hour: number, market: MarketRow, through: number, sums: Sums): void {
    let cells = this.hours.get(hour);
    if (cells === undefined) {
      cells = new Map();
      this.hours.set(hour, cells);
    }
    cells.set(market, { hour, market, through, sums, isDirty: false });
    for (let i = 0; i < HOUR_PARTS; i++) {
      if (hour * HOUR_PARTS + i > this.part - DAY_PARTS) moveSum(sums, i, this.days, market, 1);
    }
  }

  private cellOf(hour: number, market: MarketRow): Cell {
    let cells = this.hours.get(hour);
    if (cells === undefined) {
      cells = new Map();
      this.hours.set(hour, cells);
    }
    let cell = cells.get(market);
    if (cell === undefined) {
      cell = { hour, market, through: 0, sums: newSums(HOUR_PARTS), isDirty: false };
      cells.set(market, cell);
    }
    return cell;
  }

  /** Moves the window on to end with `part`; what leaves it is taken off the days. */
  private advance(part: number): void {
    if (part <= this.part) return;
    const firstOut = this.part - DAY_PARTS + 1;
    const lastOut = part - DAY_PARTS;
    this.part = part;
    for (const [hour, cells] of this.hours) {
      const start = hour * HOUR_PARTS;
      const from = Math.max(0, firstOut - start);
      const to = Math.min(HOUR_PARTS - 1, lastOut - start);
      if (to < from) continue;
      for (const cell of cells.values()) {
        for (let i = from; i <= to; i++) this.leave(cell, i);
      }
      if (to < HOUR_PARTS - 1) continue;
      for (const market of cells.keys()) this.removed.push(hourKey(hour, market));
      this.hours.delete(hour);
    }
  }

  private leave(cell: Cell, i: number): void {
    if (cell.sums.whole[i] === 0 && cell.sums.rest[i] === 0) return;
    moveSum(cell.sums, i, this.days, cell.market, -1);
    this.touch(cell.market);
  }

  private touch(market: MarketRow): void {
    this.changes += 1;
    this.changedAt[market] = this.changes;
  }
}

function addTo(sums: Sums, i: number, micro: number): void {
  const rest = micro % MICRO;
  carry(sums, i, sums.whole[i]! + (micro - rest) / MICRO, sums.rest[i]! + rest);
}

function moveSum(from: Sums, i: number, to: Sums, at: number, sign: 1 | -1): void {
  const whole = to.whole[at]! + sign * from.whole[i]!;
  carry(to, at, whole, to.rest[at]! + sign * from.rest[i]!);
}

function carry(sums: Sums, i: number, whole: number, rest: number): void {
  const over = rest < 0 ? -1 : rest >= MICRO ? 1 : 0;
  sums.whole[i] = whole + over;
  sums.rest[i] = rest - over * MICRO;
}

function told(sums: Sums, market: MarketRow): MicroCollateral {
  const whole = sums.whole[market]!;
  if (whole >= WHOLE_MAX) return Number.MAX_SAFE_INTEGER as MicroCollateral;
  return (whole * MICRO + sums.rest[market]!) as MicroCollateral;
}
