/**
 * The catalog on disk: LMDB environment DATA_DIR/catalog, one generation at a time. A new
 * generation is written in chunks next to the current one. One atomic put makes it the current one, so
 * a crash at any time leaves the old one complete. Older generations are removed afterwards.
 *   state    'current' -> header of the current generation;  'next' -> number of the next one
 *   objects  generation (6 bytes) | kind (1) | id (8), all big-endian -> JSON of one object
 *   snapshots  generation (6) | part (1) | chunk (8) -> bytes that the writer of the generation computed
 *            from it; reading them replaces computing them again (see CatalogSnapshot)
 * Every value begins with a checksum over key and value (checksum.ts). A value with a wrong checksum is
 * never served: a damaged snapshot is computed again from the objects; a damaged object or header is
 * reported by name, and an import replaces it.
 * A site has no number: its index in the list of sites is its id.
 * Thread: any, with a store of its own. Several threads and processes may open it at the same time.
 * Non-goals: indexes, and noticing a new generation (callers compare `current()`).
 */
import assert from 'node:assert/strict';
import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { makeDirectory } from '../files/make-directory.ts';
import { OtherFormat, otherFormat } from '../files/other-format.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  writeFailure,
} from '../kv/lmdb.ts';
import { type Catalog, readCatalog } from './catalog-file.ts';

export interface CatalogStore {
  /**
   * The number of the current generation, also after another process switched; undefined = none.
   */
  current(): number | undefined;
  /**
   * SHA-256 of the current generation as hex digits: of kind, id and JSON of each object in the order of objects().
   * Equal objects, equal digest, on whatever node. Undefined where there is no generation, and for one of an older
   * version in which an object is damaged.
   */
  digest(): string | undefined;
  /** The current generation, read from one LMDB snapshot; an empty catalog when there is none. */
  load(): Catalog;
  /**
   * The stored JSON of the objects of the current generation, by kind, in ascending order of id.
   * All of it comes from one LMDB snapshot, however slowly the caller reads. The caller owns each
   * value.
   */
  objects(): Iterable<StoredObject>;
  /**
   * Writes a generation, makes it the current one, and removes older ones. Resolves with its number
   * once that is durable. Of overlapping calls, in any process, the one that began last wins.
   * Rejects when a write fails; the old generation then stays in use. With `onto` it rejects with an Overtaken
   * unless that is the number of the generation that it replaces.
   */
  replace(catalog: Catalog, snapshot?: CatalogSnapshot, onto?: number): Promise<number>;
  /**
   * The snapshot that was written with the current generation, if it has this format, in buffers
   * that the caller owns. A text says which part of it is damaged.
   */
  snapshot(format: string): ArrayBuffer[] | string | undefined;
  close(): Promise<void>;
}

/** The generation from which a new one was made has been replaced meanwhile. */
export class Overtaken extends Error {
  constructor() {
    super('the catalog was replaced meanwhile: try again');
  }
}

/** Parts of bytes that were computed from a generation. The store does not know what they mean. */
export interface CatalogSnapshot {
  /** Names the program and version that can read the parts. Others ignore them. */
  readonly format: string;
  /** Each part in pieces of any length. Each is iterated once. */
  readonly parts: readonly Iterable<Uint8Array>[];
}

export interface StoredObject {
  readonly kind: (typeof KINDS)[number];
  readonly json: Buffer;
}

interface Header {
  readonly format: number;
  readonly generation: number;
  /** Objects of each kind, in the order of KINDS. */
  readonly counts: readonly number[];
  /** Older versions wrote none. */
  readonly digest?: string;
  readonly snapshot?: {
    readonly format: string;
    /** Bytes of each part. */
    readonly lengths: readonly number[];
  };
}

/**
 * Format version of this environment; unknown versions are refused. 3: every value has a checksum.
 */
