/**
 * Rows of the route table for clients of the other service: markets in the shapes of the
 * trading API, beside those of the catalog that share a path with them.
 *
 * Thread: any.
 */
import * as trading from '../catalog/trading-schemas.ts';
import { ACTIVITY_PATH, LiveActivityAnswer } from '../market-data/live-activity.ts';
import { type RouteRow, same } from './route-row.ts';

const open = {
  api: 'trading',
  access: 'none',
  bodyMax: 'none',
  body: undefined,
  limits: ['trading'],
} as const;
const paged = { ...open, query: trading.CURSOR_QUERY } as const;
const ofCondition = { ...open, query: trading.CONDITION_PATH } as const;
const activity = {
  ...open,
  query: ACTIVITY_PATH,
  answer: LiveActivityAnswer,
  listed: true,
} as const;

export const TRADING_MARKET_ROUTES = {
  'GET /clob/markets': {
    ...paged,
    answer: trading.TradingMarketsAnswer,
    does: 'markets in the shape of the trading API, 100 a page: `next_cursor`; see `MARKET_ROUTES`',
  },
  'GET /clob/markets/:condition_id': {
    ...ofCondition,
    answer: trading.TradingMarketAnswer,
    does: 'one of them',
  },
  'GET /simplified-markets': {
    ...paged,
    answer: trading.ShortTradingMarketsAnswer,
    repeats: true,
    does: 'the same pages, in short',
  },
  'GET /markets-by-token/:token_id': {
    ...open,
    query: trading.TOKEN_PATH,
    answer: trading.MarketOfTokenAnswer,
    does: 'condition id and both tokens of the market of a token',
  },
  'GET /clob-markets/:condition_id': {
    ...ofCondition,
    answer: trading.TradingTermsAnswer,
    does: 'tokens, tick size, smallest order and fees of a market, under one-letter names',
  },
  'GET /live-activity/events/:condition_id': { ...activity, does: 'latest trades of a market' },
  'GET /markets/live-activity/:condition_id': { ...activity, ...same },
} as const satisfies Readonly<Record<string, RouteRow>>;
