/**
 * Routes that show one engine version of one or many tokens: book, price, midpoint, spread, last trade, and trading
 * terms (docs/protocol.md#prices-of-a-token).
 *
 * Thread: I/O. A read that finds a writer at every try waits for the next batch.
 */

import { marketFlags, tokenMarket } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { errorBody } from '../common/error-bodies.ts';
import type { RefusalCode } from '../common/refusals.ts';
import type { Handler } from '../http/http.ts';
import { type RouteDefinition, type RouteSettings, route, SAME } from '../http/route.ts';
import { type BookRenderer, renderBooks } from './books.ts';
import { renderLastPrices } from './last-prices.ts';
import { ok, type TokenReadParts, TokenReads } from './token-reads.ts';
import { SideCode } from './token-request.ts';
import {
  BookAnswer,
  BooksAnswer,
  DecimalsAnswer,
  FeeRateAnswer,
  LastPriceAnswer,
  LastPricesAnswer,
  MidpointAnswer,
  NegRiskAnswer,
  PRICE_PATH,
  PRICE_PATH_BID,
  PRICE_QUERY,
  PRICE_QUERY_BID,
  PriceAnswer,
  type PriceQuery,
  PricesAnswer,
  SpreadAnswer,
  TickSizeAnswer,
  TOKEN_PATH,
  TOKEN_QUERY,
  TOKENS_BOUNDS,
  TokenItems,
  type TokenQuery,
} from './token-schemas.ts';
import type { Top } from './top.ts';

/** Differences between clients of other services (the rows of the same names in profile.ts). */
export interface TokenDialect {
  readonly priceOfBuy: 'ask' | 'bid';
  readonly booksSide: 'heed' | 'ignore';
  readonly untraded: 'refuse' | 'answer';
}

export interface TokenRouteParts extends TokenReadParts {
  readonly config: TokenDialect;
}

const UNKNOWN_BOOK = errorBody('UNKNOWN_BOOK');
const UNKNOWN_MARKET = errorBody('UNKNOWN_MARKET');
const NO_LIQUIDITY = notFound('NO_LIQUIDITY');
const NO_MIDPOINT = notFound('NO_MIDPOINT');
const NO_SPREAD = notFound('NO_SPREAD');
/** Answer for a token without a trade, unless the profile makes it an error. */
const NEVER = '{"price":"0.5","side":""}';
const NO_TRADES = notFound('NO_TRADES');

const MICRO_PER_PIP = 100;

export class TokenRouteReads extends TokenReads {
  readonly books: BookRenderer;
  readonly config: TokenDialect;
  readonly side: Sides;

  constructor(parts: TokenRouteParts) {
    super(parts);
    this.books = parts.books;
    this.config = parts.config;
    this.side = sidesOf(parts.config.priceOfBuy);
  }
}

const PRICE_BID = 'best price: `token_id`, `side` BUY (the best bid) or SELL (the best ask)';

