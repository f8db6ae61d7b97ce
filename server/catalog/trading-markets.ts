/**
 * Markets in the shapes of the trading API (trading-schemas.ts): single, by token, or in pages by
 * cursor, in ascending order of id. They are made from the catalog's fields of a market, including
 * figures, and from its base fee in the engine.
 *
 * Thread: I/O. A page is rendered row by row, so it is shorter than a page of prepared fragments.
 */

import { conditionAt, marketFeeBps, tokenMarket } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { textList } from '../../storage/catalog/catalog-json.ts';
import { cursorOf, INVALID_CURSOR, LAST_CURSOR, offsetOf } from '../common/cursor.ts';
import { errorBody } from '../common/error-bodies.ts';
import { nextTurn } from '../common/next-turn.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import { ignoredExcept } from '../http/ignored.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { Generation } from './generation.ts';
import { marketAt, rowOfCondition, type ShownMarket } from './market-info.ts';
import type { PreparedCatalog } from './prepared.ts';
import { type CursorQuery, shortMarket, tradingMarket, tradingTerms } from './trading-schemas.ts';

export interface TradingMarketParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly catalog: () => Generation;
}

type Shape = Pick<typeof shortMarket, 'of'>;
/** Rows of markets, ascending; undefined = all. */
type RowsOf = (prepared: PreparedCatalog) => Uint32Array | undefined;

const PAGE_SIZE = 100;
/**
 * Markets that are rendered between two turns of the event loop: each is parsed and written again,
 * in some 50 us.
 */
const MARKETS_PER_TURN = 16;
const NOT_FOUND = errorBody('market not found');

export function tradingMarketHandlers({ catalog, tables: t, texts }: TradingMarketParts) {
  const textOf = ({ of }: Shape, prepared: PreparedCatalog, row: number): string => {
    const market = marketAt(prepared, row);
    return JSON.stringify(of(market, feeOf(t, market)));
  };

  const page =
    (shape: Shape, rowsOf: RowsOf) =>
    async (context: RequestContext, { next_cursor: cursor = '' }: CursorQuery): Promise<void> => {
      const offset = offsetOf(cursor);
      if (offset === -1) return context.reply(400, INVALID_CURSOR);
      const { prepared } = catalog();
      const rows = rowsOf(prepared);
      const count = rows?.length ?? prepared.markets.ids.length;
      const data: string[] = [];
      for (let i = offset; i < Math.min(count, offset + PAGE_SIZE); i++) {
        if (data.length % MARKETS_PER_TURN === MARKETS_PER_TURN - 1) await nextTurn();
        data.push(textOf(shape, prepared, rows?.[i] ?? i));
      }
      const end = offset + data.length;
      const next_cursor = end < count && data.length > 0 ? cursorOf(end) : LAST_CURSOR;
      const head = JSON.stringify({ limit: PAGE_SIZE, next_cursor, count: data.length });
      const body = `${head.slice(0, -1)},"data":[${data.join(',')}]}`;
      context.reply(200, body, ignoredExcept('next_cursor', context.query));
    };

  const single =
    (shape: Shape): Handler<{ condition_id: string }> =>
    (context, { condition_id: id }) => {
      const { prepared } = catalog();
      const row = rowOfCondition(prepared, id.toLowerCase());
      if (row === undefined) return context.reply(404, NOT_FOUND);
      context.reply(200, textOf(shape, prepared, row));
    };

  const byToken: Handler<{ token_id: string }> = (context, { token_id: tokenId }) => {
    const token = texts.find(tokenId);
    if (token === 0) return context.reply(404, NOT_FOUND);
    const condition = wordsToHex(t.marketI, conditionAt(tokenMarket(t, token)), ID_WORDS);
    const { prepared } = catalog();
    const row = rowOfCondition(prepared, condition);
    if (row === undefined) return context.reply(404, NOT_FOUND);
    const [first = '', second = ''] = textList(marketAt(prepared, row).clobTokenIds) ?? [];
    const ids = { primary_token_id: first, secondary_token_id: second };
    context.reply(200, JSON.stringify({ condition_id: condition, ...ids }));
  };

  const every: RowsOf = () => undefined;
  const listed: RowsOf = ({ sampling }) => sampling.markets;
  return {
    handlers: {
      'GET /clob/markets': page(tradingMarket, every),
      'GET /clob/markets/:condition_id': single(tradingMarket),
      'GET /simplified-markets': page(shortMarket, every),
      'GET /markets-by-token/:token_id': byToken,
      'GET /clob-markets/:condition_id': single(tradingTerms),
    },
    /** Replaces the sampling lists when MARKET_ROUTES=trading. */
    sampling: page(tradingMarket, listed),
    shortSampling: page(shortMarket, listed),
  };
}

/** Basis points; 0 for a market that has no book. */
function feeOf(t: Tables, { conditionId }: ShownMarket): number {
  const market = marketByCondition(t, conditionId);
  return market === 0 ? 0 : marketFeeBps(t, market);
}
