/**
 * Stream `markets`: new_market for each market that is registered while the node runs.
 *
 * Markets are published a few at a time: a catalog of thousands would block the thread, and exceed the bound of
 * waiting bytes.
 *
 * Thread: the I/O thread.
 */
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { marketCount, marketFeeBps } from '../../engine/reads.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { Publish } from '../http/sockets.ts';
import { tokensOfMarket } from '../market-data/find.ts';
import type { MarketLifecycle } from '../market-data/texts.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import { newMarketFrame } from './market-frames.ts';
import type { Names } from './names.ts';
import { envelope, Stream } from './numbering.ts';
import { topics } from './topics.ts';

export interface NewMarketsParts {
  readonly names: Names;
  readonly publish: Publish;
  readonly now: () => number;
  readonly venue: string;
  readonly batch: number;
}

/** Catalog fields of a market; undefined = unknown, and the market is not published. */
type Story = (condition: string) => MarketLifecycle | undefined;

/** About 2 KB each: a megabyte a second. */
const AT_ONCE = 16;
const PAUSE_MS = 25;

export class NewMarkets {
  private readonly parts: NewMarketsParts;
  private readonly stream: Stream;
  private batch: number;
  private readonly registered = new Map<MarketRow, number>();
  /** Markets up to this row existed at the start, or were published. */
  private publishedTo: number;
  private task: { readonly story: Story; readonly last: number } | undefined;

  constructor(parts: NewMarketsParts) {
    this.parts = parts;
    this.stream = new Stream(`markets:${parts.venue}`, parts.batch);
    this.batch = parts.batch;
    this.publishedTo = marketCount(parts.names.tables);
  }

  /** Records the markets that a batch registered. Its events are complete. */
  flushed({ events, sequence }: Pick<AppliedBatch, 'events' | 'sequence'>): void {
    this.batch = sequence;
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      if (events[at] !== EventKind.market || events[at + Event.isNew] !== 1) continue;
      this.registered.set(events[at + Event.market]! as MarketRow, sequence);
    }
  }

  /** Records the markets of a batch whose events are incomplete. */
  lost(batch: number): void {
    this.batch = batch;
    for (let row = this.publishedTo + 1; row <= marketCount(this.parts.names.tables); row++) {
      const market = row as MarketRow;
      if (!this.registered.has(market)) this.registered.set(market, batch);
    }
  }

  /** Publishes the markets that were registered since the last call, once the catalog has them. */
  announce(story: Story): void {
    const isUnderWay = this.task !== undefined;
    this.task = { story, last: marketCount(this.parts.names.tables) };
    if (!isUnderWay) this.publishSome();
  }

  private publishSome(): void {
    const { last, story } = this.task!;
    const end = Math.min(last, this.publishedTo + AT_ONCE);
    while (this.publishedTo < end) {
      this.publishedTo += 1;
      this.publishMarket(this.publishedTo as MarketRow, story);
    }
    if (end === last) this.task = undefined;
    else setTimeout(() => this.publishSome(), PAUSE_MS).unref();
  }

  private publishMarket(market: MarketRow, story: Story): void {
    const { names, now, publish } = this.parts;
    const condition = names.condition(market);
    const batch = this.registered.get(market) ?? this.batch;
    this.registered.delete(market);
    const known = story(condition);
    if (known === undefined) return;
    const assets = tokensOfMarket(names.tables, market).map((token) => names.token(token).id);
    const fee = marketFeeBps(names.tables, market);
    const head = envelope(this.stream.next(batch), now());
    publish(topics.markets, newMarketFrame(head, condition, assets, known, fee, now()));
  }
}
