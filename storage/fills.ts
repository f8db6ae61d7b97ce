/**
 * Rows of the engine's rings as ordinary Buffers for LMDB, which must never see shared memory; and the
 * fills of all times, wherever they lie.
 *
 * Thread: any that may read the tables.
 */
import { FILL_WORDS, ID_WORDS, ORDER_I, Order, State } from '../engine/layout.ts';
import { finishedOrder } from '../engine/orders.ts';
import type { Tables } from '../engine/tables.ts';
import type { SequenceTable } from './lmdb.ts';

export interface StoredFinal {
  readonly id: Buffer;
  readonly row: Buffer;
}

const FILL_BYTES = 4 * FILL_WORDS;
const ORDER_BYTES = 4 << ORDER_I;

/** A copy of one fill of the ring. */
export function fillCopy(t: Tables, sequence: number): Buffer {
  const row = (sequence % t.fillRows) * FILL_BYTES;
  return Buffer.from(new Uint8Array(t.memory.buffers.fills, row, FILL_BYTES));
}

/** A copy of one finished order, under its id. */
export function finalCopy(t: Tables, sequence: number): StoredFinal {
  const place = finishedOrder(t, sequence);
  const row = Buffer.from(
    new Uint8Array(t.memory.buffers.orders, place * ORDER_BYTES, ORDER_BYTES),
  );
  const id = Buffer.allocUnsafeSlow(4 * ID_WORDS);
  for (let w = 0; w < ID_WORDS; w++) {
    id.writeInt32BE(t.orderI[(place << ORDER_I) + Order.id + w]!, 4 * w);
  }
  return { id, row };
}

/** The fills of all times: the newest in the ring, the others where the follower has put them. */
export class StoredFills {
  private readonly t: Tables;
  private readonly table: SequenceTable;
  /** Fills from here on to `end` lie in the ring. */
  private readonly first: number;
  private readonly end: number;

  /** @param first the oldest fill that the ring holds now */
  constructor(t: Tables, table: SequenceTable, first: number) {
    this.t = t;
    this.table = table;
    this.first = first;
    this.end = t.state[State.fills]!;
  }

  /** One fill, or undefined where it is not there (any more). */
  get(sequence: number): Buffer | undefined {
    if (sequence < 0 || sequence >= this.end) return undefined;
    return sequence >= this.first ? fillCopy(this.t, sequence) : this.table.get(sequence);
  }

  /** Those from `start` to before `end` that are there, in order. */
  *range(start: number, end: number): Generator<readonly [number, Buffer]> {
    const stored = Math.min(end, this.first);
    if (start < stored) {
      for (const { key, value } of this.table.getRange({ start, end: stored })) yield [key, value];
    }
    const last = Math.min(end, this.end);
    for (let at = Math.max(start, this.first); at < last; at++) yield [at, fillCopy(this.t, at)];
  }
}
