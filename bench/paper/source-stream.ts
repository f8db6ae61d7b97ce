/**
 * A source drawn from a seed: binary markets whose prices wander, with the messages that a venue sends of them.
 * Of a hundred messages about 84 change one level, both outcomes in one message; 15 are trades, each followed by
 * the decrease of its level; one is a whole book.
 */
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import { Random } from '../random.ts';

export const STARTED = Date.UTC(2026, 0, 5);
const CENTS = 100;
const LEVELS = 15;
const MS_PER_MESSAGE = 400;

interface Market {
  readonly id: string;
  readonly tokens: readonly [string, string];
  /** Shares by cents. */
  readonly bids: Map<number, number>;
  readonly asks: Map<number, number>;
  /** Cents of the best bid that it wants. */
  worth: number;
}

export class SourceStream {
  readonly markets: readonly Market[];
  private readonly random: Random;
  private at = STARTED;

  constructor(seed: string, markets: number) {
    this.random = new Random(seed);
    this.markets = Array.from({ length: markets }, (_, i) => ({
      id: `0x${String(i + 1).padStart(64, '0')}`,
      tokens: [String(2 * i + 1), String(2 * i + 2)],
      bids: new Map(),
      asks: new Map(),
      worth: this.random.between(20, 80),
    }));
  }

  catalog(): RecordingEntry[] {
    return this.markets.map(({ id, tokens }, i) => {
      const market = {
        id: String(i + 1),
        conditionId: id,
        slug: `market-${i + 1}`,
        question: `Market ${i + 1}`,
        outcomes: ['Yes', 'No'],
        clobTokenIds: tokens,
        orderPriceMinTickSize: 0.01,
        orderMinSize: 5,
        active: true,
      };
      const event = { id: String(i + 1), title: `Market ${i + 1}`, markets: [market] };
      return { at: STARTED, kind: 'catalog', event };
    });
  }

  /** All books, then `count` messages. */
  *messages(count: number): Generator<RecordingEntry> {
    for (const market of this.markets) {
      this.refill(market);
      yield this.entry(this.book(market));
    }
    for (let left = count; left > 0; left--) {
      this.at += this.random.below(2 * MS_PER_MESSAGE) / this.markets.length;
      const market = this.random.pick(this.markets);
      const dice = this.random.below(100);
      if (dice === 0) yield this.entry(this.book(market));
      else if (dice < 8) {
        yield* this.trade(market);
        left -= 1;
      } else yield this.entry(this.change(market));
    }
  }

  private entry(message: JsonObject): RecordingEntry {
    return { at: Math.floor(this.at), kind: 'message', message };
  }

  private refill({ asks, bids, worth }: Market): void {
    bids.clear();
    asks.clear();
    for (let i = 0; i < LEVELS; i++) {
      if (worth - i > 0) bids.set(worth - i, this.size());
      if (worth + 2 + i < CENTS) asks.set(worth + 2 + i, this.size());
    }
  }

  private size(): number {
    return this.random.between(10, 2_000);
  }

  private book({ asks, bids, id, tokens }: Market): JsonObject {
    const texts = (levels: ReadonlyMap<number, number>, sign: 1 | -1): JsonObject[] =>
      [...levels]
        .sort(([a], [b]) => sign * (a - b))
        .map(([cents, size]) => ({ price: priceText(cents), size: String(size) }));
    const head = { market: id, asset_id: tokens[0], timestamp: this.timestamp() };
    return { event_type: 'book', ...head, bids: texts(bids, 1), asks: texts(asks, -1) };
  }

  /** A level near the best one gets another size. After a move of the middle, what is beyond it goes first. */
  private change(market: Market): JsonObject {
    const { random } = this;
    const { asks, bids } = market;
    const highBid = [...bids.keys()].find((cents) => cents > market.worth);
    if (highBid !== undefined) return this.set(market, true, highBid, 0);
    const lowAsk = [...asks.keys()].find((cents) => cents < market.worth + 2);
    if (lowAsk !== undefined) return this.set(market, false, lowAsk, 0);
    const isBid = random.below(2) === 0;
    const away = Math.min(random.below(LEVELS), random.below(LEVELS));
    const cents = isBid ? market.worth - away : market.worth + 2 + away;
    if (random.below(40) === 0) market.worth += random.below(2) === 0 ? 1 : -1;
    market.worth = Math.min(Math.max(market.worth, 5), 93);
    return this.set(market, isBid, Math.min(Math.max(cents, 1), CENTS - 1), this.size());
  }

  private *trade(market: Market): Generator<RecordingEntry> {
    const isBid = this.random.below(2) === 0;
    const levels = isBid ? market.bids : market.asks;
    const keys = [...levels.keys()];
    const cents = isBid ? Math.max(...keys) : Math.min(...keys);
    const there = levels.get(cents);
    if (there === undefined) {
      this.refill(market);
      yield this.entry(this.book(market));
      return;
    }
    const size = Math.min(there, this.random.between(1, 500));
    const head = { market: market.id, asset_id: market.tokens[0], timestamp: this.timestamp() };
    const side = isBid ? 'SELL' : 'BUY';
    const what = { price: priceText(cents), size: String(size), side };
    yield this.entry({ event_type: 'last_trade_price', ...head, ...what });
    yield this.entry(this.set(market, isBid, cents, there - size));
  }

  private set(market: Market, isBid: boolean, cents: number, size: number): JsonObject {
    const levels = isBid ? market.bids : market.asks;
    if (size === 0) levels.delete(cents);
    else levels.set(cents, size);
    const text = String(size);
    const [first, second] = market.tokens;
    const [side, other] = isBid ? ['BUY', 'SELL'] : ['SELL', 'BUY'];
    return {
      event_type: 'price_change',
      market: market.id,
      timestamp: this.timestamp(),
      price_changes: [
        { asset_id: first, price: priceText(cents), size: text, side: side! },
        { asset_id: second, price: priceText(CENTS - cents), size: text, side: other! },
      ],
    };
  }

  private timestamp(): string {
    return String(Math.floor(this.at));
  }
}

function priceText(cents: number): string {
  return (cents / CENTS).toFixed(2);
}
