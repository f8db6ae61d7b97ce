/**
 * The body of POST /replace: an item of POST /order, and beside it the id of the order that it
 * replaces, as DELETE /order takes it.
 * Rules: docs/protocol.md#replacing-an-order
 *
 * Thread: any. Non-goals: whether that order is there and whose it is.
 */
import { type CancelRefused, parseCancelOrder } from './cancel-parse.ts';
import {
  INVALID_ORDERS,
  type OrderItem,
  type ParsedOrders,
  type ParseRules,
  parseOrder,
} from './order-parse.ts';

interface Replacement {
  readonly ok: true;
  /** 32 bytes: the order that is cancelled. */
  readonly id: Uint8Array;
  /** The order that is placed: one. */
  readonly items: readonly OrderItem[];
}

type ReplaceRefused = CancelRefused | (ParsedOrders & { readonly ok: false });

/** The cancel is checked first, then the order; the first fault refuses the request. */
export function parseReplace(body: Uint8Array, rules: ParseRules): Replacement | ReplaceRefused {
  const canceled = parseCancelOrder(body);
  if (!canceled.ok) return canceled;
  const [id] = canceled.ids;
  if (id === undefined) {
    return { ok: false, error: INVALID_ORDERS, detail: 'orderID must be an order id' };
  }
  const placed = parseOrder(body, rules);
  return placed.ok ? { ok: true, id, items: placed.items } : placed;
}
