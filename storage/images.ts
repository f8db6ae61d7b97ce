/**
 * Images of the engine's memory: LMDB environment DATA_DIR/images, the newest two.
 *
 *   chunks   image number (6 bytes) | table (1) | chunk (4), big-endian -> up to 1 MiB of a table
 *   headers  image number -> crc32 u32 of the rest, JSON: sequence, capacities, and bytes and
 *            checksum of each table
 *
 * The header is written last, so an image without a whole one does not count. Chunks are small because one
 * value of 128 MiB held up a journal write for a quarter of a second (DESIGN).
 *
 * Thread: the I/O thread. The tables copied are a spare region that no worker writes meanwhile.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { State, type TableName } from '../engine/layout.ts';
import type { Capacities } from '../engine/limits.ts';
import { rebuildIndexes } from '../engine/rebuild.ts';
import { allocateEngine, Tables, usedSpans } from '../engine/tables.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openSequence,
  openTable,
  type RootDatabase,
  type SequenceTable,
  writeFailure,
} from './lmdb.ts';

/** A run of bytes of one table; a ring that has wrapped takes two. */
interface ImageSpan {
  readonly name: TableName;
  readonly start: number;
  readonly bytes: number;
  readonly crc: number;
}

interface ImageHeader {
  readonly format: number;
  readonly sequence: number;
  readonly capacities: Capacities;
  readonly tables: readonly ImageSpan[];
}

/** 3: books are the matching core's tables, and a finished order stays in its row. */
const FORMAT = 3;
const CHUNK_BYTES = 1 << 20;
const KEY_BYTES = 11;
/** An image that counts, and the one before it. */
const KEPT = 2;

export interface ImageInfo {
  readonly number: number;
  /** The journal's sequence that it holds. */
  readonly sequence: number;
}

export class Images {
  private readonly root: RootDatabase<Buffer, string>;
  private readonly chunks: BinaryTable;
  private readonly headers: SequenceTable;
  /** Images that load() found damaged: they are no longer among the two that are kept. */
  private readonly damaged = new Set<number>();

  constructor(
    dataDir: string,
    options: { readonly durability: Durability; readonly readOnly?: boolean },
  ) {
    const path = join(dataDir, 'images');
    if (options.readOnly !== true) mkdirSync(path, { recursive: true });
    this.root = openEnvironment({ path, ...options });
    this.chunks = openTable(this.root, 'chunks');
    this.headers = openSequence(this.root, 'headers');
  }

  /** Images that count, newest first: those with a whole header that did not fail to load. */
  list(): ImageInfo[] {
    const found: ImageInfo[] = [];
    for (const { key, value } of this.headers.getRange({ reverse: true })) {
      const header = readHeader(value);
      if (header === undefined || this.damaged.has(key)) continue;
      found.push({ number: key, sequence: header.sequence });
    }
    return found;
  }

  /**
   * Writes an image of `spare`, and removes all but the newest two that count. The caller made sure
   * that the journal is on disk up to its sequence. Rejects with an Error that says why.
   */
  async save(spare: Tables): Promise<ImageInfo> {
    try {
      return await this.write(spare);
    } catch (error) {
      throw new Error(await writeFailure(error));
    }
  }

  /** Reads an image into tables of its own capacities; a text says why it cannot be used. */
  load(info: ImageInfo): Tables | string {
    const loaded = this.read(info);
    if (typeof loaded === 'string') this.damaged.add(info.number);
    return loaded;
  }

  async close(): Promise<void> {
    await this.root.close();
  }

  private async write(spare: Tables): Promise<ImageInfo> {
    const newest = [...this.headers.getKeys({ reverse: true, limit: 1 })][0] ?? 0;
    const number = newest + 1;
    const tables: ImageSpan[] = [];
    let table = 0;
    for (const { bytes, name, start } of usedSpans(spare)) {
      const source = new Uint8Array(spare.memory.buffers[name], start, bytes);
      let crc = 0;
      for (let at = 0, chunk = 0; at < bytes; at += CHUNK_BYTES, chunk++) {
        // A copy in ordinary memory: LMDB must never be handed a view of a shared buffer.
        const copy = Buffer.from(source.subarray(at, at + CHUNK_BYTES));
        crc = crc32(copy, crc);
        await this.chunks.put(chunkKey(number, table, chunk), copy);
      }
      tables.push({ name, start, bytes, crc });
      table += 1;
    }
    const sequence = spare.state[State.batch]!;
    const { capacities } = spare;
    await this.headers.put(number, headerBytes({ format: FORMAT, sequence, capacities, tables }));
    const kept = this.list().slice(0, KEPT);
    await this.removeBefore(kept[kept.length - 1]!.number);
    return { number, sequence };
  }

  private read(info: ImageInfo): Tables | string {
    const stored = this.headers.get(info.number);
    const header = stored === undefined ? undefined : readHeader(stored);
    if (header === undefined) return 'it has no whole header';
    if (header.format !== FORMAT)
      return `its format is ${header.format}, this node reads ${FORMAT}`;
    const into = new Tables(allocateEngine(header.capacities));
    for (const [i, table] of header.tables.entries()) {
      const { bytes, name, start } = table;
      const target = new Uint8Array(into.memory.buffers[name], start, bytes);
      let crc = 0;
      for (let at = 0, chunk = 0; at < bytes; at += CHUNK_BYTES, chunk++) {
        const part = this.chunks.get(chunkKey(info.number, i, chunk));
        const expected = Math.min(CHUNK_BYTES, bytes - at);
        if (part === undefined || part.length !== expected) return `a part of ${name} is missing`;
        crc = crc32(part, crc);
        target.set(part, at);
      }
      if (crc !== table.crc) return `the checksum of its table ${name} is wrong`;
    }
    rebuildIndexes(into);
    return into;
  }

  /** A damaged image that is newer stays until two newer ones count: it costs room, no more. */
  private async removeBefore(number: number): Promise<void> {
    for (const key of [...this.headers.getKeys({ end: number })]) await this.headers.remove(key);
    const end = chunkKey(number, 0, 0);
    for (;;) {
      const keys = [...this.chunks.getKeys({ end, limit: 64 })];
      if (keys.length === 0) return;
      await Promise.all(keys.map((key) => this.chunks.remove(key)));
    }
  }
}

function chunkKey(number: number, table: number, chunk: number): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeUIntBE(number, 0, 6);
  key.writeUInt8(table, 6);
  key.writeUInt32BE(chunk, 7);
  return key;
}

function headerBytes(header: ImageHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32(json));
  return Buffer.concat([crc, json]);
}

function readHeader(stored: Buffer): ImageHeader | undefined {
  const json = stored.subarray(4);
  if (stored.length < 4 || stored.readUInt32LE(0) !== crc32(json)) return undefined;
  return JSON.parse(json.toString()) as ImageHeader;
}
