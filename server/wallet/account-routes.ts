/**
 * GET /data/order/:id, /data/orders and /data/trades: orders and trades of a caller
 * (docs/protocol.md#own-orders-and-trades).
 *
 * Orders are shown as in the engine, which may be some milliseconds ahead of the disk. Trades are shown once they are
 * flushed.
 *
 * Thread: I/O.
 */

import { API_KEY_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { INVALID_CURSOR, offsetOf } from '../common/cursor.ts';
import { ENGINE_BUSY, errorBody } from '../common/error-bodies.ts';
import { nextIteration } from '../common/event-loop.ts';
import { Type } from '../common/schema.ts';
import { matchOfTradeId } from '../common/trade-ids.ts';
import { route } from '../http/route.ts';
import { AccountTexts, type OrderStatusCase } from '../market-data/account-texts.ts';
import { accountByAddress, marketByCondition } from '../market-data/find.ts';
import type { MarketLookup, TokenTexts } from '../market-data/texts.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import { TradesAnswer } from '../market-data/trades-schemas.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import {
  ORDER_PATH,
  ORDERS_QUERY,
  OWN_TRADES_QUERY,
  OwnOrderAnswer,
  OwnOrdersAnswer,
  OwnTradesAnswer,
} from './account-schemas.ts';
import { type OrderView, orderText } from './order-rows.ts';
import { type OrderScope, OwnOrders } from './own-orders.ts';
import { type OwnTrade, OwnTrades } from './own-trades.ts';
import { NOBODY, type Page, pageBody } from './pages.ts';
import { TradeTexts } from './trade-text.ts';
import { refuseForeign, type WalletAccess } from './wallet-access.ts';

export interface AccountRouteParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly infos: MarketLookup;
  readonly tradesIndex: TradesIndex;
  readonly sequenceLock: SequenceLockReader;
  readonly storedClosedOrder: (id: Buffer) => Buffer | undefined;
  readonly config: { readonly orderStatus: OrderStatusCase };
  readonly access: WalletAccess;
}

/** In orders of other signers. */
const NO_KEY = new Int32Array(API_KEY_WORDS);
const ORDER_NOT_FOUND = errorBody('UNKNOWN_ORDER');
const ORDER_ID = /^0x[0-9a-f]{64}$/i;
/** Orders written without a pause: a fraction of a millisecond; several milliseconds the first time. */
const ORDERS_PER_TURN = 25;
/** Maker orders written without a pause. The maker orders of one trade are written together. */
const MAKERS_PER_TURN = 100;

