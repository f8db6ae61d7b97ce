/**
 * The first answer to an order, for a client that lost it and sends the same bytes again
 * (DUPLICATE_ORDERS=replay). It is computed from the fills of the order as the taker. Those have the time of
 * the order's own command, which finds them among all fills. Fills that have left the ring are read from
 * LMDB, some twenty rows for one order.
 *
 * Thread: the worker in its writer turn.
 */

import { OrderCommand, OrderFlag, OrderType, PrecheckFlags } from '../../../engine/commands.ts';
import { findOrder } from '../../../engine/orders/orders.ts';
import {
  type FillRows,
  fillCount,
  fillFeeInAnswer,
  fillMatch,
  fillRow,
  fillRowsOf,
  fillSize,
  fillTakerCollateral,
  fillTakerIdAt,
  fillTakerSide,
  fillTime,
  ONLY_FILL,
  ONLY_ORDER,
  type OrderRows,
  orderCreated,
  orderExpiry,
  orderIdAt,
  orderKeyAt,
  orderOriginal,
  orderRemaining,
  orderRowsOf,
  orderTypeOf,
  wasDelayed,
} from '../../../engine/reads.ts';
import { API_KEY_WORDS, ID_WORDS } from '../../../engine/tables/codes.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import type { FillRow, OrderRow } from '../../../engine/tables/units.ts';
import { sameId } from '../../../engine/tables/words.ts';
import type { ClosedOrdersReader } from '../../../storage/projection/closed-orders.ts';

/** Micro-units that the order paid and received at once; both 0 = it rested without a fill. */
export interface FirstAnswer {
  readonly making: number;
  readonly taking: number;
  /** Fill sequence of its first fill; -1 = it has none. */
  readonly match: number;
  /** True: it waited for its taker delay. */
  readonly wasDelayed: boolean;
}

const RESTED: FirstAnswer = { making: 0, taking: 0, match: -1, wasDelayed: false };
const DELAYED: FirstAnswer = { ...RESTED, wasDelayed: true };

interface OrderAt {
  readonly rows: OrderRows;
  readonly row: OrderRow;
}
interface FillAt {
  readonly rows: FillRows;
  readonly row: FillRow;
}

export class FirstAnswers {
  private readonly tables: Tables;
  private readonly stored: Pick<ClosedOrdersReader, 'rowOf' | 'fill'>;

  constructor(tables: Tables, stored: Pick<ClosedOrdersReader, 'rowOf' | 'fill'>) {
    this.tables = tables;
    this.stored = stored;
  }

  /**
   * Returns the first answer to the order that the command at word `at` repeats. Undefined where the two
   * differ in a stored member (signature, key, type, expiration), and where its fills are gone.
   */
  of(i32: Int32Array, at: number): FirstAnswer | undefined {
    try {
      return this.find(i32, at);
    } catch {
      // Other readers report damage on disk: a writer turn must not fail for a read that changes nothing.
      return undefined;
    }
  }

  private find(i32: Int32Array, at: number): FirstAnswer | undefined {
    const order = this.orderOf(i32, at);
    if (order === undefined || !repeats(i32, at, order)) return undefined;
    const { row, rows } = order;
    if (wasDelayed(rows, row)) return DELAYED;
    const type = orderTypeOf(rows, row);
    const isImmediate = type === OrderType.FOK || type === OrderType.FAK;
    const isPostOnly = (i32[at + OrderCommand.flags]! & OrderFlag.postOnly) !== 0;
    const isUntouched = orderRemaining(rows, row) === orderOriginal(rows, row);
    if (isUntouched) return isImmediate ? undefined : RESTED;
    const end = fillCount(this.tables);
    const oldest = Math.max(0, end - this.tables.fillRows);
    const created = orderCreated(rows, row);
    // Where the ring reaches back before the order, LMDB is not read.
    const timeBefore = timeOf(this.ring(oldest));
    const start = timeBefore > 0 && timeBefore < created ? oldest : 0;
    const first = this.firstAt(created, start, end);
    const answer = this.sum(first, end, created, order);
    if (answer !== RESTED) return isPostOnly ? undefined : answer;
    // No fill as a taker; certain only where the earlier fills are present.
    const isWhole = first === 0 || timeOf(this.fill(first - 1)) > 0;
    return isWhole && !isImmediate ? RESTED : undefined;
  }

  private orderOf(i32: Int32Array, at: number): OrderAt | undefined {
    const row = Math.abs(findOrder(this.tables, i32, at + OrderCommand.id)) as OrderRow | 0;
    if (row !== 0) return { rows: this.tables, row };
    const id = Buffer.alloc(4 * ID_WORDS);
    for (let w = 0; w < ID_WORDS; w++) id.writeInt32BE(i32[at + OrderCommand.id + w]!, 4 * w);
    const stored = this.stored.rowOf(id);
    return stored && { rows: orderRowsOf(stored), row: ONLY_ORDER };
  }

  /** First fill at this time or later: fills are ordered by time, and the oldest leave first. */
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

  /** Sums the order's fills as the taker at the time of its command; `undefined` = some are gone. */
  private sum(first: number, end: number, time: number, order: OrderAt): FirstAnswer | undefined {
    const { orderI } = order.rows;
    const id = orderIdAt(order.row);
    let making = 0;
    let taking = 0;
    let match = -1;
    for (let n = first; n < end; n++) {
      const fill = this.fill(n);
      if (fill === undefined || timeOf(fill) !== time) break;
      const { row, rows } = fill;
      if (!sameId(rows.fillI, fillTakerIdAt(row), orderI, id)) continue;
      if (match === -1) {
        match = fillMatch(rows, row);
        if (match !== n) return undefined;
      }
      const size = fillSize(rows, row);
      const collateral = fillTakerCollateral(rows, row);
      const isBuy = fillTakerSide(rows, row) === 0;
      making += isBuy ? collateral : size;
      taking += (isBuy ? size : collateral) - fillFeeInAnswer(rows, row);
    }
    return match === -1 ? RESTED : { making, taking, match, wasDelayed: false };
  }

  private fill(sequence: number): FillAt | undefined {
    const inRing = this.ring(sequence);
    // A recovery may have filled only a part of the ring.
    const isThere = sequence >= fillCount(this.tables) - this.tables.fillRows && timeOf(inRing) > 0;
    if (isThere) return inRing;
    const stored = this.stored.fill(sequence);
    return stored && { rows: fillRowsOf(stored), row: ONLY_FILL };
  }

  private ring(sequence: number): FillAt {
    return { rows: this.tables, row: fillRow(this.tables, sequence) };
  }
}

function repeats(i32: Int32Array, at: number, { row, rows }: OrderAt): boolean {
  if ((i32[at + OrderCommand.precheck]! & PrecheckFlags.signature) !== 0) return false;
  const type = (i32[at + OrderCommand.flags]! >>> OrderFlag.typeShift) & 3;
  if (type !== orderTypeOf(rows, row)) return false;
  // Version 2 does not sign it.
  const command = new DataView(i32.buffer, i32.byteOffset + 4 * at);
  const expiry = command.getFloat64(8 * OrderCommand.expiration, true);
  if (expiry !== orderExpiry(rows, row)) return false;
  const key = orderKeyAt(row);
  for (let w = 0; w < API_KEY_WORDS; w++) {
    if (rows.orderI[key + w] !== i32[at + OrderCommand.apiKey + w]) return false;
  }
  return true;
}

/** Unix milliseconds; 0 for a missing fill. */
function timeOf(fill: FillAt | undefined): number {
  return fill === undefined ? 0 : fillTime(fill.rows, fill.row);
}
