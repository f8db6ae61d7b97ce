/**
 * Fills whose later figures are open: the middle of the source some time after them, and the outcome of their market.
 * Formulas: docs/guides/paper-and-backtests.md#figures-of-a-backtest
 */
import type { TradedMarket } from './markets.ts';
import { HORIZONS_MS, MID_PARTS, type TradeTally } from './tally.ts';

/** Marks before the first open one that are kept, so that removing them is rare. */
const DONE_MAX = 1_024;

export interface FillMark {
  readonly time: number;
  readonly market: TradedMarket;
  /** 1 = the first outcome was bought or the second sold; -1 = the other way round. */
  readonly direction: 1 | -1;
  /** Micro-shares. */
  readonly size: number;
  /** Probability of the first outcome that the fill stands for. */
  readonly probability: number;
  /** Middle of the source at the fill, in MID_PARTS. */
  readonly mids: number;
  readonly tallies: readonly TradeTally[];
}

export class FillMarks {
  private readonly marks: FillMark[] = [];
  /** First open mark by horizon. */
  private readonly open: number[] = HORIZONS_MS.map(() => 0);
  private readonly undecided = new Map<TradedMarket, FillMark[]>();
  /** Time before which nothing is due. */
  private next = Number.POSITIVE_INFINITY;

  /** Adds a fill; its time is not before that of the last one. */
  add(mark: FillMark): void {
    this.marks.push(mark);
    this.next = Math.min(this.next, mark.time + HORIZONS_MS[0]);
    const ofMarket = this.undecided.get(mark.market);
    if (ofMarket === undefined) this.undecided.set(mark.market, [mark]);
    else ofMarket.push(mark);
  }

  /** Measures what is due before a time, by the middles that hold until then. */
  pass(time: number): void {
    if (time <= this.next) return;
    const { marks, open } = this;
    this.next = Number.POSITIVE_INFINITY;
    for (const [horizon, ms] of HORIZONS_MS.entries()) {
      let at = open[horizon]!;
      for (; at < marks.length && marks[at]!.time + ms < time; at++) measure(marks[at]!, horizon);
      open[horizon] = at;
      if (at < marks.length) this.next = Math.min(this.next, marks[at]!.time + ms);
    }
    const done = open.at(-1)!;
    if (done <= DONE_MAX) return;
    marks.splice(0, done);
    for (const horizon of open.keys()) open[horizon]! -= done;
  }

  /** Scores the fills of a market whose outcome is known: 1 = the first one, 0 = the second. */
  decide(market: TradedMarket, outcome: 0 | 1): void {
    for (const { mids, probability, size, tallies } of this.undecided.get(market) ?? []) {
      for (const tally of tallies) {
        tally.brier += size * (probability - outcome) ** 2;
        tally.marketBrier += size * (mids / MID_PARTS - outcome) ** 2;
        tally.decided += size;
      }
    }
    this.undecided.delete(market);
  }
}

function measure({ direction, market, mids, size, tallies }: FillMark, horizon: number): void {
  for (const tally of tallies) {
    tally.moves[horizon]! += size * direction * (mids - market.mids);
    tally.moved[horizon]! += size;
  }
}
