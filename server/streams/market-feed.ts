/**
 * Makes the frames of the market channel from the events of flushed batches. All changes of a book by
 * one batch are one step: at most one price_change with the totals after it, so that every state that
 * a client computes is one that POST /books showed, with its time and hash.
 *
 * Streams, each with its own sequence:
 *   book:<token>   price_change, for both tokens of a pair; named after the first one
 *   asset:<token>  book, last_trade_price and tick_size_change of one token
 *   best:<token>   best_bid_ask
 *
 * Thread: the I/O thread.
 */

import { Event, EventKind, eventWords } from '../../engine/events.ts';
import {
  bookCount,
  bookVersionAt,
  fillKind,
  fillMakerPrice,
  fillMakerToken,
  fillMatch,
  fillRow,
  fillSize,
  fillTakerPrice,
  fillTakerSide,
  fillTakerToken,
  marketBooks,
  marketFirstBook,
  tokenBook,
} from '../../engine/reads.ts';
import { MatchKind } from '../../engine/tables/codes.ts';
import { Depth } from '../../engine/tables/depth.ts';
import {
  type BookRow,
  type MarketRow,
  type MicroShares,
  PIPS_PER_UNIT,
  type Pips,
  type TicksPerUnit,
  type TokenRow,
} from '../../engine/tables/units.ts';
import type { Publish } from '../http/sockets.ts';
import type { BookRenderer } from '../market-data/books.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import * as frames from './market-frames.ts';
import type { Names } from './names.ts';
import { endOf, envelope, Stream } from './numbering.ts';
import { type BookStreams, PublishedBook } from './published-book.ts';
import { topics } from './topics.ts';

export interface MarketFeedParts {
  readonly names: Names;
  readonly books: BookRenderer;
  readonly publish: Publish;
  readonly now: () => number;
  readonly venue: string;
  readonly batch: number;
  readonly whenBatchesDone: (callback: () => void) => void;
}

const BEST_SHIFT = 2 ** 20;

export class MarketFeed {
  private readonly parts: MarketFeedParts;
  private readonly tables: Names['tables'];
  private readonly depth = new Depth();
  /** Flushed versions of the engine's books. */
  private readonly versions: Int32Array;
  private readonly followed = new Map<BookRow, PublishedBook>();
  private batch: number;

  constructor(parts: MarketFeedParts) {
    this.parts = parts;
    this.tables = parts.names.tables;
    this.versions = new Int32Array(this.tables.capacities.tokens + 1);
    this.batch = parts.batch;
    this.begin(parts.batch);
  }

  /**
   * Begins with the current state of the engine. If the engine is ahead of the disk, because the events of a batch
   * were incomplete, a first book may be ahead too, until its batches are published again.
   */
  begin(batch: number): void {
    const { tables } = this;
    this.batch = batch;
    for (let book = 1; book <= bookCount(tables); book++) {
      this.versions[book] = tables.bookI[bookVersionAt(book as BookRow)]! & ~1;
    }
  }

  flushed(batch: AppliedBatch): void {
    const { events } = batch;
    this.batch = batch.sequence;
    if (this.followed.size > 0) this.read(batch);
    for (let at = events.length - 8; at >= 0 && events[at] === EventKind.settled; at -= 8) {
      this.versions[events[at + Event.book]!] = events[at + Event.version]!;
    }
    if (this.followed.size > 0) this.publishVersions(batch);
  }

  /** Returns the published book of a token, updated until leave(). */
  follow(token: TokenRow, withExtras: boolean): PublishedBook {
    const bookRow = tokenBook(this.tables, token);
    let book = this.followed.get(bookRow);
    if (book === undefined) {
      book = new PublishedBook(this.tables, bookRow, (tokens) => this.streamsOf(tokens));
      this.followed.set(bookRow, book);
      this.load(book);
    }
    const index = book.tokens.indexOf(token);
    const { assets, bests } = book.streams;
    // Events without a follower are not counted.
    if (book.followers[index] === 0) assets[index]!.begin(this.batch);
    if (withExtras && book.extraFollowers[index] === 0) bests[index]!.begin(this.batch);
    book.followers[index]! += 1;
    if (withExtras) book.extraFollowers[index]! += 1;
    return book;
  }

  leave(token: TokenRow, withExtras: boolean): void {
    const bookRow = tokenBook(this.tables, token);
    const book = this.followed.get(bookRow);
    if (book === undefined) return;
    const index = book.tokens.indexOf(token);
    book.followers[index]! -= 1;
    if (withExtras) book.extraFollowers[index]! -= 1;
    if (!book.isFollowed) this.followed.delete(bookRow);
  }

