/**
 * Markets in the shapes of the trading API (trading-schemas.ts): single, by token, or in pages by
 * cursor, in ascending order of id. They are made from the catalog's fields of a market, including
 * statistics, and from its fees in the engine.
 *
 * Thread: I/O. A page is rendered row by row, so it is shorter than a page of prepared fragments.
 */

import {
  conditionAt,
  marketFeeBps,
  marketFees,
  marketTakerDelay,
  tokenMarket,
} from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { textList } from '../../storage/catalog/catalog-json.ts';
import { NO_FEES } from '../../storage/catalog/fee-schedules.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import { INVALID_CURSOR, offsetPage } from '../common/cursor.ts';
import { errorBody } from '../common/error-bodies.ts';
import { nextIteration } from '../common/event-loop.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import { ignoredExcept } from '../http/ignored-parameters.ts';
import { route } from '../http/route.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { CatalogGeneration } from './catalog-generation.ts';
import { marketAt, rowOfCondition, type ShownMarket } from './market-info.ts';
import type { PreparedCatalog } from './prepared.ts';
import {
  CONDITION_PATH,
  CURSOR_QUERY,
  type CursorQuery,
  type Engaged,
  MarketOfTokenAnswer,
  ShortTradingMarketsAnswer,
  shortMarket,
  TOKEN_PATH,
  TradingMarketAnswer,
  TradingMarketsAnswer,
  TradingTermsAnswer,
  tradingMarket,
  tradingTerms,
} from './trading-schemas.ts';

export interface TradingMarketParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly catalog: () => CatalogGeneration;
}

type Shape = Pick<typeof shortMarket, 'of'>;
type RowsOf = (prepared: PreparedCatalog) => Uint32Array | undefined;

const PAGE_SIZE = 100;
/** Markets rendered in one event-loop iteration, each in some 50 us. */
const MARKETS_PER_ITERATION = 16;
const NOT_FOUND = errorBody('UNKNOWN_MARKET');

type PageHandler = (context: RequestContext, query: CursorQuery) => Promise<void>;

export interface TradingMarkets {
  readonly pages: PageHandler;
  readonly shortPages: PageHandler;
  /** Replace the sampling lists where MARKET_ROUTES=trading. */
  readonly sampling: PageHandler;
  readonly shortSampling: PageHandler;
  readonly single: Handler<{ readonly condition_id: string }>;
  readonly terms: Handler<{ readonly condition_id: string }>;
  readonly byToken: Handler<{ readonly token_id: string }>;
}

export const TRADING_MARKET_ROUTES = [
  route(
    'GET /clob/markets',
    {
      query: CURSOR_QUERY,
      answer: TradingMarketsAnswer,
      does: 'markets in the shape of the trading API, 100 a page: `next_cursor`; see `MARKET_ROUTES`',
    },
    ({ pages }: TradingMarkets) => pages,
  ),
  route(
    'GET /clob/markets/:condition_id',
    { query: CONDITION_PATH, answer: TradingMarketAnswer, does: 'one of them' },
    ({ single }: TradingMarkets) => single,
  ),
  route(
    'GET /simplified-markets',
    {
      query: CURSOR_QUERY,
      answer: ShortTradingMarketsAnswer,
      repeats: true,
      does: 'the same pages, in short',
    },
    ({ shortPages }: TradingMarkets) => shortPages,
  ),
  route(
    'GET /markets-by-token/:token_id',
    {
      query: TOKEN_PATH,
      answer: MarketOfTokenAnswer,
      does: 'condition id and both tokens of the market of a token',
    },
    ({ byToken }: TradingMarkets) => byToken,
  ),
  route(
    'GET /clob-markets/:condition_id',
    {
      query: CONDITION_PATH,
      answer: TradingTermsAnswer,
      does: 'tokens, tick size, smallest order and fees of a market, under one-letter names',
    },
    ({ terms }: TradingMarkets) => terms,
  ),
];

export function tradingMarkets({ catalog, tables, texts }: TradingMarketParts): TradingMarkets {
  const textOf = ({ of }: Shape, prepared: PreparedCatalog, row: number): string => {
    const market = marketAt(prepared, row);
    return JSON.stringify(of(market, engagedOf(tables, market)));
  };

  const page =
    (shape: Shape, rowsOf: RowsOf) =>
    async (context: RequestContext, { next_cursor: cursor = '' }: CursorQuery): Promise<void> => {
      const { prepared } = catalog();
      const rows = rowsOf(prepared);
      const total = rows?.length ?? prepared.markets.ids.length;
      const page = offsetPage(cursor, total, PAGE_SIZE);
      if (page === undefined) return context.reply(400, INVALID_CURSOR);
      const data: string[] = [];
      for (let i = page.start; i < page.end; i++) {
        if (data.length % MARKETS_PER_ITERATION === MARKETS_PER_ITERATION - 1)
          await nextIteration();
        data.push(textOf(shape, prepared, rows?.[i] ?? i));
      }
      const head = JSON.stringify({
        limit: PAGE_SIZE,
        next_cursor: page.next,
        count: data.length,
      });
      const body = `${head.slice(0, -1)},"data":[${data.join(',')}]}`;
      context.reply(200, body, ignoredExcept('next_cursor', context.query));
    };

  const single =
    (shape: Shape): Handler<{ condition_id: string }> =>
    (context, { condition_id: id }) => {
      const { prepared } = catalog();
      const row = rowOfCondition(prepared, id);
      if (row === undefined) return context.reply(404, NOT_FOUND);
      context.reply(200, textOf(shape, prepared, row));
    };

  const byToken: Handler<{ token_id: string }> = (context, { token_id: tokenId }) => {
    const token = texts.find(tokenId);
    if (token === 0) return context.reply(404, NOT_FOUND);
    const condition = wordsToHex(tables.marketI, conditionAt(tokenMarket(tables, token)), ID_WORDS);
    const { prepared } = catalog();
    const row = rowOfCondition(prepared, condition);
    if (row === undefined) return context.reply(404, NOT_FOUND);
    const [first = '', second = ''] = textList(tradedTokens(marketAt(prepared, row))) ?? [];
    const ids = { primary_token_id: first, secondary_token_id: second };
    context.reply(200, JSON.stringify({ condition_id: condition, ...ids }));
  };

  const every: RowsOf = () => undefined;
  const listed: RowsOf = ({ sampling }) => sampling.markets;
  return {
    pages: page(tradingMarket, every),
    shortPages: page(shortMarket, every),
    sampling: page(tradingMarket, listed),
    shortSampling: page(shortMarket, listed),
    single: single(tradingMarket),
    terms: single(tradingTerms),
    byToken,
  };
}

function engagedOf(tables: Tables, { conditionId }: ShownMarket): Engaged {
  const market = marketByCondition(tables, conditionId);
  if (market === 0) return { baseFeeBps: 0, schedule: NO_FEES, takerDelay: 0 };
  return {
    baseFeeBps: marketFeeBps(tables, market),
    schedule: marketFees(tables, market),
    takerDelay: marketTakerDelay(tables, market),
  };
}
