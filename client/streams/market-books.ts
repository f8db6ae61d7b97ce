/**
 * Books computed from the events of the market stream: a snapshot, then changes. Detects whatever
 * is inconsistent: a missing event, or a best price or a hash that differs from the local book.
 * Pure.
 */
import { toMicro } from '../decimal.ts';
import { sha1Hex } from '../hashes.ts';
import type {
  BookAnswer,
  BookEvent,
  MarketEvent,
  MarketSubscriptionEvent,
  PriceChangeEvent,
} from '../types.ts';

interface Level {
  readonly size: string;
  /** Price in millionths, for sorting. */
  readonly micro: number;
}

type Levels = Map<string, Level>;
type Change = PriceChangeEvent['price_changes'][number];

/** Local book; texts are those of the node. */
export class Book {
  readonly tokenId: string;
  readonly market: string;
  timestamp: string;
  tickSize: string;
  lastTradePrice: string;
  readonly #bids: Levels = new Map();
  readonly #asks: Levels = new Map();
  readonly #minOrderSize: string;
  readonly #negRisk: boolean;

  constructor(snapshot: BookEvent) {
    this.tokenId = snapshot.asset_id;
    this.market = snapshot.market;
    this.timestamp = snapshot.timestamp;
    this.tickSize = snapshot.tick_size;
    this.lastTradePrice = snapshot.last_trade_price;
    this.#minOrderSize = snapshot.min_order_size;
    this.#negRisk = snapshot.neg_risk;
    for (const { price, size } of snapshot.bids) set(this.#bids, price, size);
    for (const { price, size } of snapshot.asks) set(this.#asks, price, size);
  }

  /** The best bid as decimal text; undefined when there is none. */
  get bestBid(): string | undefined {
    return bestOf(this.#bids, 1);
  }

  get bestAsk(): string | undefined {
    return bestOf(this.#asks, -1);
  }

  /** Levels of the side of the bids, best level last. */
  get bids(): BookAnswer['bids'] {
    return sorted(this.#bids, 1);
  }

  /** Levels of the side of the asks, best level last. */
  get asks(): BookAnswer['asks'] {
    return sorted(this.#asks, -1);
  }

  /** Book as POST /books returns it, best level last; `hash` is the node's of the same book. */
  get answer(): BookAnswer {
    const book = {
      market: this.market,
      asset_id: this.tokenId,
      timestamp: this.timestamp,
      hash: '',
      bids: this.bids,
      asks: this.asks,
      min_order_size: this.#minOrderSize,
      tick_size: this.tickSize,
      neg_risk: this.#negRisk,
      last_trade_price: this.lastTradePrice,
    };
    return { ...book, hash: sha1Hex(JSON.stringify(book)) };
  }

  /** True when both are of one time and have the same terms, which only snapshots contain. */
  isComparable({ min_order_size, tick_size, timestamp }: BookEvent): boolean {
    const isSameTerms = this.#minOrderSize === min_order_size && this.tickSize === tick_size;
    return isSameTerms && this.timestamp === timestamp;
  }

  change({ price, side, size }: Change): void {
    const levels = side === 'BUY' ? this.#bids : this.#asks;
    if (size === '0') levels.delete(price);
    else set(levels, price, size);
  }

  /** True when the best prices equal those of a change; empty sides are 0 and 1. */
  hasBest({ best_ask, best_bid }: Change): boolean {
    return (this.bestBid ?? '0') === best_bid && (this.bestAsk ?? '1') === best_ask;
  }
}

export class MarketBooks {
  readonly #books = new Map<string, Book>();
  readonly #sequences = new Map<string, string>();
  confirmed = 0;

  get(tokenId: string): Book | undefined {
    return this.#books.get(tokenId);
  }

  clear(): void {
    this.#books.clear();
    this.#sequences.clear();
  }

  /**
   * Applies an event. Returns what is inconsistent, or ''. After an inconsistency all books must be
   * requested again.
   */
  take(event: MarketEvent): string {
    // The answer to a subscription is of no stream.
    if (event.event_type === 'subscription') return '';
    const gap = this.#count(event);
    if (gap !== '') return gap;
    switch (event.event_type) {
      case 'book':
        return this.#snapshot(event);
      case 'price_change':
        return this.#change(event);
      case 'last_trade_price': {
        const book = this.#books.get(event.asset_id);
        if (book === undefined) return 'a trade of a token whose book was not sent';
        book.lastTradePrice = event.price;
        book.timestamp = event.timestamp;
        return '';
      }
      case 'tick_size_change': {
        const book = this.#books.get(event.asset_id);
        if (book === undefined) return 'a tick of a token whose book was not sent';
        book.tickSize = event.new_tick_size;
        book.timestamp = event.timestamp;
        return '';
      }
      default:
        return '';
    }
  }

  /** Nothing of the stream may lie between the last event and this one. */
  #count({ previous, sequence, stream_id }: Exclude<MarketEvent, MarketSubscriptionEvent>): string {
    const last = this.#sequences.get(stream_id) ?? previous;
    this.#sequences.set(stream_id, sequence);
    if (previous <= last && last <= sequence) return '';
    return `${stream_id}: ${sequence} behind ${previous} came after ${last}`;
  }

  #snapshot(event: BookEvent): string {
    const before = this.#books.get(event.asset_id);
    if (before?.isComparable(event)) {
      if (before.answer.hash !== event.hash) {
        return `the changes do not lead to the book ${event.hash}`;
      }
      this.confirmed += 1;
    }
    const book = new Book(event);
    if (book.answer.hash !== event.hash) return `a book that is not ${event.hash}`;
    this.#books.set(event.asset_id, book);
    return '';
  }

  /** Applies all levels of an event in one step; the other token of a pair may not be followed. */
  #change({ price_changes, timestamp }: PriceChangeEvent): string {
    for (const change of price_changes) {
      const book = this.#books.get(change.asset_id);
      if (book === undefined) continue;
      book.change(change);
      book.timestamp = timestamp;
    }
    for (const change of price_changes) {
      if (this.#books.get(change.asset_id)?.hasBest(change) === false) {
        return `the best prices of ${change.asset_id} differ from those of the event`;
      }
    }
    return '';
  }
}

function set(levels: Levels, price: string, size: string): void {
  levels.set(price, { size, micro: levels.get(price)?.micro ?? Number(toMicro(price)) });
}

/** @param direction 1 = the highest price is the best one */
function bestOf(levels: Levels, direction: 1 | -1): string | undefined {
  let best: string | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const [price, { micro }] of levels) {
    if (direction * micro > most) [best, most] = [price, direction * micro];
  }
  return best;
}

function sorted(levels: Levels, direction: 1 | -1): BookAnswer['bids'] {
  return [...levels]
    .sort(([, a], [, b]) => direction * (a.micro - b.micro))
    .map(([price, { size }]) => ({ price, size }));
}
