/**
 * The figures of markets and events as JSON members, in spans of fixed length: a shorter text is
 * filled up with blanks. So a span can be overwritten in place. Answers leave the blanks out.
 *
 * Pure; any thread. Non-goals: where spans are (prepared.ts), and what the figures are.
 */
import { MICRO } from '../../engine/tables/units.ts';
import { DECIMAL_BYTES_MAX, writeMicro } from '../common/decimal.ts';
import { ascii, put } from '../market-data/texts.ts';
import {
  EVENT_FIGURES,
  type Figure,
  MARKET_FIGURES,
  type MarketFigures,
  PRICE_UNKNOWN,
} from './shape.ts';

/** Half a pip is the finest price: `0.00005`. */
const PRICE_BYTES_MAX = 7;
const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PRICES_END = ascii(']"');
/** The characters around each price of a list: `\"0.5\",`. */
const PRICE_FRAME_BYTES = 5;

/** The members of one kind of object: the length of their span, and its content. */
export class FigureText<Source> {
  /** Each member, with the text from its comma to its value. */
  private readonly members: readonly { readonly figure: Figure<Source>; readonly head: Buffer }[];

  constructor(figures: readonly Figure<Source>[]) {
    this.members = figures.map((figure) => {
      const open = figure.form === 'text' ? '"' : figure.form === 'prices' ? '"[' : '';
      return { figure, head: ascii(`,"${figure.name}":${open}`) };
    });
  }

  /** The span of an object before its books were read. */
  of(source: Source, prices: readonly number[]): string {
    const span = Buffer.alloc(this.bytesFor(prices.length));
    this.write(source, prices, span);
    return span.toString('latin1');
  }

  /** Writes a span that was made for as many prices. Returns the position of the first blank. */
  write(source: Source, prices: readonly number[], span: Uint8Array): number {
    let at = 0;
    for (const { figure, head } of this.members) {
      at = put(head, span, at);
      if (figure.form === 'prices') at = writePrices(prices, span, at);
      else at = writeMicro(figure.read(source), span, at);
      if (figure.form === 'text') span[at++] = QUOTE;
    }
    span.fill(BLANK, at);
    return at;
  }

  private bytesFor(outcomes: number): number {
    let bytes = 0;
    for (const { figure, head } of this.members) {
      const { form, range } = figure;
      const value = range === 'amount' ? DECIMAL_BYTES_MAX : PRICE_BYTES_MAX;
      if (form === 'prices') bytes += outcomes * (value + PRICE_FRAME_BYTES) + PRICES_END.length;
      else bytes += value + (form === 'text' ? 1 : 0);
      bytes += head.length;
    }
    return bytes;
  }
}

export const MARKET_TEXT = new FigureText(MARKET_FIGURES);
export const EVENT_TEXT = new FigureText(EVENT_FIGURES);

/** The figures of a market without a book: both sides at their bounds, the price in the middle. */
export function figuresWithoutBook(outcomes: number): MarketFigures {
  const none = { volume: 0, volumeDay: 0, liquidity: 0, bestBid: 0, bestAsk: MICRO, lastTrade: 0 };
  return { ...none, prices: new Array<number>(outcomes).fill(PRICE_UNKNOWN) };
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
