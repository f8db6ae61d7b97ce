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
  type ColumnKind,
  EVENT_STATISTICS,
  type LiveColumn,
  MARKET_STATISTICS,
  type MarketStatistics,
  PRICE_UNKNOWN,
} from './shape.ts';

const PRICE_BYTES_MAX = 7;
const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PRICE_FRAME_BYTES = 5;

interface LiveForm {
  readonly open: string;
  readonly close: string;
  /** Longest value; of `prices` that of each outcome. */
  readonly bytesMax: number;
}

const NUMBER: LiveForm = { open: '', close: '', bytesMax: DECIMAL_BYTES_MAX };
const FORMS: Readonly<Partial<Record<ColumnKind, LiveForm>>> = {
  'amount text': { open: '"', close: '"', bytesMax: DECIMAL_BYTES_MAX },
  amount: NUMBER,
  price: { ...NUMBER, bytesMax: PRICE_BYTES_MAX },
  prices: { open: '"[', close: ']"', bytesMax: PRICE_BYTES_MAX + PRICE_FRAME_BYTES },
};

class StatisticText {
  private readonly members;

  constructor(columns: readonly LiveColumn[]) {
    this.members = columns.map(({ kind, name, read }) => {
      const { bytesMax, close, open } = FORMS[kind]!;
      const head = ascii(`,"${name}":${open}`);
      return { isPrices: kind === 'prices', read, head, tail: ascii(close), bytesMax };
    });
  }

  /** Span of an object before its books are read. */
  of(statistics: MarketStatistics): string {
    const span = Buffer.alloc(this.bytesFor(statistics.prices.length));
    this.write(statistics, span);
    return span.toString('latin1');
  }

  /** Fills a span. Returns the end of the members, where its blanks begin. */
  write(statistics: MarketStatistics, span: Uint8Array): number {
    let at = 0;
    for (const { head, isPrices, read, tail } of this.members) {
      at = put(head, span, at);
      at = isPrices
        ? writePrices(statistics.prices, span, at)
        : writeMicro(read(statistics), span, at);
      at = put(tail, span, at);
    }
    span.fill(BLANK, at);
    return at;
  }

  private bytesFor(outcomes: number): number {
    return this.members.reduce((bytes, { bytesMax, head, isPrices, tail }) => {
      return bytes + head.length + tail.length + bytesMax * (isPrices ? outcomes : 1);
    }, 0);
  }
}

export const MARKET_TEXT = new StatisticText(MARKET_STATISTICS);
export const EVENT_TEXT = new StatisticText(EVENT_STATISTICS);

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
  return at;
}