const FORMAT = 3;
/** The index of a kind is its number on disk. */
export const KINDS = ['events', 'tags', 'series', 'sites'] as const;
const CURRENT_KEY = Buffer.from('current');
const NEXT_KEY = Buffer.from('next');
const KEY_BYTES = 15;
const GENERATION_BYTES = 6;
/**
 * The size of one transaction. It bounds the memory and the time for which the write lock is taken.
 */
const CHUNK_BYTES = 1 << 20;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const REMOVE_MAX = 4096;

export function openCatalog(
  dataDir: string,
  options: { readonly durability: Durability; readonly readOnly?: boolean },
): CatalogStore {
  const path = join(dataDir, 'catalog');
  if (options.readOnly !== true) makeDirectory(path);
  else if (!existsSync(path)) throw new Error(`there is no directory ${path}`);
  const root = openEnvironment({ path, ...options });
  const state = openTable(root, 'state');
  const objects = openTable(root, 'objects');
  const snapshots = openTable(root, 'snapshots');

  function nextGeneration(): number {
    return root.transactionSync(() => {
      const stored = state.get(NEXT_KEY);
      const counter = stored === undefined ? undefined : opened(NEXT_KEY, stored);
      // If the stored number is damaged, take one that no generation uses.
      const next = counter === undefined ? newestOf(objects) + 1 : Number(counter.toString());
      putWithChecksum(state, NEXT_KEY, Buffer.from(String(next + 1)));
      return next;
    });
  }

  /** Returns the current generation afterwards: a later one if another call overtook this one. */
  function switchTo(header: Header, onto: number | undefined): number {
    return root.transactionSync(() => {
      const current = soundHeader(state);
      if (onto !== undefined && (current?.generation ?? 0) !== onto) throw new Overtaken();
      if (current !== undefined && current.generation > header.generation)
        return current.generation;
      putWithChecksum(state, CURRENT_KEY, Buffer.from(JSON.stringify(header)));
      return header.generation;
    });
  }

  /** Removes what was written of a generation, unless it is the current one. */
  async function forget(generation: number): Promise<void> {
    root.resetReadTxn();
    if (soundHeader(state)?.generation === generation) return;
    for (const table of [objects, snapshots])
      await removeBetween(table, generation, generation + 1);
  }

  return {
    current() {
      root.resetReadTxn();
      return readHeader(state)?.generation;
    },

    digest() {
      root.resetReadTxn();
      const header = readHeader(state);
      return header && (header.digest ?? digestOf(objects, header.generation));
    },

    load() {
      root.resetReadTxn();
      const file = { events: [], tags: [], series: [], sites: [] };
      for (const { kind, json } of readGeneration(state, objects)) {
        const list: unknown[] = file[kind];
        list.push(JSON.parse(json.toString()));
      }
      // The raw objects are stored; the fields for trading are computed from them when they are
      // read.
      const result = readCatalog(file);
      assert(result.ok, 'a stored catalog has been read before');
      return result.catalog;
    },

    *objects() {
      root.resetReadTxn();
      yield* readGeneration(state, objects);
    },

    snapshot(format) {
      root.resetReadTxn();
      const header = readHeader(state);
      if (header?.snapshot?.format !== format) return undefined;
      return readSnapshot(snapshots, header.generation, header.snapshot.lengths);
    },

    async replace(catalog, snapshot, onto) {
      let generation: number | undefined;
      try {
        generation = nextGeneration();
        const header: Header = {
          format: FORMAT,
          generation,
          counts: KINDS.map((kind) => catalog[kind].length),
          digest: await writeObjects(objects, generation, catalog),
        };
        const inUse = switchTo(
          snapshot === undefined
            ? header
            : { ...header, snapshot: await writeSnapshot(snapshots, generation, snapshot) },
          onto,
        );
        // Only older generations: another process may be writing a younger one.
        for (const table of [objects, snapshots]) await removeBetween(table, 0, inUse);
        return generation;
      } catch (error) {
        const failure = error instanceof Overtaken ? error : new Error(await writeFailure(error));
        // Otherwise the part that was written would stay until the next successful import.
        if (generation !== undefined) await forget(generation).catch(() => undefined);
        throw failure;
      }
    },

    async close() {
      await root.close();
    },
  };
}

