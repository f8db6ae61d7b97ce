/**
 * Sums over orders, fills and time, from which the figures of trading follow: those of a run, of a market, and of a
 * day. Formulas: docs/guides/paper-and-backtests.md#figures-of-a-backtest
 */
import { MICRO, PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import type { TradeFigures } from './result.ts';

/** Parts of a unit in the sum of a best bid and a best ask. */
export const MID_PARTS = 2 * PIPS_PER_UNIT;
/** Milliseconds after a fill at which its adverse selection is measured. */
export const HORIZONS_MS = [1_000, 10_000, 60_000] as const;

export class TradeTally {
  fills = 0;
  makerFills = 0;
  /** Micro-units. */
  turnover = 0;
  fees = 0;
  /** Micro-shares of accepted orders, and of fills. */
  ordered = 0;
  filled = 0;
  /** Sums of shares x move of the middle against the fill, in micro-shares and MID_PARTS, and of shares, by horizon. */
  readonly moves = HORIZONS_MS.map(() => 0);
  readonly moved = HORIZONS_MS.map(() => 0);
  /** Sums of shares x squared error of probability and middle, and of shares, where the outcome is known. */
  brier = 0;
  marketBrier = 0;
  decided = 0;
  /** Milliseconds with an own order at a best price, each side a half; milliseconds since the first order. */
  atBest = 0;
  quoted = 0;

  figures(): TradeFigures {
    const { brier, decided, marketBrier, moved, moves } = this;
    const moveOf = (i: number): number | undefined => ratio(moves[i]! / MID_PARTS, moved[i]!);
    return {
      fills: this.fills,
      makerFills: this.makerFills,
      turnover: this.turnover / MICRO,
      fees: this.fees / MICRO,
      fillRate: ratio(this.filled, this.ordered),
      adverse1s: moveOf(0),
      adverse10s: moveOf(1),
      adverse60s: moveOf(2),
      timeAtBest: ratio(this.atBest, this.quoted),
      brier: ratio(brier, decided),
      brierAdvantage: ratio(marketBrier - brier, decided),
    };
  }
}

function ratio(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}
