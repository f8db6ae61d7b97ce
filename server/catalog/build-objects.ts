/**
 * The objects of one kind in a prepared catalog: fragments, flags, indexes and orders, as defined
 * by the table of their columns (shape.ts). Layout: prepared.ts.
 *
 * Runs on the catalog thread.
 */

import assert from 'node:assert/strict';
import { textList } from '../../storage/catalog/catalog-json.ts';
import type { PreparedObjects, Spans, TextIndex } from './prepared.ts';
import {
  type Column,
  type FieldValue,
  flagColumns,
  KEY_COLUMNS,
  type Kind,
  membersOf,
  SHAPES,
  valuesOf,
} from './shape.ts';
import { sortOrdersOf } from './sort-orders.ts';
import { buildTextIndex, keyOf } from './text-index.ts';

/** Objects of one kind, ascending by id: `values[c][row]` is the value of column c. */
export interface Rows {
  readonly kind: Kind;
  readonly columns: readonly Column<never>[];
  readonly values: readonly (readonly FieldValue[])[];
  readonly count: number;
}

export function rowsOf<K extends Kind>(
  kind: K,
  sources: (typeof SHAPES)[K]['columns'][number] extends Column<infer Source>
    ? readonly Source[]
    : never,
): Rows {
  const columns = SHAPES[kind].columns as readonly Column<unknown>[];
  return { kind, columns, values: valuesOf(columns, sources), count: sources.length };
}

function placeOf({ columns }: Rows, name: string): number {
  return columns.findIndex((column) => column.name === name);
}

function valuesNamed(rows: Rows, name: string): readonly FieldValue[] | undefined {
  return rows.values[placeOf(rows, name)];
}

export function closedTexts({ columns, count, values }: Rows, shown = columns.length): string[] {
  const json = (_: unknown, row: number) => `${membersOf(columns, values, row, 0, shown)}}`;
  return Array.from({ length: count }, json);
}

export interface Tail {
  readonly more?: (row: number) => string;
  readonly statistics?: (row: number) => string;
  readonly nested?: (row: number) => string;
  readonly cuts?: readonly string[];
  /** Values by which rows are found in place of those of the column. */
  readonly keyed?: Readonly<Record<string, readonly string[]>>;
}

export function prepareObjects(bytes: ByteCollector, rows: Rows, tail: Tail): PreparedObjects {
  const { columns, kind, values } = rows;
  const isListed = kind === 'markets' || kind === 'events';
  return {
    ids: Float64Array.from(valuesNamed(rows, 'id')!, Number),
    flags: flagsOf(rows),
    ...addFragments(bytes, rows, tail),
    keys: keysOf(rows, tail.keyed),
    orders: isListed ? sortOrdersOf(columns, values) : {},
  };
}

function addFragments(bytes: ByteCollector, rows: Rows, tail: Tail) {
  const { columns, count, values } = rows;
  const { cuts = [], statistics = () => '', more = () => '', nested = () => '' } = tail;
  const places = () => new Uint32Array(count);
  const ends = cuts.map((name) => placeOf(rows, name) + 1);
  const cutPlaces = cuts.map(places);
  const [coreStart, figuresStart, figuresEnd] = [places(), places(), places()];
  const [coreEnd, entryEnd] = [places(), places()];
  for (let row = count - 1; row >= 0; row--) {
    coreStart[row] = bytes.place;
    let from = 0;
    for (const [cut, end] of ends.entries()) {
      cutPlaces[cut]![row] = bytes.add(membersOf(columns, values, row, from, end));
      from = end;
    }
    figuresStart[row] = bytes.add(membersOf(columns, values, row, from) + more(row));
    const span = statistics(row);
    figuresEnd[row] = figuresStart[row]! + span.trimEnd().length;
    coreEnd[row] = bytes.add(span);
    entryEnd[row] = bytes.add(`${nested(row)}},`) - 1;
  }
  const byName = Object.fromEntries(cuts.map((name, cut) => [name, cutPlaces[cut]!]));
  return { coreStart, figuresStart, figuresEnd, coreEnd, entryEnd, cuts: byName };
}

function flagsOf(rows: Rows): Uint8Array<ArrayBuffer> {
  const flags = new Uint8Array(rows.count);
  for (const [bit, name] of flagColumns(rows.kind).entries()) {
    const column = valuesNamed(rows, name)!;
    for (let row = 0; row < flags.length; row++) if (column[row] === true) flags[row]! |= 1 << bit;
  }
  return flags;
}

function keysOf(rows: Rows, keyed: Tail['keyed'] = {}): Record<string, TextIndex> {
  const keys: Record<string, TextIndex> = {};
  for (const [name, form] of Object.entries(KEY_COLUMNS)) {
    const column = keyed[name] ?? (valuesNamed(rows, name) as readonly string[] | undefined);
    if (column === undefined) continue;
    keys[name] = buildTextIndex(
      column.flatMap((value, row) => {
        const texts = form === 'numbers' ? (textList(value) ?? []) : [value];
        return texts
          .filter((text) => (form === 'exact' ? text : text.trim()) !== '')
          .map((text) => [keyOf(form, text), row] as const);
      }),
    );
  }
  return keys;
}

const CHUNK_BYTES = 4 << 20;
const BYTES_MAX = 2 ** 32 - 1;
const BYTES_PER_UNIT_MAX = 3;

export class ByteCollector {
  readonly #full: Uint8Array[] = [];
  #chunk: Buffer;
  /** Bytes used in the chunk, and in all chunks before it. */
  #used = 0;
  #before = 0;

  /** `bytesExpected` is an estimate: every allocation beyond it may start a garbage collection. */
  constructor(bytesExpected: number) {
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytesExpected));
  }

  get place(): number {
    return this.#before + this.#used;
  }

  add(text: string): number {
    const room = text.length * BYTES_PER_UNIT_MAX;
    if (this.#used + room > this.#chunk.length) this.#nextChunk(room);
    this.#used += this.#chunk.write(text, this.#used);
    return this.place;
  }

  /** Returns all bytes in a buffer of their exact length; the collector is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    this.#nextChunk(0);
    assert(this.#before <= BYTES_MAX, 'places of fragments fit 32 bits');
    const all = new Uint8Array(this.#before);
    let at = 0;
    for (const part of this.#full) {
      all.set(part, at);
      at += part.length;
    }
    this.#full.length = 0;
    this.#before = 0;
    return all;
  }

  #nextChunk(room: number): void {
    this.#full.push(this.#chunk.subarray(0, this.#used));
    this.#before += this.#used;
    this.#used = 0;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, room));
  }
}

export function spansOf<T>(
  bytes: ByteCollector,
  objects: readonly T[],
  textOf: (object: T, row: number) => string,
): Spans {
  const start = new Uint32Array(objects.length);
  const end = new Uint32Array(objects.length);
  for (const [row, object] of objects.entries()) {
    start[row] = bytes.place;
    end[row] = bytes.add(textOf(object, row));
  }
  return { start, end };
}
