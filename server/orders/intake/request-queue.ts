/**
 * Queue of requests for the workers, in the order of their arrival, and two bounds of memory: rows of the
 * order table, and changes that are not in the log yet.
 *
 * A closed order has its row until its final state is on disk. Where the projector is so far behind that rows
 * run short, whole requests are refused with a 503, so that clients send them again.
 *
 * Thread: I/O. Counts of rows are read while workers write: they may be off by the orders of a batch.
 */
import { closedInMemory } from '../../../engine/orders/orders.ts';
import { closedCount, firstKeptClosed, openOrders, sourceRows } from '../../../engine/reads.ts';
import {
  BATCH_COMMANDS_MAX,
  UNLOGGED_BATCHES_MAX,
  UNLOGGED_COMMANDS_MAX,
} from '../../../engine/tables/capacities.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import { commandsMax, placesOrders, type Request } from '../exchange-memory/slot-requests.ts';
import { align, ORDER_BYTES_MIN, RequestHead } from '../exchange-memory/slots.ts';

const QUEUE_BYTES_MAX = 256 * 2 ** 20;

interface QueueOptions {
  readonly tables: Tables;
  readonly workers: number;
  readonly queueMax: number;
  readonly closedPersisted: () => number;
}

export interface RequestBatch {
  readonly dispatchSequence: number;
  readonly slot: number;
  readonly requests: readonly Request[];
  /** Arrival of each request, by the clock of the metrics. */
  readonly times: readonly number[];
  isDone: boolean;
  /** True while its worker has the place of its record in the log. */
  isLent: boolean;
  /** Events without room in the slot. */
  largeEvents: Int32Array | undefined;
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

  /** True when one more request would exceed the bound; later parts of a request are queued in any case. */
  isFullFor(request: Request): boolean {
    const isLong = this.requests.length >= this.requestsMax;
    const isLarge = this.bytes + request.body.length > QUEUE_BYTES_MAX;
    return isLong || isLarge || this.rows.isShortFor(request);
  }

  push(request: Request, time: number): void {
    this.requests.push(request);
    this.times.push(time);
    this.bytes += request.body.length;
    this.rows.add(request);
  }

  /** Releases the rows of requests that were applied, or never will be. */
  leave(requests: readonly Request[]): void {
    this.rows.leave(requests);
  }

  /**
   * Takes the fair share of one worker, bounded by a slot. Busy workers count, too: most of the work is
   * checking signatures, and one worker would do all of it in one batch.
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
    return {
      dispatchSequence,
      slot,
      requests,
      times,
      isDone: false,
      isLent: false,
      largeEvents: undefined,
    };
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

class OrderRowBudget {
  private readonly tables: Tables;
  private readonly closedPersisted: () => number;
  /** Upper bound of the orders in requests that are queued or in a worker. */
  private reserved = 0;

  constructor(tables: Tables, closedPersisted: () => number) {
    this.tables = tables;
    this.closedPersisted = closedPersisted;
  }

  /**
   * True when rows are short now and will not be once the projector has caught up. Where they stay short, the
   * engine rejects order by order.
   */
  isShortFor(request: Request): boolean {
    const orders = ordersOf(request);
    if (orders === 0) return false;
    const { tables } = this;
    const { capacities } = tables;
    const first = firstKeptClosed(tables);
    const flushed = this.closedPersisted();
    const used = openOrders(tables) + sourceRows(tables) + closedInMemory(tables);
    const spare = capacities.orders + capacities.history - used;
    const room = spare + Math.max(0, flushed - first) - this.reserved;
    if (room >= orders) return false;
    const coming = closedCount(tables) - Math.max(first, flushed);
    // A few rows about to be released do not explain a full table.
    return coming >= orders && room + coming >= orders;
  }

  add(request: Request): void {
    this.reserved += ordersOf(request);
  }

  leave(requests: readonly Request[]): void {
    for (const request of requests) this.reserved -= ordersOf(request);
  }
}

function ordersOf(request: Request): number {
  return placesOrders(request) ? commandsMax(request) : 0;
}

export class UnloggedLimit {
  batches = 0;
  private commands = 0;

  /** True when one more batch has room, whatever it contains. */
  get hasRoom(): boolean {
    return (
      this.batches < UNLOGGED_BATCHES_MAX &&
      this.commands + BATCH_COMMANDS_MAX <= UNLOGGED_COMMANDS_MAX
    );
  }

  add(batch: RequestBatch): void {
    this.batches += 1;
    this.commands += commandsOf(batch);
  }

  remove(batch: RequestBatch): void {
    this.batches -= 1;
    this.commands -= commandsOf(batch);
  }
}

function commandsOf({ requests }: RequestBatch): number {
  let commands = 0;
  for (const request of requests) commands += commandsMax(request);
  return Math.min(commands, BATCH_COMMANDS_MAX);
}
