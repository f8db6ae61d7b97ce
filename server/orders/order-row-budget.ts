/**
 * Rows of the order table that requests on their way may take. A closed order has its row until its final
 * state is on disk. Where the follower is so far behind that rows run short, whole requests are refused with
 * a 503, so that clients send them again, instead of order by order inside the engine.
 *
 * Thread: the I/O thread. Counts are read while workers write: they may be off by the orders of a batch.
 */

import { closedInMemory } from '../../engine/orders/orders.ts';
import { closedCount, firstKeptClosed, openOrders, sourceRows } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { commandsMax, placesOrders, type Request } from './slot-requests.ts';

export class OrderRowBudget {
  private readonly t: Tables;
  private readonly closedPersisted: () => number;
  /** Orders that requests which are queued or in a worker may hold, at most. */
  private reserved = 0;

  constructor(tables: Tables, closedPersisted: () => number) {
    this.t = tables;
    this.closedPersisted = closedPersisted;
  }

  /**
   * Whether rows are short now, and are not once the follower has caught up. Where they stay short the
   * engine rejects order by order.
   */
  isShortFor(request: Request): boolean {
    const orders = ordersOf(request);
    if (orders === 0) return false;
    const { t } = this;
    const { capacities } = t;
    const first = firstKeptClosed(t);
    const flushed = this.closedPersisted();
    const used = openOrders(t) + sourceRows(t) + closedInMemory(t);
    const spare = capacities.orders + capacities.history - used;
    const room = spare + Math.max(0, flushed - first) - this.reserved;
    if (room >= orders) return false;
    const coming = closedCount(t) - Math.max(first, flushed);
    // A few that are on their way to the disk are not what the table is full of.
    return coming >= orders && room + coming >= orders;
  }

  add(request: Request): void {
    this.reserved += ordersOf(request);
  }

  leave(requests: readonly Request[]): void {
    for (const request of requests) this.reserved -= ordersOf(request);
  }
}

/** Never less than it holds. */
function ordersOf(request: Request): number {
  return placesOrders(request) ? commandsMax(request) : 0;
}
