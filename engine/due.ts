/** What happens by itself in the first batch whose time has come: orders expire, and proposed payouts begin. */
import { nextDeadline } from './ledger/reads.ts';
import { earliestExpiry } from './orders/expiry.ts';
import type { Tables } from './tables/tables.ts';

const MS = 1_000;

/** Unix milliseconds of the next of them; 0 = there is none. */
export function earliestDue(t: Tables): number {
  const expiry = earliestExpiry(t) * MS;
  const deadline = nextDeadline(t);
  if (expiry === 0 || deadline === 0) return expiry + deadline;
  return Math.min(expiry, deadline);
}
