/** Single entry point to the package limit-order-book: a challenge stream on its book. */
import { createRequire } from 'node:module';
import type { Contender } from './contender.ts';
import { type ChallengeStream, eachMessage, MessageKind } from './stream.ts';

/** Members of the package that are used; it has no types. */
interface Package {
  readonly LimitOrder: new (id: string, side: string, price: string, size: string) => object;
  readonly LimitOrderBook: new () => Book;
}
interface Book {
  add(order: object): { readonly filled: string; readonly taker: { sizeRemaining: string } };
  remove(id: string): object | null;
}

const { LimitOrder, LimitOrderBook } = createRequire(import.meta.url)(
  'limit-order-book',
) as Package;

export class LimitOrderBookPeer implements Contender {
  readonly name = 'limit-order-book';
  readonly reportsFills = false;
  /** Quantity that the last run filled. */
  traded = 0;
  private readonly stream: ChallengeStream;
  private book = new LimitOrderBook();

  constructor(stream: ChallengeStream) {
    this.stream = stream;
  }

  prepare(): void {
    this.book = new LimitOrderBook();
    this.traded = 0;
  }

  run(): void {
    const { book } = this;
    eachMessage(this.stream, ({ kind, side, ioc, id, price, quantity }) => {
      const key = String(id);
      if (kind !== MessageKind.new && book.remove(key) === null) return;
      if (kind === MessageKind.cancel) return;
      const order = new LimitOrder(
        key,
        side === 0 ? 'bid' : 'ask',
        String(price),
        String(quantity),
      );
      const taken = book.add(order);
      this.traded += Number(taken.filled);
      if (ioc && taken.taker.sizeRemaining !== '0') book.remove(key);
    });
  }
}
