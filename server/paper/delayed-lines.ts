/**
 * MIRROR_LATENCY_MS: requests of clients that change orders arrive later, as over a network. They stay in their
 * order, and nothing waits for them.
 *
 * Thread: the I/O thread.
 */
import type { OrderTaker } from '../orders/order-taker.ts';
import { fail, type OwnedRequest, type Request } from '../orders/slot-requests.ts';

const WAITING_BYTES_MAX = 256 * 2 ** 20;

/** Runs it after so long. What takes the same time ends in the order in which it began. */
export type After = (ms: number, run: () => Promise<void>) => void;

export class DelayedLines implements OrderTaker {
  private readonly lines: OrderTaker;
  private readonly delayMs: number;
  private readonly waitingMax: number;
  private readonly after: After;
  private count = 0;
  private bytes = 0;

  /** @param waitingMax requests that may be on their way */
  constructor(lines: OrderTaker, delayMs: number, waitingMax: number, after: After = setLater) {
    this.lines = lines;
    this.delayMs = delayMs;
    this.waitingMax = waitingMax;
    this.after = after;
  }

  get waiting(): number {
    return this.lines.waiting + this.count;
  }

  submit(request: OwnedRequest): void {
    const { length } = request.body;
    if (this.count === this.waitingMax || this.bytes + length > WAITING_BYTES_MAX) {
      fail(request, 'busy');
      return;
    }
    this.count += 1;
    this.bytes += length;
    this.after(this.delayMs, () => {
      this.count -= 1;
      this.bytes -= length;
      return new Promise((done) => this.lines.submit(followed(request, done)));
    });
  }

  /** The rest of a request that has arrived. */
  goOn(request: Request): void {
    this.lines.goOn(request);
  }
}

function setLater(ms: number, run: () => Promise<void>): void {
  setTimeout(run, ms);
}

/** The request, which also says when it has its answer. */
function followed(request: OwnedRequest, done: () => void): OwnedRequest {
  const { answered, failed } = request;
  return {
    ...request,
    answered(...answer) {
      answered(...answer);
      done();
    },
    ...(failed && {
      failed(failure) {
        failed(failure);
        done();
      },
    }),
  };
}
