/**
 * Requests that wait for a worker, in the order of their coming.
 *
 * Thread: the I/O thread.
 */
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { OrderRowBudget } from './order-row-budget.ts';
import type { RequestBatch } from './request-batch.ts';
import type { Request } from './slot-requests.ts';
import { align, ORDER_BYTES_MIN, RequestHead } from './slots.ts';

const QUEUE_BYTES_MAX = 256 * 2 ** 20;

interface QueueOptions {
  readonly tables: Tables;
  readonly workers: number;
  /** Requests that may wait. */
  readonly queueMax: number;
  readonly closedPersisted: () => number;
}

export class RequestQueue {
  private readonly workers: number;
  private readonly requestsMax: number;
  private readonly rows: OrderRowBudget;
  private requests: Request[] = [];
  private times: number[] = [];
  private bytes = 0;

  constructor({ closedPersisted, queueMax, tables, workers }: QueueOptions) {
    this.workers = workers;
    this.requestsMax = queueMax;
    this.rows = new OrderRowBudget(tables, closedPersisted);
  }

  get length(): number {
    return this.requests.length;
  }

  /** Whether one more would be too many; what was taken before may join all the same. */
  isFullFor(request: Request): boolean {
    const isLong = this.requests.length >= this.requestsMax;
    const isLarge = this.bytes + request.body.length > QUEUE_BYTES_MAX;
    return isLong || isLarge || this.rows.isShortFor(request);
  }

  /** @param time when it came; takeBatch() returns it */
  push(request: Request, time: number): void {
    this.requests.push(request);
    this.times.push(time);
    this.bytes += request.body.length;
    this.rows.add(request);
  }

  /** Requests of a batch have been applied, or never will be. */
  leave(requests: readonly Request[]): void {
    this.rows.leave(requests);
  }

  /**
   * One worker's fair share, bounded by what a slot holds. The others, though busy now, count too: most
   * of the work is checking signatures, and all of it in one batch would be done by one of them.
   */
  takeBatch(dispatchSequence: number, slot: number): RequestBatch {
    const share = Math.ceil(this.requests.length / this.workers);
    const bytesMax = BATCH_COMMANDS_MAX * ORDER_BYTES_MIN;
    let count = 0;
    let framedBytes = 0;
    while (count < share) {
      const { body, weight } = this.requests[count]!;
      const framed = align(weight) + 4 * RequestHead.words;
      if (count > 0 && framedBytes + framed > bytesMax) break;
      framedBytes += framed;
      this.bytes -= body.length;
      count += 1;
    }
    const requests = this.requests.splice(0, count);
    const times = this.times.splice(0, count);
    return { dispatchSequence, slot, requests, times, isDone: false, largeEvents: undefined };
  }

  takeAll(): Request[] {
    const all = this.requests;
    this.requests = [];
    this.times = [];
    this.bytes = 0;
    this.rows.leave(all);
    return all;
  }
}
