/**
 * A client of the market channel that holds books from what it was told, and nothing else: the
 * snapshot, then deltas. Complains as soon as a number is missing, or a book that it is sent differs
 * from the one that it holds.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { BookJson } from '../common/node-harness.ts';

interface Level {
  readonly price: string;
  readonly size: string;
}

interface Held {
  readonly market: string;
  timestamp: string;
  readonly bids: Map<string, string>;
  readonly asks: Map<string, string>;
  min_order_size: string;
  tick_size: string;
  neg_risk: boolean;
  last_trade_price: string;
}

interface PriceChange extends Level {
  readonly asset_id: string;
  readonly side: 'BUY' | 'SELL';
  readonly best_bid: string;
  readonly best_ask: string;
}

/** Members of every event that this client looks at. */
interface MarketEvent extends BookJson {
  readonly event_type: string;
  readonly stream_id: string;
  readonly sequence: string;
  readonly price: string;
  readonly new_tick_size: string;
  readonly price_changes: readonly PriceChange[];
}

export class BookFollower {
  readonly held = new Map<string, Held>();
  /** Books that were sent behind the deltas that lead to them, and were found to be the same. */
  confirmed = 0;
  events = 0;
  private readonly sequences = new Map<string, number>();

  take(text: string): void {
    const event = JSON.parse(text) as MarketEvent;
    this.events += 1;
    this.count(event);
    switch (event.event_type) {
      case 'book':
        this.book(event);
        break;
      case 'price_change':
        for (const change of event.price_changes) this.change(event, change);
        for (const change of event.price_changes) this.compareBest(change);
        break;
      case 'last_trade_price': {
        const held = this.held.get(event.asset_id);
        assert(held !== undefined, 'a trade of a token whose book was sent');
        held.last_trade_price = event.price;
        held.timestamp = event.timestamp;
        break;
      }
      case 'tick_size_change': {
        const held = this.held.get(event.asset_id)!;
        held.tick_size = event.new_tick_size;
        held.timestamp = event.timestamp;
        break;
      }
      default:
    }
  }

  /** Hash of the book as it is held; a book that is not held has none. */
  hash(token: string): string {
    const held = this.held.get(token);
    if (held === undefined) return '';
    const object = {
      market: held.market,
      asset_id: token,
      timestamp: held.timestamp,
      hash: '',
      bids: sorted(held.bids, 1),
      asks: sorted(held.asks, -1),
      min_order_size: held.min_order_size,
      tick_size: held.tick_size,
      neg_risk: held.neg_risk,
      last_trade_price: held.last_trade_price,
    };
    return createHash('sha1').update(JSON.stringify(object)).digest('hex');
  }

  /** A snapshot is numbered as the last event of its stream, anything else one higher. */
  private count({ event_type, sequence, stream_id }: MarketEvent): void {
    const number = Number(sequence);
    const last = this.sequences.get(stream_id);
    const isSnapshot = event_type === 'book' && (last === undefined || number === last);
    if (!isSnapshot && last !== undefined) assert.equal(number, last + 1, stream_id);
    this.sequences.set(stream_id, number);
  }

  private book(event: MarketEvent): void {
    const before = this.held.get(event.asset_id);
    // Terms of a market are told by its book alone.
    const isComparable =
      before?.min_order_size === event.min_order_size && before.tick_size === event.tick_size;
    if (isComparable && before.timestamp === event.timestamp) {
      assert.equal(this.hash(event.asset_id), event.hash, 'the deltas lead to the book');
      this.confirmed += 1;
    }
    const { asks, bids, hash, market, ...rest } = event;
    this.held.set(event.asset_id, {
      market,
      timestamp: rest.timestamp,
      bids: new Map(bids.map(({ price, size }) => [price, size])),
      asks: new Map(asks.map(({ price, size }) => [price, size])),
      min_order_size: rest.min_order_size,
      tick_size: rest.tick_size,
      neg_risk: rest.neg_risk,
      last_trade_price: rest.last_trade_price,
    });
    assert.equal(this.hash(event.asset_id), hash);
  }

  private change({ timestamp }: MarketEvent, change: PriceChange): void {
    const held = this.held.get(change.asset_id);
    // The entries of the other token of a pair come along.
    if (held === undefined) return;
    const side = change.side === 'BUY' ? held.bids : held.asks;
    if (change.size === '0') side.delete(change.price);
    else side.set(change.price, change.size);
    held.timestamp = timestamp;
  }

  private compareBest({ asset_id, best_ask, best_bid }: PriceChange): void {
    const held = this.held.get(asset_id);
    if (held === undefined) return;
    assert.equal(best_bid, sorted(held.bids, 1).at(-1)?.price ?? '0');
    assert.equal(best_ask, sorted(held.asks, -1).at(-1)?.price ?? '1');
  }
}

function sorted(side: ReadonlyMap<string, string>, direction: 1 | -1): Level[] {
  return [...side]
    .map(([price, size]) => ({ price, size }))
    .sort((a, b) => direction * (Number(a.price) - Number(b.price)));
}
