/**
 * MIRROR_LATENCY_MS: requests of clients that change orders arrive later, as over a network. They stay in their
 * order, and nothing waits for them.
 *
 * Thread: the I/O thread.
 */
import type { OrderTaker } from '../orders/order-taker.ts';
import { fail, type OwnedRequest, type Request } from '../orders/slot-requests.ts';

const WAITING_BYTES_MAX = 256 * 2 ** 20;

export class DelayedLines implements OrderTaker {
  private readonly lines: OrderTaker;
  private readonly delayMs: number;
  private readonly waitingMax: number;
  private count = 0;
  private bytes = 0;

  /** @param waitingMax requests that may be on their way */
  constructor(lines: OrderTaker, delayMs: number, waitingMax: number) {
    this.lines = lines;
    this.delayMs = delayMs;
    this.waitingMax = waitingMax;
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
    // Timers of the same length end in the order in which they began.
    setTimeout(() => {
      this.count -= 1;
      this.bytes -= length;
      this.lines.submit(request);
    }, this.delayMs);
  }

  /** The rest of a request that has arrived. */
  goOn(request: Request): void {
    this.lines.goOn(request);
  }
}
