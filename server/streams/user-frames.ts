/**
 * The events of the user channel as JSON, without braces and envelope: the same
 * event is numbered in two streams.
 * Rules: docs/protocol.md#stream-frames
 *
 * Thread: the I/O thread.
 */
import { OrderType } from '../../engine/commands.ts';
import {
  EndReason,
  Fill,
  ID_WORDS,
  MARKET_I,
  Market,
  MatchKind,
} from '../../engine/tables/layout.ts';
import { microText, ratioMicro } from '../common/decimal.ts';
import { wordsToHex } from '../common/uint256.ts';
import { NIL_UUID } from '../market-data/account-texts.ts';
import { tradeIdOf, transactionHash } from '../market-data/match-ids.ts';
import { reasonText } from '../orders/order-states.ts';
import { fillRow } from './batch-facts.ts';
import { priceText, sideText } from './market-frames.ts';
import type { Names } from './names.ts';
import type { OrderFacts } from './order-facts.ts';

/** What an order event says in `type` and `status`. */
export const OrderNews = {
  placed: { type: 'PLACEMENT', status: 'LIVE' },
  updated: { type: 'UPDATE', status: 'LIVE' },
  filled: { type: 'UPDATE', status: 'MATCHED' },
  ended: { type: 'CANCELLATION', status: 'CANCELED' },
} as const;
type News = (typeof OrderNews)[keyof typeof OrderNews];

const ORDER_TYPES: Readonly<Record<number, string>> = {
  [OrderType.GTC]: 'GTC',
  [OrderType.GTD]: 'GTD',
  [OrderType.FOK]: 'FOK',
  [OrderType.FAK]: 'FAK',
};

/** Maker orders that one trade lists; a sweep of more says the sum in `size`. */
const MAKERS_MAX = 500;
const MS = 1_000;

/** The last event of an order by its end: one that was filled, or killed after it was, matched. */
export function newsOfEnd(reason: number): News {
  const isMatched = reason === EndReason.filled || reason === EndReason.fakRemainder;
  return isMatched ? OrderNews.filled : OrderNews.ended;
}

/** `match`: the one that the event follows from; -1 = none. */
export function orderBody(
  names: Names,
  order: OrderFacts,
  news: News,
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
    type: news.type,
    status: news.status,
    order_type: ORDER_TYPES[order.type],
    maker_address: order.maker,
    expiration: String(order.expiry),
    created_at: String(Math.floor(order.created / MS)),
    ...(reason === EndReason.none ? {} : { reason: reasonText(reason) }),
  });
  return fields.slice(1, -1);
}

/** One fill of a match, and the API key of its maker's order where that may be told. */
export interface TradeFill {
  readonly sequence: number;
  readonly makerKey: string | undefined;
}

/** Who is told of a trade. */
export interface TradeReader {
  readonly apiKey: string;
  readonly isTaker: boolean;
}

/**
 * A trade, the taker's view at the top.
 *
 * @param fills all of the match; `shown` are those whose makers are listed
 */
export function tradeBody(
  names: Names,
  fills: readonly TradeFill[],
  shown: readonly TradeFill[],
  reader: TradeReader,
  status: 'MATCHED' | 'CONFIRMED',
  time: number,
): string {
  const { fillF, fillI, marketI } = names.t;
  const first = fillRow(names.t, fills[0]!.sequence);
  const match = fillF[first / 2 + Fill.match]!;
  const token = names.token(fillI[first + Fill.takerToken]!);
  const { price, size } = totals(names, fills);
  const seconds = String(Math.floor(time / MS));
  const trader = reader.isTaker ? 'TAKER' : 'MAKER';
  const fields = JSON.stringify({
    event_type: 'trade',
    id: tradeIdOf(match),
    type: 'TRADE',
    status,
    taker_order_id: wordsToHex(fillI, first + Fill.takerId, ID_WORDS),
    market: token.condition,
    asset_id: token.id,
    outcome: names.outcome(token),
    side: sideText(fillI[first + Fill.takerSide] === 1),
    price,
    size,
    fee_rate_bps: String(marketI[(token.market << MARKET_I) + Market.baseFeeBps]!),
    owner: reader.apiKey,
    trade_owner: reader.apiKey,
    maker_address: names.wallet(fillI[first + Fill.taker]!),
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

/** Size of a match, and the taker's average price. */
function totals(names: Names, fills: readonly TradeFill[]): { price: string; size: string } {
  const { t } = names;
  const pips = t.fillI[fillRow(t, fills[0]!.sequence) + Fill.takerPrice]!;
  let isOnePrice = true;
  let size = 0;
  let collateral = 0;
  for (const { sequence } of fills) {
    const row = fillRow(t, sequence);
    size += t.fillF[row / 2 + Fill.size]!;
    collateral += t.fillF[row / 2 + Fill.takerCollateral]!;
    if (t.fillI[row + Fill.takerPrice] !== pips) isOnePrice = false;
  }
  const price = isOnePrice ? priceText(pips) : microText(ratioMicro(collateral, size));
  return { price, size: microText(size) };
}

function makerOrder(names: Names, { makerKey, sequence }: TradeFill): object {
  const { fillF, fillI } = names.t;
  const row = fillRow(names.t, sequence);
  const isOpposite = fillI[row + Fill.kind] === MatchKind.complementary;
  const takerSells = fillI[row + Fill.takerSide] === 1;
  const token = names.token(fillI[row + Fill.makerToken]!);
  return {
    order_id: wordsToHex(fillI, row + Fill.makerId, ID_WORDS),
    owner: makerKey ?? NIL_UUID,
    maker_address: names.wallet(fillI[row + Fill.maker]!),
    asset_id: token.id,
    outcome: names.outcome(token),
    side: sideText(isOpposite !== takerSells),
    price: priceText(fillI[row + Fill.makerPrice]!),
    matched_amount: microText(fillF[row / 2 + Fill.size]!),
    // The maker pays no fee (docs/protocol.md#fees).
    fee_rate_bps: '0',
  };
}
