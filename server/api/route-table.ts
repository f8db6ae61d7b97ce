/**
 * Every route of the node, one row each: what it is, who may call it, what limits it, what it is
 * asked and what it answers. The HTTP server, API.md and the API document follow from this table;
 * the handlers, by the same keys, are in the rooms (routes.ts joins the two).
 *
 * `query` is the run-time check of the query string; `body` documents what the handler's parser,
 * compiled from the same schema, accepts.
 */
import * as account from '../account/account-schemas.ts';
import { NO_QUERY } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { TrioAnswer } from '../identity/schemas.ts';
import * as ledger from '../ledger/schemas.ts';
import * as statement from '../ledger/statement-schemas.ts';
import * as history from '../market-data/history-schemas.ts';
import * as token from '../market-data/token-schemas.ts';
import { TRADES_QUERY, TradesAnswer } from '../market-data/trades-schemas.ts';
import * as order from '../orders/schemas.ts';
import * as info from './node-info.ts';
import { PROGRAM_ROUTES } from './programs.ts';
import { type RouteRow, same } from './route-row.ts';
import { CATALOG_ROUTES } from './route-table-catalog.ts';
import { DATA_ROUTES } from './route-table-data.ts';
import { TRADING_MARKET_ROUTES } from './route-table-trading.ts';

const trading = { api: 'trading', access: 'none', bodyMax: 'none', body: undefined } as const;
const data = { api: 'data', access: 'none', bodyMax: 'none', body: undefined } as const;

/** One token in the query, and in the path. */
const ofToken = { ...trading, limits: ['trading'], query: token.TOKEN_QUERY } as const;
const inPath = { ...ofToken, query: token.TOKEN_PATH } as const;
const ofTokens = {
  ...trading,
  limits: ['trading'],
  bodyMax: 'mebibyte',
  query: NO_QUERY,
  body: token.TokenItems,
  bodyBounds: token.TOKENS_BOUNDS,
} as const;
/** An API key's own: the body is signed too. */
const signed = {
  ...trading,
  limits: ['trading'],
  access: 'level2',
  bodyMax: 'mebibyte',
  query: NO_QUERY,
} as const;
/** What belongs to the caller; a read-only key may see it. */
const own = { ...trading, limits: ['trading'], access: 'level2-read' } as const;
const plain = { ...trading, limits: ['trading'], query: NO_QUERY } as const;
const byKey = { ...plain, access: 'level2' } as const;
const document = { ...plain, tagged: true, answer: Type.Object({}) } as const;
const ofViewer = { ...plain, tagged: true, answer: Type.String() } as const;