  snapshot(book: PublishedBook, token: TokenRow): Buffer {
    const index = book.tokens.indexOf(token);
    const { id, sequence: previous } = book.streams.assets[index]!;
    const head = envelope({ id, previous, sequence: endOf(this.batch) }, this.parts.now());
    return frames.bookFrame(head, this.body(book, index));
  }

  private streamsOf(tokens: readonly TokenRow[]): BookStreams {
    const { names, venue } = this.parts;
    const ids = tokens.map((token) => names.token(token).id);
    const stream = (name: string): Stream => new Stream(`${name}:${venue}`, this.batch);
    return {
      book: stream(`book:${ids[0]!}`),
      assets: ids.map((id) => stream(`asset:${id}`)),
      bests: ids.map((id) => stream(`best:${id}`)),
    };
  }

  private load(book: PublishedBook): void {
    if (!book.load(this.tables, this.depth)) {
      this.parts.whenBatchesDone(() => {
        if (this.followed.get(book.bookRow) === book) this.load(book);
      });
      return;
    }
    book.bodies.length = 0;
    // Otherwise the batches that made it must be published first.
    if (book.version !== this.versions[book.bookRow]) return;
    this.markPublished(book);
    release(book);
  }

  private markPublished(book: PublishedBook): void {
    const { assets, bests, book: changes } = book.streams;
    for (const stream of [changes, ...assets, ...bests]) stream.begin(this.batch);
    book.isPublished = true;
    book.takeChanges();
    book.tokens.forEach((_, index) => {
      book.publishedBest[index] = this.best(book, index);
    });
  }

