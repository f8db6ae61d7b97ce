/**
 * Images of the engine's memory: LMDB environment DATA_DIR/images, the newest two.
 *
 *   chunks   image number (6 bytes) | table (1) | chunk (4), big-endian -> up to 1 MiB of a table
 *   headers  image number -> JSON: sequence, capacities, bytes and checksum of each table
 *
 * The header is written last, so an image without one does not count. Chunks are small because one
 * value of 128 MiB held up a journal write for a quarter of a second (DESIGN).
 *
 * Thread: the I/O thread. The tables copied are a spare region that no worker writes meanwhile.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { State, type TableName } from '../engine/layout.ts';
import type { Capacities } from '../engine/limits.ts';
import { type Tables, usedBytes } from '../engine/tables.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openSequence,
  openTable,
  type RootDatabase,
  type SequenceTable,
} from './lmdb.ts';

interface ImageHeader {
  readonly format: number;
  readonly sequence: number;
  readonly capacities: Capacities;
  readonly tables: readonly {
    readonly name: TableName;
    readonly bytes: number;
    readonly crc: number;
  }[];
}

const FORMAT = 1;
const CHUNK_BYTES = 1 << 20;
const KEY_BYTES = 11;

export interface ImageInfo {
  readonly number: number;
  /** The journal's sequence that it holds. */
  readonly sequence: number;
}

export class Images {
  private readonly root: RootDatabase<Buffer, string>;
  private readonly chunks: BinaryTable;
  private readonly headers: SequenceTable;

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

  /** Images with a header, newest first. */
  list(): ImageInfo[] {
    return [...this.headers.getRange({ reverse: true })].map(({ key, value }) => ({
      number: key,
      sequence: (JSON.parse(value.toString()) as ImageHeader).sequence,
    }));
  }

  /**
   * Writes an image of `spare`, and removes all but the newest two. The caller made sure that the
   * journal is on disk up to its sequence.
   */
  async save(spare: Tables): Promise<ImageInfo> {
    const number = (this.list()[0]?.number ?? 0) + 1;
    const tables: { name: TableName; bytes: number; crc: number }[] = [];
    let table = 0;
    for (const [name, bytes] of usedBytes(spare)) {
      const source = new Uint8Array(spare.memory.buffers[name], 0, bytes);
      let crc = 0;
      for (let at = 0, chunk = 0; at < bytes; at += CHUNK_BYTES, chunk++) {
        // A copy in ordinary memory: LMDB must never be handed a view of a shared buffer.
        const copy = Buffer.from(source.subarray(at, at + CHUNK_BYTES));
        crc = crc32(copy, crc);
        await this.chunks.put(chunkKey(number, table, chunk), copy);
      }
      tables.push({ name, bytes, crc });
      table += 1;
    }
    const sequence = spare.state[State.batch]!;
    const header: ImageHeader = { format: FORMAT, sequence, capacities: spare.capacities, tables };
    await this.headers.put(number, Buffer.from(JSON.stringify(header)));
    await this.removeBefore(number - 1);
    return { number, sequence };
  }

  /** Loads an image into fresh tables; a text says why it cannot be used. */
  load(info: ImageInfo, into: Tables): string | undefined {
    const stored = this.headers.get(info.number);
    if (stored === undefined) return 'it has no header';
    const header = JSON.parse(stored.toString()) as ImageHeader;
    if (header.format !== FORMAT)
      return `its format is ${header.format}, this node reads ${FORMAT}`;
    for (const [i, table] of header.tables.entries()) {
      const buffer = into.memory.buffers[table.name];
      const name = table.name;
      if (table.bytes > buffer.byteLength) return `its table ${name} is larger than the capacity`;
      const target = new Uint8Array(buffer);
      let crc = 0;
      for (let at = 0, chunk = 0; at < table.bytes; at += CHUNK_BYTES, chunk++) {
        const bytes = this.chunks.get(chunkKey(info.number, i, chunk));
        const expected = Math.min(CHUNK_BYTES, table.bytes - at);
        if (bytes === undefined || bytes.length !== expected) return `a part of ${name} is missing`;
        crc = crc32(bytes, crc);
        target.set(bytes, at);
      }
      if (crc !== table.crc) return `the checksum of its table ${name} is wrong`;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.root.close();
  }

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
