/**
 * An own order as JSON (docs/protocol.md#own-orders-and-trades), with its close reason.
 *
 * Thread: I/O.
 */
import { OrderType } from '../../engine/commands.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Pips } from '../../engine/tables/units.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { wordsToHex } from '../common/uint256.ts';
import { type AccountTexts, apiKeyText } from '../market-data/account-texts.ts';
import { reasonText, statusText } from '../orders/order-states.ts';
import type { OrderView } from './order-rows.ts';

const TYPES: Readonly<Record<number, string>> = {
  [OrderType.GTC]: 'GTC',
  [OrderType.GTD]: 'GTD',
  [OrderType.FOK]: 'FOK',
  [OrderType.FAK]: 'FAK',
};
const MS = 1_000;

/** @param trades ids of its trades, oldest first */
export function orderText(texts: AccountTexts, row: OrderView, trades: readonly string[]): string {
  const status = statusText(row.status);
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
    order_type: TYPES[row.type],
    expiration: String(row.expiry),
    associate_trades: trades,
    created_at: Math.floor(row.created / MS),
  });
}
