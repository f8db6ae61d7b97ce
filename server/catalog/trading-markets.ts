/**
 * Markets in the shapes of the trading API that clients of the other service read: single, by token,
 * in pages by cursor, ascending by id. They are made of what the catalog shows of a market, figures
 * included, and of its base fee in the engine.
 *
 * Thread: I/O. A page is rendered row by row, so it is shorter than one of prepared fragments.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MARKET_I, Market, TOKEN_I, Token } from '../../engine/layout.ts';
import { findMarket } from '../../engine/markets.ts';
import type { Tables } from '../../engine/tables.ts';
import { textList } from '../../storage/catalog-json.ts';
import { errorBody } from '../common/contract.ts';
import { cursorOf, LAST_CURSOR, offsetOf } from '../common/cursor.ts';
import { bytesToWords, wordsToHex } from '../common/uint256.ts';
import type { Exchange, Handler } from '../http/http.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { Generation } from './generation.ts';
import type { PreparedCatalog } from './prepared.ts';
import { keyOf, rowsNamed } from './text-index.ts';
import type { CursorQuery } from './trading-schemas.ts';

export interface TradingMarketParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly catalog: () => Generation;
}

const PAGE_SIZE = 100;
/** Rendered between two turns of the event loop: each is parsed and written anew, in some 50 us. */
const MARKETS_PER_TURN = 16;
const ID_WORDS = 8;
const ID_BYTES = 4 * ID_WORDS;
const BPS_PER_UNIT = 10_000;
const CONDITION_ID = /^0x[0-9a-f]{64}$/;
const INVALID_CURSOR = errorBody('invalid next_cursor');
const NOT_FOUND = errorBody('market not found');
const NO_REWARDS = { rates: null, min_size: 0, max_spread: 0 };

/** As much of a catalog market as is shown here. */
interface CatalogMarketJson {
  readonly question: string;
  readonly conditionId: string;
  readonly slug: string;
  readonly description: string;
  readonly questionID: string;
  readonly endDate: string | null;
  readonly icon: string;
  readonly image: string;
  /** JSON texts of arrays, by outcome. */
  readonly outcomes: string;
  readonly clobTokenIds: string;
  readonly outcomePrices: string;
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
  readonly negRisk: boolean;
  readonly acceptingOrders: boolean;
  readonly enableOrderBook: boolean;
  readonly orderPriceMinTickSize: number;
  readonly orderMinSize: number;
}

export function tradingMarketHandlers({ catalog, tables: t, texts }: TradingMarketParts) {
  const page =
    (rowsOf: (prepared: PreparedCatalog) => Rows, shape: (market: CatalogMarketJson) => object) =>
    async (exchange: Exchange, { next_cursor: cursor = '' }: CursorQuery): Promise<void> => {
      const offset = offsetOf(cursor);
      if (offset === -1) return exchange.reply(400, INVALID_CURSOR);
      const { prepared } = catalog();
      const { count, rowAt } = rowsOf(prepared);
      const data: string[] = [];
      for (let i = offset; i < Math.min(count, offset + PAGE_SIZE); i++) {
        if (data.length % MARKETS_PER_TURN === MARKETS_PER_TURN - 1) await nextTurn();
        data.push(JSON.stringify(shape(marketAt(prepared, rowAt(i)))));
      }
      const end = offset + data.length;
      const next_cursor = end < count && data.length > 0 ? cursorOf(end) : LAST_CURSOR;
      const head = JSON.stringify({ limit: PAGE_SIZE, next_cursor, count: data.length });
      exchange.reply(200, `${head.slice(0, -1)},"data":[${data.join(',')}]}`);
    };

  const single =
    (shape: (market: CatalogMarketJson) => object): Handler<{ condition_id: string }> =>
    (exchange, { condition_id: id }) => {
      const market = marketOf(catalog().prepared, id.toLowerCase());
      if (market === undefined) return exchange.reply(404, NOT_FOUND);
      exchange.reply(200, JSON.stringify(shape(market)));
    };

  const byToken: Handler<{ token_id: string }> = (exchange, { token_id: tokenId }) => {
    const token = texts.find(tokenId);
    const market = t.tokenI[(token << TOKEN_I) + Token.market]!;
    const condition = wordsToHex(t.marketI, (market << MARKET_I) + Market.condition, ID_WORDS);
    const found = token === 0 ? undefined : marketOf(catalog().prepared, condition);
    if (found === undefined) return exchange.reply(404, NOT_FOUND);
    const [first = '', second = ''] = textList(found.clobTokenIds) ?? [];
    const ids = { primary_token_id: first, secondary_token_id: second };
    exchange.reply(200, JSON.stringify({ condition_id: condition, ...ids }));
  };

  const whole = (market: CatalogMarketJson): object => wholeMarket(market, baseFee(t, market));
  return {
    handlers: {
      'GET /clob/markets': page(everyRow, whole),
      'GET /clob/markets/:condition_id': single(whole),
      'GET /simplified-markets': page(everyRow, shortMarket),
      'GET /markets-by-token/:token_id': byToken,
      'GET /clob-markets/:condition_id': single((market) => terms(market, baseFee(t, market))),
    },
    /** What stands for the sampling lists under MARKET_ROUTES=trading. */
    sampling: page(openRows, whole),
    shortSampling: page(openRows, shortMarket),
  };
}