/** In the order of objects(). Resolves with the digest of the generation. */
async function writeObjects(
  objects: BinaryTable,
  generation: number,
  catalog: Catalog,
): Promise<string> {
  const hash = createHash('sha256');
  let pending: Entry[] = [];
  let bytes = 0;
  for (const [kind, name] of KINDS.entries()) {
    const keyed = [...catalog[name].entries()].map(([place, object]) => {
      const id = name === 'sites' ? String(place) : String(object.id);
      return [objectKey(generation, kind, id), object] as const;
    });
    keyed.sort(([a], [b]) => Buffer.compare(a, b));
    for (const [key, object] of keyed) {
      const value = Buffer.from(JSON.stringify(object));
      addTo(hash, key, value);
      pending.push([key, value]);
      bytes += value.length;
      if (bytes < CHUNK_BYTES) continue;
      await putTogether(objects, pending);
      pending = [];
      bytes = 0;
    }
  }
  await putTogether(objects, pending);
  return hash.digest('hex');
}

function addTo(hash: Hash, key: Buffer, json: Buffer): void {
  hash.update(key.subarray(GENERATION_BYTES)).update(String(json.length)).update(json);
}

/** Of a generation that an older version wrote. */
function digestOf(objects: BinaryTable, generation: number): string | undefined {
  const hash = createHash('sha256');
  const start = objectKey(generation, 0, '0');
  const end = objectKey(generation + 1, 0, '0');
  for (const { key, value } of objects.getRange({ start, end })) {
    const json = opened(key, value);
    if (json === undefined) return undefined;
    addTo(hash, key, json);
  }
  return hash.digest('hex');
}

type Entry = readonly [key: Buffer, value: Buffer];

/**
 * Writes one synchronous transaction in this thread. With many asynchronous writes in flight, a
 * full disk corrupted the memory of the lmdb package (reproduced), and each write left a rejection
 * without a handler. Other work of the thread runs between the transactions.
 */
async function putTogether(table: BinaryTable, entries: readonly Entry[]): Promise<void> {
  await nextTurn();
  table.transactionSync(() => {
    for (const [key, value] of entries) putWithChecksum(table, key, value);
  });
}

function putWithChecksum(table: BinaryTable, key: Buffer, bytes: Buffer): void {
  const value = Buffer.allocUnsafeSlow(CRC_BYTES + bytes.length);
  value.set(bytes, CRC_BYTES);
  table.putSync(key, withChecksum(key, value));
}

/** The value that was stored under this key; undefined when the bytes are damaged. */
function opened(key: Buffer, value: Buffer): Buffer | undefined {
  return checksumMatches(key, value) ? value.subarray(CRC_BYTES) : undefined;
}

/** The newest generation with at least one stored value; 0 = none. */
function newestOf(objects: BinaryTable): number {
  for (const key of objects.getKeys({ reverse: true, limit: 1 })) return key.readUIntBE(0, 6);
  return 0;
}

async function writeSnapshot(
  snapshots: BinaryTable,
  generation: number,
  { format, parts }: CatalogSnapshot,
): Promise<NonNullable<Header['snapshot']>> {
  const lengths: number[] = [];
  for (const [part, pieces] of parts.entries()) {
    let length = 0;
    let chunks = 0;
    for (const chunk of chunksOf(pieces)) {
      await putTogether(snapshots, [[objectKey(generation, part, String(chunks)), chunk]]);
      chunks += 1;
      length += chunk.length;
    }
    lengths.push(length);
  }
  return { format, lengths };
}

