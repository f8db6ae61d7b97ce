/**
 * How clients are told the state of an order: three statuses (GAPS 4.3), and the reason of its end
 * beside them.
 *
 * Thread: any.
 */
import { EndReason, Status } from '../../engine/layout.ts';

/** By Status; an expired order counts as cancelled, and its reason says more. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  [Status.live]: 'live',
  [Status.matched]: 'matched',
  [Status.canceled]: 'canceled',
  [Status.expired]: 'canceled',
};

/** By EndReason. */
const REASON_TEXTS: Readonly<Record<number, string>> = {
  [EndReason.none]: '',
  [EndReason.filled]: 'filled',
  [EndReason.fakRemainder]: 'fak_remainder',
  [EndReason.canceled]: 'canceled',
  [EndReason.expired]: 'expired',
  [EndReason.marketEnded]: 'market_ended',
  [EndReason.tickChange]: 'tick_change',
  [EndReason.selfTrade]: 'self_trade',
};

export function statusText(status: number): string {
  return STATUS_TEXTS[status] ?? '';
}

/** '' while the order is open. */
export function reasonText(reason: number): string {
  return REASON_TEXTS[reason] ?? '';
}
