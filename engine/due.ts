/**
 * Orders that expire and markets that end, in the order of their times; proposed payouts begin after them. Rules:
 * docs/protocol.md#end-of-a-market, docs/ledger.md#proposals
 */
import type { EngineContext } from './context.ts';
import { nextDeadline } from './ledger/reads.ts';
import { endMarket } from './markets/ends.ts';
import { closeOrder } from './orders/orders.ts';
import { EndReason } from './tables/codes.ts';
import type { Tables } from './tables/tables.ts';

const MS = 1_000;

/** Expires orders and ends markets up to the time of the batch. At one time orders expire first. */
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

/** Unix milliseconds of the first expiry, end of a market or deadline of a payout; 0 = none. */
export function earliestDue(t: Tables): number {
  const times = [t.expiring.firstTime() * MS, t.ending.firstTime(), nextDeadline(t)];
  return times.reduce((first, time) =>
    first === 0 || (time !== 0 && time < first) ? time : first,
  );
}
