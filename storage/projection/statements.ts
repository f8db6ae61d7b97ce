/**
 * The projection of statements: the entries of each wallet, and those of the venue, whose account is 0.
 *
 *   statements   account u32 | number u48 (big-endian) -> crc u32 | the entry, a row of entries.ts
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { ENTRY_BYTES, type Entry, entryOf } from './entries.ts';
import { checkRows, DamagedRow, type FactEvents, type FactProjection } from './projection.ts';

const ACCOUNT_BYTES = 4;
const NUMBER_BYTES = 6;
const NUMBER_MAX = 2 ** 48 - 1;

export interface NumberedEntry extends Entry {
  readonly number: number;
}

export class Statements implements FactProjection {
  readonly name = 'statements';
  readonly format = 1;
  private readonly rows: BinaryTable;

  constructor(root: RootDatabase<Buffer, string>) {
    this.rows = openTable(root, 'statements');
  }

  apply({ entries }: FactEvents): void {
    for (const [number, row] of entries) {
      const key = keyOf(entryOf(row).account, number);
      const value = Buffer.allocUnsafeSlow(CRC_BYTES + ENTRY_BYTES);
      row.copy(value, CRC_BYTES);
      void this.rows.put(key, withChecksum(key, value));
    }
  }

  clear(): void {
    this.rows.clearSync();
  }

  verify(): string {
    return `${checkRows(this.name, this.rows)} entries of statements`;
  }

  /** Unix milliseconds of the first entry of an account; undefined = none. Throws DamagedRow. */
  firstTime(account: number): number | undefined {
    const [start, end] = [keyOf(account, 0), keyOf(account + 1, 0)];
    const [found] = this.rows.getRange({ start, end, limit: 1 });
    return found && this.entryAt(found.key, found.value).time;
  }

  /** Entries of an account before a number, the newest first, `limit` at most. Throws DamagedRow. */
  ofAccount(account: number, before: number, limit: number): NumberedEntry[] {
    if (before === 0) return [];
    const start = keyOf(account, Math.min(before - 1, NUMBER_MAX));
    const end = start.subarray(0, ACCOUNT_BYTES);
    const range = this.rows.getRange({ start, end, limit, reverse: true });
    return Array.from(range, ({ key, value }) => this.entryAt(key, value));
  }

  private entryAt(key: Buffer, value: Buffer): NumberedEntry {
    if (value.length !== CRC_BYTES + ENTRY_BYTES || !checksumMatches(key, value)) {
      throw new DamagedRow(this.name);
    }
    const number = key.readUIntBE(ACCOUNT_BYTES, NUMBER_BYTES);
    return { number, ...entryOf(value.subarray(CRC_BYTES)) };
  }
}

function keyOf(account: number, number: number): Buffer {
  const key = Buffer.allocUnsafeSlow(ACCOUNT_BYTES + NUMBER_BYTES);
  key.writeUInt32BE(account, 0);
  key.writeUIntBE(number, ACCOUNT_BYTES, NUMBER_BYTES);
  return key;
}
