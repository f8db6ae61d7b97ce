/**
 * Connection of /ws/market: its tokens, and the first book of each.
 *
 * Thread: the I/O thread.
 */
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { marketByCondition, tokensOfMarket } from '../market-data/find.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import {
  Connection,
  type ConnectionParts,
  type Handling,
  NAMES_A_PIECE,
  readMessage,
} from './connection.ts';
import type { MarketFeed } from './market-feed.ts';
import { type MarketMessageFields, marketMessage, type Problem } from './messages.ts';
import type { PublishedBook } from './published-book.ts';
import { topics } from './topics.ts';

export interface MarketChannelParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly feed: MarketFeed;
}

interface Following {
  /** `undefined` until its turn, because following a book may copy it. */
  book: PublishedBook | undefined;
  /** best_bid_ask is followed too, and was requested. */
  hasExtras: boolean;
  wantsExtras: boolean;
  isJoined: boolean;
}

export class MarketConnection extends Connection {
  private readonly channel: MarketChannelParts;
  private readonly tokens = new Map<TokenRow, Following>();
  /** Tokens to be joined next; true = a first book is sent before. */
  private readonly due = new Map<TokenRow, boolean>();

  constructor(parts: MarketChannelParts, connection: ConnectionParts) {
    super(connection);
    this.channel = parts;
  }

  protected override *receive(text: string): Handling {
    const read = readMessage(text, marketMessage, 'market');
    if ('problem' in read) return read.problem;
    const { message } = read;
    const wanted = new Set<TokenRow>();
    const unknown: string[] = [];
    const ids = message.assets_ids ?? [];
    const conditions = message.markets ?? [];
    if (!this.mayLookUp(ids.length + conditions.length)) return undefined;
    for (const [i, id] of [...ids, ...conditions].entries()) {
      if (i % NAMES_A_PIECE === NAMES_A_PIECE - 1) yield;
      const isKnown = i < ids.length ? this.addToken(wanted, id) : this.addMarket(wanted, id);
      if (!isKnown) unknown.push(id);
    }
    // A market stands for all its tokens.
    const more = Math.max(0, wanted.size - ids.length - conditions.length);
    if (!this.mayLookUp(more)) return undefined;
    const isOff = message.operation === 'unsubscribe';
    const problem = isOff ? this.leave(wanted) : this.subscribe(wanted, message);
    if (problem !== undefined) return problem;
    this.acknowledge(
      message,
      {
        operation: isOff ? 'unsubscribe' : 'subscribe',
        known: String(ids.length + conditions.length - unknown.length),
        following: String(this.tokens.size),
      },
      unknown,
    );
    return undefined;
  }

  private leave(tokens: ReadonlySet<TokenRow>): undefined {
    for (const token of tokens) this.unsubscribe(token);
  }

  protected override hasDue(): boolean {
    return this.due.size > 0;
  }

  /** Sends a book and joins its topic in one step, so no change can come between them. */
  protected override sendNext(): boolean {
    const next = this.due.entries().next().value;
    if (next === undefined) return false;
    const [token, wantsBook] = next;
    this.due.delete(token);
    const following = this.tokens.get(token)!;
    const book = this.follow(token, following);
    if (book.isPublished) {
      if (wantsBook) this.socket.send(this.channel.feed.snapshot(book, token));
      this.join(token, book, following);
    } else {
      book.waiting.push(() => {
        if (this.tokens.get(token) !== following) return;
        this.due.set(token, wantsBook || this.due.get(token) === true);
        this.pump();
      });
    }
    return true;
  }

  protected override forget(): void {
    for (const [token, { book, hasExtras }] of this.tokens) {
      if (book !== undefined) this.channel.feed.leave(token, hasExtras);
    }
    this.tokens.clear();
    this.due.clear();
  }

  private addToken(wanted: Set<TokenRow>, id: string): boolean {
    const token = this.channel.texts.find(id);
    if (token !== 0) wanted.add(token);
    return token !== 0;
  }

  private addMarket(wanted: Set<TokenRow>, condition: string): boolean {
    const { tables } = this.channel;
    const market = marketByCondition(tables, condition.toLowerCase());
    if (market !== 0) for (const token of tokensOfMarket(tables, market)) wanted.add(token);
    return market !== 0;
  }

  private subscribe(
    wanted: ReadonlySet<TokenRow>,
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
      if (known === undefined) {
        const still = { book: undefined, hasExtras: false, isJoined: false };
        this.tokens.set(token, { ...still, wantsExtras: hasExtras });
      } else if (hasExtras) {
        known.wantsExtras = true;
      }
      // A first book that is not sent yet stays requested.
      const isDue = this.due.get(token) ?? false;
      this.due.set(token, isDue || (message.initial_dump ?? true));
    }
    this.pump();
    return undefined;
  }

  private follow(token: TokenRow, following: Following): PublishedBook {
    const { book: known, hasExtras, wantsExtras } = following;
    if (known !== undefined && hasExtras === wantsExtras) return known;
    // The new subscription begins before the old one ends, so that the book stays in memory.
    const book = this.channel.feed.follow(token, wantsExtras);
    if (known !== undefined) this.channel.feed.leave(token, hasExtras);
    following.book = book;
    following.hasExtras = wantsExtras;
    return book;
  }

  private join(token: TokenRow, { bookRow }: PublishedBook, following: Following): void {
    following.isJoined = true;
    this.socket.join(topics.asset(token));
    this.socket.join(topics.book(bookRow));
    if (following.hasExtras) this.socket.join(topics.best(token));
  }

  private unsubscribe(token: TokenRow): void {
    const following = this.tokens.get(token);
    if (following === undefined) return;
    const { book, hasExtras } = following;
    this.tokens.delete(token);
    this.due.delete(token);
    if (book === undefined) return;
    this.socket.leave(topics.asset(token));
    if (hasExtras) this.socket.leave(topics.best(token));
    const isOtherJoined = book.tokens.some((other) => this.tokens.get(other)?.isJoined === true);
    if (!isOtherJoined) this.socket.leave(topics.book(book.bookRow));
    this.channel.feed.leave(token, hasExtras);
  }
}
