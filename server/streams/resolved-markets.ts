/**
 * Stream `resolved`: market_resolved for each market whose holders have all been paid.
 *
 * Thread: the I/O thread.
 */
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { ResolutionState } from '../../engine/tables/codes.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { Publish } from '../http/sockets.ts';
import { tokensOfMarket } from '../market-data/find.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import { marketResolvedFrame } from './market-frames.ts';
import type { Names } from './names.ts';
import { envelope, Stream } from './numbering.ts';
import { topics } from './topics.ts';

interface ResolvedMarketsParts {
  readonly names: Names;
  readonly publish: Publish;
  readonly now: () => number;
  readonly venue: string;
  readonly batch: number;
}

export class ResolvedMarkets {
  private readonly parts: ResolvedMarketsParts;
  private readonly stream: Stream;

  constructor(parts: ResolvedMarketsParts) {
    this.parts = parts;
    this.stream = new Stream(`resolved:${parts.venue}`, parts.batch);
  }

  flushed({ events, sequence, time }: Pick<AppliedBatch, 'events' | 'sequence' | 'time'>): void {
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      if (events[at] !== EventKind.resolved) continue;
      if (events[at + Event.state] !== ResolutionState.resolved) continue;
      this.publishMarket(events[at + Event.market]! as MarketRow, sequence, time);
    }
  }

  private publishMarket(market: MarketRow, batch: number, time: number): void {
    const { names, now, publish } = this.parts;
    // A resolution that is done never changes again.
    const { isVoid, sum, weights } = resolutionOf(names.tables, market)!;
    const tokens = tokensOfMarket(names.tables, market).map((token) => names.token(token));
    const winner = isVoid ? undefined : tokens[weights.indexOf(sum)];
    const head = envelope(this.stream.next(batch), now());
    const resolved = {
      id: names.condition(market),
      market: names.condition(market),
      assets_ids: tokens.map(({ id }) => id),
      outcomes: tokens.map((token) => names.outcome(token)),
      payouts: weights,
      payout_sum: sum,
      is_void: isVoid,
      winning_asset_id: winner?.id ?? '',
      winning_outcome: winner === undefined ? '' : names.outcome(winner),
    };
    publish(topics.markets, marketResolvedFrame(head, resolved, time));
  }
}
