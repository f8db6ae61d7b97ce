/**
 * The stream `markets`: new_market for each market that is registered while the node runs.
 *
 * Markets are published a few at a time: a catalog of thousands would block the thread, and exceed
 * what may wait for a reader.
 *
 * Thread: the I/O thread.
 */
import { marketCount } from '../../engine/reads.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { Publish } from '../http/sockets.ts';
import { tokensOfMarket } from '../market-data/find.ts';
import type { MarketStory } from '../market-data/texts.ts';
import { newMarketFrame } from './market-frames.ts';
import type { Names } from './names.ts';
import { envelope, Numbering } from './numbering.ts';
import { topics } from './topics.ts';

export interface NewMarketsParts {
  readonly names: Names;
  readonly publish: Publish;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The name of this run of the node. */
  readonly run: string;
}

/** The catalog's fields of a market; undefined = unknown, and the market is not published. */
type Story = (condition: string) => MarketStory | undefined;

/** About 2 KB each: a megabyte a second. */
const AT_ONCE = 16;
const PAUSE_MS = 25;

export class NewMarkets {
  private readonly o: NewMarketsParts;
  private readonly streams: Numbering;
  /** Markets up to this row existed at the start, or were published. */
  private publishedTo: number;
  /** The current work: publish markets up to `last`. */
  private task: { readonly story: Story; readonly last: number } | undefined;

  constructor(parts: NewMarketsParts) {
    this.o = parts;
    this.streams = new Numbering(parts.run);
    this.publishedTo = marketCount(parts.names.t);
  }

  /**
   * Publishes the markets that were registered since the last call, once the catalog knows them.
   */
  announce(story: Story): void {
    const isUnderWay = this.task !== undefined;
    this.task = { story, last: marketCount(this.o.names.t) };
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
    const { names, now, publish } = this.o;
    const condition = names.condition(market);
    const known = story(condition);
    if (known === undefined) return;
    const assets = tokensOfMarket(names.t, market).map((token) => names.token(token).id);
    const head = envelope(this.streams.next('markets'), now());
    publish(topics.markets, newMarketFrame(head, condition, assets, known, now()));
  }
}
