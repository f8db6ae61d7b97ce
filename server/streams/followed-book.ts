/**
 * A published book with the connections that follow its tokens, and the changes of one batch.
 *
 * Thread: the I/O thread.
 */
import type { Tables } from '../../engine/tables/tables.ts';
import type { BookRow, TokenRow } from '../../engine/tables/units.ts';
import type { PublicTrade } from './market-frames.ts';
import { PublishedBook } from './published-book.ts';

/** The topics that connections join. */
export const topics = {
  asset: (token: number): string => `asset ${token}`,
  book: (book: number): string => `book ${book}`,
  best: (token: number): string => `best ${token}`,
  markets: 'markets',
};

/** Trades of one match at one price: of the taker's token, and of the other token. */
const PARALLEL_TRADES = 2;

export class FollowedBook extends PublishedBook {
  /** In the order of its tokens: connections that follow, and how many of those with extras. */
  readonly followers: number[];
  readonly extraFollowers: number[];
  /** Called once the state is published: first books wait for it. */
  waiting: (() => void)[] = [];
  /** Bodies of `book` events at the current version, in the order of its tokens. */
  readonly bodies: (Buffer | undefined)[] = [];
  /**
   * The best prices that were published last, in the same order: bid x 2^20 + ask, in ticks of
   * 0.0001.
   */
  readonly publishedBest: number[] = [];
  /** The trades of the current batch. */
  trades: PublicTrade[] = [];
  ticks: { readonly before: number; readonly grid: number }[] = [];
  needsWhole = false;

  constructor(t: Tables, bookRow: BookRow) {
    super(t, bookRow);
    this.followers = this.tokens.map(() => 0);
    this.extraFollowers = this.tokens.map(() => 0);
  }

  get isFollowed(): boolean {
    return this.followers.some((count) => count > 0);
  }

  /** Adds one trade. Fills of one match at one price become one trade. */
  addTrade(token: TokenRow, trade: PublicTrade): void {
    this.lastPrices[this.tokens.indexOf(token)] = trade.pips;
    // A match alternates at most between trades of one token and of the pair.
    for (const known of this.trades.slice(-PARALLEL_TRADES)) {
      const { match, pips, token: its } = known;
      if (match !== trade.match || pips !== trade.pips || its.id !== trade.token.id) continue;
      known.size += trade.size;
      return;
    }
    this.trades.push(trade);
  }

  endBatch(): void {
    this.trades = [];
    this.ticks = [];
    this.needsWhole = false;
  }
}
