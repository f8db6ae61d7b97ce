/**
 * Finds the markets whose end has come, batch by batch, so that the catalog can say so.
 *
 * Thread: the I/O thread. Not here: ends of earlier runs, which the thread that loads a generation finds.
 */
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import {
  conditionAt,
  endsReached,
  hasReachedEnd,
  marketCount,
  marketEnd,
} from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { ReachedEnd } from '../catalog/market-registry.ts';
import { wordsToHex } from '../common/uint256.ts';

/** What a batch did, in the form of engine/events.ts. */
interface DurableBatch {
  readonly events: Int32Array;
  /** False: some events are missing. */
  readonly isWhole: boolean;
}

const NONE: readonly ReachedEnd[] = [];

export class ReachedEnds {
  private readonly t: Tables;
  private readonly known: Set<MarketRow>;

  /** Ends that have come before are known. */
  constructor(t: Tables) {
    this.t = t;
    this.known = new Set(allMarkets(t).filter((market) => hasReachedEnd(t, market)));
  }

  /** Markets that a durable batch has ended. */
  of({ events, isWhole }: DurableBatch): readonly ReachedEnd[] {
    // The tables may be some batches ahead; then there is nothing to find but in those.
    if (endsReached(this.t) === this.known.size) return NONE;
    return this.newOf(isWhole ? changedMarkets(events) : allMarkets(this.t));
  }

  /** Markets that have ended in batches which were not given to `of`. */
  missed(): readonly ReachedEnd[] {
    return this.newOf(allMarkets(this.t));
  }

  private newOf(markets: readonly MarketRow[]): ReachedEnd[] {
    const { known, t } = this;
    const found = markets.filter((market) => !known.has(market) && hasReachedEnd(t, market));
    for (const market of found) known.add(market);
    return found.map((market) => ({
      condition: wordsToHex(t.marketI, conditionAt(market), ID_WORDS),
      end: marketEnd(t, market),
    }));
  }
}

function allMarkets(t: Tables): MarketRow[] {
  return Array.from({ length: marketCount(t) }, (_, i) => (i + 1) as MarketRow);
}

function changedMarkets(events: Int32Array): MarketRow[] {
  const markets: MarketRow[] = [];
  for (let at = 0; at < events.length; at += eventWords(events, at)) {
    if (events[at] === EventKind.market) markets.push(events[at + Event.market]! as MarketRow);
  }
  return markets;
}
