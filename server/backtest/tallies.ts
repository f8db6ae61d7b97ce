/** Tallies of a run: of all, and of each day in UTC. Those of markets are members of the markets. */
import type { TradedMarket } from './markets.ts';
import { TradeTally } from './tally.ts';

const DAY_MS = 86_400_000;

export class Tallies {
  readonly total = new TradeTally();
  private readonly days = new Map<number, TradeTally>();

  /** Tallies in which something of a market counts that happened at a time. */
  of(market: TradedMarket, time: number): readonly [TradeTally, TradeTally, TradeTally] {
    return [this.total, market.tally, this.day(Math.floor(time / DAY_MS))];
  }

  /** @param day as in 2026-11-23 */
  ofDay(day: string): TradeTally {
    return this.day(Date.parse(day) / DAY_MS);
  }

  /** Counts a span of time in which own orders stood at the best price of so many sides. */
  span(market: TradedMarket, from: number, to: number, sides: number): void {
    for (let start = from; start < to; ) {
      const end = Math.min(to, (Math.floor(start / DAY_MS) + 1) * DAY_MS);
      for (const tally of this.of(market, start)) {
        tally.quoted += end - start;
        tally.atBest += ((end - start) * sides) / 2;
      }
      start = end;
    }
  }

  private day(day: number): TradeTally {
    let tally = this.days.get(day);
    if (tally === undefined) {
      tally = new TradeTally();
      this.days.set(day, tally);
    }
    return tally;
  }
}
