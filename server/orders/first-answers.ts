/**
 * What an order was answered when it was taken in, for who sends the same bytes again because that
 * answer was lost (DUPLICATE_ORDERS=replay): its fills as the taker say it. They carry the time of the
 * order's own command, by which they are found among all fills; those that have left the ring are read
 * from LMDB, some twenty rows for one order.
 *
 * Thread: the worker in its apply turn.
 */
import { OrderCommand, OrderFlag, OrderType, PrecheckFlags } from '../../engine/commands.ts';
import { findOrder } from '../../engine/orders/orders.ts';
import {
  API_KEY_WORDS,
  FILL_WORDS,
  Fill,
  Flag,
  ID_WORDS,
  ORDER_I,
  Order,
  State,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { FinalsReader } from '../../storage/projection/finals.ts';

/** Micro-units that the order paid and received at once; both 0 = it rested with no fill. */
export interface FirstAnswer {
  readonly making: number;
  readonly taking: number;
}

const RESTED: FirstAnswer = { making: 0, taking: 0 };
const ORDER_BYTES = 4 << ORDER_I;
const FILL_BYTES = 4 * FILL_WORDS;

export class FirstAnswers {
  private readonly t: Tables;
  private readonly stored: Pick<FinalsReader, 'rowOf' | 'fill'>;

  constructor(t: Tables, stored: Pick<FinalsReader, 'rowOf' | 'fill'>) {
    this.t = t;
    this.stored = stored;
  }

  /**
   * The first answer to the order that the command at word `at` repeats. Undefined where the two differ in
   * anything that is kept (the signature, the key, the type, the expiration), and where its fills are not there any more.
   */
  of(i32: Int32Array, at: number): FirstAnswer | undefined {
    try {
      return this.find(i32, at);
    } catch {
      // What is damaged on disk is told elsewhere: a turn must not fail for a read that changes nothing.
      return undefined;
    }
  }

  private find(i32: Int32Array, at: number): FirstAnswer | undefined {
    const row = this.rowOf(i32, at);
    if (row === undefined || !repeats(i32, at, row)) return undefined;
    const type = typeOf(row);
    const isImmediate = type === OrderType.FOK || type === OrderType.FAK;
    const isPostOnly = (i32[at + OrderCommand.flags]! & OrderFlag.postOnly) !== 0;
    const isUntouched =
      row.readDoubleLE(8 * Order.remaining) === row.readDoubleLE(8 * Order.original);
    if (isUntouched) return isImmediate ? undefined : RESTED;
    const end = this.t.state[State.fills]!;
    const oldest = Math.max(0, end - this.t.fillRows);
    const created = row.readDoubleLE(8 * Order.created);
    // Where the ring reaches back before the order, LMDB is not asked.
    const timeBefore = timeOf(this.ring(oldest));
    const start = timeBefore > 0 && timeBefore < created ? oldest : 0;
    const first = this.firstAt(created, start, end);
    const answer = this.sum(first, end, created, row);
    if (answer !== RESTED) return isPostOnly ? undefined : answer;
    // It has fills as a maker alone, unless those before are gone.
    const isWhole = first === 0 || timeOf(this.fill(first - 1)) > 0;
    return isWhole && !isImmediate ? RESTED : undefined;
  }

  /** The row of the order with the id of a command. */
  private rowOf(i32: Int32Array, at: number): Buffer | undefined {
    const place = Math.abs(findOrder(this.t, i32, at + OrderCommand.id));
    if (place > 0) return bytesOf(this.t.memory.buffers.orders, place * ORDER_BYTES, ORDER_BYTES);
    const id = Buffer.alloc(4 * ID_WORDS);
    for (let w = 0; w < ID_WORDS; w++) id.writeInt32BE(i32[at + OrderCommand.id + w]!, 4 * w);
    return this.stored.rowOf(id);
  }

  /** The first fill at this time or later: fills come in the order of time, those that are gone first. */
  private firstAt(time: number, start: number, end: number): number {
    let low = start;
    let high = end;
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      if (timeOf(this.fill(middle)) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** By the fills that it took, at the time of its command; undefined = some of them are gone. */
  private sum(first: number, end: number, time: number, order: Buffer): FirstAnswer | undefined {
    let making = 0;
    let taking = 0;
    let match = -1;
    for (let n = first; n < end; n++) {
      const fill = this.fill(n);
      if (fill === undefined || timeOf(fill) !== time) break;
      if (!sameWords(fill, Fill.takerId, order, Order.id, ID_WORDS)) continue;
      if (match === -1) {
        match = fill.readDoubleLE(8 * Fill.match);
        if (match !== n) return undefined;
      }
      const size = fill.readDoubleLE(8 * Fill.size);
      const collateral = fill.readDoubleLE(8 * Fill.takerCollateral);
      const fee = fill.readDoubleLE(8 * Fill.fee);
      const isBuy = fill.readInt32LE(4 * Fill.takerSide) === 0;
      making += isBuy ? collateral : size;
      taking += (isBuy ? size : collateral) - fee;
    }
    return match === -1 ? RESTED : { making, taking };
  }

  private fill(sequence: number): Buffer | undefined {
    const { fillRows, state } = this.t;
    if (sequence < state[State.fills]! - fillRows) return this.stored.fill(sequence);
    const row = this.ring(sequence);
    // A recovery may not have filled all of the ring.
    return timeOf(row) > 0 ? row : this.stored.fill(sequence);
  }

  private ring(sequence: number): Buffer {
    const { fillRows, memory } = this.t;
    return bytesOf(memory.buffers.fills, (sequence % fillRows) * FILL_BYTES, FILL_BYTES);
  }
}

/** Whether a command says what the order in a row was taken for, as far as a row tells. */
function repeats(i32: Int32Array, at: number, row: Buffer): boolean {
  if ((i32[at + OrderCommand.precheck]! & PrecheckFlags.signature) !== 0) return false;
  const type = (i32[at + OrderCommand.flags]! >>> OrderFlag.typeShift) & 3;
  if (type !== typeOf(row)) return false;
  // Version 2 does not sign it.
  const command = new DataView(i32.buffer, i32.byteOffset + 4 * at);
  const expiry = command.getFloat64(8 * OrderCommand.expiration, true);
  if (expiry !== row.readDoubleLE(8 * Order.expiry)) return false;
  for (let w = 0; w < API_KEY_WORDS; w++) {
    if (row.readInt32LE(4 * (Order.apiKey + w)) !== i32[at + OrderCommand.apiKey + w]) return false;
  }
  return true;
}

function typeOf(row: Buffer): number {
  return (row.readInt32LE(4 * Order.flags) >>> Flag.typeShift) & 3;
}

/** Unix milliseconds; 0 for a fill that is not there. */
function timeOf(fill: Buffer | undefined): number {
  return fill === undefined ? 0 : fill.readDoubleLE(8 * Fill.time);
}

function bytesOf(table: Uint8Array, at: number, bytes: number): Buffer {
  return Buffer.from(table.buffer, table.byteOffset + at, bytes);
}

function sameWords(a: Buffer, aAt: number, b: Buffer, bAt: number, words: number): boolean {
  for (let w = 0; w < words; w++) {
    if (a.readInt32LE(4 * (aAt + w)) !== b.readInt32LE(4 * (bAt + w))) return false;
  }
  return true;
}
