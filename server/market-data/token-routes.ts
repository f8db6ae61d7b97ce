/**
 * The routes that show one engine version of a token, or of many: book, price, midpoint, spread,
 * last trade, and the trading terms (docs/protocol.md#prices-of-a-token).
 *
 * Thread: I/O. A read that finds a writer at every try waits until the batch is done.
 */

import { marketFlags, tokenMarket } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { errorBody } from '../common/error-bodies.ts';
import { renderBooks } from './books.ts';
import { renderLastPrices } from './last-prices.ts';
import { ok, type TokenReadParts, TokenReads } from './token-reads.ts';
import { SideCode } from './token-request.ts';
import type { PriceQuery } from './token-schemas.ts';
import type { Top } from './top.ts';

/** Differences between the clients of other services (the rows of the same names in profile.ts). */
export interface TokenDialect {
  readonly priceOfBuy: 'ask' | 'bid';
  readonly booksSide: 'heed' | 'ignore';
  readonly untraded: 'refuse' | 'answer';
}

export interface TokenRouteParts extends TokenReadParts {
  readonly config: TokenDialect;
}

const UNKNOWN_BOOK = errorBody('No orderbook exists for the requested token id');
const UNKNOWN_MARKET = errorBody('market not found');
const NO_LIQUIDITY = notFound('No liquidity for the requested side');
const NO_MIDPOINT = notFound('No midpoint for the requested token id');
const NO_SPREAD = notFound('No spread for the requested token id');
/** The answer for a token that never traded, when the profile does not make it an error. */
const NEVER = '{"price":"0.5","side":""}';
const NO_TRADES = notFound('No trades found for the requested token id');

const MICRO_PER_PIP = 100;

export function tokenHandlers(parts: TokenRouteParts) {
  const reads = new TokenReads(parts);
  const side = sidesOf(parts.config.priceOfBuy);
  return { ...alsoByPath(oneToken(parts, reads, side)), ...manyTokens(parts, reads, side) };
}

function oneToken({ books, config }: TokenRouteParts, reads: TokenReads, side: Sides) {
  const { t } = books;
  return {
    'GET /book': reads.ofToken(UNKNOWN_BOOK, (token) => {
      const body = books.render(token);
      return body && ok(body);
    }),
    'GET /price': reads.ofTop<PriceQuery>(UNKNOWN_BOOK, (top, query) => {
      const pips = top[side[query.side]];
      return pips === 0 ? NO_LIQUIDITY : ok(`{"price":"${pipsText(pips)}"}`);
    }),
    'GET /midpoint': reads.ofTop(UNKNOWN_BOOK, (top) => {
      const mid = midpointOf(top) || (config.untraded === 'answer' ? likelyPriceOf(top) : '');
      return mid === '' ? NO_MIDPOINT : ok(`{"mid":"${mid}"}`);
    }),
    'GET /spread': reads.ofTop(UNKNOWN_BOOK, (top) => {
      const text = spreadOf(top);
      return text === '' ? NO_SPREAD : ok(`{"spread":"${text}"}`);
    }),
    'GET /last-trade-price': reads.ofTop(UNKNOWN_BOOK, ({ last, lastSide }) => {
      if (last !== 0) return ok(`{"price":"${pipsText(last)}","side":"${lastSide}"}`);
      return config.untraded === 'answer' ? ok(NEVER) : NO_TRADES;
    }),
    'GET /tick-size': reads.ofTop(UNKNOWN_MARKET, ({ ticksPerUnit }) =>
      ok(`{"minimum_tick_size":${1 / ticksPerUnit}}`),
    ),
    'GET /neg-risk': reads.ofToken(UNKNOWN_MARKET, (token) => {
      const flags = marketFlags(t, tokenMarket(t, token));
      return ok(`{"neg_risk":${(flags & MarketFlag.negRisk) !== 0}}`);
    }),
    'GET /fee-rate': reads.ofTop(UNKNOWN_MARKET, ({ baseFeeBps }) =>
      ok(`{"base_fee":${baseFeeBps}}`),
    ),
  };
}

function manyTokens({ books, config }: TokenRouteParts, reads: TokenReads, side: Sides) {
  return {
    'POST /books': reads.ofWanted((request) => {
      if (config.booksSide === 'ignore') request.sides.fill(SideCode[''], 0, request.count);
      return renderBooks(books, request);
    }),
    'POST /prices': reads.ofMany((tokens, sides) => renderPrices(reads, side, tokens, sides)),
    'POST /midpoints': reads.ofMany((tokens) =>
      reads.record(tokens, (top) => quoted(midpointOf(top))),
    ),
    'POST /spreads': reads.ofMany((tokens) => reads.record(tokens, (top) => quoted(spreadOf(top)))),
    'POST /last-trades-prices': reads.ofWanted((request) =>
      renderLastPrices(books.t, books.texts.known, request),
    ),
  };
}

/** Routes whose token is a field of the query, and those whose token ends the path. */
function alsoByPath<Handlers extends Record<string, unknown>>(handlers: Handlers) {
  const byPath = Object.entries(handlers).map(([key, run]) => [`${key}/:token_id`, run]);
  type ByPath = { [Key in keyof Handlers as `${Key & string}/:token_id`]: Handlers[Key] };
  return { ...handlers, ...(Object.fromEntries(byPath) as ByPath) };
}

/** Which end of the top a side of /price and /prices means. */
type Sides = Readonly<Record<'BUY' | 'SELL', 'ask' | 'bid'>>;

function sidesOf(priceOfBuy: 'ask' | 'bid'): Sides {
  return priceOfBuy === 'ask' ? { BUY: 'ask', SELL: 'bid' } : { BUY: 'bid', SELL: 'ask' };
}

/**
 * Items for the same token are combined: BUY from one, SELL from another
 * (docs/protocol.md#prices-of-a-token).
 */
function renderPrices(
  reads: TokenReads,
  side: Sides,
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
    const [ofBuy, ofSell] = [top[side.BUY], top[side.SELL]];
    const parts: string[] = [];
    if (buy && ofBuy !== 0) parts.push(`"BUY":"${pipsText(ofBuy)}"`);
    if (sell && ofSell !== 0) parts.push(`"SELL":"${pipsText(ofSell)}"`);
    return `{${parts.join(',')}}`;
  });
}

/** (best bid + best ask) / 2, exact; '' where a side is empty. */
function midpointOf({ ask, bid }: Top): string {
  return ask === 0 || bid === 0 ? '' : microText(((ask + bid) * MICRO_PER_PIP) / 2);
}

/**
 * Without a midpoint: the last trade, else the middle between the one best price and the end of the
 * grid.
 */
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

function notFound(error: string) {
  return { status: 404, body: errorBody(error) };
}
