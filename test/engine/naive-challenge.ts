/** The challenge's rules on the naive core; returns the lines of its reports, sorted. */
import type { DecodedMessage } from '../../bench/challenge/stream.ts';
import { NaiveLevels } from './naive-levels.ts';

const BOOK = 1;

export class NaiveChallenge {
  private readonly book = new NaiveLevels();
  private readonly lines: [sequence: number, kind: number, line: string][] = [];

  apply(message: Readonly<DecodedMessage>): void {
    const { id, kind, price, quantity, sequence, side } = message;
    if (kind === 0) {
      this.report(0, sequence, [sequence, side, id, price, quantity]);
      this.place(message);
      return;
    }
    const resting = this.book.orders.find((order) => order.word === id);
    if (resting === undefined) {
      this.report(kind === 1 ? 4 : 5, sequence, [sequence, id]);
      return;
    }
    this.book.orders = this.book.orders.filter((order) => order !== resting);
    if (kind === 1) {
      this.report(2, sequence, [sequence, resting.side, id, resting.level]);
    } else {
      this.report(3, sequence, [sequence, side, id, price, quantity]);
      this.place(message);
    }
  }

  text(): string {
    const sorted = this.lines.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return sorted.map(([, , line]) => line).join('\n');
  }

  private place({ id, ioc, price, quantity, sequence, side }: Readonly<DecodedMessage>): void {
    const { book } = this;
    let left = quantity;
    for (const maker of book.facing(BOOK, side, price)) {
      if (left === 0) break;
      const size = Math.min(left, maker.remaining);
      this.report(1, sequence, [sequence, maker.level, size, maker.word, id]);
      maker.remaining -= size;
      left -= size;
    }
    book.orders = book.orders.filter((order) => order.remaining > 0);
    if (left === 0) return;
    if (ioc) this.report(2, sequence, [sequence, side, id, price]);
    else book.orders.push({ book: BOOK, side, level: price, remaining: left, word: id });
  }

  private report(kind: number, sequence: number, fields: readonly number[]): void {
    this.lines.push([sequence, kind, [kind, ...fields].join()]);
  }
}
