/**
 * An order as its owner sees it: from its row in memory, open or closed, or from the closed order on disk. Both have
 * the same columns; only the price of an open order is in ticks of its book. Its JSON:
 * docs/protocol.md#own-orders-and-trades
 *
 * Thread: I/O. Rows in engine memory have to be read under SequenceLockReader.
 */

import {
  bookTicks,
  closeReason,
  isDelayedOrder,
  isMirroredToken,
  isSellOrder,
  ONLY_ORDER,
  type OrderRows,
  orderCreated,
  orderExpiry,
  orderIdAt,
  orderKeyAt,
  orderMaker,
  orderOriginal,
  orderOwner,
  orderPrice,
  orderRemaining,
  orderRowsOf,
  orderToken,
  orderTypeOf,
  statusOfOrder,
  tokenBook,
} from '../../engine/reads.ts';
import { API_KEY_WORDS, ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  type AccountRow,
  type OrderRow,
  PIPS_PER_UNIT,
  type Pips,
  type TokenRow,
} from '../../engine/tables/units.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { wordsToHex } from '../common/uint256.ts';
import { type AccountTexts, apiKeyText } from '../market-data/account-texts.ts';
import {
  DELAYED_TEXT,
  ORDER_TYPE_TEXTS,
  reasonText,
  statusText,
} from '../orders/intake/order-states.ts';

export interface OrderView {
  /** Eight words of the id, and four words of the API key that placed the order. */
  readonly id: Int32Array;
  readonly apiKey: Int32Array;
  readonly token: TokenRow;
  readonly owner: AccountRow;
  readonly maker: AccountRow;
  readonly isSell: boolean;
  /** OrderType of engine/commands.ts. */
  readonly type: number;
  readonly status: number;
  /** True while it waits for its taker delay. */
  readonly isDelayed: boolean;
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

export function openOrderRow(tables: Tables, row: OrderRow): OrderView {
  const token = orderToken(tables, row);
  const grid = bookTicks(tables, tokenBook(tables, token));
  const ticks = orderPrice(tables, row);
  const own = isMirroredToken(tables, token) ? grid - ticks : ticks;
  return orderView(tables, row, own * (PIPS_PER_UNIT / grid));
}

export function closedOrderRow(tables: Tables, row: OrderRow): OrderView {
  return orderView(tables, row, orderPrice(tables, row));
}

export function storedOrderRow(stored: Buffer): OrderView {
  const rows = orderRowsOf(stored);
  return orderView(rows, ONLY_ORDER, orderPrice(rows, ONLY_ORDER));
}

function orderView(rows: OrderRows, row: OrderRow, price: number): OrderView {
  const { orderI } = rows;
  const id = orderIdAt(row);
  const key = orderKeyAt(row);
  return {
    id: orderI.slice(id, id + ID_WORDS),
    apiKey: orderI.slice(key, key + API_KEY_WORDS),
    token: orderToken(rows, row),
    owner: orderOwner(rows, row),
    maker: orderMaker(rows, row),
    isSell: isSellOrder(rows, row),
    type: orderTypeOf(rows, row),
    status: statusOfOrder(rows, row),
    isDelayed: isDelayedOrder(rows, row),
    reason: closeReason(rows, row),
    price,
    original: orderOriginal(rows, row),
    remaining: orderRemaining(rows, row),
    expiry: orderExpiry(rows, row),
    created: orderCreated(rows, row),
  };
}

const MS = 1_000;

export function orderText(texts: AccountTexts, row: OrderView, trades: readonly string[]): string {
  const status = row.isDelayed ? DELAYED_TEXT : statusText(row.status);
  return JSON.stringify({
    id: wordsToHex(row.id, 0, ID_WORDS),
    status: texts.orderStatus === 'upper' ? status.toUpperCase() : status,
    reason: reasonText(row.reason),
    ...texts.token(row.token),
    owner: apiKeyText(row.apiKey),
    maker_address: texts.wallet(row.maker),
    side: row.isSell ? 'SELL' : 'BUY',
    original_size: microText(row.original),
    size_matched: microText(row.original - row.remaining),
    price: pipsText(row.price as Pips),
    order_type: ORDER_TYPE_TEXTS[row.type],
    expiration: String(row.expiry),
    associate_trades: trades,
    created_at: Math.floor(row.created / MS),
  });
}
