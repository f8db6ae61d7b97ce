/**
 * Chances of the outcomes of the demo, one for each book. They wander and stay consistent within an event: those of
 * exclusive outcomes add up to 1, and a higher threshold is never more probable than a lower one.
 *
 * Pure; any thread. The same seed gives the same walk. The numbers are a demo's opinions and no amounts: they
 * become whole ticks before anything is ordered.
 */
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';

/** A book that is quoted: of a pair the first outcome, whose orders show in the other one's book too. */
export interface DemoBook {
  readonly market: CatalogMarket;
  readonly outcome: number;
}

/** Size of a step, in the logarithm of a weight. */
const VOLATILITY = 0.02;
/** Share of the way back to its home that a weight takes in a step, so that nothing becomes certain. */
const REVERSION = 0.01;
/** A chance that is read from a book is not less than this. */
const CHANCE_MIN = 0.005;

export class EventChances {
  readonly books: readonly DemoBook[];
  /** True: exactly one of the outcomes happens. False: the books are thresholds, or a single question. */
  private readonly isExclusive: boolean;
  /** Logarithms of the weights of what may happen; where it is not exclusive, the first one is "nothing". */
  private readonly home: readonly number[];
  private weights: number[];

  private constructor(markets: readonly CatalogMarket[], number: number) {
    this.isExclusive = markets.some(
      ({ negRisk, tokenIds }) => (negRisk && markets.length > 1) || tokenIds.length > 2,
    );
    this.books = markets.flatMap((market) =>
      market.tokenIds.length === 2
        ? [{ market, outcome: 0 }]
        : market.tokenIds.map((_, outcome) => ({ market, outcome })),
    );
    const count = this.books.length + (this.isExclusive ? 0 : 1);
    this.home = Array.from({ length: count }, (_, i) =>
      Math.log(25 + ((number * 13 + i * 23) % 50)),
    );
    this.weights = [...this.home];
  }

  static all(markets: readonly CatalogMarket[]): EventChances[] {
    const ids = [...new Set(markets.map(({ eventId }) => eventId))];
    const of = (id: string) => markets.filter(({ eventId }) => eventId === id);
    return ids.map((id, number) => new EventChances(of(id), number));
  }

  chances(): number[] {
    const parts = this.weights.map(Math.exp);
    const sum = parts.reduce((total, part) => total + part, 0);
    if (this.isExclusive) return parts.map((part) => part / sum);
    // What is above the last threshold is above all of them.
    return this.books.map((_, i) => parts.slice(i + 1).reduce((a, b) => a + b, 0) / sum);
  }

  follow(middles: readonly number[]): void {
    const { isExclusive } = this;
    const parts = isExclusive ? middles : [1, ...middles].map((c, i) => c - (middles[i] ?? 0));
    this.weights = parts.map((part) => Math.log(Math.max(part, CHANCE_MIN)));
  }

  step(random: () => number): void {
    this.weights = this.weights.map((weight, i) => {
      // Close enough to a normal distribution.
      const noise = (random() + random() + random() - 1.5) * 2;
      return weight + REVERSION * (this.home[i]! - weight) + VOLATILITY * noise;
    });
  }
}
