/**
 * A record of the log, stated once:
 *
 *   0   magic u32, format u32
 *   8   payload bytes u32
 *   12  link u32            checksum of the record before; 0 in the first of all
 *   16  sequence f64
 *   24  acknowledged f64    sequence up to which all was durable when this one was written
 *   32  time f64            unix milliseconds
 *   40  digest before i32, digest after i32
 *   48  payload, then zeros up to a multiple of 8, of which the last 4 bytes are
 *   end crc32 u32           over everything before it
 *
 * Little-endian, as the machines that it runs on are. `acknowledged` tells damage from a write that a
 * power cut has torn: records that were written together may reach the disk in any order, but none of
 * them was acknowledged before all of them were there.
 */
import { crc32 } from 'node:zlib';
import { otherFormat } from '../files/other-format.ts';
import type { LogEntry } from './log.ts';

const MAGIC = 0x474f4c42;
/** 2: digests name orders by their ids, because their rows differ. */
const FORMAT = 2;
const HEADER_BYTES = 48;
const CRC_BYTES = 4;
export const RECORD_ALIGN = 8;
/** Bytes from which the length of a record is known. */
export const PREFIX_BYTES = HEADER_BYTES;

export interface StoredRecord extends LogEntry {
  readonly bytes: number;
  readonly link: number;
  readonly acknowledged: number;
  readonly crc: number;
}

export function recordBytes(payloadBytes: number): number {
  const bytes = HEADER_BYTES + payloadBytes + CRC_BYTES;
  return Math.ceil(bytes / RECORD_ALIGN) * RECORD_ALIGN;
}

/**
 * Writes a record at `at`, a multiple of RECORD_ALIGN in aligned memory. Returns its checksum, which is the link of
 * the next one.
 */
export function writeRecord(
  out: Buffer,
  at: number,
  entry: LogEntry,
  link: number,
  acknowledged: number,
): number {
  const bytes = recordBytes(entry.payload.length);
  // An acknowledgement waits for it: plain stores, where the methods of Buffer are calls.
  const i32 = new Int32Array(out.buffer, out.byteOffset + at, bytes / 4);
  const f64 = new Float64Array(out.buffer, out.byteOffset + at, HEADER_BYTES / 8);
  // Less than a multiple of 8 before the checksum is left over, and has to be zero; header and payload come over it.
  i32[i32.length - 3] = 0;
  i32[i32.length - 2] = 0;
  i32[0] = MAGIC;
  i32[1] = FORMAT;
  i32[2] = entry.payload.length;
  i32[3] = link;
  f64[2] = entry.sequence;
  f64[3] = acknowledged;
  f64[4] = entry.time;
  i32[10] = entry.before;
  i32[11] = entry.after;
  out.set(entry.payload, at + HEADER_BYTES);
  const crc = crc32(out.subarray(at, at + bytes - CRC_BYTES));
  i32[i32.length - 1] = crc;
  return crc;
}

/** Bytes of the record that begins at `at`, of which PREFIX_BYTES are there; 0 = none. */
export function storedBytes(from: Buffer, at: number): number {
  if (from.readUInt32LE(at) !== MAGIC || from.readUInt32LE(at + 4) !== FORMAT) return 0;
  return recordBytes(from.readUInt32LE(at + 8));
}

function damageOf(from: Buffer, at: number): string | undefined {
  if (at + PREFIX_BYTES > from.length) return 'it is missing';
  const magic = from.readUInt32LE(at);
  const format = from.readUInt32LE(at + 4);
  if (magic === 0 && format === 0) return 'it is missing';
  if (magic !== MAGIC) return 'it does not begin with the magic number';
  const bytes = recordBytes(from.readUInt32LE(at + 8));
  if (at + bytes > from.length) return 'its length is beyond its segment';
  const end = at + bytes - CRC_BYTES;
  if (from.readUInt32LE(end) !== crc32(from.subarray(at, end))) return 'its checksum is wrong';
  return undefined;
}

/** True when a whole record of another format lies at `at`. Every format has its length and checksum there. */
export function hasOtherFormat(from: Buffer, at: number): boolean {
  return damageOf(from, at) === undefined && from.readUInt32LE(at + 4) !== FORMAT;
}

/** Decodes the record at `at` with its payload as a view, or returns a text with its problem. */
export function readRecord(from: Buffer, at: number): StoredRecord | string {
  const damage = damageOf(from, at);
  if (damage !== undefined) return damage;
  const format = from.readUInt32LE(at + 4);
  if (format !== FORMAT) return otherFormat(format, FORMAT);
  const payloadBytes = from.readUInt32LE(at + 8);
  const bytes = recordBytes(payloadBytes);
  const crc = from.readUInt32LE(at + bytes - CRC_BYTES);
  return {
    bytes,
    crc,
    link: from.readUInt32LE(at + 12),
    sequence: from.readDoubleLE(at + 16),
    acknowledged: from.readDoubleLE(at + 24),
    time: from.readDoubleLE(at + 32),
    before: from.readInt32LE(at + 40),
    after: from.readInt32LE(at + 44),
    payload: from.subarray(at + HEADER_BYTES, at + HEADER_BYTES + payloadBytes),
  };
}

export function linkProblem(record: StoredRecord, before: StoredRecord): string | undefined {
  if (record.sequence !== before.sequence + 1) return `its sequence is ${record.sequence}`;
  if (record.link !== before.crc) return 'it does not follow the record before it';
  if (record.before !== before.after) return 'its digest before differs';
  return undefined;
}