/** Chunks of one size, except the last, each in a buffer that nobody else writes to. */
function* chunksOf(pieces: Iterable<Uint8Array>): Generator<Buffer> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let at = 0;
  for (const piece of pieces) {
    for (let taken = 0; taken < piece.length; ) {
      const part = piece.subarray(taken, taken + CHUNK_BYTES - at);
      chunk.set(part, at);
      at += part.length;
      taken += part.length;
      if (at < CHUNK_BYTES) continue;
      yield chunk;
      chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      at = 0;
    }
  }
  if (at > 0) yield chunk.subarray(0, at);
}

/** Runs in one turn of the event loop, so it reads one LMDB snapshot. */
function readSnapshot(
  snapshots: BinaryTable,
  generation: number,
  lengths: readonly number[],
): ArrayBuffer[] | string {
  const parts: ArrayBuffer[] = [];
  for (const [part, length] of lengths.entries()) {
    const bytes = new Uint8Array(length);
    let at = 0;
    const start = objectKey(generation, part, '0');
    const end = objectKey(generation, part + 1, '0');
    for (const { key, value } of snapshots.getRange({ start, end })) {
      const chunk = opened(key, value);
      if (chunk === undefined || at + chunk.length > length) {
        return `part ${part} of what was prepared of it, behind byte ${at}`;
      }
      bytes.set(chunk, at);
      at += chunk.length;
    }
    if (at !== length) return `part ${part} of what was prepared of it, which ends at byte ${at}`;
    parts.push(bytes.buffer);
  }
  return parts;
}

/** Removes the generations from `first` to before `end`. */
async function removeBetween(table: BinaryTable, first: number, end: number): Promise<void> {
  const range = { start: objectKey(first, 0, '0'), end: objectKey(end, 0, '0'), limit: REMOVE_MAX };
  for (;;) {
    await nextTurn();
    table.resetReadTxn();
    const keys = [...table.getKeys(range)];
    if (keys.length === 0) return;
    table.transactionSync(() => {
      for (const key of keys) table.removeSync(key);
    });
  }
}

/**
 * Header and first object are read in one turn of the event loop, so they are from one LMDB
 * snapshot. The range keeps that snapshot until it ends.
 */
function* readGeneration(state: BinaryTable, objects: BinaryTable): Iterable<StoredObject> {
  const header = readHeader(state);
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
    yield { kind, json };
  }
  for (const [number, kind] of KINDS.entries()) {
    const [found, expected] = [counts[number], header.counts[number]];
    if (found === expected) continue;
    throw damaged(`generation ${header.generation}: ${found} ${kind} of ${expected} are there`);
  }
}

function readHeader(state: BinaryTable): Header | undefined {
  const value = state.get(CURRENT_KEY);
  if (value === undefined) return undefined;
  const bytes = opened(CURRENT_KEY, value);
  if (bytes === undefined && !isOlder(value)) {
    throw damaged('the row of the generation in use: the checksum is wrong');
  }
  const header: Header = JSON.parse((bytes ?? value).toString());
  if (header.format !== FORMAT) {
    throw new OtherFormat(`the catalog: ${otherFormat(header.format, FORMAT)}; import it again`);
  }
  return header;
}

/** Up to format 2 the value began with JSON. */
function isOlder(value: Buffer): boolean {
  return value[0] === OPEN_BRACE && value.at(-1) === CLOSE_BRACE && value.length > 2;
}

/** For a writer that replaces the generation: it treats a damaged header as a missing one. */
function soundHeader(state: BinaryTable): Header | undefined {
  const value = state.get(CURRENT_KEY);
  if (value === undefined) return undefined;
  const isDamaged = opened(CURRENT_KEY, value) === undefined && !isOlder(value);
  return isDamaged ? undefined : readHeader(state);
}

function damaged(what: string): Error {
  return new Error(`the catalog is damaged: ${what}; import it again, or put back a copy`);
}

function objectKey(generation: number, kind: number, id: string): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeUIntBE(generation, 0, 6);
  key.writeUInt8(kind, 6);
  key.writeBigUInt64BE(BigInt(id), 7);
  return key;
}
