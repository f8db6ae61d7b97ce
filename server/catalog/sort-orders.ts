/**
 * Sorts all rows by each column: numbers, dates and booleans by value, texts by UTF-16 code units,
 * equal values by id, rows without a value last. Rules: docs/protocol.md#sort-order
 *
 * Different values are sorted once and numbered, and rows are sorted by these numbers: comparing a
 * hundred thousand rows in forty columns with a function would take seconds. Rows are sorted by 11
 * bits of the numbers at a time (radix sort), so 50,000 rows take two milliseconds for any numbers,
 * and small numbers need few passes. Live statistics, which change, are sorted in the same way on the
 * I/O thread.
 *
 * A sort is a generator of steps, so that a serving thread can do other work between them.
 *
 * Thread: any. Non-goals: choosing a column, and descending order (a reader walks the present rows
 * backwards).
 */
import type { SortOrder, SortOrders } from './prepared.ts';
import { type Column, type FieldValue, rulesOf } from './shape.ts';

const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;
const LAST_DIGIT = DIGITS - 1;
/** The first three digits are in the low 32 bits of a number, the other two in the 21 high bits. */
const PASSES = [
  ['low', 0],
  ['low', DIGIT_BITS],
  ['low', 2 * DIGIT_BITS],
  ['high', 0],
  ['high', DIGIT_BITS],
] as const;
const LOW_VALUES = 2 ** 32;

/**
 * Rows of one step: some tenths of a millisecond; some milliseconds before V8 has compiled the
 * loops.
 */
const ROWS_PER_STEP = 2 ** 13;

/** `values[c][row]` is the value of `columns[c]`; rows stand in ascending order of id. */
export function sortOrdersOf(
  columns: readonly Column<never>[],
  values: readonly (readonly FieldValue[])[],
): SortOrders {
  const count = values[0]!.length;
  const sorter = new NumberSorter(count);
  const orders: Record<string, SortOrder> = {};
  for (const [place, column] of columns.entries()) {
    const own = values[place]!;
    const { number } = rulesOf(column);
    const numbers = Float64Array.from(number === undefined ? [] : own, number!);
    const present = count - own.filter((value) => value === null).length;
    const order = { ...emptyOrder(count, numbers), present };
    if (column.kind === 'id') sorter.sort(Float64Array.from(own.keys()), order);
    else if (number === undefined) sorter.sort(numbered(own, [...new Set(own)].sort()), order);
    else sorter.sort(numbered(numbers, Float64Array.from(new Set(numbers)).sort()), order);
    orders[column.name] = order;
  }
  return orders;
}

export function emptyOrder(rows: number, values = new Float64Array(0)): SortOrder {
  const [order, places] = [new Uint32Array(rows), new Uint32Array(rows)];
  return { rows: order, places, firsts: new Uint8Array(rows), present: rows, values };
}

/** Calls `run` for the rows [start, end), a step at a time, and pauses after each step. */
export function* inSteps(
  rows: number,
  run: (start: number, end: number) => void,
): Generator<void, void> {
  for (let start = 0; start < rows; start += ROWS_PER_STEP) {
    run(start, Math.min(rows, start + ROWS_PER_STEP));
    yield;
  }
}

function numbered<T>(values: ArrayLike<T>, different: Iterable<T>): Float64Array {
  const places = new Map<T, number>();
  for (const value of different) places.set(value, places.size);
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < numbers.length; row++) numbers[row] = places.get(values[row]!)!;
  return numbers;
}

interface Keyed {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly rows: Uint32Array;
}

/** Reuses its scratch memory for the next sort. */
export class NumberSorter {
  readonly rowsMax: number;
  private readonly a: Keyed;
  private readonly b: Keyed;
  /** Count of numbers by digit; during a pass, the place of the next one with that digit. */
  private readonly counts = new Uint32Array(PASSES.length * DIGITS);

  constructor(rowsMax: number) {
    this.rowsMax = rowsMax;
    this.a = keyed(rowsMax);
    this.b = keyed(rowsMax);
  }

  /** @param numbers whole, from 0 to 2^53 - 1, by row; equal ones stand in order of row */
  sort(numbers: Float64Array, order: SortOrder): void {
    const { firsts, places, rows } = order;
    for (let row = 0; row < rows.length; row++) rows[row] = row;
    const steps = this.refine(rows, numbers, true);
    while (steps.next().done !== true);
    let before = -1;
    for (let at = 0; at < numbers.length; at++) {
      places[rows[at]!] = at;
      const number = numbers[rows[at]!]!;
      firsts[at] = number === before ? 0 : 1;
      before = number;
    }
  }

  /**
   * Sorts rows by their numbers; equal ones keep their order. Between its steps no other sort may
   * run, and the numbers must not change.
   */
  *refine(rows: Uint32Array, numbers: Float64Array, isAscending: boolean): Generator<void, void> {
    const total = rows.length;
    this.counts.fill(0);
    yield* inSteps(total, (start, end) => this.take(rows, numbers, isAscending, start, end));
    let [from, to] = [this.a, this.b];
    for (const [place, digit] of PASSES.entries()) {
      const first = place * DIGITS;
      if (!this.startPass(first, total)) continue;
      yield* inSteps(total, (start, end) => this.pass(digit, first, from, to, start, end));
      [from, to] = [to, from];
    }
    rows.set(from.rows.subarray(0, total));
  }

  private take(
    order: Uint32Array,
    numbers: Float64Array,
    isAscending: boolean,
    start: number,
    end: number,
  ): void {
    const { counts } = this;
    const { low, high, rows } = this.a;
    // The same code for both directions: V8 recompiles a branch that is taken for the first time.
    const [base, sign] = isAscending ? [0, 1] : [Number.MAX_SAFE_INTEGER, -1];
    for (let at = start; at < end; at++) {
      const row = order[at]!;
      const number = base + sign * numbers[row]!;
      const lower = number >>> 0;
      const upper = (number - lower) / LOW_VALUES;
      low[at] = lower;
      high[at] = upper;
      rows[at] = row;
      counts[lower & LAST_DIGIT]! += 1;
      counts[DIGITS + ((lower >>> DIGIT_BITS) & LAST_DIGIT)]! += 1;
      counts[2 * DIGITS + (lower >>> (2 * DIGIT_BITS))]! += 1;
      counts[3 * DIGITS + (upper & LAST_DIGIT)]! += 1;
      counts[4 * DIGITS + (upper >>> DIGIT_BITS)]! += 1;
    }
  }

  /** Converts the counts of a digit to places; false when all numbers have the same digit. */
  private startPass(first: number, total: number): boolean {
    const { counts } = this;
    let place = 0;
    for (let digit = first; digit < first + DIGITS; digit++) {
      const count = counts[digit]!;
      if (count === total) return false;
      counts[digit] = place;
      place += count;
    }
    return true;
  }

  private pass(
    [half, shift]: (typeof PASSES)[number],
    first: number,
    from: Keyed,
    to: Keyed,
    start: number,
    end: number,
  ): void {
    const { counts } = this;
    const digits = from[half];
    for (let at = start; at < end; at++) {
      const next = counts[first + ((digits[at]! >>> shift) & LAST_DIGIT)]!++;
      to.low[next] = from.low[at]!;
      to.high[next] = from.high[at]!;
      to.rows[next] = from.rows[at]!;
    }
  }
}

function keyed(rows: number): Keyed {
  return {
    low: new Uint32Array(rows),
    high: new Uint32Array(rows),
    rows: new Uint32Array(rows),
  };
}
