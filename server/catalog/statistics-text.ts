/**
 * The statistics of markets and events as JSON members, in spans of fixed length: a shorter text is
 * filled up with blanks. So a span can be overwritten in place. Answers leave the blanks out.
 *
 * Pure; any thread. Non-goals: where spans are (prepared.ts), and what the statistics are.
 */
import { MICRO } from '../../engine/tables/units.ts';
import { DECIMAL_BYTES_MAX, writeMicro } from '../common/decimal.ts';
import { ascii, put } from '../market-data/texts.ts';
import {
  EVENT_STATISTICS,
  MARKET_STATISTICS,
  type MarketStatistics,
  PRICE_UNKNOWN,
  type Statistic,
} from './shape.ts';

const PRICE_BYTES_MAX = 7;
const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PRICES_END = ascii(']"');
const PRICE_FRAME_BYTES = 5;

export class StatisticText<Source> {
  private readonly members: readonly {
    readonly statistic: Statistic<Source>;
    readonly head: Buffer;
  }[];

  constructor(statistics: readonly Statistic<Source>[]) {
    this.members = statistics.map((statistic) => {
      const open = statistic.form === 'text' ? '"' : statistic.form === 'prices' ? '"[' : '';
      return { statistic, head: ascii(`,"${statistic.name}":${open}`) };
    });
  }

  /** Span of an object before its books are read. */
  of(source: Source, prices: readonly number[]): string {
    const span = Buffer.alloc(this.bytesFor(prices.length));
    this.write(source, prices, span);
    return span.toString('latin1');
  }

  write(source: Source, prices: readonly number[], span: Uint8Array): number {
    let at = 0;
    for (const { statistic, head } of this.members) {
      at = put(head, span, at);
      if (statistic.form === 'prices') at = writePrices(prices, span, at);
      else at = writeMicro(statistic.read(source), span, at);
      if (statistic.form === 'text') span[at++] = QUOTE;
    }
    span.fill(BLANK, at);
    return at;
  }

  private bytesFor(outcomes: number): number {
    let bytes = 0;
    for (const { statistic, head } of this.members) {
      const { form, range } = statistic;
      const value = range === 'amount' ? DECIMAL_BYTES_MAX : PRICE_BYTES_MAX;
      if (form === 'prices') bytes += outcomes * (value + PRICE_FRAME_BYTES) + PRICES_END.length;
      else bytes += value + (form === 'text' ? 1 : 0);
      bytes += head.length;
    }
    return bytes;
  }
}

export const MARKET_TEXT = new StatisticText(MARKET_STATISTICS);
export const EVENT_TEXT = new StatisticText(EVENT_STATISTICS);

/** Statistics of a market without a book: both sides at their bounds, the price in the middle. */
export function statisticsWithoutBook(outcomes: number): MarketStatistics {
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
