/**
 * A structured array of numpy as the member `data.npy` of a zip file, as `numpy.savez_compressed(file, data=array)` makes it,
 * and texts beside it. Single entry point to the package fflate, which is optional.
 *
 * Thread: any. Memory: a piece of the file. Non-goals: other arrays than one of fields of 8 bytes.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type * as Fflate from 'fflate';
import { optionalPackage } from '../files/optional-package.ts';
import { ColumnsDamaged } from './columns-damaged.ts';

/** An unsigned or signed integer, or a double; 8 bytes, least significant first. */
export interface NpyField {
  readonly name: string;
  readonly type: '<u8' | '<i8' | '<f8';
}

const DATA = 'data.npy';
const FIELD_BYTES = 8;
const MAGIC = Buffer.from('\x93NUMPY', 'latin1');
/** Magic, version 1.0, and a length of two bytes. */
const PREFIX_BYTES = MAGIC.length + 4;
const ALIGNMENT = 64;
/** The date of the members: the first one of zip, so that equal data give equal files. */
const DATE = new Date(1980, 0, 1);
const PIECE_BYTES = 2 ** 16;
/** Sizes in a zip file have 32 bits. */
const BYTES_END = 2 ** 32;

export class NpzWriter {
  private readonly file: FileHandle;
  private readonly zip: Fflate.Zip;
  private readonly data: Fflate.ZipDeflate;
  private chunks: Uint8Array[] = [];
  private failed: Error | null = null;
  bytes = 0;

  private constructor(
    file: FileHandle,
    { Zip, ZipDeflate }: typeof Fflate,
    texts: Readonly<Record<string, string>>,
  ) {
    this.file = file;
    this.zip = new Zip((error, chunk) => {
      this.failed ??= error;
      this.chunks.push(chunk);
    });
    for (const [name, text] of Object.entries(texts)) this.add(new ZipDeflate(name), text);
    this.data = this.added(new ZipDeflate(DATA, { level: 6 }));
  }

  /** Rejects if the file exists. @param rows number of the records that will be written */
  static async create(
    path: string,
    fields: readonly NpyField[],
    rows: number,
    texts: Readonly<Record<string, string>> = {},
  ): Promise<NpzWriter> {
    if (rows * fields.length * FIELD_BYTES >= BYTES_END)
      throw new Error(
        `${path}: an array of ${rows} rows is more than 4 GB, the most of a zip file`,
      );
    const fflate = await optionalPackage('fflate', () => import('fflate'));
    const writer = new NpzWriter(await open(path, 'wx'), fflate, texts);
    writer.data.push(npyHead(fields, rows));
    return writer;
  }

  /** Writes records, whose bytes may be used again afterwards. */
  async write(records: Uint8Array): Promise<void> {
    this.data.push(records.slice());
    await this.drain();
  }

  async close(): Promise<void> {
    this.data.push(new Uint8Array(0), true);
    this.zip.end();
    try {
      await this.drain();
      await this.file.sync();
    } finally {
      await this.file.close();
    }
  }

  /** Gives the file up. */
  async abort(): Promise<void> {
    await this.file.close();
  }

  private add(member: Fflate.ZipDeflate, text: string): void {
    this.added(member).push(Buffer.from(text), true);
  }

  private added(member: Fflate.ZipDeflate): Fflate.ZipDeflate {
    member.mtime = DATE;
    this.zip.add(member);
    return member;
  }

  private async drain(): Promise<void> {
    if (this.failed !== null) throw this.failed;
    const { chunks } = this;
    this.chunks = [];
    if (chunks.length === 0) return;
    const { bytesWritten } = await this.file.writev(chunks);
    this.bytes += bytesWritten;
  }
}

function npyHead(fields: readonly NpyField[], rows: number): Buffer {
  const descr = fields.map(({ name, type }) => `('${name}', '${type}')`).join(', ');
  const text = `{'descr': [${descr}], 'fortran_order': False, 'shape': (${rows},), }`;
  const bytes = PREFIX_BYTES + text.length + 1;
  const padding = ' '.repeat((ALIGNMENT - (bytes % ALIGNMENT)) % ALIGNMENT);
  const head = Buffer.from(`${text}${padding}\n`, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt8(1, 0);
  length.writeUInt16LE(head.length, 2);
  return Buffer.concat([MAGIC, length, head]);
}

export function beginsZip(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'PK\x03\x04';
}

/** Returns the text of a member that comes before the array; `undefined` without such a member. */
export async function npzText(path: string, name: string): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  for await (const [member, bytes] of members(path, (each) => each === name || each === DATA)) {
    if (member === DATA) break;
    parts.push(bytes);
  }
  if (parts.length === 0) return undefined;
  const bytes = Buffer.concat(parts);
  await checkSum(path, name, crc32(bytes));
  return bytes.toString();
}

/**
 * Yields whole records.
 * @throws ColumnsDamaged if there is no array with these fields, or less of it than it says; at its end if its checksum is
 * another one
 */
