/**
 * The routes that answer what one engine version says of a token, or of many: book, price, midpoint,
 * spread, last trade, and the rules that it trades by (docs/protocol.md#prices-of-a-token).
 *
 * Thread: I/O. A read that meets a writer at every try waits for the batch to end.
 */
import { marketFlags, marketOf } from '../../engine/tables/depth.ts';
import { MarketFlag } from '../../engine/tables/layout.ts';
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

/** In what the clients of another service differ (the rows of the same names in profile.ts). */
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
   * Calls back after the next batch; it asserts that somebody writes. A book that is being written
   * while nobody may write is a bug.
   */
  readonly whenSettled: (callback: () => void) => void;
}

const UNKNOWN_BOOK = errorBody('No orderbook exists for the requested token id');
const UNKNOWN_MARKET = errorBody('market not found');
const NO_LIQUIDITY = errorBody('No liquidity for the requested side');
const NO_MIDPOINT = errorBody('No midpoint for the requested token id');
const NO_SPREAD = errorBody('No spread for the requested token id');
/** What clients read for a token that never traded, where it is no error. */
const NEVER = '{"price":"0.5","side":""}';
const NO_TRADES = errorBody('No trades found for the requested token id');

const MICRO_PER_PIP = 100;

/** An answer, undefined when a writer was inside at every try. */
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
      if (rendered === undefined) parts.whenSettled(attempt);
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

  /** As ofMany, where repetitions of a token make one: read and rendered without a value each. */
  const wanted = new TokenRequest(texts.known);
  const ofWanted =
    (render: (request: TokenRequest) => Uint8Array | typeof LONG | undefined): Handler<unknown> =>
    (context) => {
      /** @param retake reads the request anew after a wait: others have been read meanwhile */
      const attempt = (retake: () => void): Promise<void> | undefined => {
        const body = render(wanted);
        if (body === LONG) return answerLong(context);
        if (body !== undefined) context.replyTransient(200, body);
        else {
          parts.whenSettled(() => {
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
    const { whenSettled } = parts;
    const isGone = (): boolean => context.aborted;
    const body = await renderBooksLong({ renderer: books, whenSettled, isGone }, wanted);
    if (body !== undefined) context.reply(200, body);
  };

  /** One member for each different known token whose top is worth one. */
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
    const flags = marketFlags(books.t, marketOf(books.t, token));
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

/** Hands over the tokens of a body, at once or after some turns, or refuses it. */
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

/** Which end of the top a side of /price and /prices asks for. */
type Sides = Readonly<Record<'BUY' | 'SELL', 'ask' | 'bid'>>;

function sidesOf(priceOfBuy: 'ask' | 'bid'): Sides {
  return priceOfBuy === 'ask' ? { BUY: 'ask', SELL: 'bid' } : { BUY: 'bid', SELL: 'ask' };
}

/**
 * Items for one token add up: BUY from one, SELL from another
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

/** Without a midpoint: the last trade, else the middle of what is there and the bound. */
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
