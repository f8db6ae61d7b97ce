/**
 * Fills that are settled, orders that expire, markets that end and delayed orders, in the order of their times; proposed payouts begin after
 * them. Rules: docs/protocol.md#end-of-a-market, docs/protocol.md#taker-delay, docs/ledger.md#proposals
 */
import type { EngineContext } from './context.ts';
import { firstAgentEnd } from './ledger/agents.ts';
import { nextDeadline } from './ledger/reads.ts';
import { endMarket } from './markets/ends.ts';
import { closeOrder } from './orders/orders.ts';
import { firstSettlement, settleDue } from './orders/unsettled.ts';
import { DELAYED_STEP_MAX, UNSETTLED_STEP_MAX } from './tables/capacities.ts';
import { EndReason } from './tables/codes.ts';
import type { Tables } from './tables/tables.ts';
import type { OrderRow } from './tables/units.ts';

const MS = 1_000;

/**
 * Settles fills, expires orders, ends markets and places delayed orders up to the time of the batch, at one time in this
 * order. Fills and delayed orders beyond what one batch takes wait for the next.
 */
export function endDue(context: EngineContext, placeDelayed: (row: OrderRow) => void): void {
  const { delayed, ending, expiring } = context.t;
  let left = DELAYED_STEP_MAX;
  let fills = UNSETTLED_STEP_MAX;
  for (;;) {
    const row = expiring.first();
    const market = ending.first();
    const expiry = row === 0 ? Number.POSITIVE_INFINITY : expiring.firstTime() * MS;
    const end = market === 0 ? Number.POSITIVE_INFINITY : ending.firstTime();
    const taker = left === 0 ? 0 : delayed.first();
    const due = taker === 0 ? Number.POSITIVE_INFINITY : delayed.firstTime();
    const settled = fills === 0 ? 0 : firstSettlement(context.t);
    if (settled !== 0 && settled <= Math.min(context.time, expiry, end, due)) {
      fills -= settleDue(context, Math.min(context.time, expiry, end, due), fills);
    } else if (row !== 0 && expiry <= context.time && expiry <= end && expiry <= due) {
      context.changes += 1;
      closeOrder(context, row, EndReason.expired);
    } else if (market !== 0 && end <= context.time && end <= due) {
      context.changes += 1;
      endMarket(context, market);
    } else if (taker !== 0 && due <= context.time) {
      left -= 1;
      placeDelayed(taker);
    } else {
      return;
    }
  }
}

/** Unix milliseconds of the first settlement, end of an agent, expiry, end of a market, delayed order or deadline of a payout; 0 = none. */
export function earliestDue(t: Tables): number {
  let first = t.expiring.firstTime() * MS;
  first = earlier(first, t.ending.firstTime());
  first = earlier(first, t.delayed.firstTime());
  first = earlier(first, firstSettlement(t));
  first = earlier(first, firstAgentEnd(t));
  return earlier(first, nextDeadline(t));
}

/** The earlier of two times; 0 = none. */
function earlier(first: number, time: number): number {
  return first === 0 || (time !== 0 && time < first) ? time : first;
}
