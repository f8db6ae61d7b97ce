/**
 * The projection of volumes: collateral and shares of taker fills, of a market in all, and the collateral of its last
 * 24 hours.
 *
 *   totals   market u32 (big-endian) -> crc u32 | sum of collateral | sum of shares
 *   hours    hour u32 | market u32 (big-endian) -> crc u32, then for each five minutes of the hour a sum
 *   sum      whole units f64 | micro-units u32
 *
 * Hours that are 24 before the newest one are removed.
 *
 * Thread: the projector writes; the I/O thread reads when it starts (server/market-data/volumes.ts).
 */
import {
  fillFails,
  fillSize,
  fillTakerCollateral,
  fillTakerToken,
  fillTime,
  tokenMarket,
} from '../../engine/reads.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { numberKey } from './keys.ts';
import { checkRows, DamagedRow, type FactEvents, type FactProjection } from './projection.ts';
import { addTo, isSum, newSums, type Sums } from './sums.ts';

export const PART_MS = 300_000;
export const HOUR_PARTS = 12;
export const DAY_HOURS = 24;

const SUM_BYTES = 12;

/** Sums of a row of totals. */
export const COLLATERAL = 0;
export const SHARES = 1;
const TOTALS = 2;

/** Receives the sums of a market, which the callee may keep. */
export type TotalTaker = (market: number, sums: Sums) => void;
export type HourTaker = (hour: number, market: number, sums: Sums) => void;

export class Volumes implements FactProjection {
  readonly name = 'volumes';
  readonly format = 3;
  private readonly totals: BinaryTable;
  private readonly hours: BinaryTable;

  constructor(root: RootDatabase<Buffer, string>) {
    this.totals = openTable(root, 'totals');
    this.hours = openTable(root, 'hours');
  }

  apply(fills: FactEvents): void {
    const totals = new Changed(this.totals, TOTALS);
    const hours = new Changed(this.hours, HOUR_PARTS);
    let hour = 0;
    for (let row = 0 as FillRow; row < fills.count; row++) {
      if (fillFails(fills, row)) continue;
      const market = tokenMarket(fills.tables, fillTakerToken(fills, row));
      const part = Math.floor(fillTime(fills, row) / PART_MS);
      const collateral = fillTakerCollateral(fills, row);
      hour = Math.floor(part / HOUR_PARTS);
      const total = totals.of(0, market);
      addTo(total, COLLATERAL, collateral);
      addTo(total, SHARES, fillSize(fills, row));
      addTo(hours.of(hour, market), part % HOUR_PARTS, collateral);
    }
    totals.put();
    hours.put();
    const end = hourKey(Math.max(0, hour - DAY_HOURS), 0);
    for (const key of [...this.hours.getKeys({ end })]) void this.hours.remove(key);
  }

  clear(): void {
    for (const table of [this.totals, this.hours]) table.clearSync();
  }

  verify(): string {
    checkRows('hours', this.hours);
    return `${checkRows('totals', this.totals)} volumes`;
  }

  /** Reads everything, hours in their order. Throws DamagedRow. */
  read(total: TotalTaker, hour: HourTaker): void {
    for (const { key, value } of this.totals.getRange()) {
      if (key.length !== 4) throw new DamagedRow('volumes');
      total(key.readUInt32BE(0), decode(key, value, TOTALS));
    }
    for (const { key, value } of this.hours.getRange()) {
      if (key.length !== 8) throw new DamagedRow('volumes');
      hour(key.readUInt32BE(0), key.readUInt32BE(4), decode(key, value, HOUR_PARTS));
    }
  }
}

class Changed {
  private readonly rows = new Map<number, { readonly key: Buffer; readonly sums: Sums }>();
  private readonly table: BinaryTable;
  private readonly parts: number;

  constructor(table: BinaryTable, parts: number) {
    this.table = table;
    this.parts = parts;
  }

  of(hour: number, market: number): Sums {
    const at = hour * 2 ** 24 + market;
    const known = this.rows.get(at);
    if (known !== undefined) return known.sums;
    const key = this.parts === TOTALS ? numberKey(market) : hourKey(hour, market);
    const value = this.table.get(key);
    const sums = value === undefined ? newSums(this.parts) : decode(key, value, this.parts);
    this.rows.set(at, { key, sums });
    return sums;
  }

  put(): void {
    for (const { key, sums } of this.rows.values()) void this.table.put(key, encode(key, sums));
  }
}

function hourKey(hour: number, market: number): Buffer {
  const key = Buffer.allocUnsafeSlow(8);
  key.writeUInt32BE(hour, 0);
  key.writeUInt32BE(market, 4);
  return key;
}

function encode(key: Buffer, { rest, whole }: Sums): Buffer {
  const value = Buffer.allocUnsafeSlow(CRC_BYTES + SUM_BYTES * whole.length);
  for (let i = 0; i < whole.length; i++) {
    value.writeDoubleLE(whole[i]!, CRC_BYTES + SUM_BYTES * i);
    value.writeUInt32LE(rest[i]!, CRC_BYTES + SUM_BYTES * i + 8);
  }
  return withChecksum(key, value);
}

function decode(key: Buffer, value: Buffer, parts: number): Sums {
  const isSound = value.length === CRC_BYTES + SUM_BYTES * parts && checksumMatches(key, value);
  if (!isSound) throw new DamagedRow('volumes');
  const sums = newSums(parts);
  for (let i = 0; i < parts; i++) {
    sums.whole[i] = value.readDoubleLE(CRC_BYTES + SUM_BYTES * i);
    sums.rest[i] = value.readUInt32LE(CRC_BYTES + SUM_BYTES * i + 8);
    if (!isSum(sums, i)) throw new DamagedRow('volumes');
  }
  return sums;
}
