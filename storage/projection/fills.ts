/**
 * Rows of the engine's rings as ordinary memory for LMDB, which must never see shared memory; and the
 * fills of all times, wherever they lie.
 *
 * Thread: any that may read the tables.
 */

import { closedOrder } from '../../engine/orders/orders.ts';
import { FILL_BYTES, fillCount, fillRow, ORDER_BYTES, orderIdAt } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Damage } from '../kv/checksum.ts';
import type { PackedRows } from '../kv/packed.ts';

/** Writes one row, by its sequence, to `into` from byte `at` on. */
export type Copier = (sequence: number, into: Buffer, at: number) => void;

/** Copies fills of the ring. */
export function fillCopier(t: Tables): Copier {
  const ring = t.memory.buffers.fills;
  return (sequence, into, at) => {
    const row = fillRow(t, sequence) * FILL_BYTES;
    into.set(ring.subarray(row, row + FILL_BYTES), at);
  };
}

/** Copies finished orders that are in memory. */
export function finalCopier(t: Tables): Copier {
  const orders = t.memory.buffers.orders;
  return (sequence, into, at) => {
    const row = closedOrder(t, sequence) * ORDER_BYTES;
    into.set(orders.subarray(row, row + ORDER_BYTES), at);
  };
}

/** First word of the id of a finished order that is in memory. */
export function finalWord(t: Tables, sequence: number): number {
  return t.orderI[orderIdAt(closedOrder(t, sequence))]!;
}

/** A copy of one fill of the ring. */
export function fillCopy(t: Tables, sequence: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(FILL_BYTES);
  fillCopier(t)(sequence, copy, 0);
  return copy;
}

/** The fills of all times: the newest in the ring, the others where the follower has put them. */
export class StoredFills {
  private readonly t: Tables;
  private readonly table: PackedRows;
  /** Fills from here on to `end` lie in the ring. */
  private readonly first: number;
  private readonly end: number;

  /** @param first the oldest fill that came into the ring: it may have gone round since */
  constructor(t: Tables, table: PackedRows, first: number) {
    this.t = t;
    this.table = table;
    this.end = fillCount(t);
    this.first = Math.max(first, this.end - t.fillRows);
  }

  /** One fill, or undefined where it is not there (any more). Throws Damage. */
  get(sequence: number): Buffer | undefined {
    if (sequence < 0 || sequence >= this.end) return undefined;
    return sequence >= this.first ? fillCopy(this.t, sequence) : this.table.get(sequence);
  }

  /** Those from `start` to before `end` that are there, in order; damage as `PackedRows.range` has it. */
  *range(
    start: number,
    end: number,
    onDamage?: (damage: Damage) => void,
  ): Generator<readonly [number, Buffer]> {
    const stored = Math.min(end, this.first);
    if (start < stored) yield* this.table.range(start, stored, onDamage);
    const last = Math.min(end, this.end);
    for (let at = Math.max(start, this.first); at < last; at++) yield [at, fillCopy(this.t, at)];
  }
}