export async function* npzRecords(
  path: string,
  fields: readonly NpyField[],
): AsyncGenerator<Buffer> {
  const recordBytes = fields.length * FIELD_BYTES;
  let rest: Buffer = Buffer.alloc(0);
  /** Bytes of records that follow; undefined before the head. */
  let left: number | undefined;
  let sum = 0;
  for await (const [, bytes] of members(path, (each) => each === DATA)) {
    sum = crc32(bytes, sum);
    rest = rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([rest, bytes]);
    if (left === undefined) {
      const head = headOf(rest, fields);
      if (head === undefined) continue;
      left = head.rows * recordBytes;
      rest = rest.subarray(head.bytes);
    }
    const whole = Math.min(left, rest.length - (rest.length % recordBytes));
    if (whole === 0) continue;
    left -= whole;
    yield rest.subarray(0, whole);
    rest = rest.subarray(whole);
  }
  if (left === undefined) throw new ColumnsDamaged(`it has no ${DATA}`);
  if (left > 0) throw new ColumnsDamaged(`${DATA} ends early`);
  await checkSum(path, DATA, sum);
}

const TAIL_BYTES = 22;
const TAIL_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;

async function checkSum(path: string, member: string, sum: number): Promise<void> {
  if (sum !== (await checksumOf(path, member)))
    throw new ColumnsDamaged(`the checksum of ${member} is another`);
}

/** Returns the crc32 of a member by the directory of the zip file; `undefined` if it has none. */
async function checksumOf(path: string, member: string): Promise<number | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const tail = await bytesOf(file, Math.max(0, size - PIECE_BYTES - TAIL_BYTES), size);
    const end = tail.lastIndexOf(TAIL_SIGNATURE);
    if (end === -1 || end + TAIL_BYTES > tail.length) return undefined;
    const [length, begin] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
    const directory = await bytesOf(file, begin, Math.min(size, begin + length));
    for (let at = 0; at + ENTRY_BYTES <= directory.length; ) {
      if (directory.readUInt32LE(at) !== ENTRY_SIGNATURE) return undefined;
      const name = at + ENTRY_BYTES;
      const nameLength = directory.readUInt16LE(at + 28);
      if (directory.toString('latin1', name, name + nameLength) === member)
        return directory.readUInt32LE(at + 16);
      at = name + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    }
    return undefined;
  } finally {
    await file.close();
  }
}

async function bytesOf(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, to - from));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
  return bytes.subarray(0, bytesRead);
}

/** Returns undefined while the head is not whole. */
function headOf(
  bytes: Buffer,
  fields: readonly NpyField[],
): { readonly bytes: number; readonly rows: number } | undefined {
  if (bytes.length < PREFIX_BYTES + 2) return undefined;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ColumnsDamaged(`${DATA} is no array`);
  const isFirst = bytes[MAGIC.length] === 1;
  const start = isFirst ? PREFIX_BYTES : PREFIX_BYTES + 2;
  const length = isFirst
    ? bytes.readUInt16LE(PREFIX_BYTES - 2)
    : bytes.readUInt32LE(PREFIX_BYTES - 2);
  if (length > PIECE_BYTES) throw new ColumnsDamaged(`the head of ${DATA} is too long`);
  if (bytes.length < start + length) return undefined;
  const text = bytes.toString('latin1', start, start + length);
  const [, descr = ''] = /'descr': \[(.*?)\],/.exec(text) ?? [];
  const found = [...descr.matchAll(/\('(\w+)', '([^']+)'\)/g)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  const wanted = fields.map(({ name, type }) => `${name} ${type}`);
  const [, rows] = /'shape': \((\d{1,15}),\)/.exec(text) ?? [];
  if (found.join() !== wanted.join() || rows === undefined)
    throw new ColumnsDamaged(`${DATA} is no array of ${wanted.join(', ')}`);
  return { bytes: start + length, rows: Number(rows) };
}

/** Yields pieces of the wanted members, in the order of the file. */
async function* members(
  path: string,
  isWanted: (name: string) => boolean,
): AsyncGenerator<readonly [name: string, bytes: Uint8Array]> {
  const { Unzip, UnzipInflate } = await optionalPackage('fflate', () => import('fflate'));
  let found: (readonly [string, Uint8Array])[] = [];
  const unzip = new Unzip((file) => {
    if (!isWanted(file.name)) return;
    file.ondata = (error, bytes) => {
      if (error !== null) throw error;
      found.push([file.name, bytes]);
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  const stream = createReadStream(path, { highWaterMark: PIECE_BYTES });
  try {
    for await (const piece of stream) {
      push(unzip, piece as Buffer, false);
      yield* found;
      found = [];
    }
    push(unzip, new Uint8Array(0), true);
    yield* found;
  } finally {
    stream.destroy();
  }
}

function push(unzip: Fflate.Unzip, piece: Uint8Array, isLast: boolean): void {
  try {
    unzip.push(piece, isLast);
  } catch (error) {
    throw new ColumnsDamaged(`it cannot be unzipped: ${(error as Error).message}`);
  }
}
