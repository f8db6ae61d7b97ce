/**
 * The routes that show one engine version of a token, or of many: book, price, midpoint, spread,
 * last trade, and the trading terms (docs/protocol.md#prices-of-a-token).
 *
 * Thread: I/O. A read that finds a writer at every try waits until the batch is done.
 */

import { marketFlags, tokenMarket } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { PIPS_PER_UNIT, type TokenRow } from '../../engine/tables/units.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { errorBody } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import type { Exchange, Handler } from '../http/http.ts';
import { type BookRenderer, LONG, renderBooks } from './books.ts';
import { renderBooksLong } from './books-long.ts';
import { renderLastPrices } from './last-prices.ts';
import { checkTokenItems, type ParsedTokens } from './token-items.ts';
import { PLAIN_BYTES_MAX, SideCode, TokenRequest } from './token-request.ts';
import { type PriceQuery, TOKENS_BOUNDS, type TokenQuery } from './token-schemas.ts';
import type { Top, TopReader } from './top.ts';

/** Differences between the clients of other services (the rows of the same names in profile.ts). */
export interface TokenDialect {
  readonly priceOfBuy: 'ask' | 'bid';
  readonly booksSide: 'heed' | 'ignore';
  readonly untraded: 'refuse' | 'answer';
}

export interface TokenRouteParts {
  readonly config: TokenDialect;
  readonly books: BookRenderer;
  readonly tops: TopReader;
  /**
   * Calls back after the next batch. It asserts that there is a writer: a book in change without a
   * writer is a bug.
   */
  readonly whenBatchesDone: (callback: () => void) => void;
}

const UNKNOWN_BOOK = errorBody('No orderbook exists for the requested token id');
const UNKNOWN_MARKET = errorBody('market not found');
const NO_LIQUIDITY = errorBody('No liquidity for the requested side');
const NO_MIDPOINT = errorBody('No midpoint for the requested token id');
const NO_SPREAD = errorBody('No spread for the requested token id');
/** The answer for a token that never traded, when the profile does not make it an error. */
const NEVER = '{"price":"0.5","side":""}';
const NO_TRADES = errorBody('No trades found for the requested token id');

const MICRO_PER_PIP = 100;

/** An answer; undefined when a writer was changing the book at every try. */
type Rendered = { readonly status: number; readonly body: string | Uint8Array } | undefined;

