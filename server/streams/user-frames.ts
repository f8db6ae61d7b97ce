/**
 * Messages of the user channel as JSON, without braces and envelope, because a message has a stream sequence in each
 * of two streams. Rules: docs/protocol.md#stream-frames
 *
 * Thread: the I/O thread.
 */

import {
  type FillRows,
  fillKind,
  fillMaker,
  fillMakerIdAt,
  fillMakerPrice,
  fillMakerToken,
  fillMatch,
  fillSize,
  fillTaker,
  fillTakerCollateral,
  fillTakerIdAt,
  fillTakerPrice,
  fillTakerSide,
  fillTakerToken,
  fillTime,
  marketFeeBps,
  wasUnsettled,
} from '../../engine/reads.ts';
import { EndReason, ID_WORDS, MatchKind } from '../../engine/tables/codes.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { microText, ratioMicro } from '../common/decimal.ts';
import { tradeIdOf } from '../common/trade-ids.ts';
import { wordsToHex } from '../common/uint256.ts';
import { NIL_UUID } from '../market-data/account-texts.ts';
import { transactionHash } from '../market-data/match-ids.ts';
import type { TradeStatus } from '../market-data/trade-status.ts';
import { ORDER_TYPE_TEXTS, reasonText } from '../orders/intake/order-states.ts';
import { priceText, sideText } from './market-frames.ts';
import type { Names } from './names.ts';
import type { OrderFacts } from './order-facts.ts';

export const OrderChange = {
  placed: { type: 'PLACEMENT', status: 'LIVE' },
  delayed: { type: 'PLACEMENT', status: 'DELAYED' },
  updated: { type: 'UPDATE', status: 'LIVE' },
  filled: { type: 'UPDATE', status: 'MATCHED' },
  ended: { type: 'CANCELLATION', status: 'CANCELED' },
  unmatched: { type: 'CANCELLATION', status: 'UNMATCHED' },
} as const;
export type OrderChange = (typeof OrderChange)[keyof typeof OrderChange];

/** Maximum of maker orders in one trade. For a match with more of them, `size` is still the total. */
const MAKERS_MAX = 500;
const MS = 1_000;

/**
 * Last message of an order by its close reason: an order that was filled, or killed after a fill, counts as matched.
 */
export function changeOfClose(reason: number): OrderChange {
  if (reason === EndReason.unmatched) return OrderChange.unmatched;
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
  readonly rows: FillRows;
  readonly row: FillRow;
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
  status: 'MATCHED' | TradeStatus,
  time: number,
): string {
  const { tables } = names;
  const { row: first, rows } = fills[0]!;
  const match = fillMatch(rows, first);
  const token = names.token(fillTakerToken(rows, first));
  const isFinal = status === 'CONFIRMED' || !wasUnsettled(rows, first);
  const matched = String(Math.floor(fillTime(rows, first) / MS));
  const { price, size } = totals(fills);
  const seconds = String(Math.floor(time / MS));
  const trader = reader.isTaker ? 'TAKER' : 'MAKER';
  const fields = JSON.stringify({
    event_type: 'trade',
    id: tradeIdOf(match),
    type: 'TRADE',
    status,
    taker_order_id: wordsToHex(rows.fillI, fillTakerIdAt(first), ID_WORDS),
    market: token.condition,
    asset_id: token.id,
    outcome: names.outcome(token),
    side: sideText(fillTakerSide(rows, first) === 1),
    price,
    size,
    fee_rate_bps: String(marketFeeBps(tables, token.market)),
    owner: reader.apiKey,
    trade_owner: reader.apiKey,
    maker_address: names.wallet(fillTaker(rows, first)),
    trader_side: trader,
    transaction_hash: isFinal ? transactionHash(match) : '',
    bucket_index: 0,
    matchtime: matched,
    match_time: matched,
    last_update: seconds,
    timestamp: String(time),
    maker_orders: shown.slice(0, MAKERS_MAX).map((fill) => makerOrder(names, fill)),
  });
  return fields.slice(1, -1);
}

function totals(fills: readonly TradeFill[]): { price: string; size: string } {
  const pips = fillTakerPrice(fills[0]!.rows, fills[0]!.row);
  let isOnePrice = true;
  let size = 0;
  let collateral = 0;
  for (const { row, rows } of fills) {
    size += fillSize(rows, row);
    collateral += fillTakerCollateral(rows, row);
    if (fillTakerPrice(rows, row) !== pips) isOnePrice = false;
  }
  const price = isOnePrice ? priceText(pips) : microText(ratioMicro(collateral, size));
  return { price, size: microText(size) };
}

function makerOrder(names: Names, { makerKey, row, rows }: TradeFill): object {
  const isOpposite = fillKind(rows, row) === MatchKind.complementary;
  const takerSells = fillTakerSide(rows, row) === 1;
  const token = names.token(fillMakerToken(rows, row));
  return {
    order_id: wordsToHex(rows.fillI, fillMakerIdAt(row), ID_WORDS),
    owner: makerKey ?? NIL_UUID,
    maker_address: names.wallet(fillMaker(rows, row)),
    asset_id: token.id,
    outcome: names.outcome(token),
    side: sideText(isOpposite !== takerSells),
    price: priceText(fillMakerPrice(rows, row)),
    matched_amount: microText(fillSize(rows, row)),
    // The maker pays no fee (docs/protocol.md#fees).
    fee_rate_bps: '0',
  };
}
