/**
 * Markets whose end has come, found batch by batch, so that the catalog can state it.
 *
 * Thread: the I/O thread. Non-goals: ends of earlier runs, which the thread that loads a generation finds.
 */
import { Event, EventKind, eventWords } from '../../../engine/events.ts';
import {
  conditionAt,
  endsReached,
  hasReachedEnd,
  marketCount,
  marketEnd,
} from '../../../engine/reads.ts';
import { ID_WORDS } from '../../../engine/tables/codes.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import type { MarketRow } from '../../../engine/tables/units.ts';
import { wordsToHex } from '../../common/uint256.ts';
import type { ReachedEnd } from '../market-registry.ts';

/** Events of a durable batch, in the form of engine/events.ts. */
interface DurableBatch {
  readonly events: Int32Array;
  readonly isWhole: boolean;
}

const NONE: readonly ReachedEnd[] = [];

export class ReachedEnds {
  private readonly tables: Tables;
  private readonly known: Set<MarketRow>;

  constructor(tables: Tables) {
    this.tables = tables;
    this.known = new Set(allMarkets(tables).filter((market) => hasReachedEnd(tables, market)));
  }

  of({ events, isWhole }: DurableBatch): readonly ReachedEnd[] {
    // The tables may be some batches ahead; then there is nothing to find but in those.
    if (endsReached(this.tables) === this.known.size) return NONE;
    return this.newOf(isWhole ? changedMarkets(events) : allMarkets(this.tables));
  }

  /** Markets that have ended in batches that were not given to `of`. */
  missed(): readonly ReachedEnd[] {
    return this.newOf(allMarkets(this.tables));
  }

  private newOf(markets: readonly MarketRow[]): ReachedEnd[] {
    const { known, tables } = this;
    const found = markets.filter((market) => !known.has(market) && hasReachedEnd(tables, market));
    for (const market of found) known.add(market);
    return found.map((market) => ({
      condition: wordsToHex(tables.marketI, conditionAt(market), ID_WORDS),
      end: marketEnd(tables, market),
    }));
  }
}

function allMarkets(tables: Tables): MarketRow[] {
  return Array.from({ length: marketCount(tables) }, (_, i) => (i + 1) as MarketRow);
}

function changedMarkets(events: Int32Array): MarketRow[] {
  const markets: MarketRow[] = [];
  for (let at = 0; at < events.length; at += eventWords(events, at)) {
    if (events[at] === EventKind.market) markets.push(events[at + Event.market]! as MarketRow);
  }
  return markets;
}