export function tokenHandlers(parts: TokenRouteParts) {
  const { books, config, tops } = parts;
  const side = sidesOf(config.priceOfBuy);
  const { texts } = books;

  /** Answers now, or after the batch that is being written. */
  const answer = (context: Exchange, render: () => Rendered): void => {
    const attempt = (): void => {
      if (context.aborted) return;
      const rendered = render();
      if (rendered === undefined) parts.whenBatchesDone(attempt);
      else context.reply(rendered.status, rendered.body);
    };
    attempt();
  };

  const ofToken =
    (unknown: string, render: (token: TokenRow) => Rendered): Handler<TokenQuery> =>
    (context, query) => {
      const token = texts.find(query.token_id);
      if (token === 0) context.reply(404, unknown);
      else answer(context, () => render(token));
    };

  const ofTop = (unknown: string, render: (top: Top) => Rendered): Handler<TokenQuery> =>
    ofToken(unknown, (token) => {
      const top = tops.read(token);
      return top && render(top);
    });

  const ofMany =
    (
      render: (tokens: string[], sides: ('' | 'BUY' | 'SELL')[]) => string | Uint8Array | undefined,
    ): Handler<unknown> =>
    (context) =>
      withTokens(context, ({ sides, tokens }) => {
        const answerAll = (): void =>
          answer(context, () => {
            const body = render(tokens, sides);
            return body === undefined ? undefined : ok(body);
          });
        const learning = texts.known.learn(tokens);
        return learning === undefined ? answerAll() : learning.then(answerAll);
      });

  /**
   * As ofMany, but repetitions of a token count as one. The body is read and rendered without
   * allocating a value for each token.
   */
  const wanted = new TokenRequest(texts.known);
  const ofWanted =
    (render: (request: TokenRequest) => Uint8Array | typeof LONG | undefined): Handler<unknown> =>
    (context) => {
      /**
       * @param retake reads the request again after a wait, because other requests were read in
       * between
       */
      const attempt = (retake: () => void): Promise<void> | undefined => {
        const body = render(wanted);
        if (body === LONG) return answerLong(context);
        if (body !== undefined) context.replyTransient(200, body);
        else {
          parts.whenBatchesDone(() => {
            if (context.aborted) return;
            retake();
            void attempt(retake);
          });
        }
        return undefined;
      };
      const isPlain = context.bodyView.byteLength <= PLAIN_BYTES_MAX;
      if (isPlain && wanted.scan(context.bodyView)) {
        return attempt(() => wanted.scan(context.bodyView));
      }
      return withTokens(context, ({ sides, tokens }) => {
        const take = () => wanted.take(tokens, sides);
        const answerAll = () => {
          if (context.aborted) return undefined;
          take();
          return attempt(take);
        };
        const learning = texts.known.learn(tokens);
        return learning === undefined ? answerAll() : learning.then(answerAll);
      });
    };
  const answerLong = async (context: Exchange): Promise<void> => {
    const { whenBatchesDone } = parts;
    const isGone = (): boolean => context.aborted;
    const body = await renderBooksLong({ renderer: books, whenBatchesDone, isGone }, wanted);
    if (body !== undefined) context.reply(200, body);
  };

  /** One member for each different known token for which `valueOf` gives a value. */
  const record = (
    tokens: readonly string[],
    member: (top: Top, index: number) => string,
  ): string | undefined => {
    const members = new Map<string, string>();
    for (let i = 0; i < tokens.length; i++) {
      const tokenId = tokens[i]!;
      const token = texts.find(tokenId);
      if (token === 0) continue;
      const top = tops.read(token);
      if (top === undefined) return undefined;
      const text = member(top, i);
      if (text !== '') members.set(tokenId, text);
    }
    return `{${[...members].map(([id, text]) => `"${id}":${text}`).join(',')}}`;
  };

  const book = ofToken(UNKNOWN_BOOK, (token) => {
    const body = books.render(token);
    return body && ok(body);
  });
  const price: Handler<PriceQuery> = (context, query, caller) =>
    ofTop(UNKNOWN_BOOK, (top) => {
      const pips = top[side[query.side]];
      return pips === 0 ? { status: 404, body: NO_LIQUIDITY } : ok(`{"price":"${pipsText(pips)}"}`);
    })(context, query, caller);
  const midpoint = ofTop(UNKNOWN_BOOK, (top) => {
    const mid = midpointOf(top) || (config.untraded === 'answer' ? likelyPriceOf(top) : '');
    return mid === '' ? { status: 404, body: NO_MIDPOINT } : ok(`{"mid":"${mid}"}`);
  });
  const spread = ofTop(UNKNOWN_BOOK, (top) => {
    const text = spreadOf(top);
    return text === '' ? { status: 404, body: NO_SPREAD } : ok(`{"spread":"${text}"}`);
  });
  const lastTradePrice = ofTop(UNKNOWN_BOOK, ({ last, lastSide }) => {
    if (last !== 0) return ok(`{"price":"${pipsText(last)}","side":"${lastSide}"}`);
    return config.untraded === 'answer' ? ok(NEVER) : { status: 404, body: NO_TRADES };
  });
  const tickSize = ofTop(UNKNOWN_MARKET, ({ ticksPerUnit }) =>
    ok(`{"minimum_tick_size":${1 / ticksPerUnit}}`),
  );
  const negRisk = ofToken(UNKNOWN_MARKET, (token) => {
    const flags = marketFlags(books.t, tokenMarket(books.t, token));
    return ok(`{"neg_risk":${(flags & MarketFlag.negRisk) !== 0}}`);
  });
  const feeRate = ofTop(UNKNOWN_MARKET, ({ baseFeeBps }) => ok(`{"base_fee":${baseFeeBps}}`));

  return {
    'GET /book': book,
    'GET /book/:token_id': book,
    'POST /books': ofWanted((request) => {
      if (config.booksSide === 'ignore') request.sides.fill(SideCode[''], 0, request.count);
      return renderBooks(books, request);
    }),
    'GET /price': price,
    'GET /price/:token_id': price,
    'POST /prices': ofMany((tokens, sides) => renderPrices(record, side, tokens, sides)),
    'GET /midpoint': midpoint,
    'GET /midpoint/:token_id': midpoint,
    'POST /midpoints': ofMany((tokens) => record(tokens, (top) => quoted(midpointOf(top)))),
    'GET /spread': spread,
    'GET /spread/:token_id': spread,
    'POST /spreads': ofMany((tokens) => record(tokens, (top) => quoted(spreadOf(top)))),
    'GET /last-trade-price': lastTradePrice,
    'GET /last-trade-price/:token_id': lastTradePrice,
    'POST /last-trades-prices': ofWanted((request) =>
      renderLastPrices(books.t, texts.known, request),
    ),
    'GET /tick-size': tickSize,
    'GET /tick-size/:token_id': tickSize,
    'GET /neg-risk': negRisk,
    'GET /neg-risk/:token_id': negRisk,
    'GET /fee-rate': feeRate,
    'GET /fee-rate/:token_id': feeRate,
  };
}

/** Passes the tokens of a body on, at once or after some turns, or refuses the body. */
function withTokens(
  context: Exchange,
  use: (parsed: Extract<ParsedTokens, { readonly ok: true }>) => void | Promise<void>,
): void | Promise<void> {
  return readJson(context, TOKENS_BOUNDS, (sent) => {
    const parsed = checkTokenItems(sent);
    if (parsed.ok) return use(parsed);
    context.reply(400, errorBody(parsed.error));
  });
}

function ok(body: string | Uint8Array): NonNullable<Rendered> {
  return { status: 200, body };
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
  record: (
    tokens: readonly string[],
    member: (top: Top, index: number) => string,
  ) => string | undefined,
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
  return record([...wanted.keys()], (top, i) => {
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
