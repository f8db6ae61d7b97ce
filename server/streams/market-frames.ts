/**
 * Frames of the market channel as JSON. Ids and labels of markets may contain any character, so JSON.stringify writes
 * them; everything else is digits and hex. Rules: docs/protocol.md#stream-frames
 *
 * Thread: the I/O thread.
 */

import { OrderCommand, OrderFlag } from '../../engine/commands.ts';
import { EventKind, partlyRows } from '../../engine/events.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import {
  fillMakerIdAt,
  fillRow,
  isAskOrder,
  isMirroredToken,
  ONLY_ORDER,
  type OrderRows,
  orderIdAt,
} from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { PIPS_PER_UNIT, type Pips, type TokenRow } from '../../engine/tables/units.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { MarketLifecycle } from '../market-data/texts.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import type { Names, TokenName } from './names.ts';
import type { ChangedLevel, LevelCause, PublicTrade, PublishedBook } from './published-book.ts';

/** Text of a missing best price (docs/protocol.md#stream-frames). */
const NO_BID = '0';
const NO_ASK = '1';

const PRICES: (string | undefined)[] = new Array(PIPS_PER_UNIT + 1).fill(undefined);

export function priceText(pips: number): string {
  PRICES[pips] ??= pipsText(pips as Pips);
  return PRICES[pips];
}

export function sideText(isSell: boolean): 'BUY' | 'SELL' {
  return isSell ? 'SELL' : 'BUY';
}

export interface BestPrices {
  readonly bid: string;
  readonly ask: string;
  readonly spread: string;
}

export function bestPrices(book: PublishedBook, index: number): BestPrices {
  const { bestAsk, bestBid, grid } = book;
  const perTick = PIPS_PER_UNIT / grid;
  const isMirrored = index === 1;
  // 0 and the grid mean none. Each is the mirror of the other.
  const bid = isMirrored ? grid - bestAsk : bestBid;
  const ask = isMirrored ? grid - bestBid : bestAsk;
  return {
    bid: bid === 0 ? NO_BID : priceText(bid * perTick),
    ask: ask === grid ? NO_ASK : priceText(ask * perTick),
    spread: priceText((ask - bid) * perTick),
  };
}

export function bookFrame(head: string, body: Buffer): Buffer {
  const prefix = `{"event_type":"book",${head},`;
  const frame = Buffer.allocUnsafe(prefix.length + body.length - 1);
  frame.write(prefix, 'latin1');
  // Without the opening brace.
  body.copy(frame, prefix.length, 1);
  return frame;
}

export function priceChangeFrame(
  head: string,
  names: Names,
  book: PublishedBook,
  batch: AppliedBatch,
  changes: readonly ChangedLevel[],
): Buffer {
  const tokens = book.tokens.map((token) => names.token(token));
  const bests = tokens.map((_, index) => {
    const { ask, bid } = bestPrices(book, index);
    return `"best_bid":"${bid}","best_ask":"${ask}"}`;
  });
  const entries: string[] = [];
  for (const { by, isAsk, pips } of changes) {
    const size = microText(book.quantity(pips, isAsk));
    const rest = `","hash":"${causeId(names.tables, batch, by)}",`;
    tokens.forEach(({ id }, index) => {
      const price = priceText(index === 0 ? pips : PIPS_PER_UNIT - pips);
      const side = sideText((index === 0) === isAsk);
      entries.push(
        `{"asset_id":"${id}","price":"${price}","size":"${size}","side":"${side}${rest}${bests[index]}`,
      );
    });
  }
  const { condition } = tokens[0]!;
  return Buffer.from(
    `{"event_type":"price_change","market":"${condition}","price_changes":[${entries.join(',')}]` +
      `,"timestamp":"${batch.time}",${head}}`,
    'latin1',
  );
}

export function lastTradePriceFrame(head: string, trade: PublicTrade, time: number): Buffer {
  const { feeBps, isSell, pips, size, token } = trade;
  return Buffer.from(
    `{"event_type":"last_trade_price","asset_id":"${token.id}","market":"${token.condition}"` +
      `,"price":"${priceText(pips)}","side":"${sideText(isSell)}","size":"${microText(size)}"` +
      `,"fee_rate_bps":"${feeBps}","timestamp":"${time}",${head}}`,
    'latin1',
  );
}

