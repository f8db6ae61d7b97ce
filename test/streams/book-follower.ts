/**
 * Books of the repository's client, made of received frames alone. Throws when a number is missing,
 * or when a sent book differs from its own.
 */
import assert from 'node:assert/strict';
import { MarketBooks } from '../../client/streams/market-books.ts';
import type { MarketEvent } from '../../client/types.ts';

export class BookFollower {
  events = 0;
  private readonly books = new MarketBooks();

  take(text: string): void {
    this.events += 1;
    assert.equal(this.books.take(JSON.parse(text) as MarketEvent), '', text);
  }

  /** Hash of the client's book, `undefined` for a book that it does not follow. */
  hash(token: string): string {
    return this.books.get(token)?.answer.hash ?? '';
  }

  /** Number of books that were sent after their deltas and were equal. */
  get confirmed(): number {
    return this.books.confirmed;
  }
}
