/**
 * Paths that two APIs have in common, and the choice between them by request, under MARKET_ROUTES=trading and
 * DATA_TRADES=both. Under a base path nothing is shared: /gamma/markets is the catalog's, /clob/markets the
 * trading API's.
 *
 * Thread: I/O.
 */

import { CONDITION_PATTERN } from '../../storage/catalog/condition-ids.ts';
import type { TradingMarkets } from '../catalog/trading-markets.ts';
import { CURSOR_QUERY, type CursorQuery } from '../catalog/trading-schemas.ts';
import type { RequestContext, Route } from '../http/http.ts';
import type { RawHandler } from '../http/route.ts';
import { CATALOG_BASE } from './base-paths.ts';

const CURSOR = /(?:^|&)next_cursor=/;

/** Answers requests without credentials at GET /data/trades as under the base path of the data API. */
export function withPublicTrades(routes: readonly Route[], trades: RawHandler): Route[] {
  return routes.map((route) => {
    if (route.method !== 'GET' || route.path !== '/data/trades') return route;
    const isOpen = (headers: readonly string[]): boolean => headers.every((value) => value === '');
    const run: Route['run'] = (context) =>
      isOpen(context.headers) ? trades.run(context) : route.run(context);
    return { ...route, run };
  });
}

type SharedKey =
  | 'GET /markets'
  | 'GET /markets/:id'
  | 'GET /sampling-markets'
  | 'GET /sampling-simplified-markets';

/** Puts the trading API's answers before the catalog's where a request selects them. */
export function withTradingMarkets<Handlers extends Readonly<Record<SharedKey, RawHandler>>>(
  handlers: Handlers,
  markets: TradingMarkets,
): Handlers {
  const over = (
    key: SharedKey,
    isTradingQuery: (context: RequestContext) => boolean,
    answer: RawHandler['run'],
  ): RawHandler => {
    const { run, ...handler }: RawHandler = handlers[key];
    const isTrading = (context: RequestContext): boolean =>
      !context.path.startsWith(CATALOG_BASE) && isTradingQuery(context);
    return { ...handler, run: (context) => (isTrading(context) ? answer(context) : run(context)) };
  };
  const page = (answer: TradingMarkets['pages']) => (context: RequestContext) => {
    const query: CursorQuery | string = CURSOR_QUERY.parse(context.query);
    if (typeof query === 'string') return context.reply(400, query);
    return answer(context, query);
  };
  const always = (): boolean => true;
  return {
    ...handlers,
    'GET /markets': over('GET /markets', ({ query }) => CURSOR.test(query), page(markets.pages)),
    'GET /markets/:id': over(
      'GET /markets/:id',
      ({ parameters }) => CONDITION_PATTERN.test(parameters[0]!),
      (context) => {
        const [condition_id = ''] = context.parameters;
        return markets.single(context, { condition_id }, undefined);
      },
    ),
    'GET /sampling-markets': over('GET /sampling-markets', always, page(markets.sampling)),
    'GET /sampling-simplified-markets': over(
      'GET /sampling-simplified-markets',
      always,
      page(markets.shortSampling),
    ),
  };
}
