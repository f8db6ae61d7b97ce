/**
 * GET /data/order/:id, /data/orders and /data/trades: the orders and trades of a caller
 * (docs/protocol.md#own-orders-and-trades).
 *
 * Orders are shown as in the engine, which may be some milliseconds ahead of the disk. Trades are
 * shown once they are flushed.
 *
 * Thread: I/O.
 */

import { Status } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { INVALID_CURSOR, offsetOf } from '../common/cursor.ts';
import { ENGINE_BUSY, errorBody } from '../common/error-bodies.ts';
import { nextTurn } from '../common/next-turn.ts';
import type { Handler } from '../http/http.ts';
import type { KeyOwner } from '../identity/auth.ts';
import { AccountTexts, type OrderStatusCase } from '../market-data/account-texts.ts';
import { accountByAddress, marketByCondition } from '../market-data/find.ts';
import { matchOfTradeId } from '../market-data/match-ids.ts';
import type { MarketLookup, TokenTexts } from '../market-data/texts.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { SeqlockReader } from '../orders/seqlock-reader.ts';
import type { OrdersQuery, OwnTradesQuery } from './account-schemas.ts';
import { type OrderView, orderText } from './order-rows.ts';
import { type OrderFilter, OwnOrders } from './own-orders.ts';
import { type OwnTrade, OwnTrades } from './own-trades.ts';
import { NOBODY, type Page, pageBody } from './pages.ts';
import { TradeTexts } from './trade-text.ts';

export interface AccountRouteParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly infos: MarketLookup;
  readonly tradesIndex: TradesIndex;
  readonly seqlock: SeqlockReader;
  /** The stored closed order (32 bytes of its id) from disk. */
  readonly storedClosedOrder: (id: Buffer) => Buffer | undefined;
  readonly config: { readonly orderStatus: OrderStatusCase };
}

const ORDER_NOT_FOUND = errorBody('order not found');
const ORDER_ID = /^0x[0-9a-f]{64}$/i;
/**
 * Orders that are written without a pause: a fraction of a millisecond; several milliseconds the
 * first time.
 */
const ORDERS_PER_TURN = 25;
/**
 * Maker orders after which the event loop has a turn. The maker orders of one trade are written
 * together.
 */
const MAKERS_PER_TURN = 100;

export function accountHandlers(parts: AccountRouteParts) {
  const { tables: t, texts: tokens, tradesIndex: index } = parts;
  const orders = new OwnOrders(parts);
  const trades = new OwnTrades(index);
  const texts = new AccountTexts(t, parts.infos, parts.config.orderStatus);
  const tradeTexts = new TradeTexts(texts, index);

  const textsOf = async (owner: number, rows: readonly OrderView[], end: number) =>
    orderTexts(texts, rows, await trades.tradesOf(owner, rows, end));

  const order: Handler<{ id: string }, KeyOwner> = async (context, { id }, caller) => {
    const owner = orders.owner(caller.address);
    const { end } = index;
    const row = ORDER_ID.test(id) && (await orders.find(owner, idBytes(id)));
    if (!row) return context.reply(404, ORDER_NOT_FOUND);
    const [text] = await textsOf(owner, [row], end);
    context.reply(200, text!);
  };

  const list: Handler<OrdersQuery, KeyOwner> = async (context, query, caller) => {
    const offset = offsetOf(query.next_cursor ?? '');
    if (offset === -1) return context.reply(400, INVALID_CURSOR);
    const owner = orders.owner(caller.address);
    const [maker, address] = [walletSlot(t, query.maker), walletSlot(t, query.maker_address)];
    const filter = {
      market: marketSlot(t, query.market),
      token: tokenSlot(tokens, query.asset_id),
      maker: maker === 0 || address === 0 || maker === address ? maker || address : NOBODY,
    };
    const { end } = index;
    const page =
      query.id === undefined
        ? await orders.page(owner, filter, offset)
        : await pageOfOne(orders, owner, query.id, filter, offset);
    if (page === undefined) return context.reply(503, ENGINE_BUSY);
    context.reply(200, pageBody(await textsOf(owner, page.rows, end), offset, page.more));
  };

  const ownTrades: Handler<OwnTradesQuery, KeyOwner> = async (context, query, caller) => {
    const offset = offsetOf(query.next_cursor ?? '');
    if (offset === -1) return context.reply(400, INVALID_CURSOR);
    const owner = orders.owner(caller.address);
    const filter = {
      market: marketSlot(t, query.market),
      token: tokenSlot(tokens, query.asset_id),
      wallet: walletSlot(t, query.maker_address),
      taker: walletSlot(t, query.taker),
      maker: walletSlot(t, query.maker),
      before: query.before ?? Number.POSITIVE_INFINITY,
      after: query.after ?? Number.NEGATIVE_INFINITY,
    };
    let page: Page<OwnTrade>;
    if (query.id === undefined) page = await trades.page(owner, filter, offset);
    else {
      const found = trades.find(owner, matchOfTradeId(query.id), filter);
      page = { rows: found === undefined || offset > 0 ? [] : [found], more: false };
    }
    const reader = { owner, apiKey: caller.apiKey };
    const items = await tradeItems(tradeTexts, page.rows, reader, index);
    const more = page.more && items.length === page.rows.length;
    context.reply(200, pageBody(items, offset, more));
  };

  return { 'GET /data/order/:id': order, 'GET /data/orders': list, 'GET /data/trades': ownTrades };
}

/** @param ids the trades of each row, of the fills that there were when it was read */
async function orderTexts(
  texts: AccountTexts,
  rows: readonly OrderView[],
  ids: readonly (readonly string[])[],
): Promise<string[]> {
  const written: string[] = [];
  for (const [i, row] of rows.entries()) {
    if (i > 0 && i % ORDERS_PER_TURN === 0) await nextTurn();
    written.push(orderText(texts, row, ids[i]!));
  }
  return written;
}

async function tradeItems(
  texts: TradeTexts,
  rows: readonly OwnTrade[],
  reader: { readonly owner: number; readonly apiKey: string },
  index: TradesIndex,
): Promise<string[]> {
  const items: string[] = [];
  let makers = 0;
  for (const trade of rows) {
    // This match and the older ones have left the window in the meantime; their rows are reused.
    if (trade.match < index.first) break;
    const { listed, text } = texts.text(trade, reader);
    items.push(text);
    makers += listed;
    if (makers < MAKERS_PER_TURN) continue;
    makers = 0;
    await nextTurn();
  }
  return items;
}

/** The open order of an id, as a page. */
async function pageOfOne(
  orders: OwnOrders,
  owner: number,
  id: string,
  filter: OrderFilter,
  offset: number,
): Promise<Page<OrderView>> {
  const row = await orders.find(owner, idBytes(id));
  const isMatch =
    row?.status === Status.live && offset === 0 && orders.matches(filter, row.token, row.maker);
  return { rows: isMatch ? [row] : [], more: false };
}

/** The rows of the things that a filter names: 0 = no filter, NOBODY = unknown. */
function marketSlot(t: Tables, conditionId: string | undefined): number {
  if (conditionId === undefined) return 0;
  return marketByCondition(t, conditionId) || NOBODY;
}

function tokenSlot(tokens: TokenTexts, tokenId: string | undefined): number {
  return tokenId === undefined ? 0 : tokens.find(tokenId) || NOBODY;
}

function walletSlot(t: Tables, address: string | undefined): number {
  return address === undefined ? 0 : accountByAddress(t, address) || NOBODY;
}

/** Hex digits of either case. The query's schema has checked them. */
function idBytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
