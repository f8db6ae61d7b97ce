/**
 * The figures of markets and events as JSON members, in spans of fixed length: what a figure does
 * not need is blanks behind the last of them, so that a span can be overwritten where it lies and
 * neighbouring fragments stay one run of bytes.
 *
 * Pure; any thread. Non-goals: where spans lie (prepared.ts), and what the figures are.
 */
import { MICRO } from '../../engine/units.ts';
import { DECIMAL_BYTES_MAX, writeMicro } from '../common/decimal.ts';
import { ascii, put } from '../market-data/texts.ts';
import {
  EVENT_FIGURES,
  type EventFigures,
  type Figure,
  MARKET_FIGURES,
  type MarketFigures,
  PRICE_UNKNOWN,
} from './shape.ts';

/** The half of a pip is the finest price: `0.00005`. */
const PRICE_BYTES_MAX = 7;
const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PRICES_END = ascii(']"');
/** What stands around each price of a list: `\"0.5\",`. */
const PRICE_FRAME_BYTES = 5;

interface Member<Source> {
  readonly figure: Figure<Source>;
  /** From the comma to the value. */
  readonly head: Buffer;
}

const MARKET_MEMBERS = MARKET_FIGURES.map(memberOf);
const EVENT_MEMBERS = EVENT_FIGURES.map(memberOf);
const EVENT_SPAN_BYTES = spanOf(EVENT_MEMBERS, 0);

function memberOf<Source>(figure: Figure<Source>): Member<Source> {
  const { name, form } = figure;
  const open = form === 'text' ? '"' : form === 'prices' ? '"[' : '';
  return { figure, head: ascii(`,"${name}":${open}`) };
}

function spanOf(members: readonly Member<never>[], outcomes: number): number {
  let bytes = 0;
  for (const { figure, head } of members) {
    const { form, range } = figure;
    const value = range === 'amount' ? DECIMAL_BYTES_MAX : PRICE_BYTES_MAX;
    if (form === 'prices') bytes += outcomes * (value + PRICE_FRAME_BYTES) + PRICES_END.length;
    else bytes += value + (form === 'text' ? 1 : 0);
    bytes += head.length;
  }
  return bytes;
}

/** What is said of a market without a book: both sides at their bounds, the price in the middle. */
export function figuresWithoutBook(outcomes: number): MarketFigures {
  const prices = new Array<number>(outcomes).fill(PRICE_UNKNOWN);
  return {
    volume: 0,
    volumeDay: 0,
    liquidity: 0,
    bestBid: 0,
    bestAsk: MICRO,
    lastTrade: 0,
    prices,
  };
}

const empties = new Map<number, string>();

/** The span of a market with so many outcomes, as it is before anything is known of its book. */
export function emptyMarketFigures(outcomes: number): string {
  const known = empties.get(outcomes);
  if (known !== undefined) return known;
  const span = Buffer.alloc(spanOf(MARKET_MEMBERS, outcomes), BLANK);
  writeMarketFigures(figuresWithoutBook(outcomes), span);
  const text = span.toString('latin1');
  empties.set(outcomes, text);
  return text;
}

export function emptyEventFigures(): string {
  const span = Buffer.alloc(EVENT_SPAN_BYTES);
  writeEventFigures({ volume: 0, volumeDay: 0, liquidity: 0 }, span);
  return span.toString('latin1');
}

/** Fills the span of a market, which was made for as many outcomes as there are prices. */
export function writeMarketFigures(figures: MarketFigures, span: Uint8Array): void {
  fill(MARKET_MEMBERS, figures, figures.prices, span);
}

export function writeEventFigures(figures: EventFigures, span: Uint8Array): void {
  fill(EVENT_MEMBERS, figures, [], span);
}

function fill<Source>(
  members: readonly Member<Source>[],
  source: Source,
  prices: readonly number[],
  span: Uint8Array,
): void {
  let at = 0;
  for (const { figure, head } of members) {
    at = put(head, span, at);
    if (figure.form === 'prices') at = writePrices(prices, span, at);
    else at = writeMicro(figure.read(source), span, at);
    if (figure.form === 'text') span[at++] = QUOTE;
  }
  span.fill(BLANK, at);
}

function writePrices(prices: readonly number[], span: Uint8Array, from: number): number {
  let at = from;
  for (let i = 0; i < prices.length; i++) {
    if (i > 0) span[at++] = COMMA;
    span[at++] = BACKSLASH;
    span[at++] = QUOTE;
    at = writeMicro(prices[i]!, span, at);
    span[at++] = BACKSLASH;
    span[at++] = QUOTE;
  }
  return put(PRICES_END, span, at);
}
