/**
 * The projection of price history: the last trade price of every minute, and of every 5, 30, 180 and 720
 * minutes.
 *
 *   prices   token u32 | step u8 | chunk u32 (big-endian) -> crc u32, then for each bucket with a trade,
 *            ascending, a u32: its place in the chunk << 16 | pips of its last trade
 *
 * A chunk is 256 buckets. Of the longer steps the minutes of the newest chunk are left out: they are taken in
 * when the next chunk begins, so that a trade changes one row and not five.
 *
 * Thread: the projector writes; the I/O thread reads (server/market-data/price-history.ts).
 */
import {
  type FillRows,
  fillFails,
  fillKind,
  fillMakerPrice,
  fillMakerToken,
  fillTakerPrice,
  fillTakerToken,
  fillTime,
} from '../../engine/reads.ts';
import { MatchKind } from '../../engine/tables/codes.ts';
import { type FillRow, PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { checkRows, DamagedRow, type FactEvents, type FactProjection } from './projection.ts';

export const STEP_MINUTES = [1, 5, 30, 180, 720] as const;
export type Step = 0 | 1 | 2 | 3 | 4;

const STEPS = STEP_MINUTES.length;
const CHUNK_BUCKETS = 256;
const CHUNK_MAX = 2 ** 32 - 1;
const MINUTE_MS = 60_000;

/** `entries[0..count)` as they are stored. */
interface Row {
  readonly chunk: number;
  readonly entries: Uint32Array;
  count: number;
}

/** Receives trades in the order of time: the last one of a bucket counts. */
export type Taker = (bucket: number, pips: number) => void;

export class Prices implements FactProjection {
  readonly name = 'prices';
  readonly format = 2;
  private readonly rows: BinaryTable;

  constructor(root: RootDatabase<Buffer, string>) {
    this.rows = openTable(root, 'prices');
  }

  apply(events: FactEvents): void {
    const traded = new TokenMinutes();
    for (let row = 0 as FillRow; row < events.count; row++) {
      if (!fillFails(events, row)) traded.addFill(events, row);
    }
    for (const [token, prices] of traded.all) this.extend(token, prices);
  }

  clear(): void {
    this.rows.clearSync();
  }

  verify(): string {
    return `${checkRows('prices', this.rows)} rows of prices`;
  }

  /** Minute of the token's first trade; undefined without a trade. Throws DamagedRow. */
  firstMinute(token: number): number | undefined {
    const row = this.edge(token, 0, 0, false);
    return row && row.chunk * CHUNK_BUCKETS + placeOf(row.entries[0]!);
  }

  /**
   * Trades of a token by the buckets of a step, from the last one before bucket `first` to bucket `last`, in the
   * order of time. Throws DamagedRow.
   */
  series(token: number, step: Step, first: number, last: number, take: Taker): void {
    const firstChunk = chunkOf(first);
    const before = firstChunk > 0 ? this.edge(token, step, firstChunk - 1, true) : undefined;
    if (before !== undefined) each(before, take);
    const start = priceKey(token, step, firstChunk);
    const end = priceKey(token, step, chunkOf(last) + 1);
    for (const { key, value } of this.rows.getRange({ start, end })) each(decode(key, value), take);
    const newest = step === 0 ? undefined : this.edge(token, 0, CHUNK_MAX, true);
    if (newest === undefined) return;
    each(newest, (minute, pips) => take(Math.floor(minute / STEP_MINUTES[step]), pips));
  }

  /** Adds prices to the newest row of minutes, and begins others. */
  private extend(token: number, prices: MinutePrices): void {
    let row = this.edge(token, 0, CHUNK_MAX, true);
    prices.each((minute, pips) => {
      const chunk = chunkOf(minute);
      if (row !== undefined && row.chunk !== chunk) {
        this.put(token, 0, row);
        this.fold(token, row);
        row = undefined;
      }
      row ??= newRow(chunk);
      setLast(row, minute % CHUNK_BUCKETS, pips);
    });
    this.put(token, 0, row!);
  }

  /** Adds a complete row of minutes to those of the longer steps. */
  private fold(token: number, minutes: Row): void {
    for (let step = 1; step < STEPS; step++) {
      let row: Row | undefined;
      each(minutes, (minute, pips) => {
        const bucket = Math.floor(minute / STEP_MINUTES[step]!);
        if (row?.chunk !== chunkOf(bucket)) {
          if (row !== undefined) this.put(token, step, row);
          row = this.rowOf(token, step, chunkOf(bucket));
        }
        setLast(row, bucket % CHUNK_BUCKETS, pips);
      });
      this.put(token, step, row!);
    }
  }

  private rowOf(token: number, step: number, chunk: number): Row {
    const key = priceKey(token, step, chunk);
    const value = this.rows.get(key);
    return value === undefined ? newRow(chunk) : decode(key, value);
  }

  /** The first row from a chunk on, or the last one up to it. */
  private edge(token: number, step: number, chunk: number, reverse: boolean): Row | undefined {
    const start = priceKey(token, step, chunk);
    // The end of a range is not part of it: one less than the first key of all.
    const end = reverse
      ? priceKey(token, step, 0).subarray(0, 5)
      : priceKey(token, step, CHUNK_MAX);
    for (const { key, value } of this.rows.getRange({ start, end, reverse, limit: 1 })) {
      return decode(key, value);
    }
    return undefined;
  }

  private put(token: number, step: number, { chunk, count, entries }: Row): void {
    const key = priceKey(token, step, chunk);
    const value = Buffer.allocUnsafeSlow(CRC_BYTES + 4 * count);
    for (let i = 0; i < count; i++) value.writeUInt32LE(entries[i]!, CRC_BYTES + 4 * i);
    void this.rows.put(key, withChecksum(key, value));
  }
}

/** Last trade prices of a token by the minute, in the order of time. */
class MinutePrices {
  private readonly minutes: number[] = [];
  private readonly pips: number[] = [];

  add(minute: number, pips: number): void {
    const last = this.minutes.length - 1;
    if (this.minutes[last] === minute) {
      this.pips[last] = pips;
    } else {
      this.minutes.push(minute);
      this.pips.push(pips);
    }
  }

  first(): number | undefined {
    return this.minutes[0];
  }

  each(take: Taker): void {
    for (let i = 0; i < this.minutes.length; i++) take(this.minutes[i]!, this.pips[i]!);
  }
}

export class TokenMinutes {
  readonly all = new Map<number, MinutePrices>();

  addFill(fills: FillRows, row: FillRow): void {
    const minute = Math.floor(fillTime(fills, row) / MINUTE_MS);
    this.add(fillTakerToken(fills, row), minute, fillTakerPrice(fills, row));
    if (fillKind(fills, row) === MatchKind.complementary) return;
    // A mint or merge is a trade of both tokens.
    this.add(fillMakerToken(fills, row), minute, fillMakerPrice(fills, row));
  }

  private add(token: number, minute: number, pips: number): void {
    let prices = this.all.get(token);
    if (prices === undefined) {
      prices = new MinutePrices();
      this.all.set(token, prices);
    }
    prices.add(minute, pips);
  }
}

function priceKey(token: number, step: number, chunk: number): Buffer {
  const key = Buffer.allocUnsafeSlow(9);
  key.writeUInt32BE(token, 0);
  key.writeUInt8(step, 4);
  key.writeUInt32BE(Math.min(chunk, CHUNK_MAX), 5);
  return key;
}

function chunkOf(bucket: number): number {
  return Math.floor(bucket / CHUNK_BUCKETS);
}

function placeOf(entry: number): number {
  return entry >>> 16;
}

function each({ chunk, count, entries }: Row, take: Taker): void {
  for (let i = 0; i < count; i++) {
    take(chunk * CHUNK_BUCKETS + placeOf(entries[i]!), entries[i]! & 0xffff);
  }
}

function newRow(chunk: number): Row {
  return { chunk, entries: new Uint32Array(CHUNK_BUCKETS), count: 0 };
}

function setLast(row: Row, place: number, pips: number): void {
  const isLast = row.count > 0 && placeOf(row.entries[row.count - 1]!) === place;
  if (!isLast) row.count += 1;
  row.entries[row.count - 1] = (place << 16) | pips;
}

function decode(key: Buffer, value: Buffer): Row {
  const row = newRow(key.readUInt32BE(5));
  const isSound = checksumMatches(key, value) && value.length > CRC_BYTES && value.length % 4 === 0;
  if (!isSound || value.length > CRC_BYTES + 4 * CHUNK_BUCKETS) throw new DamagedRow('prices');
  for (let at = CRC_BYTES; at < value.length; at += 4) {
    const entry = value.readUInt32LE(at);
    const pips = entry & 0xffff;
    const isAfter = row.count === 0 || placeOf(entry) > placeOf(row.entries[row.count - 1]!);
    if (!isAfter || placeOf(entry) >= CHUNK_BUCKETS || pips === 0 || pips >= PIPS_PER_UNIT) {
      throw new DamagedRow('prices');
    }
    row.entries[row.count] = entry;
    row.count += 1;
  }
  return row;
}