  private read(batch: AppliedBatch): void {
    const { events, eventsF } = batch;
    let command = 0;
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      const kind = events[at]!;
      switch (kind) {
        case EventKind.placed:
          command = events[at + Event.command]!;
          break;
        case EventKind.due:
          command = -1 - at;
          break;
        case EventKind.levelPlaced:
        case EventKind.levelFill:
        case EventKind.levelClosed:
        case EventKind.levelSource:
          this.readLevel(batch, at, command);
          break;
        case EventKind.fill:
          this.readFill(eventsF[at / 2 + Event.sequence]!);
          break;
        case EventKind.tick:
          this.readTick(batch, at);
          break;
        case EventKind.market:
          this.readMarket(batch, at);
          break;
        default:
      }
    }
  }

  private publishedBook(slot: number): PublishedBook | undefined {
    const book = this.followed.get(slot as BookRow);
    return book?.isPublished === true ? book : undefined;
  }

  private readLevel(batch: AppliedBatch, at: number, command: number): void {
    const { events, eventsF } = batch;
    const book = this.publishedBook(events[at + Event.book]!);
    if (book === undefined) return;
    const kind = events[at]!;
    const tick = events[at + Event.tick]!;
    const isAsk = this.isAsk(batch, at, command) ?? book.isAskAt(tick);
    const sequence = eventsF[at / 2 + Event.sequence]!;
    book.change(tick, isAsk, eventsF[at / 2 + Event.quantity]!, { kind, sequence, command });
  }

  /** Side of a level that may have been empty; undefined = it was not empty, so its side is known. */
  private isAsk(batch: AppliedBatch, at: number, command: number): boolean | undefined {
    const kind = batch.events[at]!;
    if (kind === EventKind.levelSource) return batch.eventsF[at / 2 + Event.side] === 1;
    return kind === EventKind.levelPlaced ? frames.isAskOf(this.tables, batch, command) : undefined;
  }

  private readFill(sequence: number): void {
    const { tables } = this;
    const row = fillRow(tables, sequence);
    const takerToken = fillTakerToken(tables, row);
    const book = this.publishedBook(tokenBook(tables, takerToken));
    if (book === undefined) return;
    const isSell = fillTakerSide(tables, row) === 1;
    const size = fillSize(tables, row);
    const match = fillMatch(tables, row);
    const add = (token: TokenRow, pips: Pips): void =>
      book.addTrade(token, {
        token: this.parts.names.token(token),
        isSell,
        pips,
        size,
        match,
        feeBps: book.baseFeeBps,
      });
    add(takerToken, fillTakerPrice(tables, row));
    // A mint or merge is a trade of both tokens, on the same side (docs/protocol.md#stream-frames).
    if (fillKind(tables, row) !== MatchKind.complementary) {
      add(fillMakerToken(tables, row), fillMakerPrice(tables, row));
    }
  }

  private readTick({ events }: AppliedBatch, at: number): void {
    const book = this.publishedBook(events[at + Event.book]!);
    if (book === undefined) return;
    const grid = events[at + Event.grid]! as TicksPerUnit;
    book.regrid(grid);
    book.ticks.push({ before: events[at + Event.gridBefore]!, grid });
    book.needsWhole = true;
  }

  private readMarket({ events, eventsF }: AppliedBatch, at: number): void {
    const { tables } = this;
    const market = events[at + Event.market]! as MarketRow;
    const first = marketFirstBook(tables, market);
    for (let i = 0; i < marketBooks(tables, market); i++) {
      const book = this.publishedBook(first + i);
      if (book === undefined) continue;
      book.minSize = eventsF[at / 2 + Event.minSize]! as MicroShares;
      book.baseFeeBps = events[at + Event.baseFeeBps]!;
      book.needsWhole = true;
    }
  }

  private publishVersions(batch: AppliedBatch): void {
    const { events } = batch;
    const completed: PublishedBook[] = [];
    for (let at = events.length - 8; at >= 0 && events[at] === EventKind.settled; at -= 8) {
      const book = this.followed.get(events[at + Event.book]! as BookRow);
      if (book === undefined) continue;
      const version = events[at + Event.version]!;
      if (book.isPublished) {
        book.version = version;
        book.changedAt = batch.time;
        book.bodies.length = 0;
        this.publish(book, batch);
      } else if (book.version === version) {
        this.markPublished(book);
        completed.push(book);
      }
    }
    // The callbacks may request other books, which are complete only now.
    for (const book of completed) release(book);
  }

  private publish(book: PublishedBook, batch: AppliedBatch): void {
    const { names, publish } = this.parts;
    const now = this.parts.now();
    const changes = book.takeChanges();
    if (changes.length > 0) {
      const head = envelope(book.streams.book.next(batch.sequence), now);
      const frame = frames.priceChangeFrame(head, names, book, batch, changes);
      publish(topics.book(book.bookRow), frame);
    }
    book.tokens.forEach((token, index) => {
      if (book.followers[index]! > 0) this.publishToken(book, token, index, batch, now);
      this.publishBest(book, token, index, batch, now);
    });
    book.endBatch();
  }

  private publishToken(
    book: PublishedBook,
    token: TokenRow,
    index: number,
    { sequence, time }: AppliedBatch,
    now: number,
  ): void {
    const { names, publish } = this.parts;
    const topic = topics.asset(token);
    const name = names.token(token);
    const head = (): string => envelope(book.streams.assets[index]!.next(sequence), now);
    for (const { before, grid } of book.ticks) {
      publish(topic, frames.tickSizeFrame(head(), name, before, grid, time));
    }
    for (const trade of book.trades) {
      if (trade.token.id !== name.id) continue;
      publish(topic, frames.lastTradePriceFrame(head(), trade, time));
    }
    // A trade of the other token has changed the book of this one too.
    if (book.trades.length > 0 || book.needsWhole) {
      publish(topic, frames.bookFrame(head(), this.body(book, index)));
    }
  }

  private publishBest(
    book: PublishedBook,
    token: TokenRow,
    index: number,
    { sequence, time }: AppliedBatch,
    now: number,
  ): void {
    const best = this.best(book, index);
    if (best === book.publishedBest[index]) return;
    book.publishedBest[index] = best;
    if (book.extraFollowers[index] === 0) return;
    const name = this.parts.names.token(token);
    const head = envelope(book.streams.bests[index]!.next(sequence), now);
    const prices = frames.bestPrices(book, index);
    this.parts.publish(topics.best(token), frames.bestBidAskFrame(head, name, prices, time));
  }

  private best({ bestAsk, bestBid, grid }: PublishedBook, index: number): number {
    const perTick = PIPS_PER_UNIT / grid;
    const [bid, ask] = index === 0 ? [bestBid, bestAsk] : [grid - bestAsk, grid - bestBid];
    return bid * perTick * BEST_SHIFT + ask * perTick;
  }

  /** Object of POST /books at the last published version. */
  private body(book: PublishedBook, index: number): Buffer {
    let body = book.bodies[index];
    if (body === undefined) {
      book.copyTo(index, this.depth);
      body = this.parts.books.copy(book.tokens[index]!, '', this.depth);
      book.bodies[index] = body;
    }
    return body;
  }
}

function release(book: PublishedBook): void {
  const { waiting } = book;
  book.waiting = [];
  for (const callback of waiting) callback();
}
