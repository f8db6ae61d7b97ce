/**
 * Paths that two APIs have in common, and which request means which, under MARKET_ROUTES=trading and
 * DATA_TRADES=both. Under a base path nothing is shared: /gamma/markets is the catalog's,
 * /clob/markets the trading API's.
 *
 * Thread: I/O.
 */

import type { tradingMarketHandlers } from '../catalog/trading-markets.ts';
import {
  CURSOR_QUERY,
  type CursorQuery,
  ShortTradingMarketsAnswer,
  TradingMarketAnswer,
  TradingMarketsAnswer,
} from '../catalog/trading-schemas.ts';
import type { RequestContext, Route } from '../http/http.ts';
import { CATALOG_BASE } from './base-paths.ts';
import type { HeaderHandler } from './serve.ts';

export type TradingMarkets = ReturnType<typeof tradingMarketHandlers>;

const CONDITION_ID = /^0x[0-9a-fA-F]{64}$/;
const CURSOR = /(?:^|&)next_cursor=/;

/** Answers who shows no credentials at GET /data/trades as under the base path of the data API. */
export function withPublicTrades(routes: readonly Route[], trades: HeaderHandler): Route[] {
  return routes.map((route) => {
    if (route.method !== 'GET' || route.path !== '/data/trades') return route;
    const isOpen = (headers: readonly string[]): boolean => headers.every((value) => value === '');
    const run: Route['run'] = (context) =>
      isOpen(context.headers) ? trades.run(context) : route.run(context);
    return { ...route, run };
  });
}

/** What the trading API answers on a path of the catalog, under MARKET_ROUTES=trading. */
export const SHARED_ANSWERS = {
  'GET /markets': TradingMarketsAnswer,
  'GET /markets/:id': TradingMarketAnswer,
  'GET /sampling-markets': TradingMarketsAnswer,
  'GET /sampling-simplified-markets': ShortTradingMarketsAnswer,
} as const;

type SharedKey = keyof typeof SHARED_ANSWERS;

/** Puts the trading API's answers in front of the catalog's where a request asks for them. */
export function withTradingMarkets<Handlers extends Record<SharedKey, HeaderHandler>>(
  handlers: Handlers,
  { handlers: markets, sampling, shortSampling }: TradingMarkets,
): Handlers {
  const over = (
    key: SharedKey,
    isMeant: (context: RequestContext) => boolean,
    answer: HeaderHandler['run'],
  ): HeaderHandler => {
    const { run, ...handler } = handlers[key];
    const isTrading = (context: RequestContext): boolean =>
      !context.path.startsWith(CATALOG_BASE) && isMeant(context);
    return { ...handler, run: (context) => (isTrading(context) ? answer(context) : run(context)) };
  };
  const page = (answer: TradingMarkets['sampling']) => (context: RequestContext) => {
    const query: CursorQuery | string = CURSOR_QUERY.parse(context.query);
    if (typeof query === 'string') return context.reply(400, query);
    return answer(context, query);
  };
  const always = (): boolean => true;
  return {
    ...handlers,
    'GET /markets': over(
      'GET /markets',
      ({ query }) => CURSOR.test(query),
      page(markets['GET /clob/markets']),
    ),
    'GET /markets/:id': over(
      'GET /markets/:id',
      ({ parameters }) => CONDITION_ID.test(parameters[0]!),
      (context) => {
        const [condition_id = ''] = context.parameters;
        return markets['GET /clob/markets/:condition_id'](context, { condition_id }, undefined);
      },
    ),
    'GET /sampling-markets': over('GET /sampling-markets', always, page(sampling)),
    'GET /sampling-simplified-markets': over(
      'GET /sampling-simplified-markets',
      always,
      page(shortSampling),
    ),
  };
}
