/**
 * Rows of fixed length under consecutive whole numbers, many rows in one LMDB value:
 *   sequence / rows of a value -> crc u32 | missing u16 | rows u16 | row after row
 * The first `missing` rows of a value do not exist: they were already removed when the table began.
 * The checksum covers the key. A value fills four pages of LMDB. The last value grows with every transaction.
 * Thread: the projector writes; any thread reads.
 */
import assert from 'node:assert/strict';
import { checksumMatches, Damage, withChecksum } from './checksum.ts';
import type { SequenceTable } from './lmdb.ts';

const HEADER_BYTES = 8;
const VALUE_BYTES = 4 * 4_096 - 16;

interface Block {
  readonly first: number;
  readonly count: number;
  readonly rows: Buffer;
}

export class PackedRows {
  readonly rowBytes: number;
  readonly blockRows: number;
  private readonly table: SequenceTable;
  private readonly name: string;

  constructor(table: SequenceTable, name: string, rowBytes: number) {
    this.table = table;
    this.name = name;
    this.rowBytes = rowBytes;
    this.blockRows = Math.floor((VALUE_BYTES - HEADER_BYTES) / rowBytes);
  }

  /** One row; undefined when it does not exist. Throws Damage. */
  get(sequence: number): Buffer | undefined {
    const block = this.read(Math.floor(sequence / this.blockRows));
    return block === undefined ? undefined : this.rowOf(block, sequence);
  }

  /**
   * The existing rows from `start` to before `end`, in order.
   * @param onDamage called with each damaged value, which is then skipped; without it, Damage is
   * thrown
   */
  *range(
    start: number,
    end: number,
    onDamage?: (damage: Damage) => void,
  ): Generator<readonly [number, Buffer]> {
    const { blockRows } = this;
    for (let number = Math.floor(start / blockRows); number * blockRows < end; number++) {
      const block = this.read(number, onDamage);
      if (block === undefined) continue;
      const last = Math.min(end, block.first + block.count);
      for (let n = Math.max(start, block.first); n < last; n++) yield [n, this.rowOf(block, n)!];
    }
  }

  /**
   * Copies the existing rows from `start` to before `end`, one after another. Returns their number. Throws Damage.
   */
  copy(start: number, end: number, into: Uint8Array): number {
    const { blockRows, rowBytes } = this;
    let copied = 0;
    for (let number = Math.floor(start / blockRows); number * blockRows < end; number++) {
      const block = this.read(number);
      if (block === undefined) continue;
      const from = Math.max(start, block.first) - block.first;
      const to = Math.min(end - block.first, block.count);
      if (to <= from) continue;
      into.set(block.rows.subarray(from * rowBytes, to * rowBytes), copied * rowBytes);
      copied += to - from;
    }
    return copied;
  }

  /**
   * Appends the rows from `from` to before `to`; only inside a transaction.
   *
   * @param copy writes row `sequence` to `into` from byte `at` on
   */
  put(from: number, to: number, copy: (sequence: number, into: Buffer, at: number) => void): void {
    const { blockRows, rowBytes } = this;
    for (let number = Math.floor(from / blockRows); number * blockRows < to; number++) {
      const start = Math.max(from, number * blockRows);
      const end = Math.min(to, (number + 1) * blockRows);
      const before = start === number * blockRows ? undefined : this.rowsBefore(number, start);
      const first = before?.first ?? start;
      const value = Buffer.allocUnsafeSlow(HEADER_BYTES + (end - first) * rowBytes);
      value.writeUInt16LE(first - number * blockRows, 4);
      value.writeUInt16LE(end - first, 6);
      before?.rows.copy(value, HEADER_BYTES, 0, (start - first) * rowBytes);
      for (let n = start; n < end; n++) copy(n, value, HEADER_BYTES + (n - first) * rowBytes);
      this.table.put(number, withChecksum(keyBytes(number), value));
    }
  }

  isSound(sequence: number): boolean {
    const number = Math.floor(sequence / this.blockRows);
    const value = this.table.get(number);
    return value !== undefined && this.decode(number, value) !== undefined;
  }

  /** The rows before `start` in a value; undefined = none, or the value is damaged. */
  private rowsBefore(number: number, start: number): Block | undefined {
    const value = this.table.get(number);
    const block = value && this.decode(number, value);
    const reaches = block !== undefined && block.first + block.count >= start;
    return reaches && block.first < start ? block : undefined;
  }

  private rowOf({ count, first, rows }: Block, sequence: number): Buffer | undefined {
    if (sequence < first || sequence >= first + count) return undefined;
    const at = (sequence - first) * this.rowBytes;
    return rows.subarray(at, at + this.rowBytes);
  }

  private read(number: number, onDamage?: (damage: Damage) => void): Block | undefined {
    const value = this.table.get(number);
    if (value === undefined) return undefined;
    const block = this.decode(number, value);
    if (block !== undefined) return block;
    const { blockRows, name } = this;
    const last = (number + 1) * blockRows - 1;
    const damage = new Damage(`a value of ${name} ${number * blockRows} to ${last}`);
    if (onDamage === undefined) throw damage;
    onDamage(damage);
    return undefined;
  }

  private decode(number: number, value: Buffer): Block | undefined {
    if (value.length < HEADER_BYTES || !checksumMatches(keyBytes(number), value)) return undefined;
    const count = value.readUInt16LE(6);
    const rows = value.subarray(HEADER_BYTES);
    assert.equal(rows.length, count * this.rowBytes, 'a value has the rows that it says');
    return { first: number * this.blockRows + value.readUInt16LE(4), count, rows };
  }
}

function keyBytes(number: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeDoubleBE(number, 0);
  return key;
}
