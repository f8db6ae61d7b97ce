/**
 * Queue of each wallet: a bounded number of its bytes is in the sequencer, and further requests wait here in
 * the order of arrival. Requests of other wallets pass them. The worker time before another wallet's order is
 * bounded by the number of busy wallets, not by the requests of one of them.
 *
 * Thread: I/O. Not here: internal commands, which go to the sequencer directly.
 */

import {
  type Answered,
  fail,
  type OwnedRequest,
  type Request,
} from '../exchange-memory/slot-requests.ts';
import { isLong, submitInParts } from './order-parts.ts';
import type { Sequencer } from './sequencer.ts';

/** Bytes of bodies of one wallet in the sequencer: some 90 orders, 12 ms of a worker. */
const UNDER_WAY_BYTES = 64 * 1024;
const WAITING_BYTES_MAX = 256 * 2 ** 20;
/** Divisor of the queue: a wallet may use a quarter of all queue positions. */
const WALLET_SHARE = 4;

interface QueueOfWallet {
  readonly wallet: string;
  /** Unanswered bytes in the sequencer. */
  underWay: number;
  readonly waiting: OwnedRequest[];
}

export class WalletQueue {
  private readonly sequencer: Pick<Sequencer, 'submit' | 'resume'>;
  private readonly waitingMax: number;
  private readonly hasCodes: boolean;
  private readonly queues = new Map<string, QueueOfWallet>();
  private waitingCount = 0;
  private waitingBytes = 0;

  /** @param waitingMax requests that may wait, of all wallets together */
  constructor(
    sequencer: Pick<Sequencer, 'submit' | 'resume'>,
    waitingMax: number,
    hasCodes = false,
  ) {
    this.hasCodes = hasCodes;
    this.sequencer = sequencer;
    this.waitingMax = waitingMax;
  }

  get waiting(): number {
    return this.waitingCount;
  }

  /** Takes a request; answers 503 at once when too many wait. */
  submit(request: OwnedRequest): void {
    const { address } = request.owner;
    const wallet = Buffer.from(address.buffer, address.byteOffset, address.length).toString(
      'latin1',
    );
    const queue = this.queues.get(wallet);
    if (queue === undefined) this.begin(this.open(wallet), request);
    else if (queue.waiting.length === 0 && hasRoom(queue, request)) this.begin(queue, request);
    else this.wait(queue, request);
  }

  resume(request: Request): void {
    this.sequencer.resume(request);
  }

  private open(wallet: string): QueueOfWallet {
    const queue: QueueOfWallet = { wallet, underWay: 0, waiting: [] };
    this.queues.set(wallet, queue);
    return queue;
  }

  private wait(queue: QueueOfWallet, request: OwnedRequest): void {
    const isWalletFull = queue.waiting.length >= this.waitingMax / WALLET_SHARE;
    const isFull = this.waitingCount >= this.waitingMax;
    const isLarge = this.waitingBytes + request.body.length > WAITING_BYTES_MAX;
    if (isWalletFull || isFull || isLarge) {
      fail(request, 'busy');
      return;
    }
    queue.waiting.push(request);
    this.waitingCount += 1;
    this.waitingBytes += request.body.length;
  }

  private begin(queue: QueueOfWallet, request: OwnedRequest): void {
    const bytes = costOf(request);
    queue.underWay += bytes;
    const answered: Answered = (...answer) => {
      request.answered(...answer);
      queue.underWay -= bytes;
      this.advance(queue);
    };
    const counted: OwnedRequest = { ...request, answered };
    if (isLong(request)) submitInParts(this.sequencer, counted, this.hasCodes);
    else this.sequencer.submit(counted);
  }

  private advance(queue: QueueOfWallet): void {
    const { waiting } = queue;
    while (waiting.length > 0 && hasRoom(queue, waiting[0]!)) {
      const request = waiting.shift()!;
      this.waitingCount -= 1;
      this.waitingBytes -= request.body.length;
      this.begin(queue, request);
    }
    const isDone = queue.underWay === 0 && waiting.length === 0;
    if (isDone && this.queues.get(queue.wallet) === queue) this.queues.delete(queue.wallet);
  }
}

/** A request as long as the whole allowance is submitted alone. */
function hasRoom(queue: QueueOfWallet, request: Request): boolean {
  return queue.underWay + costOf(request) <= UNDER_WAY_BYTES;
}

/** At least one byte, so that the wallet counts as busy. */
function costOf({ body }: Request): number {
  return Math.max(1, Math.min(body.length, UNDER_WAY_BYTES));
}
