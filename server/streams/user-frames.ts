/**
 * Messages of the user channel as JSON, without braces and envelope, because a message has a stream sequence in each
 * of two streams. Rules: docs/protocol.md#stream-frames
 *
 * Thread: the I/O thread.
 */

import {
  fillKind,
  fillMaker,
  fillMakerIdAt,
  fillMakerPrice,
  fillMakerToken,
  fillMatch,
  fillRow,
  fillSize,
  fillTaker,
  fillTakerCollateral,
  fillTakerIdAt,
  fillTakerPrice,
  fillTakerSide,
  fillTakerToken,
  marketFeeBps,
} from '../../engine/reads.ts';
import { EndReason, ID_WORDS, MatchKind } from '../../engine/tables/codes.ts';
import { microText, ratioMicro } from '../common/decimal.ts';
import { wordsToHex } from '../common/uint256.ts';
import { NIL_UUID } from '../market-data/account-texts.ts';
import { tradeIdOf, transactionHash } from '../market-data/match-ids.ts';
import { ORDER_TYPE_TEXTS, reasonText } from '../orders/intake/order-states.ts';
import { priceText, sideText } from './market-frames.ts';
import type { Names } from './names.ts';
import type { OrderFacts } from './order-facts.ts';

export const OrderChange = {
  placed: { type: 'PLACEMENT', status: 'LIVE' },
  updated: { type: 'UPDATE', status: 'LIVE' },
  filled: { type: 'UPDATE', status: 'MATCHED' },
  ended: { type: 'CANCELLATION', status: 'CANCELED' },
} as const;
export type OrderChange = (typeof OrderChange)[keyof typeof OrderChange];

/** Maximum of maker orders in one trade. For a match with more of them, `size` is still the total. */
const MAKERS_MAX = 500;
const MS = 1_000;

/**
 * Last message of an order by its close reason: an order that was filled, or killed after a fill, counts as matched.
 */
export function changeOfClose(reason: number): OrderChange {
  const isMatched = reason === EndReason.filled || reason === EndReason.fakRemainder;
  return isMatched ? OrderChange.filled : OrderChange.ended;
}

/** @param match match that caused the message; -1 = none */
export function orderBody(
  names: Names,
  order: OrderFacts,
  change: OrderChange,
  match: number,
  time: number,
): string {
  const token = names.token(order.token);
  const { apiKey, original, reason, remaining } = order;
  const fields = JSON.stringify({
    event_type: 'order',
    id: order.id,
    market: token.condition,
    asset_id: token.id,
    outcome: names.outcome(token),
    side: sideText(order.isSell),
    price: priceText(order.pips),
    original_size: microText(original),
    size_matched: microText(original - remaining),
    owner: apiKey,
    order_owner: apiKey,
    associate_trades: match === -1 ? null : [tradeIdOf(match)],
    timestamp: String(time),
    type: change.type,
    status: change.status,
    order_type: ORDER_TYPE_TEXTS[order.type],
    maker_address: order.maker,
    expiration: String(order.expiry),
    created_at: String(Math.floor(order.created / MS)),
    ...(reason === EndReason.none ? {} : { reason: reasonText(reason) }),
  });
  return fields.slice(1, -1);
}

/** One fill of a match, and the API key of its maker's order if the reader may see it. */
export interface TradeFill {
  readonly sequence: number;
  readonly makerKey: string | undefined;
}

export interface TradeReader {
  readonly apiKey: string;
  readonly isTaker: boolean;
}

/**
 * A trade, with the taker's view at the top.
 * @param fills all fills of the match; `shown` are those whose makers are listed
 */
export function tradeBody(
  names: Names,
  fills: readonly TradeFill[],
  shown: readonly TradeFill[],
  reader: TradeReader,
  status: 'MATCHED' | 'CONFIRMED',
  time: number,
): string {
  const { tables } = names;
  const first = fillRow(tables, fills[0]!.sequence);
  const match = fillMatch(tables, first);
  const token = names.token(fillTakerToken(tables, first));
  const { price, size } = totals(names, fills);
  const seconds = String(Math.floor(time / MS));
  const trader = reader.isTaker ? 'TAKER' : 'MAKER';
  const fields = JSON.stringify({
    event_type: 'trade',
    id: tradeIdOf(match),
    type: 'TRADE',
    status,
    taker_order_id: wordsToHex(tables.fillI, fillTakerIdAt(first), ID_WORDS),
    market: token.condition,
    asset_id: token.id,
    outcome: names.outcome(token),
    side: sideText(fillTakerSide(tables, first) === 1),
    price,
    size,
    fee_rate_bps: String(marketFeeBps(tables, token.market)),
    owner: reader.apiKey,
    trade_owner: reader.apiKey,
    maker_address: names.wallet(fillTaker(tables, first)),
    trader_side: trader,
    transaction_hash: transactionHash(match),
    bucket_index: 0,
    matchtime: seconds,
    match_time: seconds,
    last_update: seconds,
    timestamp: String(time),
    maker_orders: shown.slice(0, MAKERS_MAX).map((fill) => makerOrder(names, fill)),
  });
  return fields.slice(1, -1);
}

function totals(names: Names, fills: readonly TradeFill[]): { price: string; size: string } {
  const { tables } = names;
  const pips = fillTakerPrice(tables, fillRow(tables, fills[0]!.sequence));
  let isOnePrice = true;
  let size = 0;
  let collateral = 0;
  for (const { sequence } of fills) {
    const row = fillRow(tables, sequence);
    size += fillSize(tables, row);
    collateral += fillTakerCollateral(tables, row);
    if (fillTakerPrice(tables, row) !== pips) isOnePrice = false;
  }
  const price = isOnePrice ? priceText(pips) : microText(ratioMicro(collateral, size));
  return { price, size: microText(size) };
}

function makerOrder(names: Names, { makerKey, sequence }: TradeFill): object {
  const { tables } = names;
  const row = fillRow(tables, sequence);
  const isOpposite = fillKind(tables, row) === MatchKind.complementary;
  const takerSells = fillTakerSide(tables, row) === 1;
  const token = names.token(fillMakerToken(tables, row));
  return {
    order_id: wordsToHex(tables.fillI, fillMakerIdAt(row), ID_WORDS),
    owner: makerKey ?? NIL_UUID,
    maker_address: names.wallet(fillMaker(tables, row)),
    asset_id: token.id,
    outcome: names.outcome(token),
    side: sideText(isOpposite !== takerSells),
    price: priceText(fillMakerPrice(tables, row)),
    matched_amount: microText(fillSize(tables, row)),
    // The maker pays no fee (docs/protocol.md#fees).
    fee_rate_bps: '0',
  };
}