export const TOKEN_ROUTES = [
  ...oneToken(
    'GET /book',
    {
      limits: ['book', 'trading'],
      answer: BookAnswer,
      does: 'one book, best level last: `token_id`',
    },
    (reads) =>
      reads.ofToken(UNKNOWN_BOOK, (token) => {
        const body = reads.books.render(token);
        return body && ok(body);
      }),
  ),
  route(
    'POST /books',
    {
      limits: ['books', 'trading'],
      body: TokenItems,
      bodyBounds: TOKENS_BOUNDS,
      answer: BooksAnswer,
      does: 'books by token id, best level last',
    },
    (reads: TokenRouteReads) =>
      reads.ofWanted((request) => {
        const { books, config } = reads;
        if (config.booksSide === 'ignore') request.sides.fill(SideCode[''], 0, request.count);
        return renderBooks(books, request);
      }),
  ),
  route(
    'GET /price',
    {
      limits: ['price', 'trading'],
      query: PRICE_QUERY,
      answer: PriceAnswer,
      does: 'best price: `token_id`, `side` BUY (what a buyer pays: the best ask) or SELL (the best bid)',
      configured: ({ priceOfBuy }: RouteSettings) =>
        priceOfBuy === 'ask' ? {} : { query: PRICE_QUERY_BID, does: PRICE_BID },
    },
    price,
  ),
  route(
    'GET /price/:token_id',
    {
      limits: ['price', 'trading'],
      query: PRICE_PATH,
      answer: PriceAnswer,
      repeats: true,
      does: SAME,
      configured: ({ priceOfBuy }: RouteSettings) =>
        priceOfBuy === 'ask' ? {} : { query: PRICE_PATH_BID },
    },
    price,
  ),
  route(
    'POST /prices',
    {
      limits: ['prices', 'trading'],
      body: TokenItems,
      bodyBounds: TOKENS_BOUNDS,
      answer: PricesAnswer,
      does: 'best prices by token id; an item without `side` asks for both',
    },
    (reads: TokenRouteReads) => reads.ofMany((tokens, sides) => renderPrices(reads, tokens, sides)),
  ),
  ...oneToken(
    'GET /midpoint',
    {
      limits: ['midpoint', 'trading'],
      answer: MidpointAnswer,
      does: 'half way between best bid and best ask: `token_id`',
    },
    (reads) =>
      reads.ofTop(UNKNOWN_BOOK, (top) => {
        const isGuessed = reads.config.untraded === 'answer';
        const mid = midpointOf(top) || (isGuessed ? likelyPriceOf(top) : '');
        return mid === '' ? NO_MIDPOINT : ok(`{"mid":"${mid}"}`);
      }),
  ),
  route(
    'POST /midpoints',
    {
      body: TokenItems,
      bodyBounds: TOKENS_BOUNDS,
      answer: DecimalsAnswer,
      does: 'midpoints by token id',
    },
    (reads: TokenRouteReads) =>
      reads.ofMany((tokens) => reads.record(tokens, (top) => quoted(midpointOf(top)))),
  ),
  ...oneToken(
    'GET /spread',
    { answer: SpreadAnswer, does: 'best ask less best bid: `token_id`' },
    (reads) =>
      reads.ofTop(UNKNOWN_BOOK, (top) => {
        const text = spreadOf(top);
        return text === '' ? NO_SPREAD : ok(`{"spread":"${text}"}`);
      }),
  ),
  route(
    'POST /spreads',
    {
      body: TokenItems,
      bodyBounds: TOKENS_BOUNDS,
      answer: DecimalsAnswer,
      does: 'spreads by token id',
    },
    (reads: TokenRouteReads) =>
      reads.ofMany((tokens) => reads.record(tokens, (top) => quoted(spreadOf(top)))),
  ),
  ...oneToken(
    'GET /last-trade-price',
    { answer: LastPriceAnswer, does: 'last trade price and side: `token_id`' },
    (reads) =>
      reads.ofTop(UNKNOWN_BOOK, ({ last, lastSide }) => {
        if (last !== 0) return ok(`{"price":"${pipsText(last)}","side":"${lastSide}"}`);
        return reads.config.untraded === 'answer' ? ok(NEVER) : NO_TRADES;
      }),
  ),
  route(
    'POST /last-trades-prices',
    {
      body: TokenItems,
      bodyBounds: TOKENS_BOUNDS,
      answer: LastPricesAnswer,
      does: 'last trade price and side by token id',
    },
    (reads: TokenRouteReads) =>
      reads.ofWanted((request) =>
        renderLastPrices(reads.books.tables, reads.books.texts.known, request),
      ),
  ),
  ...oneToken(
    'GET /tick-size',
    { answer: TickSizeAnswer, does: 'tick size: `token_id`' },
    (reads) =>
      reads.ofTop(UNKNOWN_MARKET, ({ ticksPerUnit }) =>
        ok(`{"minimum_tick_size":${1 / ticksPerUnit}}`),
      ),
  ),
  ...oneToken(
    'GET /neg-risk',
    { answer: NegRiskAnswer, does: 'which exchange contract orders are signed for: `token_id`' },
    (reads) =>
      reads.ofToken(UNKNOWN_MARKET, (token) => {
        const { tables } = reads.books;
        const flags = marketFlags(tables, tokenMarket(tables, token));
        return ok(`{"neg_risk":${(flags & MarketFlag.negRisk) !== 0}}`);
      }),
  ),
  ...oneToken(
    'GET /fee-rate',
    { answer: FeeRateAnswer, does: 'base fee in basis points: `token_id`' },
    (reads) => reads.ofTop(UNKNOWN_MARKET, ({ baseFeeBps }) => ok(`{"base_fee":${baseFeeBps}}`)),
  ),
];

