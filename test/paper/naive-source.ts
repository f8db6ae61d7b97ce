/**
 * The source of a recording for the proof: written apart from engine/paper, by maps and full
 * searches. It has the source's offers at each price of the first outcome, and the parts that paper
 * orders took.
 */

interface LevelText {
  readonly price: string;
  readonly size: string;
  readonly side?: string;
  readonly asset_id?: string;
}

/** Messages of this project and of public venues, without checks. */
export type MarketMessage = {
  readonly event_type: string;
  readonly timestamp: string;
  readonly asset_id?: string;
  readonly bids?: readonly LevelText[];
  readonly asks?: readonly LevelText[];
  readonly changes?: readonly LevelText[];
  readonly price_changes?: readonly LevelText[];
  readonly [name: string]: unknown;
};

export type Side = 'bid' | 'ask';

/** Micro-shares by `<side> <pips>`. */
export type Sizes = Map<string, number>;

export function nameOf(side: Side, pips: number): string {
  return `${side} ${pips}`;
}

export class NaiveSource {
  /** Newest levels from the source. */
  said: Sizes = new Map();
  /** Offered levels: those of `said` without levels that cross each other. */
  offered: Sizes = new Map();
  /** Parts of offers that paper orders took. */
  readonly taken: Sizes = new Map();
  private readonly asset: string;
  private readonly restores: boolean;

  constructor(asset: string, restores: boolean) {
    this.asset = asset;
    this.restores = restores;
  }

  apply(message: MarketMessage): boolean {
    if (message.event_type === 'book') {
      if (message.asset_id !== this.asset) return false;
      this.said = snapshotOf(message);
    } else if (message.event_type === 'price_change') {
      const changes = (message.changes ?? message.price_changes ?? []).filter(
        ({ asset_id: id = message.asset_id }) => id === this.asset,
      );
      if (changes.length === 0) return false;
      for (const { price, side, size } of changes) {
        this.said.set(nameOf(side === 'BUY' ? 'bid' : 'ask', pipsOf(price)), microOf(size));
      }
    } else {
      return false;
    }
    this.offer();
    return true;
  }

  /** Snapshot that the source would send now. */
  snapshot(timestamp: string): MarketMessage {
    const levels = (side: Side) =>
      [...this.said]
        .filter(([name, size]) => name.startsWith(side) && size > 0)
        .map(([name, size]) => ({
          price: (pipsOfName([name]) / 10_000).toFixed(4),
          size: (size / 1_000_000).toFixed(6),
        }));
    const of = { market: '', asset_id: this.asset, timestamp };
    return { event_type: 'book', ...of, bids: levels('bid'), asks: levels('ask') };
  }

  stands(name: string): number {
    return (this.offered.get(name) ?? 0) - (this.taken.get(name) ?? 0);
  }

  take(name: string, size: number): void {
    this.taken.set(name, (this.taken.get(name) ?? 0) + size);
  }

  private offer(): void {
    const prices = (side: Side): number[] =>
      [...this.said].filter(([name, size]) => name.startsWith(side) && size > 0).map(pipsOfName);
    const bestAsk = Math.min(...prices('ask'));
    const bestBid = Math.max(...prices('bid'));
    const offered: Sizes = new Map();
    for (const [name, size] of this.said) {
      const pips = pipsOfName([name]);
      const isCrossed = name.startsWith('bid') ? pips >= bestAsk : pips <= bestBid;
      if (size > 0 && !isCrossed) offered.set(name, size);
    }
    for (const name of [...this.taken.keys()]) {
      // What changes is there anew; else it depends on the setting.
      if (this.restores || this.offered.get(name) !== offered.get(name)) this.taken.delete(name);
    }
    this.offered = offered;
  }
}

export function snapshotOf({ asks = [], bids = [] }: MarketMessage): Sizes {
  const sizes: Sizes = new Map();
  for (const { price, size } of bids) sizes.set(nameOf('bid', pipsOf(price)), microOf(size));
  for (const { price, size } of asks) sizes.set(nameOf('ask', pipsOf(price)), microOf(size));
  return sizes;
}

function pipsOfName([name]: readonly [string, ...unknown[]]): number {
  return Number(name.split(' ')[1]);
}

function pipsOf(price: string): number {
  return Math.round(Number(price) * 10_000);
}

/** Micro-shares of a size: recordings have at most six decimals. */
function microOf(size: string): number {
  return Math.round(Number(size) * 1_000_000);
}