/** Frame for one side. The tick size is the same on both, but clients read a member for the side. */
export function tickSizeFrame(
  head: string,
  token: TokenName,
  before: number,
  grid: number,
  time: number,
): Buffer {
  const tick = (of: number): string => priceText(PIPS_PER_UNIT / of);
  return Buffer.from(
    `{"event_type":"tick_size_change","asset_id":"${token.id}","market":"${token.condition}"` +
      `,"old_tick_size":"${tick(before)}","new_tick_size":"${tick(grid)}","side":"BUY"` +
      `,"timestamp":"${time}",${head}}`,
    'latin1',
  );
}

export function bestBidAskFrame(
  head: string,
  token: TokenName,
  { ask, bid, spread }: BestPrices,
  time: number,
): Buffer {
  return Buffer.from(
    `{"event_type":"best_bid_ask","market":"${token.condition}","asset_id":"${token.id}"` +
      `,"best_bid":"${bid}","best_ask":"${ask}","spread":"${spread}"` +
      `,"timestamp":"${time}",${head}}`,
    'latin1',
  );
}

export function newMarketFrame(
  head: string,
  condition: string,
  assets: readonly string[],
  story: MarketLifecycle,
  feeBps: number,
  time: number,
): Buffer {
  const { active, description, event, listed, outcomes, question, slug, tick } = story;
  const fields = JSON.stringify({
    event_type: 'new_market',
    id: condition,
    market: condition,
    condition_id: condition,
    question,
    slug,
    description,
    active,
    assets_ids: assets,
    clob_token_ids: assets,
    outcomes,
    order_price_min_tick_size: String(tick),
    taker_base_fee: String(feeBps),
    fees_enabled: listed.feesEnabled,
    fee_schedule: listed.feeSchedule,
    sports_market_type: listed.sportsMarketType,
    line: listed.line?.toString(),
    game_start_time: listed.gameStartTime,
    group_item_title: listed.groupItemTitle,
    event_message: event,
    timestamp: String(time),
  });
  return Buffer.from(`${fields.slice(0, -1)},${head}}`);
}

/** @param resolved its fields but the first and the last */
export function marketResolvedFrame(head: string, resolved: object, time: number): Buffer {
  const fields = JSON.stringify({
    event_type: 'market_resolved',
    ...resolved,
    timestamp: String(time),
  });
  return Buffer.from(`${fields.slice(0, -1)},${head}}`);
}

/**
 * Returns true if an order is an ask in the prices of its book.
 * @param command as LevelCause has it
 */
export function isAskOf(tables: Tables, batch: AppliedBatch, command: number): boolean {
  if (command < 0) return isAskOrder(delayedRow(batch, command), ONLY_ORDER);
  const { commands } = batch;
  const token = commands[command + OrderCommand.token]! as TokenRow;
  const isSell = (commands[command + OrderCommand.flags]! & OrderFlag.sell) !== 0;
  return isSell !== isMirroredToken(tables, token);
}

/**
 * Id of the order that caused a change of a level, or ''. The rings contain the rows of fills and closed orders at
 * least until the batch has been published.
 */
function causeId(tables: Tables, batch: AppliedBatch, by: LevelCause): string {
  const { command, kind, sequence } = by;
  // A level of the source is no order.
  if (kind === EventKind.levelSource) return '';
  if (kind === EventKind.levelPlaced && command < 0) {
    return wordsToHex(delayedRow(batch, command).orderI, orderIdAt(ONLY_ORDER), ID_WORDS);
  }
  if (kind === EventKind.levelPlaced) {
    return wordsToHex(batch.commands, command + OrderCommand.id, ID_WORDS);
  }
  if (kind === EventKind.levelFill) {
    return wordsToHex(tables.fillI, fillMakerIdAt(fillRow(tables, sequence)), ID_WORDS);
  }
  return wordsToHex(tables.orderI, orderIdAt(closedOrder(tables, sequence)), ID_WORDS);
}

/** Row of the delayed order that a `due` record copies. */
function delayedRow({ events, eventsF }: AppliedBatch, command: number): OrderRows {
  return partlyRows(events, eventsF, -1 - command);
}