function oneToken<const Key extends `GET /${string}`>(
  key: Key,
  definition: RouteDefinition,
  handler: (reads: TokenRouteReads) => Handler<TokenQuery>,
) {
  const repeated = { ...definition, repeats: true, does: SAME, query: TOKEN_PATH } as const;
  return [
    route(key, { ...definition, query: TOKEN_QUERY }, handler),
    route(`${key}/:token_id`, repeated, handler),
  ];
}

/** Answers by price, made when first sent. */
const PRICES = new Array<ReturnType<typeof ok> | undefined>(PIPS_PER_UNIT);

function price(reads: TokenRouteReads): Handler<PriceQuery> {
  return reads.ofTop<PriceQuery>(UNKNOWN_BOOK, (top, query) => {
    const pips = top[reads.side[query.side]];
    if (pips === 0) return NO_LIQUIDITY;
    PRICES[pips] ??= ok(Buffer.from(`{"price":"${pipsText(pips)}"}`));
    return PRICES[pips];
  });
}

/** End of the top for each side of /price and /prices. */
type Sides = Readonly<Record<'BUY' | 'SELL', 'ask' | 'bid'>>;

function sidesOf(priceOfBuy: 'ask' | 'bid'): Sides {
  return priceOfBuy === 'ask' ? { BUY: 'ask', SELL: 'bid' } : { BUY: 'bid', SELL: 'ask' };
}

/**
 * Renders prices. Items for the same token are combined: BUY from one, SELL from another
 * (docs/protocol.md#prices-of-a-token).
 */
function renderPrices(
  reads: TokenRouteReads,
  tokens: readonly string[],
  sides: readonly ('' | 'BUY' | 'SELL')[],
): string | undefined {
  const wanted = new Map<string, { buy: boolean; sell: boolean }>();
  for (let i = 0; i < tokens.length; i++) {
    const sum = wanted.get(tokens[i]!) ?? { buy: false, sell: false };
    wanted.set(tokens[i]!, sum);
    if (sides[i] !== 'SELL') sum.buy = true;
    if (sides[i] !== 'BUY') sum.sell = true;
  }
  const sums = [...wanted.values()];
  return reads.record([...wanted.keys()], (top, i) => {
    const { buy, sell } = sums[i]!;
    const [ofBuy, ofSell] = [top[reads.side.BUY], top[reads.side.SELL]];
    const parts: string[] = [];
    if (buy && ofBuy !== 0) parts.push(`"BUY":"${pipsText(ofBuy)}"`);
    if (sell && ofSell !== 0) parts.push(`"SELL":"${pipsText(ofSell)}"`);
    return `{${parts.join(',')}}`;
  });
}

/** (best bid + best ask) / 2, exact; '' if a side is empty. */
function midpointOf({ ask, bid }: Top): string {
  return ask === 0 || bid === 0 ? '' : microText(((ask + bid) * MICRO_PER_PIP) / 2);
}

/** Price without a midpoint: the last trade, else the middle between the one best price and the end of the grid. */
function likelyPriceOf({ ask, bid, last }: Top): string {
  if (last !== 0) return pipsText(last);
  return microText(((bid + (ask || PIPS_PER_UNIT)) * MICRO_PER_PIP) / 2);
}

function spreadOf({ ask, bid }: Top): string {
  return ask === 0 || bid === 0 ? '' : microText((ask - bid) * MICRO_PER_PIP);
}

function quoted(text: string): string {
  return text === '' ? '' : `"${text}"`;
}

function notFound(code: RefusalCode) {
  return { status: 404, body: errorBody(code) };
}
