/**
 * Recordings in memory: one market with Yes and No, and messages of a source. Times count from
 * START.
 */
import type { RecordingEntry } from '../../storage/recordings/entries.ts';

export const START = Date.UTC(2026, 0, 5);
export const YES = '1';
export const NO = '2';

type Levels = Readonly<Record<string, number>>;

export function catalog(at = 0, more: object = {}): RecordingEntry {
  const market = {
    id: '1',
    conditionId: `0x${'1'.padStart(64, '0')}`,
    slug: 'rain',
    question: 'Will it rain?',
    outcomes: ['Yes', 'No'],
    clobTokenIds: [YES, NO],
    orderPriceMinTickSize: 0.01,
    orderMinSize: 5,
    active: true,
    ...more,
  };
  return { at: START + at, kind: 'catalog', event: { id: '1', title: 'Rain', markets: [market] } };
}

export function book(at: number, bids: Levels, asks: Levels): RecordingEntry {
  const levels = (side: Levels) =>
    Object.entries(side).map(([price, size]) => ({ price, size: String(size) }));
  return message(at, { event_type: 'book', bids: levels(bids), asks: levels(asks) });
}

/** A message that sets the size of one price level of Yes. */
export function change(
  at: number,
  side: 'BUY' | 'SELL',
  price: string,
  size: number,
): RecordingEntry {
  const changes = [{ side, price, size: String(size) }];
  return message(at, { event_type: 'price_change', changes });
}

/**
 * A trade of Yes at the source.
 * @param side of the taker
 */
export function trade(
  at: number,
  side: 'BUY' | 'SELL',
  price: string,
  size: number,
): RecordingEntry {
  return message(at, { event_type: 'last_trade_price', side, price, size: String(size) });
}

export function message(at: number, more: object): RecordingEntry {
  const time = START + at;
  const whole = { market: 'rain', asset_id: YES, timestamp: String(time), ...more };
  return { at: time, kind: 'message', message: whole as never };
}
