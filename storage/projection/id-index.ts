/**
 * Writer of the index of closed orders by id (id-runs.ts). A commit adds a run, merged at once with small neighbours.
 * Large runs are merged a part with each commit, by as many entries as keep up with new ones. So an entry is written
 * some times, in large pieces, and never a page for each order. There are at most as many runs as the number of
 * orders has binary digits.
 *
 * A damaged page is rebuilt from the rows.
 *
 * Thread: the projector, inside its transactions. After a failed one, open another object.
 */
import assert from 'node:assert/strict';
import { ONLY_ORDER, orderIdAt } from '../../engine/reads.ts';
import { Damage } from '../kv/checksum.ts';
import type { BinaryTable } from '../kv/lmdb.ts';
import type { PackedRows } from '../kv/packed.ts';
import * as runs from './id-runs.ts';
import { type Entries, pageOf, pagesOf, type Run, RunState, sizeOf } from './id-runs.ts';

/** Entries of a run beyond which a merge is done in parts. */
const AT_ONCE_MAX = 2 ** 15;
/** Entries of larger merges for each new entry, and for each commit. */
const MERGED_FOR_EACH = 16;
const MERGED_AT_LEAST = 2_000;
/** Merged entries that cost as much as the removal of a page. */
const REMOVED_PAGE = 25;
/** Bound of a position in a run that is sorted at once, beside 32 bits of the word, in a double. */
const PLACES = 2 ** 20;

export interface IdTables {
  readonly ids: BinaryTable;
  readonly meta: BinaryTable;
  readonly closedOrders: PackedRows;
}

interface Merge {
  readonly older: Run;
  readonly newer: Run;
  readonly into: Run;
  /** Yields the number of entries after each page. */
  readonly work: Generator<number, void>;
}

export class IdIndex {
  /** Oldest first, each from the end of the previous one. */
  private live: Run[];
  private readonly givenUp: Run[];
  private readonly tables: IdTables;
  private readonly warn: (line: string) => void;
  private merge: Merge | undefined;
  private pagesLeft = 0;

  /** Throws Damage. */
  constructor(tables: IdTables, warn: (line: string) => void) {
    this.tables = tables;
    this.warn = warn;
    this.live = runs.readRuns(tables.meta, RunState.live);
    this.givenUp = [
      ...runs.readRuns(tables.meta, RunState.unfinished),
      ...runs.readRuns(tables.meta, RunState.givenUp),
    ];
  }

  /**
   * Adds the orders that closed from `from` to before `to`; only inside a transaction.
   * @param wordOf first word of the id of one of them
   */
  add(from: number, to: number, wordOf: (sequence: number) => number): void {
    if (from === to) return;
    let run: Run = { from, to };
    let entries = sortedEntries(run, wordOf);
    while (entries.length / 2 < AT_ONCE_MAX) {
      const before = this.live.at(-1);
      const isLarger = before === undefined || sizeOf(before) > sizeOf(run);
      if (isLarger || before.to !== run.from || before === this.merge?.newer) break;
      entries = mergedEntries(this.entriesOf(before), entries, sizeOf(before));
      run = { from: before.from, to };
      this.live.pop();
      this.givenUp.push(before);
    }
    this.writeRun(run, entries);
    this.live.push(run);
    this.advance(MERGED_AT_LEAST + MERGED_FOR_EACH * (to - from));
    this.save();
  }

  /** Checks the pages of every run, one at a time, and rebuilds damaged ones. */
  *check(transact: (write: () => void) => void): Generator<void> {
    for (const run of [...this.live]) {
      for (let page = 0; page < pagesOf(run); page++) {
        yield;
        if (!this.live.includes(run)) break;
        if (this.sound(run, page) !== undefined) continue;
        const entries = this.pageOfRows(run, page);
        transact(() => runs.putPage(this.tables.ids, run, page, entries));
      }
    }
  }

  private save(): void {
    const { givenUp, live, merge } = this;
    runs.putRuns(this.tables.meta, [
      ...live.map((run) => [run, RunState.live] as const),
      ...(merge === undefined ? [] : [[merge.into, RunState.unfinished] as const]),
      ...givenUp.map((run) => [run, RunState.givenUp] as const),
    ]);
  }

  /** Continues the removal, and the merge of two large runs. */
  private advance(entries: number): void {
    let left = entries;
    while (left > 0) {
      if (this.givenUp.length > 0) {
        left -= this.remove(Math.ceil(left / REMOVED_PAGE)) * REMOVED_PAGE;
        continue;
      }
      this.merge ??= this.nextMerge();
      if (this.merge === undefined) return;
      const { done, value } = this.merge.work.next();
      left -= done === true ? 1 : value;
      if (done === true) this.endMerge(this.merge);
    }
  }

