/**
 * The order of all rows by each column (GAPS 5): numbers, dates and booleans by value, texts by
 * UTF-16 code units, equal values by id, rows without a value behind all others.
 *
 * Everything becomes numbers in flat arrays, and those are merge-sorted: a hundred thousand texts in
 * forty columns, compared by a function each, would take seconds.
 *
 * Pure; runs on the catalog thread. Non-goals: choosing a column, and descending order (a reader
 * walks the present rows backwards).
 */
import type { SortOrder, SortOrders } from './prepared.ts';
import { type Field, type FieldValue, instantOf } from './shape.ts';

/** `columns[f][row]` is the value of `fields[f]`; rows stand in ascending order of id. */
export function sortOrdersOf(
  fields: readonly Field<never>[],
  columns: readonly (readonly FieldValue[])[],
): SortOrders {
  const count = columns[0]!.length;
  const sorter = new RowSorter(count);
  const byId = new Uint32Array(count);
  for (let row = 0; row < count; row++) byId[row] = row;
  const orders: Record<string, SortOrder> = {};
  for (const [place, { name, kind }] of fields.entries()) {
    const column = columns[place]!;
    const rows = byId.slice();
    if (kind === 'text') sorter.sortByText(rows, column as readonly string[]);
    else if (kind !== 'id') sorter.sortByNumber(rows, numbersOf(column));
    const places = new Uint32Array(count);
    for (let at = 0; at < count; at++) places[rows[at]!] = at;
    const absent = kind === 'date' ? column.reduce<number>(countNull, 0) : 0;
    orders[name] = { rows, present: count - absent, places };
  }
  return orders;
}

function numbersOf(column: readonly FieldValue[]): Float64Array {
  const numbers = new Float64Array(column.length);
  for (let row = 0; row < column.length; row++) numbers[row] = numberOf(column[row]!);
  return numbers;
}

/** Absent values are infinite: behind all others. */
function numberOf(value: FieldValue): number {
  if (value === null) return Number.POSITIVE_INFINITY;
  return typeof value === 'string' ? instantOf(value) : Number(value);
}

function countNull(count: number, value: FieldValue): number {
  return value === null ? count + 1 : count;
}

/** Code units that one number holds, each plus one, so that the end of a text (0) comes first. */
const UNITS_PER_KEY = 3;
const UNIT_VALUES = 2 ** 16 + 1;
/** Up to this many rows, comparing whole texts is cheaper than taking them apart. */
const WHOLE_TEXTS_MAX = 12;

/** Stable sorts of rows; keeps its scratch memory from one column to the next. */
class RowSorter {
  readonly #keys: Float64Array;
  readonly #otherKeys: Float64Array;
  readonly #otherRows: Uint32Array;

  constructor(rowsMax: number) {
    this.#keys = new Float64Array(rowsMax);
    this.#otherKeys = new Float64Array(rowsMax);
    this.#otherRows = new Uint32Array(rowsMax);
  }

  sortByNumber(rows: Uint32Array, values: Float64Array): void {
    for (let at = 0; at < rows.length; at++) this.#keys[at] = values[rows[at]!]!;
    this.#sort(rows, 0, rows.length);
  }

  /** Sorts by the first few units, then each run of equal ones by the next few, and so on. */
  sortByText(rows: Uint32Array, texts: readonly string[]): void {
    // Runs yet to be sorted, as triples: begin, end, units they have in common.
    const runs = [0, rows.length, 0];
    while (runs.length > 0) {
      const common = runs.pop()!;
      const end = runs.pop()!;
      const begin = runs.pop()!;
      if (end - begin <= WHOLE_TEXTS_MAX) {
        sortWholeTexts(rows, texts, begin, end);
        continue;
      }
      for (let at = begin; at < end; at++) this.#keys[at] = keyAt(texts[rows[at]!]!, common);
      this.#sort(rows, begin, end);
      this.#pushRuns(runs, begin, end, common + UNITS_PER_KEY);
    }
  }

  /** The runs of equal keys in [begin, end) whose texts go on. */
  #pushRuns(runs: number[], begin: number, end: number, common: number): void {
    const keys = this.#keys;
    for (let first = begin; first < end; ) {
      const key = keys[first]!;
      let next = first + 1;
      while (next < end && keys[next] === key) next++;
      if (next - first > 1 && key % UNIT_VALUES !== 0) runs.push(first, next, common);
      first = next;
    }
  }

  /** Merge sort of [begin, end) of `rows` by the keys at the same places; a sorted run stays. */
  #sort(rows: Uint32Array, begin: number, end: number): void {
    if (isAscending(this.#keys, begin, end)) return;
    let from = { keys: this.#keys, rows };
    let to = { keys: this.#otherKeys, rows: this.#otherRows };
    for (let width = 1; width < end - begin; width *= 2) {
      for (let low = begin; low < end; low += 2 * width) {
        merge(from, to, low, Math.min(low + width, end), Math.min(low + 2 * width, end));
      }
      [from, to] = [to, from];
    }
    if (from.rows === rows) return;
    rows.set(from.rows.subarray(begin, end), begin);
    this.#keys.set(from.keys.subarray(begin, end), begin);
  }
}

interface KeyedRows {
  readonly keys: Float64Array;
  readonly rows: Uint32Array;
}

/** Merges the sorted [low, middle) and [middle, high); of equal keys the left one comes first. */
function merge(from: KeyedRows, to: KeyedRows, low: number, middle: number, high: number): void {
  const { keys, rows } = from;
  let left = low;
  let right = middle;
  for (let at = low; at < high; at++) {
    const isLeft = left < middle && (right >= high || keys[left]! <= keys[right]!);
    const taken = isLeft ? left++ : right++;
    to.keys[at] = keys[taken]!;
    to.rows[at] = rows[taken]!;
  }
}

/** Insertion sort. */
function sortWholeTexts(
  rows: Uint32Array,
  texts: readonly string[],
  begin: number,
  end: number,
): void {
  for (let next = begin + 1; next < end; next++) {
    const row = rows[next]!;
    const text = texts[row]!;
    let at = next;
    while (at > begin && text < texts[rows[at - 1]!]!) {
      rows[at] = rows[at - 1]!;
      at--;
    }
    rows[at] = row;
  }
}

function keyAt(text: string, start: number): number {
  return (
    (unitAt(text, start) * UNIT_VALUES + unitAt(text, start + 1)) * UNIT_VALUES +
    unitAt(text, start + 2)
  );
}

function unitAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) + 1 : 0;
}

function isAscending(keys: Float64Array, begin: number, end: number): boolean {
  for (let at = begin + 1; at < end; at++) if (keys[at - 1]! > keys[at]!) return false;
  return true;
}