export const ROUTE_TABLE = {
  'GET /': { ...plain, limits: ['health', 'trading'], answer: Type.Literal('OK'), does: '`"OK"`' },
  'GET /ok': { ...plain, answer: Type.Literal('OK'), does: '`"OK"`' },
  'GET /health': { ...plain, answer: Type.Literal('OK'), does: '`"OK"`' },
  'GET /healthz': { ...plain, answer: Type.Literal('OK'), does: '`"OK"`' },
  'GET /ready': {
    ...plain,
    answer: info.ReadyAnswer,
    unavailable: info.UnreadyAnswer,
    does: 'whether this node takes orders, or has them taken: 200, or 503 with the codes of the reasons',
  },
  'GET /status': {
    ...plain,
    answer: info.StatusAnswer,
    does:
      'whether orders are taken: `status` is `ok`, or `read-only` for the reasons in `paused`; how far the log, what is derived from it ' +
      'and images are; what kind of node it is (`mode`)',
  },
  'GET /gamma/status': {
    ...plain,
    api: 'catalog',
    limits: ['catalog'],
    answer: Type.Literal('OK'),
    media: ['text/plain'],
    does: 'the bare text OK, as clients of that API expect it',
  },
  'GET /time': { ...plain, answer: Type.Integer(), does: 'unix seconds' },
  'GET /version': {
    ...plain,
    answer: info.VersionAnswer,
    does: 'version in which orders are best signed: 2 where only that is taken',
  },
  'GET /exchange-info': {
    ...plain,
    answer: info.ExchangeInfoAnswer,
    does: 'what a client needs to sign and to behave: domain, addresses, limits, durability, version, kind of node',
  },
  'GET /rate-limits': {
    ...plain,
    answer: info.RateLimitsAnswer,
    does: 'the rate limits of each caller, row by row, and which of them apply',
  },
  'POST /auth/api-key': {
    ...plain,
    access: 'level1',
    bodyMax: 'mebibyte',
    answer: TrioAnswer,
    does: "issues the API key of a wallet and nonce (level 1: a wallet's signature)",
  },
  'GET /auth/derive-api-key': {
    ...plain,
    access: 'level1',
    answer: TrioAnswer,
    repeats: true,
    does: 'the same key again',
  },
  'GET /auth/api-keys': {
    ...byKey,
    answer: account.ApiKeysAnswer,
    does: 'active API keys of the caller',
  },
  'DELETE /auth/api-key': {
    ...byKey,
    query: account.REVOKE_QUERY,
    answer: account.RevokedAnswer,
    does: 'revokes the calling key, or another one of the caller: `apiKey`',
  },
  'DELETE /auth/derive-api-key': {
    ...byKey,
    query: account.REVOKE_QUERY,
    answer: account.RevokedAnswer,
    ...same,
  },
  'GET /auth/ban-status/closed-only': {
    ...byKey,
    answer: account.ClosedOnlyAnswer,
    does: 'whether the caller may only close positions: never',
  },
  'POST /auth/readonly-api-key': {
    ...byKey,
    answer: account.ReadOnlyKeyAnswer,
    does: 'issues a key that reads own orders and trades, and nothing else',
  },
  'GET /auth/readonly-api-keys': {
    ...byKey,
    answer: account.ReadOnlyKeysAnswer,
    does: 'active read-only keys of the caller',
  },
  'DELETE /auth/readonly-api-key': {
    ...byKey,
    bodyMax: 'mebibyte',
    body: account.ReadOnlyKeyBody,
    bodyBounds: account.KEY_BOUNDS,
    answer: Type.Literal('OK'),
    does: 'revokes a read-only key: `{"key"}`',
  },
  'GET /auth/validate-readonly-api-key': {
    ...trading,
    limits: ['trading'],
    query: account.VALIDATE_QUERY,
    answer: account.ValidAnswer,
    does: 'whether a read-only key is active: `address key`',
  },
  'POST /order': {
    ...signed,
    places: true,
    limits: ['orderBurst', 'orderSustained', 'trading'],
    body: order.OrderItemShape,
    bodyBounds: order.ONE_BOUNDS,
    answer: order.OrderResult,
    does: 'one signed order (level 2: API key and HMAC)',
  },
  'POST /orders': {
    ...signed,
    places: true,
    bodyMax: 'batch',
    body: order.OrderItems,
    answer: order.OrderResults,
    does: 'a batch of signed orders, one result each',
  },
  'POST /replace': {
    ...signed,
    places: true,
    limits: ['replaceBurst', 'replaceSustained', 'trading'],
    body: order.replaceOf(order.OrderItemShape),
    bodyBounds: order.ONE_BOUNDS,
    answer: order.ReplaceAnswer,
    does: 'cancels an order and places another one, or does neither: `{"orderID": "..", "order": {..}, ..}`',
  },
  'DELETE /order': {
    ...signed,
    limits: ['cancelBurst', 'cancelSustained', 'trading'],
    body: order.CancelOrder,
    bodyBounds: order.ONE_BOUNDS,
    answer: order.CancelAnswer,
    does: 'cancels one order: `{"orderID": ".."}`',
  },
  'DELETE /orders': {
    ...signed,
    body: order.CancelOrders,
    bodyBounds: order.CANCEL_IDS_BOUNDS,
    answer: order.CancelAnswer,
    does: 'cancels up to 1000 orders: `["..", ".."]`',
  },
  'DELETE /cancel-all': {
    ...signed,
    body: Type.Unknown(),
    answer: order.CancelAnswer,
    does: "cancels all of the caller's open orders; no body",
  },
  'DELETE /cancel-market-orders': {
    ...signed,
    body: order.CancelMarket,
    bodyBounds: order.ONE_BOUNDS,
    answer: order.CancelAnswer,
    does: 'cancels those of one market, one token, or both: `{"market": "..", "asset_id": ".."}`',
  },
  'POST /heartbeats': {
    ...signed,
    body: undefined,
    answer: account.HeartbeatOkAnswer,
    does: "begins or goes on with the watch: after silence all of the caller's open orders are cancelled",
  },
  'POST /v1/heartbeats': {
    ...signed,
    body: account.HeartbeatBody,
    bodyBounds: account.HEARTBEAT_BOUNDS,
    answer: account.HeartbeatAnswer,
    repeats: true,
    does: 'the same, with the id of the last answer: `{"heartbeat_id": ".."}`',
  },
  'GET /data/order/:id': {
    ...own,
    query: account.ORDER_PATH,
    answer: account.OwnOrderAnswer,
    does: 'an own order, whatever became of it: `status` and, once it has ended, the `reason`',
  },
  'GET /data/orders': {
    ...own,
    query: account.ORDERS_QUERY,
    answer: account.OwnOrdersAnswer,
    does: 'own open orders, newest first, 100 a page: `id market asset_id maker next_cursor`',
  },
  'GET /data/trades': {
    ...own,
    limits: ['ledgerTrades', 'trading'],
    query: account.OWN_TRADES_QUERY,
    answer: account.OwnTradesAnswer,
    does: 'own trades, newest first, 100 a page: `id market asset_id maker_address taker maker before after next_cursor`',
  },
  'GET /ledger/statement': {
    ...own,
    query: statement.STATEMENT_QUERY,
    answer: statement.StatementAnswer,
    media: ['application/json', 'text/csv'],
    conflicts: true,
    does: 'every entry of the own wallet in the ledger, newest first: `limit next_cursor`; CSV by `Accept`',
  },
  'GET /balance-allowance': {
    ...trading,
    limits: ['trading'],
    access: 'level2-read',
    query: ledger.BALANCE_QUERY,
    answer: ledger.BalanceAnswer,
    does: 'what a wallet has: `asset_type token_id signature_type`; without a ledger the largest amount',
  },
  'GET /balance-allowance/update': {
    ...trading,
    limits: ['trading'],
    access: 'level2-read',
    query: ledger.BALANCE_QUERY,
    answer: ledger.BalanceAnswer,
    repeats: true,
    does: 'the same: there is nothing to bring up to date',
  },
  'GET /ledger/balance': {
    ...own,
    query: NO_QUERY,
    answer: ledger.LedgerBalanceAnswer,
    conflicts: true,
    does: "cash and shares of the caller's wallet: total, reserved by open orders, free; needs a ledger",
  },
  'POST /split': {
    ...signed,
    limits: ['sets', 'trading'],
    body: ledger.SetsBody,
    bodyBounds: ledger.SETS_BOUNDS,
    answer: ledger.SetsAnswer,
    conflicts: true,
    does: 'cash becomes complete sets of a market: `{"conditionId", "amount", "id"}`; needs a ledger',
  },
  'POST /merge': {
    ...signed,
    limits: ['sets', 'trading'],
    body: ledger.SetsBody,
    bodyBounds: ledger.SETS_BOUNDS,
    answer: ledger.SetsAnswer,
    conflicts: true,
    does: 'complete sets become cash again: the same body',
  },
  'GET /book': {
    ...ofToken,
    limits: ['book', 'trading'],
    answer: token.BookAnswer,
    does: 'one book, best level last: `token_id`',
  },
  'GET /book/:token_id': {
    ...inPath,
    limits: ['book', 'trading'],
    answer: token.BookAnswer,
    ...same,
  },
  'POST /books': {
    ...ofTokens,
    limits: ['books', 'trading'],
    answer: token.BooksAnswer,
    does: 'books by token id, best level last',
  },
  'GET /price': {
    ...trading,
    limits: ['price', 'trading'],
    query: token.PRICE_QUERY,
    answer: token.PriceAnswer,
    does: 'best price: `token_id`, `side` BUY (what a buyer pays: the best ask) or SELL (the best bid)',
  },
  'GET /price/:token_id': {
    ...trading,
    limits: ['price', 'trading'],
    query: token.PRICE_PATH,
    answer: token.PriceAnswer,
    ...same,
  },
  'POST /prices': {
    ...ofTokens,
    limits: ['prices', 'trading'],
    answer: token.PricesAnswer,
    does: 'best prices by token id; an item without `side` asks for both',
  },
  'GET /midpoint': {
    ...ofToken,
    limits: ['midpoint', 'trading'],
    answer: token.MidpointAnswer,
    does: 'half way between best bid and best ask: `token_id`',
  },
  'GET /midpoint/:token_id': {
    ...inPath,
    limits: ['midpoint', 'trading'],
    answer: token.MidpointAnswer,
    ...same,
  },
  'POST /midpoints': { ...ofTokens, answer: token.DecimalsAnswer, does: 'midpoints by token id' },
  'GET /spread': {
    ...ofToken,
    answer: token.SpreadAnswer,
    does: 'best ask less best bid: `token_id`',
  },
  'GET /spread/:token_id': { ...inPath, answer: token.SpreadAnswer, ...same },
  'POST /spreads': { ...ofTokens, answer: token.DecimalsAnswer, does: 'spreads by token id' },
  'GET /last-trade-price': {
    ...ofToken,
    answer: token.LastPriceAnswer,
    does: 'last trade price and side: `token_id`',
  },
  'GET /last-trade-price/:token_id': {
    ...inPath,
    answer: token.LastPriceAnswer,
    ...same,
  },
  'POST /last-trades-prices': {
    ...ofTokens,
    answer: token.LastPricesAnswer,
    does: 'last trade price and side by token id',
  },
  'GET /tick-size': { ...ofToken, answer: token.TickSizeAnswer, does: 'tick size: `token_id`' },
  'GET /tick-size/:token_id': { ...inPath, answer: token.TickSizeAnswer, ...same },
  'GET /neg-risk': {
    ...ofToken,
    answer: token.NegRiskAnswer,
    does: 'which exchange contract orders are signed for: `token_id`',
  },
  'GET /neg-risk/:token_id': { ...inPath, answer: token.NegRiskAnswer, ...same },
  'GET /fee-rate': {
    ...ofToken,
    answer: token.FeeRateAnswer,
    does: 'base fee in basis points: `token_id`',
  },
  'GET /fee-rate/:token_id': { ...inPath, answer: token.FeeRateAnswer, ...same },
  'GET /prices-history': {
    ...trading,
    limits: ['pricesHistory', 'trading'],
    query: history.HISTORY_QUERY,
    answer: history.HistoryAnswer,
    does: 'last trade prices of a token over time: `market interval startTs endTs fidelity`',
  },
  'POST /batch-prices-history': {
    ...plain,
    limits: ['pricesHistory', 'trading'],
    bodyMax: 'mebibyte',
    body: history.BatchHistoryBody,
    bodyBounds: history.BATCH_HISTORY_BOUNDS,
    answer: history.BatchHistoryAnswer,
    repeats: true,
    does: 'the same of up to 20 tokens, by token id: `markets` and the same parameters',
  },
  'POST /data/volumes': {
    ...plain,
    bodyMax: 'mebibyte',
    body: history.VolumesBody,
    bodyBounds: history.VOLUMES_BOUNDS,
    answer: history.VolumesAnswer,
    does: 'traded collateral of up to 500 markets by condition id, of all time and of 24 hours',
  },
  'GET /trades': {
    ...data,
    limits: ['trades'],
    query: TRADES_QUERY,
    answer: TradesAnswer,
    does: 'fills: `limit offset takerOnly filterType filterAmount market user side`',
  },
  'GET /openapi.json': { ...document, does: 'these routes as an OpenAPI document (3.1)' },
  'GET /asyncapi.json': { ...document, does: 'the streams as an AsyncAPI document (3.0)' },
  'GET /docs': { ...ofViewer, media: ['text/html'], does: 'a page that shows these routes' },
  'GET /docs/:file': {
    ...ofViewer,
    media: ['text/css', 'text/javascript'],
    does: 'what that page is made of',
  },
  ...DATA_ROUTES,
  ...CATALOG_ROUTES,
  ...TRADING_MARKET_ROUTES,
  ...PROGRAM_ROUTES,
} as const satisfies Readonly<Record<string, RouteRow>>;

export type RouteKey = keyof typeof ROUTE_TABLE;
