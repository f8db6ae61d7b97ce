/** Single entry point to the package nodejs-order-book: a challenge stream on its book. */
import { OrderBook } from 'nodejs-order-book';
import type { Contender } from './contender.ts';
import { type ChallengeStream, eachMessage, MessageKind } from './stream.ts';

type LimitOptions = Parameters<OrderBook['limit']>[0];
// Its enums are not exported as values of these types.
const SIDES = ['buy', 'sell'] as unknown as readonly LimitOptions['side'][];
const IOC = 'IOC' as NonNullable<LimitOptions['timeInForce']>;
const GTC = 'GTC' as NonNullable<LimitOptions['timeInForce']>;

/** Its results say what was filled in all; single fills are not in them, so no reports are written. */
export class NodejsOrderBook implements Contender {
  readonly name = 'nodejs-order-book';
  readonly reportsFills = false;
  /** Quantity that the last run filled. */
  traded = 0;
  private readonly stream: ChallengeStream;
  private book = new OrderBook();

  constructor(stream: ChallengeStream) {
    this.stream = stream;
  }

  prepare(): void {
    this.book = new OrderBook();
    this.traded = 0;
  }

  run(): void {
    const { book } = this;
    eachMessage(this.stream, ({ kind, side, ioc, id, price, quantity }) => {
      const key = String(id);
      if (kind === MessageKind.cancel) {
        book.cancel(key);
        return;
      }
      if (kind === MessageKind.modify && book.cancel(key) === undefined) return;
      const timeInForce = ioc ? IOC : GTC;
      const taken = book.limit({ id: key, side: SIDES[side]!, size: quantity, price, timeInForce });
      this.traded += quantity - taken.quantityLeft;
    });
  }
}
