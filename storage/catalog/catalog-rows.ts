/**
 * The rows of generations in LMDB: how their keys are made, and how they are written, read and removed.
 *   objects  generation (6 bytes) | kind (1) | id (8), all big-endian -> JSON of one object
 *
 * Thread: any but the I/O thread, because all of it grows with the catalog.
 */
import assert from 'node:assert/strict';
import { createHash, type Hash } from 'node:crypto';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { BinaryTable } from '../kv/lmdb.ts';
import { type ContentRow, ROW_HEAD_BYTES } from './catalog-content.ts';
import { damaged, FORMAT, type Header, opened, putWithChecksum } from './catalog-state.ts';

/** The index of a kind is its number on disk. */
export const KINDS = ['events', 'tags', 'series', 'sites'] as const;

export interface StoredObject extends ContentRow {
  readonly kind: (typeof KINDS)[number];
}

const KEY_BYTES = 15;
export const GENERATION_BYTES = 6;
/** Bytes of one transaction: it bounds memory and the time of the write lock. */
export const CHUNK_BYTES = 1 << 20;
const REMOVE_MAX = 4096;

class RowTotals {
  readonly counts = KINDS.map(() => 0);
  bytes = 0;
  private readonly hash: Hash = createHash('sha256');

  add(place: Buffer, json: Buffer): void {
    const kind = place[0]!;
    if (kind >= KINDS.length) throw new Error(`an object of kind ${kind}`);
    this.counts[kind]! += 1;
    this.bytes += ROW_HEAD_BYTES + json.length;
    this.hash.update(place).update(String(json.length)).update(json);
  }

  end(generation: number): Header {
    const { bytes, counts } = this;
    return { format: FORMAT, generation, counts, digest: this.hash.digest('hex'), bytes };
  }
}

export class RowWriter {
  private readonly objects: BinaryTable;
  private readonly generation: number;
  private readonly totals = new RowTotals();
  private pending: Entry[] = [];
  private bytes = 0;

  constructor(objects: BinaryTable, generation: number) {
    this.objects = objects;
    this.generation = generation;
  }

  /** Returns true when flush() is due. */
  add(place: Buffer, json: Buffer): boolean {
    this.totals.add(place, json);
    const key = Buffer.alloc(KEY_BYTES);
    key.writeUIntBE(this.generation, 0, GENERATION_BYTES);
    key.set(place, GENERATION_BYTES);
    this.pending.push([key, json]);
    this.bytes += json.length;
    return this.bytes >= CHUNK_BYTES;
  }

  async flush(): Promise<void> {
    await putTogether(this.objects, this.pending);
    this.pending = [];
    this.bytes = 0;
  }

  async end(): Promise<Header> {
    await this.flush();
    return this.totals.end(this.generation);
  }
}

/**
 * Returns the header of an older version's generation with its digest and bytes; unchanged where an
 * object is damaged.
 */
export function measured(objects: BinaryTable, header: Header): Header {
  const totals = new RowTotals();
  const start = objectKey(header.generation, 0, '0');
  const end = objectKey(header.generation + 1, 0, '0');
  for (const { key, value } of objects.getRange({ start, end })) {
    const json = opened(key, value);
    if (json === undefined) return header;
    totals.add(key.subarray(GENERATION_BYTES), json);
  }
  const { bytes, digest } = totals.end(header.generation);
  return { ...header, digest: digest!, bytes: bytes! };
}

type Entry = readonly [key: Buffer, value: Buffer];

/**
 * Writes one synchronous transaction in this thread. With many asynchronous writes in flight, a
 * full disk corrupted the memory of the lmdb package (reproduced), and each write left a rejection
 * without a handler. Other work of the thread runs between the transactions.
 */
export async function putTogether(table: BinaryTable, entries: readonly Entry[]): Promise<void> {
  await nextIteration();
  table.transactionSync(() => {
    for (const [key, value] of entries) putWithChecksum(table, key, value);
  });
}

export function newestOf(objects: BinaryTable): number {
  for (const key of objects.getKeys({ reverse: true, limit: 1 }))
    return key.readUIntBE(0, GENERATION_BYTES);
  return 0;
}

export async function removeBetween(table: BinaryTable, first: number, end: number): Promise<void> {
  const range = { start: objectKey(first, 0, '0'), end: objectKey(end, 0, '0'), limit: REMOVE_MAX };
  for (;;) {
    await nextIteration();
    table.resetReadTxn();
    const keys = [...table.getKeys(range)];
    if (keys.length === 0) return;
    table.transactionSync(() => {
      for (const key of keys) table.removeSync(key);
    });
  }
}

/**
 * Header and first object are read in one event-loop iteration, so they are from one LMDB
 * snapshot. The range keeps that snapshot until it ends.
 */
export function* readGeneration(
  header: Header | undefined,
  objects: BinaryTable,
): Iterable<StoredObject> {
  if (header === undefined) return;
  const counts = KINDS.map(() => 0);
  const start = objectKey(header.generation, 0, '0');
  const end = objectKey(header.generation + 1, 0, '0');
  for (const { key, value } of objects.getRange({ start, end })) {
    const number = key[6] ?? KINDS.length;
    const kind = KINDS[number];
    assert(kind !== undefined, 'a catalog key names a known kind');
    counts[number] = (counts[number] ?? 0) + 1;
    const json = opened(key, value);
    if (json === undefined) {
      const place = key.readBigUInt64BE(7);
      throw damaged(`generation ${header.generation}: ${kind} ${place}: the checksum is wrong`);
    }
    yield { kind, place: key.subarray(GENERATION_BYTES), json };
  }
  for (const [number, kind] of KINDS.entries()) {
    const [found, expected] = [counts[number], header.counts[number]];
    if (found === expected) continue;
    throw damaged(`generation ${header.generation}: ${found} ${kind} of ${expected} are there`);
  }
}

export function objectKey(generation: number, kind: number, id: string): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeUIntBE(generation, 0, GENERATION_BYTES);
  key.writeUInt8(kind, 6);
  key.writeBigUInt64BE(BigInt(id), 7);
  return key;
}
