/**
 * What falls due as time passes: orders expire and markets end, in the order of their times.
 * Rules: docs/protocol.md#end-of-a-market
 */
import type { EngineContext } from './context.ts';
import { endMarket } from './markets/ends.ts';
import { closeOrder } from './orders/orders.ts';
import { EndReason } from './tables/codes.ts';
import type { Tables } from './tables/tables.ts';

const MS = 1_000;

/** Expires orders and ends markets whose time is that of the batch or earlier; at one time orders expire first. */
export function endDue(context: EngineContext): void {
  const { ending, expiring } = context.t;
  for (;;) {
    const row = expiring.first();
    const market = ending.first();
    const expiry = row === 0 ? Number.POSITIVE_INFINITY : expiring.firstTime() * MS;
    const end = market === 0 ? Number.POSITIVE_INFINITY : ending.firstTime();
    if (row !== 0 && expiry <= context.time && expiry <= end) {
      context.changes += 1;
      closeOrder(context, row, EndReason.expired);
    } else if (market !== 0 && end <= context.time) {
      context.changes += 1;
      endMarket(context, market);
    } else {
      return;
    }
  }
}

/** Unix milliseconds of the first order that expires or market that ends; 0 = there is none. */
export function earliestDue({ ending, expiring }: Tables): number {
  const expiry = expiring.firstTime() * MS;
  const end = ending.firstTime();
  if (expiry === 0 || end === 0) return expiry + end;
  return Math.min(expiry, end);
}
