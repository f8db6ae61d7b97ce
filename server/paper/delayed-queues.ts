/**
 * MIRROR_LATENCY_MS: order requests of clients arrive later, as over a network. They stay in their order and do not
 * block.
 *
 * Thread: the I/O thread.
 */

import { fail, type OwnedRequest, type Request } from '../orders/exchange-memory/slot-requests.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';

const WAITING_BYTES_MAX = 256 * 2 ** 20;

/** Runs a function after a delay. Equal delays end in the order in which they began. */
export type After = (ms: number, run: () => Promise<void>) => void;

export class DelayedQueues implements OrderIntake {
  private readonly intake: OrderIntake;
  private readonly delayMs: number;
  private readonly waitingMax: number;
  private readonly after: After;
  private count = 0;
  private bytes = 0;

  constructor(intake: OrderIntake, delayMs: number, waitingMax: number, after: After = setLater) {
    this.intake = intake;
    this.delayMs = delayMs;
    this.waitingMax = waitingMax;
    this.after = after;
  }

  get waiting(): number {
    return this.intake.waiting + this.count;
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
      return new Promise((done) => this.intake.submit(followed(request, done)));
    });
  }

  resume(request: Request): void {
    this.intake.resume(request);
  }
}

function setLater(ms: number, run: () => Promise<void>): void {
  setTimeout(run, ms);
}

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
