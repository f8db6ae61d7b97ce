/**
 * One order as shown to its owner. It is read from its row in memory, while it is open and after it
 * is closed, or from the stored closed order on disk. All have the same columns; only the price of
 * an open order is in ticks of its book.
 *
 * Thread: I/O. Rows in engine memory have to be read under SeqlockReader.
 */
import {
  API_KEY_WORDS,
  BOOK_I,
  Book,
  Flag,
  ID_WORDS,
  ORDER_F,
  ORDER_I,
  Order,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type OrderRow, PIPS_PER_UNIT } from '../../engine/tables/units.ts';

export interface OrderView {
  /** Eight words of the id, and four words of the API key that placed the order. */
  readonly id: Int32Array;
  readonly apiKey: Int32Array;
  /** Rows: the token, the account of the signer, the wallet that pays. */
  readonly token: number;
  readonly owner: number;
  readonly maker: number;
  readonly isSell: boolean;
  /** OrderType of engine/commands.ts. */
  readonly type: number;
  readonly status: number;
  /** EndReason; unset while the order is open. */
  readonly reason: number;
  /** Pips of its own token. */
  readonly price: number;
  /** Micro-shares. */
  readonly original: number;
  readonly remaining: number;
  /** Unix seconds; 0 = never. */
  readonly expiry: number;
  /** Unix milliseconds. */
  readonly created: number;
}

const ROW_BYTES = 4 << ORDER_I;
const STATUS_MASK = 7;
const REASON_MASK = 15;

export function openOrderRow(t: Tables, orderRow: OrderRow): OrderView {
  const row = orderRow << ORDER_I;
  const token = t.orderI[row + Order.token]! << TOKEN_I;
  const grid = t.bookI[(t.tokenI[token + Token.book]! << BOOK_I) + Book.ticksPerUnit]!;
  const ticks = t.orderI[row + Order.price]!;
  const own = t.tokenI[token + Token.mirrored] === 1 ? grid - ticks : ticks;
  return orderView(t.orderI, t.orderF, orderRow, own * (PIPS_PER_UNIT / grid));
}

export function closedOrderRow(t: Tables, orderRow: OrderRow): OrderView {
  return orderView(t.orderI, t.orderF, orderRow, t.orderI[(orderRow << ORDER_I) + Order.price]!);
}

/** `stored`: the row as it is in the closed orders store. */
export function storedOrderRow(stored: Buffer): OrderView {
  const bytes = new Uint8Array(ROW_BYTES);
  bytes.set(stored);
  const i32 = new Int32Array(bytes.buffer);
  return orderView(i32, new Float64Array(bytes.buffer), 0, i32[Order.price]!);
}

function orderView(i32: Int32Array, f64: Float64Array, slot: number, price: number): OrderView {
  const row = slot << ORDER_I;
  const rowF = slot << ORDER_F;
  const flags = i32[row + Order.flags]!;
  const status = (flags >>> Flag.statusShift) & STATUS_MASK;
  return {
    id: i32.slice(row + Order.id, row + Order.id + ID_WORDS),
    apiKey: i32.slice(row + Order.apiKey, row + Order.apiKey + API_KEY_WORDS),
    token: i32[row + Order.token]!,
    owner: i32[row + Order.owner]!,
    maker: i32[row + Order.maker]!,
    isSell: (flags & Flag.sell) !== 0,
    type: (flags >>> Flag.typeShift) & 3,
    status,
    reason: (flags >>> Flag.reasonShift) & REASON_MASK,
    price,
    original: f64[rowF + Order.original]!,
    remaining: f64[rowF + Order.remaining]!,
    expiry: f64[rowF + Order.expiry]!,
    created: f64[rowF + Order.created]!,
  };
}
