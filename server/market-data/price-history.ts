/**
 * Prices of tokens over time: the projection on disk (storage/projection/prices.ts), overlaid with the minutes of
 * newer fills in memory. The last trade of a bucket counts, so a fill in both does no harm. The fills in memory reach
 * without a gap from a projected one to the newest.
 *
 * Thread: I/O. Non-goals: text (history-routes.ts).
 */
import { assert } from '../../engine/book/matching.ts';
import type { FillRows } from '../../engine/reads.ts';
import type { FillRow, TokenRow } from '../../engine/tables/units.ts';
import type { Projections } from '../../storage/projection/environment.ts';
import {
  type Prices,
  STEP_MINUTES,
  type Step,
  TokenMinutes,
} from '../../storage/projection/prices.ts';
import { readRows } from '../../storage/projection/reader.ts';

interface Recent {
  readonly from: number;
  readonly tokens: TokenMinutes;
}

export class PriceHistory {
  private readonly projections: Projections | undefined;
  private older: Recent;
  private newer: Recent;

  constructor(projections: Projections | undefined, from: number) {
    this.projections = projections;
    this.older = { from, tokens: new TokenMinutes() };
    this.newer = { from, tokens: new TokenMinutes() };
  }

  add(fills: FillRows, row: FillRow): void {
    this.newer.tokens.addFill(fills, row);
  }

  /**
   * Drops fills that are on disk.
   * @param end fills before it have been added
   */
  forget(end: number): void {
    if (this.newer.from > (this.projections?.position()?.end ?? 0)) return;
    this.older = this.newer;
    this.newer = { from: end, tokens: new TokenMinutes() };
  }

  /**
   * Pips of the buckets [first, last] (counted in steps since 1970): the last trade price in it or before it; 0
   * before the first trade. Throws ProjectionUnready.
   */
  series(token: TokenRow, step: Step, first: number, last: number): Uint16Array {
    assert(first <= last, 'a series has a bucket');
    const out = new Uint16Array(last - first + 1);
    const length = STEP_MINUTES[step];
    let carried = 0;
    const take = (bucket: number, pips: number): void => {
      if (bucket < first) carried = pips;
      else if (bucket <= last) out[bucket - first] = pips;
    };
    this.stored((prices) => prices.series(token, step, first, last, take));
    for (const { tokens } of [this.older, this.newer]) {
      tokens.all.get(token)?.each((minute, pips) => take(Math.floor(minute / length), pips));
    }
    for (let i = 0; i < out.length; i++) {
      if (out[i] === 0) out[i] = carried;
      else carried = out[i]!;
    }
    return out;
  }

  /** Newest trade of a token up to a minute (since 1970); undefined without one. Throws ProjectionUnready. */
  latest(
    token: TokenRow,
    until: number,
  ): { readonly minute: number; readonly pips: number } | undefined {
    let found: { minute: number; pips: number } | undefined;
    const take = (minute: number, pips: number): void => {
      if (minute <= until && minute >= (found?.minute ?? 0)) found = { minute, pips };
    };
    this.stored((prices) => prices.series(token, 0, until, until, take));
    for (const { tokens } of [this.older, this.newer]) tokens.all.get(token)?.each(take);
    return found;
  }

  /** Minute of the token's first trade; undefined without a trade. Throws ProjectionUnready. */
  firstMinute(token: TokenRow): number | undefined {
    return (
      this.stored((prices) => prices.firstMinute(token)) ??
      this.older.tokens.all.get(token)?.first() ??
      this.newer.tokens.all.get(token)?.first()
    );
  }

  private stored<T>(read: (prices: Prices) => T): T | undefined {
    const { from } = this.older;
    if (from === 0 && this.projections?.position() === undefined) return undefined;
    return readRows(
      this.projections,
      ({ end }) => end >= from,
      ({ prices }) => read(prices),
    );
  }
}
