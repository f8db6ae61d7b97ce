/**
 * Finds the resolutions that durable batches have begun at the deadlines of their proposals: nobody waits for them, so
 * the catalog has to be told.
 *
 * Thread: the I/O thread.
 */
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { begunAtDeadline, ledgerIsOn, marketsWithPayouts } from '../../engine/ledger/reads.ts';
import { conditionAt } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';

/** Condition ids of markets of which a catalog may have something to say: that they resolve, or are proposed. */
export function conditionsWithPayouts(t: Tables): string[] {
  return ledgerIsOn(t) ? marketsWithPayouts(t).map((market) => conditionOf(t, market)) : [];
}

function conditionOf({ marketI }: Tables, market: MarketRow): string {
  return wordsToHex(marketI, conditionAt(market), ID_WORDS);
}

export class DueResolutions {
  private readonly t: Tables;
  /** How many the batches that are durable have begun. */
  private found: number;

  constructor(t: Tables) {
    this.t = t;
    this.found = begunAtDeadline(t);
  }

  /** Condition ids of markets whose resolutions a batch may have begun so. */
  of({ events, isWhole }: Pick<AppliedBatch, 'events' | 'isWhole'>): string[] {
    const { t } = this;
    const conditions: string[] = [];
    // The engine may be some batches ahead, so only then are events looked at.
    if (begunAtDeadline(t) === this.found) return conditions;
    if (!isWhole) {
      this.found = begunAtDeadline(t);
      return conditionsWithPayouts(t);
    }
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      if (events[at] !== EventKind.resolved || events[at + Event.isAtDeadline] === 0) continue;
      conditions.push(conditionOf(t, events[at + Event.market]! as MarketRow));
    }
    this.found += conditions.length;
    return conditions;
  }
}
