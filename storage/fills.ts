/**
 * Rows of the engine's rings as ordinary Buffers for LMDB, which must never see shared memory.
 *
 * Thread: the I/O thread.
 */
import { FILL_WORDS, ID_WORDS, ORDER_I, Order } from '../engine/layout.ts';
import { finishedOrder } from '../engine/orders.ts';
import type { Tables } from '../engine/tables.ts';
import type { StoredFinal } from './journal.ts';

const FILL_BYTES = 4 * FILL_WORDS;
const ORDER_BYTES = 4 << ORDER_I;

/** Copies of the fills [first, end), one Buffer each. */
export function fillCopies(t: Tables, first: number, end: number): Buffer[] {
  const copies: Buffer[] = [];
  for (let sequence = first; sequence < end; sequence++) {
    const row = (sequence % t.fillRows) * FILL_BYTES;
    copies.push(Buffer.from(new Uint8Array(t.memory.buffers.fills, row, FILL_BYTES)));
  }
  return copies;
}

/** Copies of the finished orders [first, end), each under its id. */
export function finalCopies(t: Tables, first: number, end: number): StoredFinal[] {
  const finals: StoredFinal[] = [];
  for (let sequence = first; sequence < end; sequence++) {
    const place = finishedOrder(t, sequence);
    const row = Buffer.from(
      new Uint8Array(t.memory.buffers.orders, place * ORDER_BYTES, ORDER_BYTES),
    );
    const id = Buffer.alloc(4 * ID_WORDS);
    for (let w = 0; w < ID_WORDS; w++) {
      id.writeInt32BE(t.orderI[(place << ORDER_I) + Order.id + w]!, 4 * w);
    }
    finals.push({ id, row });
  }
  return finals;
}
