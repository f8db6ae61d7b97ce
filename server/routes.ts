/**
 * The routes of the node, each with the little that stands between the HTTP server and its module.
 *
 * Thread: the I/O thread.
 */
import type { Tables } from '../engine/tables.ts';
import { catalogRoutes } from './catalog/catalog-routes.ts';
import type { Generation } from './catalog/generation.ts';
import { errorBody, JOURNAL_UNAVAILABLE, NOT_ALLOWED_ADDRESS } from './common/contract.ts';
import type { Config } from './config.ts';
import type { Exchange, Route } from './http/http.ts';
import {
  type Auth,
  checkLevel2,
  deriveKey,
  issueKey,
  level1Headers,
  level2Headers,
} from './identity/auth.ts';
import { type BookRenderer, renderBooks } from './market-data/books.ts';
import { renderLastPrices } from './market-data/last-prices.ts';
import type { TokenTexts } from './market-data/texts.ts';
import { parseTokenItems } from './market-data/token-items.ts';
import { parseTradesQuery } from './market-data/trades-query.ts';
import type { TradesRenderer } from './market-data/trades-render.ts';
import type { Sequencer } from './orders/sequencer.ts';

export interface RouteParts {
  readonly config: Config;
  readonly auth: Auth;
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly books: BookRenderer;
  readonly trades: TradesRenderer;
  /** The generation of the catalog in use; an answer is made of one. */
  readonly catalog: () => Generation;
  /** Undefined while the data directory cannot be written: reads go on, orders do not. */
  readonly sequencer: Sequencer | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const MIB = 2 ** 20;
const ORDER_BODY_BYTES = 2 * 2 ** 10;
const TOKENS_MAX = 500;
const MS = 1_000;

/** Largest body of POST /orders (GAPS 12). */
export function ordersBodyMax(maxBatchOrders: number): number {
  return Math.max(MIB, maxBatchOrders * ORDER_BODY_BYTES);
}

export function nodeRoutes(parts: RouteParts): Route[] {
  const prefix = parts.config.credentialPrefix;
  const seconds = (): number => Math.floor(parts.now() / MS);
  const level1 = level1Headers(prefix);
  return [
    {
      method: 'GET',
      path: '/',
      headers: [],
      bodyBytesMax: 0,
      run: (exchange) => exchange.reply(200, '"OK"'),
    },
    {
      method: 'GET',
      path: '/time',
      headers: [],
      bodyBytesMax: 0,
      run: (exchange) => exchange.reply(200, String(seconds())),
    },
    {
      method: 'POST',
      path: '/auth/api-key',
      headers: level1,
      bodyBytesMax: MIB,
      run: async (exchange) => {
        const { body, status } = await issueKey(parts.auth, exchange.headers, seconds());
        exchange.reply(status, body);
      },
    },
    {
      method: 'GET',
      path: '/auth/derive-api-key',
      headers: level1,
      bodyBytesMax: 0,
      run: (exchange) => {
        const { body, status } = deriveKey(parts.auth, exchange.headers, seconds());
        exchange.reply(status, body);
      },
    },
    {
      method: 'POST',
      path: '/orders',
      headers: level2Headers(prefix),
      bodyBytesMax: ordersBodyMax(parts.config.maxBatchOrders),
      run: (exchange) => postOrders(parts, exchange, seconds()),
    },
    {
      method: 'POST',
      path: '/books',
      headers: [],
      bodyBytesMax: MIB,
      run: (exchange) =>
        postTokens(parts, exchange, (tokens, sides) => renderBooks(parts.books, tokens, sides)),
    },
    {
      method: 'POST',
      path: '/last-trades-prices',
      headers: [],
      bodyBytesMax: MIB,
      run: (exchange) =>
        postTokens(parts, exchange, (tokens) =>
          renderLastPrices(parts.tables, parts.texts, tokens),
        ),
    },
    {
      method: 'GET',
      path: '/trades',
      headers: [],
      bodyBytesMax: 0,
      run: (exchange) => getTrades(parts, exchange),
      failure: (error) =>
        errorBody(`internal_error: ${error instanceof Error ? error.message : 'unexpected'}`),
    },
    ...catalogRoutes({ generation: parts.catalog }),
  ];
}

/** POST /orders: who is asking, then the line for the engine (SPEC 4.3, 5). */
function postOrders(parts: RouteParts, exchange: Exchange, nowSeconds: number): void {
  const { body, headers, method, path, query } = exchange;
  const caller = checkLevel2(parts.auth, headers, method, path, query, body, nowSeconds);
  if (!caller.ok) exchange.reply(caller.status, caller.body);
  else if (parts.sequencer === undefined) exchange.reply(503, JOURNAL_UNAVAILABLE);
  else {
    parts.sequencer.submitOrders(caller, body, (status, answer) => exchange.reply(status, answer));
  }
}

/** POST /books and /last-trades-prices: a render that met a writer waits for the batch to end. */
function postTokens(
  parts: RouteParts,
  exchange: Exchange,
  render: (tokens: string[], sides: ('' | 'BUY' | 'SELL')[]) => Uint8Array | undefined,
): void {
  const parsed = parseTokenItems(exchange.body, TOKENS_MAX);
  if (!parsed.ok) {
    exchange.reply(400, errorBody(parsed.error));
    return;
  }
  const attempt = (): void => {
    if (exchange.aborted) return;
    const body = render(parsed.tokens, parsed.sides);
    if (body !== undefined) exchange.reply(200, body);
    else if (parts.sequencer !== undefined) parts.sequencer.whenSettled(attempt);
    else throw new Error('a book is being written while nobody may write');
  };
  attempt();
}

/** GET /trades: allow-list, unknown field, values, in this order (GAPS 6.1). */
async function getTrades(parts: RouteParts, exchange: Exchange): Promise<void> {
  if (!parts.config.tradesAllowlist.allows(exchange.address)) {
    exchange.reply(401, NOT_ALLOWED_ADDRESS);
    return;
  }
  const parsed = parseTradesQuery(exchange.query);
  if (!parsed.ok) exchange.reply(400, errorBody(parsed.error));
  else exchange.reply(200, await parts.trades.render(parsed.query));
}
