/**
 * Rows of the environment `history` (history.ts), which are derived from fills alone:
 *
 *   prices   token u32 | step u8 | chunk u32 (big-endian) -> crc u32, then for each bucket with a trade,
 *            ascending, a u32: its place in the chunk << 16 | pips of its last trade
 *   totals   market u32 -> crc u32 | through f64 | whole units f64 | micro-units u32
 *   hours    hour u32 | market u32 -> crc u32 | through f64, then for each five minutes of the hour
 *            whole units f64 | micro-units u32
 *
 * A checksum covers the key too. `through`: fills before this sequence are counted in the row, so a
 * row that is ahead of the others after a kill counts no fill twice.
 *
 * Thread: any; pure.
 */
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';

/** Buckets of one row: 4 hours of minutes, 1 KiB when every minute saw a trade. */
export const CHUNK_BUCKETS_LOG2 = 8;
export const CHUNK_BUCKETS = 1 << CHUNK_BUCKETS_LOG2;
/** Five-minute parts of an hour. */
export const HOUR_PARTS = 12;

const U32_MAX = 2 ** 32 - 1;
const SUM_BYTES = 12;
const TOTAL_BYTES = CRC_BYTES + 8 + SUM_BYTES;
const HOUR_BYTES = CRC_BYTES + 8 + HOUR_PARTS * SUM_BYTES;
const MICRO = 1_000_000;

/** Sums of collateral: `whole[i]` units and `rest[i]` millionths, both exact. */
export interface Sums {
  readonly whole: Float64Array;
  readonly rest: Float64Array;
}

export interface StoredHour {
  readonly hour: number;
  readonly market: number;
  readonly through: number;
  readonly sums: Sums;
}

/** What a checksum or a rule of the format says against a row. */
export const DAMAGED = 'damaged';
type Damaged = typeof DAMAGED;

export function priceKey(token: number, step: number, chunk: number): Buffer {
  const key = Buffer.allocUnsafeSlow(9);
  key.writeUInt32BE(token, 0);
  key.writeUInt8(step, 4);
  key.writeUInt32BE(Math.min(chunk, U32_MAX), 5);
  return key;
}

/** The chunk of a key of the table `prices`. */
export function chunkOf(key: Buffer): number {
  return key.readUInt32BE(5);
}

export function encodePrices(key: Buffer, entries: Uint32Array, count: number): Buffer {
  const value = Buffer.allocUnsafeSlow(CRC_BYTES + 4 * count);
  for (let i = 0; i < count; i++) value.writeUInt32LE(entries[i]!, CRC_BYTES + 4 * i);
  return withChecksum(key, value);
}

export function decodePrices(key: Buffer, value: Buffer): Uint32Array | Damaged {
  if (!checksumMatches(key, value) || value.length % 4 !== 0) return DAMAGED;
  const entries = new Uint32Array(value.length / 4 - 1);
  let before = -1;
  for (let i = 0; i < entries.length; i++) {
    const entry = value.readUInt32LE(CRC_BYTES + 4 * i);
    const place = entry >>> 16;
    const pips = entry & 0xffff;
    if (place <= before || place >= CHUNK_BUCKETS) return DAMAGED;
    if (pips === 0 || pips >= PIPS_PER_UNIT) return DAMAGED;
    before = place;
    entries[i] = entry;
  }
  return entries;
}

export function totalKey(market: number): Buffer {
  const key = Buffer.allocUnsafeSlow(4);
  key.writeUInt32BE(market, 0);
  return key;
}

/** @param sums of which entry `market` is written */
export function encodeTotal(key: Buffer, market: number, through: number, sums: Sums): Buffer {
  const value = Buffer.allocUnsafeSlow(TOTAL_BYTES);
  value.writeDoubleLE(through, CRC_BYTES);
  writeSum(value, CRC_BYTES + 8, sums, market);
  return withChecksum(key, value);
}

/** Reads a row of `totals` into entry `market` of `sums`; its `through`. */
export function decodeTotal(
  key: Buffer,
  value: Buffer,
  sums: Sums,
): { readonly market: number; readonly through: number } | Damaged {
  if (key.length !== 4 || value.length !== TOTAL_BYTES || !checksumMatches(key, value))
    return DAMAGED;
  const market = key.readUInt32BE(0);
  if (market >= sums.whole.length || !readSum(value, CRC_BYTES + 8, sums, market)) return DAMAGED;
  return { market, through: value.readDoubleLE(CRC_BYTES) };
}

export function hourKey(hour: number, market: number): Buffer {
  const key = Buffer.allocUnsafeSlow(8);
  key.writeUInt32BE(hour, 0);
  key.writeUInt32BE(market, 4);
  return key;
}

export function encodeHour(key: Buffer, through: number, sums: Sums): Buffer {
  const value = Buffer.allocUnsafeSlow(HOUR_BYTES);
  value.writeDoubleLE(through, CRC_BYTES);
  for (let i = 0; i < HOUR_PARTS; i++) writeSum(value, CRC_BYTES + 8 + i * SUM_BYTES, sums, i);
  return withChecksum(key, value);
}

export function decodeHour(key: Buffer, value: Buffer): StoredHour | Damaged {
  if (key.length !== 8 || value.length !== HOUR_BYTES || !checksumMatches(key, value))
    return DAMAGED;
  const sums = newSums(HOUR_PARTS);
  for (let i = 0; i < HOUR_PARTS; i++) {
    if (!readSum(value, CRC_BYTES + 8 + i * SUM_BYTES, sums, i)) return DAMAGED;
  }
  return {
    hour: key.readUInt32BE(0),
    market: key.readUInt32BE(4),
    through: value.readDoubleLE(CRC_BYTES),
    sums,
  };
}

export function newSums(entries: number): Sums {
  return { whole: new Float64Array(entries), rest: new Float64Array(entries) };
}

function writeSum(value: Buffer, at: number, sums: Sums, i: number): void {
  value.writeDoubleLE(sums.whole[i]!, at);
  value.writeUInt32LE(sums.rest[i]!, at + 8);
}

function readSum(value: Buffer, at: number, sums: Sums, i: number): boolean {
  const whole = value.readDoubleLE(at);
  const rest = value.readUInt32LE(at + 8);
  sums.whole[i] = whole;
  sums.rest[i] = rest;
  return Number.isSafeInteger(whole) && whole >= 0 && rest < MICRO;
}
