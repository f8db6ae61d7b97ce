/**
 * A binary heap of rows by the time at which each is due, earliest first; equal times by row, so that the order of
 * leaving is a function of the tables. Each row knows its place, so any of them leaves in O(log n).
 */
import { assert } from '../book/matching.ts';

/** A column of a table of rows. */
export interface Column<View> {
  readonly view: View;
  /** Turns a row into an index of its first word or double. */
  readonly shift: number;
  readonly at: number;
}

interface HeapParts {
  /** Rows, 1-based. */
  readonly rows: Int32Array;
  readonly times: Column<Float64Array>;
  /** The 1-based place of each row; 0 = it is not in the heap. */
  readonly places: Column<Int32Array>;
  /** The table and its element with the number of rows in the heap. */
  readonly counts: Float64Array;
  readonly count: number;
}

export class DueHeap<Row extends number> {
  private readonly rows: Int32Array;
  private readonly times: Float64Array;
  private readonly timeShift: number;
  private readonly timeAt: number;
  private readonly places: Int32Array;
  private readonly placeShift: number;
  private readonly placeAt: number;
  private readonly counts: Float64Array;
  private readonly count: number;

  constructor({ count, counts, places, rows, times }: HeapParts) {
    this.rows = rows;
    this.times = times.view;
    this.timeShift = times.shift;
    this.timeAt = times.at;
    this.places = places.view;
    this.placeShift = places.shift;
    this.placeAt = places.at;
    this.counts = counts;
    this.count = count;
  }

  get size(): number {
    return this.counts[this.count]!;
  }

  has(row: Row): boolean {
    return this.placeOf(row) !== 0;
  }

  /** The row that is due first; 0 = none. */
  first(): Row | 0 {
    return this.size === 0 ? 0 : this.at(1);
  }

  /** The time at which the first row is due; 0 = there is none. */
  firstTime(): number {
    return this.size === 0 ? 0 : this.timeOf(this.at(1));
  }

  /** Adds a row whose time is in its column. */
  add(row: Row): void {
    const size = this.size + 1;
    this.counts[this.count] = size;
    this.siftUp(size, row);
  }

  /** Removes a row; its time may not have changed meanwhile. */
  remove(row: Row): void {
    const at = this.placeOf(row);
    assert(this.rows[at] === row, 'a row knows its place in the heap');
    const size = this.size;
    const last = this.at(size);
    this.rows[size] = 0;
    this.counts[this.count] = size - 1;
    this.places[(row << this.placeShift) | this.placeAt] = 0;
    if (last === row) return;
    this.siftDown(at, last, size - 1);
    this.siftUp(this.placeOf(last), last);
  }

  /** Checks every invariant. @param expected how many rows there are by their own columns */
  audit(expected: number): void {
    assert(this.size === expected, 'the heap has every row that is due some time');
    for (let at = 1; at <= this.size; at++) {
      const row = this.at(at);
      assert(this.placeOf(row) === at, 'a row knows its place in the heap');
      if (at === 1) continue;
      assert(this.timeOf(this.at(at >>> 1)) <= this.timeOf(row), 'the heap is ordered');
    }
  }

  private at(place: number): Row {
    return this.rows[place]! as Row;
  }

  private timeOf(row: Row): number {
    return this.times[(row << this.timeShift) | this.timeAt]!;
  }

  private placeOf(row: Row): number {
    return this.places[(row << this.placeShift) | this.placeAt]!;
  }

  private before(a: Row, b: Row): boolean {
    const left = this.timeOf(a);
    const right = this.timeOf(b);
    return left < right || (left === right && a < b);
  }

  private put(at: number, row: Row): void {
    this.rows[at] = row;
    this.places[(row << this.placeShift) | this.placeAt] = at;
  }

  private siftUp(from: number, row: Row): void {
    let at = from;
    while (at > 1) {
      const parent = this.at(at >>> 1);
      if (!this.before(row, parent)) break;
      this.put(at, parent);
      at >>>= 1;
    }
    this.put(at, row);
  }

  private siftDown(from: number, row: Row, size: number): void {
    let at = from;
    for (;;) {
      let child = at * 2;
      if (child > size) break;
      if (child < size && this.before(this.at(child + 1), this.at(child))) child += 1;
      if (!this.before(this.at(child), row)) break;
      this.put(at, this.at(child));
      at = child;
    }
    this.put(at, row);
  }
}
