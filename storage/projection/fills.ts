/**
 * Rows of the engine's rings as ordinary memory for LMDB, which must never see shared memory; and the fills of all
 * times, in memory or on disk.
 *
 * Thread: any that may read the tables.
 */

import { closedOrder } from '../../engine/orders/orders.ts';
import { FILL_BYTES, fillCount, fillRow, ORDER_BYTES, orderIdAt } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Damage } from '../kv/checksum.ts';
import type { PackedRows } from '../kv/packed.ts';

/** Writes the row of a sequence to `into` from byte `at` on. */
export type Copier = (sequence: number, into: Buffer, at: number) => void;

export function fillCopier(tables: Tables): Copier {
  const ring = tables.memory.buffers.fills;
  return (sequence, into, at) => {
    const row = fillRow(tables, sequence) * FILL_BYTES;
    into.set(ring.subarray(row, row + FILL_BYTES), at);
  };
}

export function finalCopier(tables: Tables): Copier {
  const orders = tables.memory.buffers.orders;
  return (sequence, into, at) => {
    const row = closedOrder(tables, sequence) * ORDER_BYTES;
    into.set(orders.subarray(row, row + ORDER_BYTES), at);
  };
}

export function finalWord(tables: Tables, sequence: number): number {
  return tables.orderI[orderIdAt(closedOrder(tables, sequence))]!;
}

/** @internal Tests store single fills. */
export function fillCopy(tables: Tables, sequence: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(FILL_BYTES);
  fillCopier(tables)(sequence, copy, 0);
  return copy;
}

export class StoredFills {
  private readonly tables: Tables;
  private readonly table: PackedRows;
  private readonly first: number;
  private readonly end: number;

  /** @param first oldest fill at the start; the ring may have wrapped since */
  constructor(tables: Tables, table: PackedRows, first: number) {
    this.tables = tables;
    this.table = table;
    this.end = fillCount(tables);
    this.first = Math.max(first, this.end - tables.fillRows);
  }

  /** One fill, or undefined if absent. Throws Damage. */
  get(sequence: number): Buffer | undefined {
    if (sequence < 0 || sequence >= this.end) return undefined;
    return sequence >= this.first ? fillCopy(this.tables, sequence) : this.table.get(sequence);
  }

  /** Fills from `start` to before `end`, in order; damage as in `PackedRows.range`. */
  *range(
    start: number,
    end: number,
    onDamage?: (damage: Damage) => void,
  ): Generator<readonly [number, Buffer]> {
    const stored = Math.min(end, this.first);
    if (start < stored) yield* this.table.range(start, stored, onDamage);
    const last = Math.min(end, this.end);
    for (let at = Math.max(start, this.first); at < last; at++)
      yield [at, fillCopy(this.tables, at)];
  }
}
