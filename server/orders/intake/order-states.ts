/**
 * The state of an order in answers and frames: three statuses, and the close reason beside them.
 * Rules: docs/protocol.md#order-states
 *
 * Thread: any.
 */
import { OrderType } from '../../../engine/commands.ts';
import { EndReason, Status } from '../../../engine/tables/codes.ts';

/** Texts of Status; an expired order counts as cancelled, and its close reason says more. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  [Status.live]: 'live',
  [Status.matched]: 'matched',
  [Status.canceled]: 'canceled',
  [Status.expired]: 'canceled',
};

/** Text of an order that waits for its taker delay. */
export const DELAYED_TEXT = 'delayed';

export const ORDER_TYPE_TEXTS: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(OrderType).map(([name, type]) => [type, name]),
);

const REASON_TEXTS: ReadonlyMap<number, string> = new Map(
  Object.entries(EndReason).map(([name, reason]) => [
    reason,
    reason === EndReason.none ? '' : name,
  ]),
);

export function statusText(status: number): string {
  return STATUS_TEXTS[status] ?? '';
}

/** '' while the order is open. */
export function reasonText(reason: number): string {
  return REASON_TEXTS.get(reason) ?? '';
}
