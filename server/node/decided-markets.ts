/**
 * Edits the catalog for markets that a durable batch has decided: payouts that began at the deadline of their
 * proposal, and trading ends that were reached. No request waits for either.
 *
 * Thread: I/O. Not here: the decision, which is the engine's, and the edit (server/catalog).
 */
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { begunAtDeadline, ledgerIsOn, marketsWithPayouts } from '../../engine/ledger/reads.ts';
import { conditionAt } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { CatalogRepairs } from '../catalog/edits/catalog-repairs.ts';
import { ReachedEnds } from '../catalog/edits/reached-ends.ts';
import type { Log } from '../common/logger.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';

export function conditionsWithPayouts(tables: Tables): string[] {
  if (!ledgerIsOn(tables)) return [];
  return marketsWithPayouts(tables).map((market) => conditionOf(tables, market));
}

function conditionOf({ marketI }: Tables, market: MarketRow): string {
  return wordsToHex(marketI, conditionAt(market), ID_WORDS);
}

export class DecidedMarkets {
  private readonly tables: Tables;
  private readonly leads: () => boolean;
  private readonly log: Log;
  private readonly ends: ReachedEnds;
  /** Payouts that the durable batches have begun at deadlines. */
  private begun: number;
  /** Conditions whose payouts began before the catalog was open. */
  private waiting: string[] = [];
  private repairs: CatalogRepairs | undefined;

  constructor(tables: Tables, leads: () => boolean, log: Log) {
    this.tables = tables;
    this.leads = leads;
    this.log = log;
    this.ends = new ReachedEnds(tables);
    this.begun = begunAtDeadline(tables);
  }

  committed(batch: AppliedBatch): void {
    const conditions = this.begunBy(batch);
    if (conditions.length > 0 && this.leads()) {
      for (const condition of conditions) this.log('info', `${condition} pays as it was proposed`);
      if (this.repairs === undefined) this.waiting.push(...conditions);
      else this.repairs.add(conditions);
    }
    if (this.repairs === undefined) return;
    const ended = this.ends.of(batch);
    if (ended.length > 0 && this.leads()) this.repairs.addEnds(ended);
  }

  /** Forwards later decisions to `repairs`. Returns a function that forwards the earlier ones. */
  open(repairs: CatalogRepairs): () => void {
    this.repairs = repairs;
    const missed = this.ends.missed();
    return () => {
      repairs.addEnds(missed);
      repairs.add(this.waiting.splice(0));
    };
  }

  private begunBy({ events, isWhole }: Pick<AppliedBatch, 'events' | 'isWhole'>): string[] {
    const { tables } = this;
    // The engine may be some batches ahead, so events are read only when the count differs.
    if (begunAtDeadline(tables) === this.begun) return [];
    if (!isWhole) {
      this.begun = begunAtDeadline(tables);
      return conditionsWithPayouts(tables);
    }
    const conditions: string[] = [];
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      if (events[at] !== EventKind.resolved || events[at + Event.isAtDeadline] === 0) continue;
      conditions.push(conditionOf(tables, events[at + Event.market]! as MarketRow));
    }
    this.begun += conditions.length;
    return conditions;
  }
}
