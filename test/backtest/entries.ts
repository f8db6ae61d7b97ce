/** Recordings in memory: one market, Yes and No, and what a source says of it. Times count from START. */
import type { RecordingEntry } from '../../storage/recordings/entries.ts';

/** A midnight in UTC. */
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

/** The whole book of Yes, sizes by price. */
export function book(at: number, bids: Levels, asks: Levels): RecordingEntry {
  const levels = (side: Levels) =>
    Object.entries(side).map(([price, size]) => ({ price, size: String(size) }));
  return message(at, { event_type: 'book', bids: levels(bids), asks: levels(asks) });
}

/** A level of Yes has this size now. */
export function change(
  at: number,
  side: 'BUY' | 'SELL',
  price: string,
  size: number,
): RecordingEntry {
  const changes = [{ side, price, size: String(size) }];
  return message(at, { event_type: 'price_change', changes });
}

/** The source traded Yes. @param side of the taker */
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
