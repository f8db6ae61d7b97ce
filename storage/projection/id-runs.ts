/**
 * Index of closed orders by id, as it is stored: sorted runs that are never changed, only merged
 * (id-index.ts writes, closed-orders.ts looks up).
 *
 *   ids        from u48 | to u48 | page u32 (big-endian) -> crc u32, then for each entry, ascending,
 *              the first word of the id u32 | its sequence less `from` u32
 *   meta, ids  crc u32 | runs u32, then for each run from f64 | to f64 | state f64
 *
 * A run holds the orders that finished from `from` to before `to`. Ids are hashes, so its entries are
 * spread evenly over its pages by their first word: one page says whether the run has an id. Another
 * id with the same first word is identified by its row. Checksums cover the keys. Little-endian, as the machines
 * that it runs on are.
 *
 * Thread: any; pure.
 */

import { CRC_BYTES, checksumMatches, Damage, withChecksum } from '../kv/checksum.ts';
import type { BinaryTable } from '../kv/lmdb.ts';

export interface Run {
  readonly from: number;
  readonly to: number;
}

/** Pairs of words: the first word of an id, and the position of its order, counted from the run's first. */
export type Entries = Uint32Array;

export const RunState = { live: 0, unfinished: 1, givenUp: 2 } as const;
type RunStateCode = (typeof RunState)[keyof typeof RunState];

/** Mean entries of a page: four of them lie in a page of LMDB. */
const PAGE_ENTRIES = 100;
const ENTRY_BYTES = 8;
const WORDS = 2 ** 32;
const RUNS_KEY = Buffer.from('ids');
const RUN_BYTES = 24;

export function sizeOf({ from, to }: Run): number {
  return to - from;
}

export function pagesOf(run: Run): number {
  return Math.ceil(sizeOf(run) / PAGE_ENTRIES);
}

export function pageOf(word: number, pages: number): number {
  return Math.floor((word * pages) / WORDS);
}

export function pageKey({ from, to }: Run, page: number): Buffer {
  const key = Buffer.allocUnsafeSlow(16);
  key.writeUIntBE(from, 0, 6);
  key.writeUIntBE(to, 6, 6);
  key.writeUInt32BE(page, 12);
  return key;
}

/** Call only inside a transaction. */
export function putPage(table: BinaryTable, run: Run, page: number, entries: Entries): void {
  const key = pageKey(run, page);
  const value = Buffer.allocUnsafeSlow(CRC_BYTES + entries.length * 4);
  value.set(new Uint8Array(entries.buffer, entries.byteOffset, entries.byteLength), CRC_BYTES);
  table.put(key, withChecksum(key, value));
}

/** Throws Damage. */
export function readPage(table: BinaryTable, run: Run, page: number): Entries {
  const value = pageValue(table, run, page);
  const entries = new Uint8Array(value.length - CRC_BYTES);
  entries.set(value.subarray(CRC_BYTES));
  return new Uint32Array(entries.buffer);
}

/** Sequences of orders whose ids begin with this word (u32). Throws Damage. */
export function lookUp(table: BinaryTable, run: Run, word: number): readonly number[] {
  const value = pageValue(table, run, pageOf(word, pagesOf(run)));
  let low = 0;
  let high = (value.length - CRC_BYTES) / ENTRY_BYTES;
  const wordAt = (entry: number): number => value.readUInt32LE(CRC_BYTES + entry * ENTRY_BYTES);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (wordAt(middle) < word) low = middle + 1;
    else high = middle;
  }
  const found: number[] = [];
  for (let at = CRC_BYTES + low * ENTRY_BYTES; at < value.length; at += ENTRY_BYTES) {
    if (value.readUInt32LE(at) !== word) break;
    found.push(run.from + value.readUInt32LE(at + 4));
  }
  return found;
}

/** Call only inside a transaction. */
export function putRuns(
  meta: BinaryTable,
  runs: readonly (readonly [run: Run, state: RunStateCode])[],
): void {
  const value = Buffer.allocUnsafeSlow(CRC_BYTES + 4 + RUN_BYTES * runs.length);
  value.writeUInt32LE(runs.length, CRC_BYTES);
  runs.forEach(([{ from, to }, state], i) => {
    const at = CRC_BYTES + 4 + RUN_BYTES * i;
    value.writeDoubleLE(from, at);
    value.writeDoubleLE(to, at + 8);
    value.writeDoubleLE(state, at + 16);
  });
  meta.put(RUNS_KEY, withChecksum(RUNS_KEY, value));
}

/** Runs in a state, oldest first. Throws Damage. */
export function readRuns(meta: BinaryTable, state: RunStateCode): Run[] {
  const value = meta.get(RUNS_KEY);
  if (value === undefined) return [];
  if (!checksumMatches(RUNS_KEY, value)) throw new Damage('the list of its id runs');
  const runs: Run[] = [];
  for (let at = CRC_BYTES + 4; at < value.length; at += RUN_BYTES) {
    if (value.readDoubleLE(at + 16) !== state) continue;
    runs.push({ from: value.readDoubleLE(at), to: value.readDoubleLE(at + 8) });
  }
  return runs.sort((a, b) => a.from - b.from);
}

function pageValue(table: BinaryTable, run: Run, page: number): Buffer {
  const key = pageKey(run, page);
  const value = table.get(key);
  if (value !== undefined && checksumMatches(key, value)) return value;
  throw new Damage(`page ${page} of the ids of finished orders ${run.from} to ${run.to - 1}`);
}
