/**
 * Routes the messages of a source to the books that mirror it. Of a binary market the first outcome alone is
 * mirrored: the second one says the same again, except for prints, which come once, by the taker's token.
 *
 * Thread: one, which is the caller's.
 */
import { type CommandBuffer, Side } from '../commands.ts';
import { isTickGrid, PIPS_PER_UNIT } from '../tables/units.ts';
import { inferTrades } from './infer-trades.ts';
import {
  type BookMessage,
  type ChangeText,
  type LastTradePriceMessage,
  type LevelText,
  type MarketMessage,
  microOf,
  pipsOf,
  sideOf,
  type TickSizeMessage,
} from './messages.ts';
import type { MirroredBook } from './mirrored-book.ts';
import { OnePrint } from './one-print.ts';
import type { SourceChange, SourceLevel } from './source-book.ts';

interface Outcome {
  readonly book: MirroredBook;
  readonly infersTrades: boolean;
  readonly isSecond: boolean;
  /** Of both tokens. */
  readonly prints: OnePrint;
}

export class MirroredMarkets {
  private readonly outcomes = new Map<string, Outcome>();

  /**
   * @param ids of the tokens of a market, in the order of its outcomes
   * @param infersTrades the source sends no prints of it (infer-trades.ts)
   */
  add(ids: readonly string[], book: MirroredBook, infersTrades = false): void {
    const prints = new OnePrint();
    ids.forEach((id, outcome) => {
      this.outcomes.set(id, { book, infersTrades, isSecond: outcome === 1, prints });
    });
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.outcomes.delete(id);
  }

  /** Says what a message means. The caller applies it before the next one. */
  apply(message: MarketMessage, out: CommandBuffer): void {
    if (message.event_type === 'price_change') {
      const { changes, price_changes: priceChanges, timestamp } = message;
      if (changes !== undefined) this.changes(message.asset_id!, changes, timestamp, out);
      else if (priceChanges !== undefined) this.changesByAsset(priceChanges, timestamp, out);
      return;
    }
    const outcome = this.outcomes.get(message.asset_id);
    if (outcome === undefined) return;
    if (message.event_type === 'last_trade_price') this.print(outcome, message, out);
    if (outcome.isSecond) return;
    if (message.event_type === 'tick_size_change') this.ticks(outcome.book, message, out);
    if (message.event_type === 'book') this.snapshot(outcome, message, out);
  }

  private snapshot(
    { book, infersTrades }: Outcome,
    message: BookMessage,
    out: CommandBuffer,
  ): void {
    const bids = levelsOf(message.bids, Side.buy);
    const asks = levelsOf(message.asks, Side.sell);
    book.time = Number(message.timestamp);
    if (infersTrades) book.prints(inferTrades(book.source, bids, asks), out);
    book.snapshot(bids, asks, out);
  }

  private ticks(book: MirroredBook, message: TickSizeMessage, out: CommandBuffer): void {
    const ticksPerUnit = PIPS_PER_UNIT / pipsOf(message.new_tick_size, false);
    if (isTickGrid(ticksPerUnit)) book.changeTicks(ticksPerUnit, out);
  }

  private changes(
    id: string,
    texts: readonly ChangeText[],
    timestamp: string,
    out: CommandBuffer,
  ): void {
    const outcome = this.outcomes.get(id);
    if (outcome === undefined || outcome.isSecond) return;
    const changes: SourceChange[] = [];
    for (const text of texts) {
      const side = sideOf(text.side);
      const level = levelOf(text, side);
      if (level !== undefined) changes.push({ side, ...level });
    }
    const { book, prints } = outcome;
    book.time = Number(timestamp);
    prints.note(book.source, changes, book.time);
    book.changes(changes, out);
  }

  /** The form with both tokens of a market, or of several, in one message. */
  private changesByAsset(
    texts: readonly ChangeText[],
    timestamp: string,
    out: CommandBuffer,
  ): void {
    for (const [at, { asset_id: id }] of texts.entries()) {
      // Of each token once, for all of its changes: mostly one message has one change of both tokens.
      if (texts.findIndex((text) => text.asset_id === id) < at) continue;
      if (this.outcomes.get(id!)?.isSecond !== false) continue;
      const ofAsset = texts.filter((text) => text.asset_id === id);
      this.changes(id!, ofAsset, timestamp, out);
    }
  }

  private print(outcome: Outcome, message: LastTradePriceMessage, out: CommandBuffer): void {
    const { book, isSecond, prints } = outcome;
    const side = sideOf(message.side);
    // A buyer reaches asks up to its price: rounded to the side on which fewer orders are reached.
    const pips = pipsOf(message.price, side === Side.sell);
    const size = microOf(message.size);
    if (!(pips > 0 && size > 0)) return;
    const time = Number(message.timestamp);
    const trade = prints.of({ side, pips, size }, isSecond, time);
    if (trade === undefined) return;
    book.time = time;
    book.print(trade.side, trade.pips, trade.size, out);
  }
}

/** Of what is no price or size, nothing. */
function levelsOf(texts: readonly LevelText[], side: 0 | 1): SourceLevel[] {
  const levels: SourceLevel[] = [];
  for (const text of texts) {
    const level = levelOf(text, side);
    if (level !== undefined) levels.push(level);
  }
  return levels;
}

function levelOf({ price, size }: LevelText, side: 0 | 1): SourceLevel | undefined {
  const pips = pipsOf(price, side === Side.sell);
  const micro = microOf(size);
  return pips > 0 && micro >= 0 ? { pips, size: micro } : undefined;
}
