/**
 * Binary heap of rows by due time, earliest first; equal times by row, so that the order is a function of the
 * tables. Each row stores its index in the heap, so any of them leaves in O(log n).
 */
import { assert } from '../book/matching.ts';

export interface Column<View> {
  readonly view: View;
  readonly shift: number;
  readonly at: number;
}

export interface HeapParts {
  readonly rows: Int32Array;
  readonly times: Column<Float64Array>;
  /** 1-based heap index of each row; 0 = not in the heap. */
  readonly places: Column<Int32Array>;
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

  first(): Row | 0 {
    return this.size === 0 ? 0 : this.at(1);
  }

  /** Due time of the first row; 0 = none. */
  firstTime(): number {
    return this.size === 0 ? 0 : this.timeOf(this.at(1));
  }

  add(row: Row): void {
    const size = this.size + 1;
    this.counts[this.count] = size;
    this.siftUp(size, row);
  }

  /** Copies its rows, in the order of the heap, and returns their number. */
  copy(into: Int32Array): number {
    const { size } = this;
    for (let at = 1; at <= size; at++) into[at - 1] = this.rows[at]!;
    return size;
  }

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

  /** Checks every invariant. @param expected number of rows by their own columns */
  audit(expected: number): void {
    assert(this.size === expected, 'the heap has every row that is due some time');
    for (let at = 1; at <= this.size; at++) {
      const row = this.at(at);
      assert(this.placeOf(row) === at, 'a row knows its place in the heap');
      if (at === 1) continue;
      assert(this.before(this.at(at >>> 1), row), 'the heap is ordered');
    }
  }

  private at(place: number): Row {
    return this.rows[place]! as Row;
  }

  protected timeOf(row: Row): number {
    return this.times[(row << this.timeShift) | this.timeAt]!;
  }

  private placeOf(row: Row): number {
    return this.places[(row << this.placeShift) | this.placeAt]!;
  }

  protected before(a: Row, b: Row): boolean {
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
