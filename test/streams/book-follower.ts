/**
 * The books of the repository's client, made of the frames that it received and nothing else. Complains as soon as
 * a number is missing, or a book that it is sent differs from the one that it holds.
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

  /** Hash of the client's book; a book that it does not follow has none. */
  hash(token: string): string {
    return this.books.get(token)?.answer.hash ?? '';
  }

  /** Books that were sent behind the deltas that lead to them, and were found to be the same. */
  get confirmed(): number {
    return this.books.confirmed;
  }
}