export const ACCOUNT_ROUTES = [
  route(
    'GET /data/order/:id',
    {
      access: 'level2-read',
      query: ORDER_PATH,
      answer: OwnOrderAnswer,
      does: 'an own order, or one of an own agent, whatever became of it: `status` and, once it has ended, the `reason`',
    },
    ({ index, orders, textsOf }: AccountReads) =>
      async (context, { id }, caller) => {
        const owner = orders.owner(caller.address);
        const { end } = index;
        const row = ORDER_ID.test(id) && (await orders.find(owner, idBytes(id)));
        if (!row) return context.reply(404, ORDER_NOT_FOUND);
        // Its trades are in the list of whoever signed it.
        const [text] = await textsOf(row.owner, [shownTo(owner, row)], end);
        context.reply(200, text!);
      },
  ),
  route(
    'GET /data/orders',
    {
      access: 'level2-read',
      query: ORDERS_QUERY,
      answer: OwnOrdersAnswer,
      does: 'own open orders, newest first, 100 a page, with `wallet` those of its agents too: `id market asset_id maker wallet next_cursor`',
    },
    ({ access, index, orders, tables, textsOf, tokens }: AccountReads) =>
      async (context, query, caller) => {
        const offset = offsetOf(query.next_cursor ?? '');
        if (offset === -1) return context.reply(400, INVALID_CURSOR);
        const wallet = await access.readable(query.wallet, caller.address);
        if (wallet === undefined) return refuseForeign(context);
        const owner = orders.owner(caller.address);
        const maker = walletSlot(tables, query.maker);
        const address = walletSlot(tables, query.maker_address);
        const filter = {
          market: marketSlot(tables, query.market),
          token: tokenSlot(tokens, query.asset_id),
          maker: maker === 0 || address === 0 || maker === address ? maker || address : NOBODY,
        };
        const { end } = index;
        const scope: OrderScope =
          query.wallet === undefined
            ? { owner, filter, agentsOf: 0 }
            : orders.ofWallet(orders.owner(wallet), filter);
        const page =
          query.id === undefined
            ? await orders.page(scope.owner, scope.filter, offset, scope.agentsOf)
            : await orders.pageOfOne(idBytes(query.id), scope, offset);
        if (page === undefined) return context.reply(503, ENGINE_BUSY);
        const rows = page.rows.map((row) => shownTo(owner, row));
        context.reply(200, pageBody(await textsOf(owner, rows, end), offset, page.more));
      },
  ),
  route(
    'GET /data/trades',
    {
      access: 'level2-read',
      limits: ['ledgerTrades', 'trading'],
      query: OWN_TRADES_QUERY,
      answer: OwnTradesAnswer,
      does: 'own trades, newest first, 100 a page: `id market asset_id maker_address taker maker before after next_cursor`',
      configured: ({ dataTrades }) =>
        dataTrades === 'own' ? {} : { answer: Type.Union([OwnTradesAnswer, TradesAnswer]) },
    },
    ({ index, orders, tables, tokens, trades, tradeTexts }: AccountReads) =>
      async (context, query, caller) => {
        const offset = offsetOf(query.next_cursor ?? '');
        if (offset === -1) return context.reply(400, INVALID_CURSOR);
        const owner = orders.owner(caller.address);
        const filter = {
          market: marketSlot(tables, query.market),
          token: tokenSlot(tokens, query.asset_id),
          wallet: walletSlot(tables, query.maker_address),
          taker: walletSlot(tables, query.taker),
          maker: walletSlot(tables, query.maker),
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
      },
  ),
];

export class AccountReads {
  readonly access: WalletAccess;
  readonly tables: Tables;
  readonly tokens: TokenTexts;
  readonly index: TradesIndex;
  readonly orders: OwnOrders;
  readonly trades: OwnTrades;
  readonly tradeTexts: TradeTexts;
  /** Texts of rows with the trades of the fills before `end`. */
  readonly textsOf: (owner: number, rows: readonly OrderView[], end: number) => Promise<string[]>;

  constructor(parts: AccountRouteParts) {
    this.access = parts.access;
    this.tables = parts.tables;
    this.tokens = parts.texts;
    this.index = parts.tradesIndex;
    this.orders = new OwnOrders(parts);
    this.trades = new OwnTrades(this.index);
    const texts = new AccountTexts(parts.tables, parts.infos, parts.config.orderStatus);
    this.tradeTexts = new TradeTexts(texts, this.index);
    this.textsOf = async (owner, rows, end) =>
      orderTexts(texts, rows, await this.trades.tradesOf(owner, rows, end));
  }
}

/** @param ids trades of each row at the time when the row was read */
async function orderTexts(
  texts: AccountTexts,
  rows: readonly OrderView[],
  ids: readonly (readonly string[])[],
): Promise<string[]> {
  const written: string[] = [];
  for (const [i, row] of rows.entries()) {
    if (i > 0 && i % ORDERS_PER_TURN === 0) await nextIteration();
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
    const { listed, text } = texts.text(trade, reader);
    // This match and the older ones have left the window in the meantime; their rows are reused.
    if (trade.match < index.first) break;
    items.push(text);
    makers += listed;
    if (makers < MAKERS_PER_TURN) continue;
    makers = 0;
    await nextIteration();
  }
  return items;
}

/** Order without the API key of another signer. */
function shownTo(owner: number, row: OrderView): OrderView {
  return row.owner === owner ? row : { ...row, apiKey: NO_KEY };
}

/** Returns rows of a filter's names: 0 = no filter, NOBODY = unknown. */
function marketSlot(tables: Tables, conditionId: string | undefined): number {
  if (conditionId === undefined) return 0;
  return marketByCondition(tables, conditionId) || NOBODY;
}

function tokenSlot(tokens: TokenTexts, tokenId: string | undefined): number {
  return tokenId === undefined ? 0 : tokens.find(tokenId) || NOBODY;
}

function walletSlot(tables: Tables, address: string | undefined): number {
  return address === undefined ? 0 : accountByAddress(tables, address) || NOBODY;
}

/** Bytes of hex digits of either case. The query's schema has checked them. */
function idBytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
