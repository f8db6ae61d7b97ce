/**
 * Prices of tokens over time: what is on disk (storage/projection/prices.ts), and over it the minutes of the
 * fills that are not, or were not a while ago. In a bucket the last trade counts, so a fill that is in both
 * does no harm; the fills in memory reach without a gap from one that is on disk to the newest.
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

/** Fills from `from` on, to where the next ones begin. */
interface Recent {
  readonly from: number;
  readonly tokens: TokenMinutes;
}

export class PriceHistory {
  private readonly projections: Projections | undefined;
  private older: Recent;
  private newer: Recent;

  /** @param from fills before it are on disk */
  constructor(projections: Projections | undefined, from: number) {
    this.projections = projections;
    this.older = { from, tokens: new TokenMinutes() };
    this.newer = { from, tokens: new TokenMinutes() };
  }

  /** A fill, which lies in this row; fills come in the order of time. */
  add(fills: FillRows, row: FillRow): void {
    this.newer.tokens.addFill(fills, row);
  }

  /** Forgets fills that are on disk. @param end fills before it have been added */
  forget(end: number): void {
    if (this.newer.from > (this.projections?.position()?.end ?? 0)) return;
    this.older = this.newer;
    this.newer = { from: end, tokens: new TokenMinutes() };
  }

  /**
   * Pips of the buckets [first, last] (counted in steps since 1970), each the last trade price in it
   * or before it; 0 = there was none yet. Throws ProjectionUnready.
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

  /** Minute of the token's first trade; undefined = never traded. Throws ProjectionUnready. */
  firstMinute(token: TokenRow): number | undefined {
    return (
      this.stored((prices) => prices.firstMinute(token)) ??
      this.older.tokens.all.get(token)?.first() ??
      this.newer.tokens.all.get(token)?.first()
    );
  }

  /** What is on disk; undefined = all fills are in memory, and the disk is not to be looked at. */
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