interface Rows {
  readonly count: number;
  readonly rowAt: (place: number) => number;
}

function everyRow({ markets }: PreparedCatalog): Rows {
  return { count: markets.ids.length, rowAt: (place) => place };
}

function openRows({ sampling }: PreparedCatalog): Rows {
  return { count: sampling.markets.length, rowAt: (place) => sampling.markets[place]! };
}

/** @param condition in lower case */
function marketOf(prepared: PreparedCatalog, condition: string): CatalogMarketJson | undefined {
  if (!CONDITION_ID.test(condition)) return undefined;
  const [row] = rowsNamed(prepared.markets.keys.conditionId!, keyOf('number', condition));
  return row === undefined ? undefined : marketAt(prepared, row);
}

function marketAt({ bytes, markets }: PreparedCatalog, row: number): CatalogMarketJson {
  const { buffer, byteLength, byteOffset } = bytes;
  const all = Buffer.from(buffer, byteOffset, byteLength);
  // The fragment is open: members may follow it.
  const text = all.toString('utf8', markets.coreStart[row]!, markets.coreEnd[row]!);
  return JSON.parse(`${text}}`) as CatalogMarketJson;
}

/** Basis points; 0 for a market that has no book. */
function baseFee(t: Tables, { conditionId }: CatalogMarketJson): number {
  if (!CONDITION_ID.test(conditionId.toLowerCase())) return 0;
  const id = bytesToWords(Buffer.from(conditionId.slice(2), 'hex'), new Int32Array(ID_BYTES / 4));
  const market = findMarket(t, id, 0);
  return market === 0 ? 0 : t.marketI[(market << MARKET_I) + Market.baseFeeBps]!;
}

function shortMarket(market: CatalogMarketJson): object {
  const outcomes = textList(market.outcomes) ?? [];
  const prices = textList(market.outcomePrices) ?? [];
  const ids = textList(market.clobTokenIds) ?? [];
  const { active, archived, closed } = market;
  return {
    condition_id: market.conditionId,
    tokens: ids.map((token_id, i) => ({
      token_id,
      outcome: outcomes[i] ?? '',
      price: Number(prices[i] ?? 0),
      winner: false,
    })),
    rewards: NO_REWARDS,
    active,
    closed,
    archived,
    accepting_orders:
      active && !closed && !archived && market.acceptingOrders && market.enableOrderBook,
  };
}

function wholeMarket(market: CatalogMarketJson, feeBps: number): object {
  return {
    ...shortMarket(market),
    enable_order_book: market.enableOrderBook,
    accepting_order_timestamp: null,
    minimum_order_size: market.orderMinSize,
    minimum_tick_size: market.orderPriceMinTickSize,
    question_id: market.questionID,
    question: market.question,
    description: market.description,
    market_slug: market.slug,
    end_date_iso: market.endDate,
    game_start_time: null,
    seconds_delay: 0,
    fpmm: '',
    maker_base_fee: 0,
    taker_base_fee: feeBps,
    notifications_enabled: false,
    neg_risk: market.negRisk,
    neg_risk_market_id: '',
    neg_risk_request_id: '',
    icon: market.icon,
    image: market.image,
    is_50_50_outcome: false,
    tags: [],
  };
}

/** `fd` is a fee of r x (p (1 - p))^e of the notional: with e = 0 a bound of ours from above. */
function terms(market: CatalogMarketJson, feeBps: number): object {
  const outcomes = textList(market.outcomes) ?? [];
  return {
    c: market.conditionId,
    t: (textList(market.clobTokenIds) ?? []).map((id, i) => ({ t: id, o: outcomes[i] ?? '' })),
    mts: market.orderPriceMinTickSize,
    mos: market.orderMinSize,
    nr: market.negRisk,
    mbf: 0,
    tbf: feeBps,
    fd: { r: feeBps / BPS_PER_UNIT, e: 0, to: true },
  };
}
