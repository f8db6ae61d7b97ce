/**
 * A connection of /ws/market: which tokens it follows, and the first book of each.
 *
 * Thread: the I/O thread.
 */
import { MARKET_I, Market } from '../../engine/layout.ts';
import type { Tables } from '../../engine/tables.ts';
import type { TokenSlot } from '../../engine/units.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import { Connection, type ConnectionParts, parseMessage } from './connection.ts';
import { type FollowedBook, topics } from './followed-book.ts';
import type { MarketFeed } from './market-feed.ts';
import { invalid, type MarketMessageFields, marketMessage, type Problem } from './messages.ts';
import { findCondition } from './names.ts';

export interface MarketChannelParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly feed: MarketFeed;
}

interface Following {
  readonly book: FollowedBook;
  /** Asked for best_bid_ask as well. */
  hasExtras: boolean;
  isJoined: boolean;
}

export class MarketConnection extends Connection {
  private readonly o: MarketChannelParts;
  private readonly tokens = new Map<TokenSlot, Following>();
  /** To be joined next, and whether a book goes before. */
  private readonly due = new Map<TokenSlot, boolean>();

  constructor(parts: MarketChannelParts, connection: ConnectionParts) {
    super(connection);
    this.o = parts;
  }

  protected override receive(text: string): Problem | undefined {
    const message = parseMessage(text);
    if (message === undefined) return invalid('not a JSON object');
    if (!marketMessage.matches(message)) {
      const { path } = marketMessage.fault(message);
      return invalid(`bad member: ${path.join('.')}`);
    }
    const { operation, type } = message;
    if (type === undefined && operation === undefined) {
      return invalid('type or operation is needed');
    }
    if (type !== undefined && type.toLowerCase() !== 'market') {
      return invalid('type must be market on this path');
    }
    const wanted = this.wantedTokens(message);
    if (operation !== 'unsubscribe') return this.subscribe(wanted, message);
    for (const token of wanted) this.unsubscribe(token);
    return undefined;
  }

  protected override sendNext(): boolean {
    for (const [token, wantsBook] of this.due) {
      this.due.delete(token);
      const following = this.tokens.get(token)!;
      const { book } = following;
      if (!book.isTold) {
        book.waiting.push(() => {
          if (this.tokens.get(token) !== following) return;
          this.due.set(token, wantsBook);
          this.pump();
        });
        continue;
      }
      if (wantsBook) this.socket.send(this.o.feed.snapshot(book, token));
      this.join(token, following);
      return true;
    }
    return false;
  }

  protected override forget(): void {
    for (const [token, { hasExtras }] of this.tokens) this.o.feed.leave(token, hasExtras);
    this.tokens.clear();
    this.due.clear();
  }

  /** Tokens that a message names and that there are, each once. */
  private wantedTokens(message: MarketMessageFields): Set<TokenSlot> {
    const { tables, texts } = this.o;
    const wanted = new Set<TokenSlot>();
    for (const id of message.assets_ids ?? []) {
      const token = texts.find(id);
      if (token !== 0) wanted.add(token);
    }
    for (const condition of message.markets ?? []) {
      const market = findCondition(tables, condition);
      if (market === 0) continue;
      const row = market << MARKET_I;
      const first = tables.marketI[row + Market.firstToken]!;
      const count = tables.marketI[row + Market.tokenCount]!;
      for (let i = 0; i < count; i++) wanted.add((first + i) as TokenSlot);
    }
    return wanted;
  }

  private subscribe(
    wanted: ReadonlySet<TokenSlot>,
    message: MarketMessageFields,
  ): Problem | undefined {
    const hasExtras = message.custom_feature_enabled ?? false;
    const { subscriptionsMax } = this.limits;
    const added = [...wanted].filter((token) => !this.tokens.has(token)).length;
    if (this.tokens.size + added > subscriptionsMax) {
      const detail = `a connection follows at most ${subscriptionsMax} tokens`;
      return { error: 'too_many_subscriptions', detail };
    }
    if (hasExtras) this.socket.join(topics.markets);
    for (const token of wanted) {
      const known = this.tokens.get(token);
      if (known === undefined || (hasExtras && !known.hasExtras)) {
        // Anew before the old one ends, so that the book is kept.
        const book = this.o.feed.follow(token, hasExtras);
        if (known !== undefined) this.o.feed.leave(token, known.hasExtras);
        const isJoined = known?.isJoined ?? false;
        this.tokens.set(token, { book, hasExtras, isJoined });
      }
      // A book that is still to be sent was asked for.
      const isDue = this.due.get(token) ?? false;
      this.due.set(token, isDue || (message.initial_dump ?? true));
    }
    this.pump();
    return undefined;
  }

  private join(token: TokenSlot, following: Following): void {
    following.isJoined = true;
    this.socket.join(topics.asset(token));
    this.socket.join(topics.book(following.book.slot));
    if (following.hasExtras) this.socket.join(topics.best(token));
  }

  private unsubscribe(token: TokenSlot): void {
    const following = this.tokens.get(token);
    if (following === undefined) return;
    const { book, hasExtras } = following;
    this.tokens.delete(token);
    this.due.delete(token);
    this.socket.leave(topics.asset(token));
    if (hasExtras) this.socket.leave(topics.best(token));
    const isOtherJoined = book.tokens.some((other) => this.tokens.get(other)?.isJoined === true);
    if (!isOtherJoined) this.socket.leave(topics.book(book.slot));
    this.o.feed.leave(token, hasExtras);
  }
}