  private remove(pagesMax: number): number {
    const run = this.givenUp[0]!;
    if (this.pagesLeft === 0) this.pagesLeft = pagesOf(run);
    const pages = Math.min(pagesMax, this.pagesLeft);
    for (let i = 0; i < pages; i++) {
      this.pagesLeft -= 1;
      this.tables.ids.remove(runs.pageKey(run, this.pagesLeft));
    }
    if (this.pagesLeft === 0) this.givenUp.shift();
    return pages;
  }

  /** The oldest run that is not larger than its successor, and its successor. */
  private nextMerge(): Merge | undefined {
    const at = this.live.findIndex((run, i) => {
      const next = this.live[i + 1];
      return next !== undefined && next.from === run.to && sizeOf(run) <= sizeOf(next);
    });
    const older = this.live[at];
    const newer = this.live[at + 1];
    if (older === undefined || newer === undefined) return undefined;
    const into = { from: older.from, to: newer.to };
    return { older, newer, into, work: this.merging(older, newer, into) };
  }

  private *merging(older: Run, newer: Run, into: Run): Generator<number, void> {
    const sources = [this.cursor(older), this.cursor(newer)] as const;
    const pages = pagesOf(into);
    for (let page = 0; page < pages; page++) {
      const [a, b] = [sources[0](page, pages), sources[1](page, pages)];
      const entries = mergedEntries(a, b, sizeOf(older));
      runs.putPage(this.tables.ids, into, page, entries);
      yield 1 + entries.length / 2;
    }
  }

  private endMerge({ into, newer, older }: Merge): void {
    this.live.splice(this.live.indexOf(older), 2, into);
    this.givenUp.push(older, newer);
    this.merge = undefined;
  }

  /** Iterates over the entries of a run: each call returns those of one of so many pages. */
  private cursor(run: Run): (page: number, pages: number) => Entries {
    let entries: Entries = new Uint32Array(0);
    let at = 0;
    let next = 0;
    return (page, pages) => {
      const parts: Entries[] = [];
      for (;;) {
        let end = at;
        while (end < entries.length && pageOf(entries[end]!, pages) <= page) end += 2;
        if (end > at) parts.push(entries.subarray(at, end));
        at = end;
        if (at < entries.length || next === pagesOf(run)) break;
        entries = this.pageOrRows(run, next);
        next += 1;
        at = 0;
      }
      return parts.length === 1 ? parts[0]! : joined(parts);
    };
  }

  private pageOrRows(run: Run, page: number): Entries {
    return this.sound(run, page) ?? this.pageOfRows(run, page);
  }

  /** `undefined` = it is damaged. */
  private sound(run: Run, page: number): Entries | undefined {
    try {
      return runs.readPage(this.tables.ids, run, page);
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      return undefined;
    }
  }

  private entriesOf(run: Run): Entries {
    return joined(Array.from({ length: pagesOf(run) }, (_, page) => this.pageOrRows(run, page)));
  }

  private pageOfRows(run: Run, page: number): Entries {
    const { from, to } = run;
    this.warn(`derived: a page of the ids of finished orders ${from} to ${to - 1} is made again`);
    const found: (readonly [word: number, place: number])[] = [];
    for (const [sequence, row] of this.tables.closedOrders.range(from, to)) {
      const word = row.readUInt32LE(4 * orderIdAt(ONLY_ORDER));
      if (pageOf(word, pagesOf(run)) === page) found.push([word, sequence - from]);
    }
    return Uint32Array.from(found.sort((a, b) => a[0] - b[0]).flat());
  }

  private writeRun(run: Run, entries: Entries): void {
    const pages = pagesOf(run);
    let at = 0;
    for (let page = 0; page < pages; page++) {
      const start = at;
      while (at < entries.length && pageOf(entries[at]!, pages) === page) at += 2;
      runs.putPage(this.tables.ids, run, page, entries.subarray(start, at));
    }
  }
}

function sortedEntries({ from, to }: Run, wordOf: (sequence: number) => number): Entries {
  const count = to - from;
  const entries = new Uint32Array(2 * count);
  assert(count <= PLACES, 'a run is sorted in parts');
  // Typed arrays are sorted several times as fast, without a function.
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = (wordOf(from + i) >>> 0) * PLACES + i;
  keys.sort();
  for (let i = 0; i < count; i++) {
    const word = Math.floor(keys[i]! / PLACES);
    entries[2 * i] = word;
    entries[2 * i + 1] = keys[i]! - word * PLACES;
  }
  return entries;
}

/** @param shift offset of the positions of the second */
function mergedEntries(a: Entries, b: Entries, shift: number): Entries {
  const out = new Uint32Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let at = 0; at < out.length; at += 2) {
    if (j === b.length || (i < a.length && a[i]! <= b[j]!)) {
      out[at] = a[i]!;
      out[at + 1] = a[i + 1]!;
      i += 2;
    } else {
      out[at] = b[j]!;
      out[at + 1] = b[j + 1]! + shift;
      j += 2;
    }
  }
  return out;
}

function joined(parts: readonly Entries[]): Entries {
  const out = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
