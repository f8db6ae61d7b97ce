/**
 * Projection of rebates: what makers may be paid back of the fees of their takers, by day of UTC. Rules:
 * docs/ledger.md#rebates
 *
 *   rebates   day u32 | account u32 | market u32 (big-endian) -> crc u32 | micro-units u64
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import {
  fillFails,
  fillMaker,
  fillRebate,
  fillTakerToken,
  fillTime,
  tokenMarket,
} from '../../engine/reads.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { DAY_MS } from './periods.ts';
import { checkRows, DamagedRow, type FactEvents, type FactProjection } from './projection.ts';

const KEY_BYTES = 12;
const VALUE_BYTES = CRC_BYTES + 8;
const U32_MAX = 2 ** 32 - 1;

export interface Rebate {
  readonly account: number;
  readonly market: number;
  /** Micro-units. */
  readonly amount: bigint;
}

export class Rebates implements FactProjection {
  readonly name = 'rebates';
  readonly format = 1;
  private readonly rows: BinaryTable;

  constructor(root: RootDatabase<Buffer, string>) {
    this.rows = openTable(root, 'rebates');
  }

  apply(fills: FactEvents): void {
    const changed = new Map<string, { readonly key: Buffer; amount: bigint }>();
    for (let row = 0 as FillRow; row < fills.count; row++) {
      const amount = fillRebate(fills, row);
      if (amount === 0 || fillFails(fills, row)) continue;
      const day = Math.floor(fillTime(fills, row) / DAY_MS);
      const market = tokenMarket(fills.tables, fillTakerToken(fills, row));
      const key = keyOf(day, fillMaker(fills, row), market);
      const at = key.toString('latin1');
      const known = changed.get(at) ?? { key, amount: this.amountOf(key) };
      known.amount += BigInt(amount);
      changed.set(at, known);
    }
    for (const { amount, key } of changed.values()) void this.rows.put(key, encode(key, amount));
  }

  clear(): void {
    this.rows.clearSync();
  }

  verify(): string {
    return `${checkRows('rebates', this.rows)} rebates`;
  }

  /** Rebates of a day behind a row, by account and market, `limit` at most. Throws DamagedRow. */
  ofDay(day: number, after: Pick<Rebate, 'account' | 'market'>, limit: number): Rebate[] {
    const start = keyOf(day, after.account, after.market + 1);
    return this.between(start, keyOf(day, U32_MAX, U32_MAX), limit);
  }

  /** Rebates of one account on a day, by market, `limit` at most. Throws DamagedRow. */
  ofAccount(day: number, account: number, limit: number): Rebate[] {
    return this.between(keyOf(day, account, 0), keyOf(day, account, U32_MAX), limit);
  }

  private between(start: Buffer, end: Buffer, limit: number): Rebate[] {
    return Array.from(this.rows.getRange({ start, end, limit }), ({ key, value }) => ({
      account: key.readUInt32BE(4),
      market: key.readUInt32BE(8),
      amount: decode(key, value),
    }));
  }

  private amountOf(key: Buffer): bigint {
    const value = this.rows.get(key);
    return value === undefined ? 0n : decode(key, value);
  }
}

function keyOf(day: number, account: number, market: number): Buffer {
  const key = Buffer.allocUnsafeSlow(KEY_BYTES);
  key.writeUInt32BE(day, 0);
  key.writeUInt32BE(account, 4);
  key.writeUInt32BE(market, 8);
  return key;
}

function encode(key: Buffer, amount: bigint): Buffer {
  const value = Buffer.allocUnsafeSlow(VALUE_BYTES);
  value.writeBigUInt64LE(amount, CRC_BYTES);
  return withChecksum(key, value);
}

/** Throws DamagedRow. */
function decode(key: Buffer, value: Buffer): bigint {
  if (value.length !== VALUE_BYTES || !checksumMatches(key, value)) throw new DamagedRow('rebates');
  return value.readBigUInt64LE(CRC_BYTES);
}
