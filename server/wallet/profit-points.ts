/**
 * Profit and volume of a wallet over time, from the sums that the projection keeps for each hour. Rules:
 * docs/protocol.md#profit-and-volume
 *
 * Thread: I/O.
 */
import { DAY_MS, HOUR_MS } from '../../storage/projection/periods.ts';
import { Board } from '../../storage/projection/ranks.ts';
import type { ResultsReader } from '../../storage/projection/reader.ts';
import { Volume } from '../../storage/projection/results.ts';
import type { Measure, Point } from '../../storage/projection/scores.ts';
import { nextIteration } from '../common/event-loop.ts';

/** Sums since the first trade. */
export interface ProfitPoint {
  /** Unix milliseconds. */
  readonly time: number;
  /** Micro-units. */
  readonly profit: bigint;
  readonly volume: VolumeSums;
}

/** Micro-shares and micro-units of both sides, and the number of trades. */
export interface VolumeSums {
  readonly shares: bigint;
  readonly collateral: bigint;
  readonly trades: bigint;
}

const HOUR_END = 2 ** 32 - 1;
const HOURS_PER_TURN = 512;
/** Points of an answer; the newest ones, if there are more. */
const POINTS_MAX = 10_000;

export class ProfitPoints {
  private readonly results: ResultsReader;
  private readonly now: () => number;

  /** @param now market time, unix milliseconds */
  constructor(results: ResultsReader, now: () => number) {
    this.results = results;
    this.now = now;
  }

  /** Start of the hour of the first trade, unix milliseconds; undefined = none. */
  firstTrade(account: number): number | undefined {
    const [first] = this.results.points(Board.volume, account, 0, HOUR_END, 1);
    return first && first.hour * HOUR_MS;
  }

  /** The newest point, at the end of its hour or now; undefined without a trade. */
  newest(account: number): ProfitPoint | undefined {
    const profit = this.results.pointBefore(Board.profit, account, HOUR_END);
    const volume = this.results.pointBefore(Board.volume, account, HOUR_END);
    if (profit === undefined && volume === undefined) return undefined;
    const hour = Math.max(profit?.hour ?? 0, volume?.hour ?? 0);
    const time = Math.min(this.now(), (hour + 1) * HOUR_MS);
    return { time, profit: profit?.sums[0] ?? 0n, volume: volumeOf(volume?.sums) };
  }

  /**
   * Points at multiples of a step, and one now, in order; none without a trade.
   * @param length milliseconds before now; Infinity = from the first change on
   * @param step milliseconds, whole hours
   */
  async series(account: number, length: number, step: number): Promise<ProfitPoint[]> {
    const first = this.firstChange(account);
    if (first === undefined) return [];
    const now = this.now();
    const start = Math.max(now - length, first, now - (POINTS_MAX - 2) * step);
    const profits = await this.sumsAt(Board.profit, account, start, now, step);
    const volumes = await this.sumsAt(Board.volume, account, start, now, step);
    return times(start, now, step).map((time, i) => ({
      time,
      profit: profits[i]?.[0] ?? 0n,
      volume: volumeOf(volumes[i]),
    }));
  }

  /**
   * Volume of whole days of UTC.
   * @param from unix milliseconds within the first day; 0 = all before
   * @param to unix milliseconds within the last day; 0 = all after
   */
  volume(account: number, from: number, to: number): VolumeSums {
    const hourOf = (day: number): number => (day * DAY_MS) / HOUR_MS;
    const start = hourOf(Math.floor(from / DAY_MS));
    const end = to === 0 ? HOUR_END : hourOf(Math.floor(to / DAY_MS) + 1);
    if (end <= start) return volumeOf(undefined);
    const at = (hour: number) =>
      volumeOf(this.results.pointBefore(Board.volume, account, Math.min(hour, HOUR_END))?.sums);
    const [before, after] = [at(start), at(end)];
    return {
      shares: after.shares - before.shares,
      collateral: after.collateral - before.collateral,
      trades: after.trades - before.trades,
    };
  }

  private firstChange(account: number): number | undefined {
    const firsts = [Board.profit, Board.volume].flatMap((measure) =>
      this.results.points(measure, account, 0, HOUR_END, 1).map(({ hour }) => hour * HOUR_MS),
    );
    return firsts.length === 0 ? undefined : Math.min(...firsts);
  }

  /** Sums of a wallet at each of the times. */
  private async sumsAt(
    measure: Measure,
    account: number,
    start: number,
    now: number,
    step: number,
  ): Promise<(readonly bigint[] | undefined)[]> {
    const ends = times(start, now, step);
    const found: (readonly bigint[] | undefined)[] = [];
    let sums = this.results.pointBefore(measure, account, Math.floor(ends[0]! / HOUR_MS))?.sums;
    let from = Math.floor(ends[0]! / HOUR_MS);
    for (;;) {
      const piece: Point[] = this.results.points(measure, account, from, HOUR_END, HOURS_PER_TURN);
      for (const point of piece) {
        while (found.length < ends.length - 1 && ends[found.length]! <= point.hour * HOUR_MS) {
          found.push(sums);
        }
        sums = point.sums;
      }
      if (piece.length < HOURS_PER_TURN) break;
      from = piece.at(-1)!.hour + 1;
      await nextIteration();
    }
    while (found.length < ends.length) found.push(sums);
    return found;
  }
}

/** Multiples of a step from the last one before `start` on, and `now`. */
function times(start: number, now: number, step: number): number[] {
  const found: number[] = [];
  for (let at = Math.floor(start / step) * step; at < now; at += step) found.push(at);
  return [...found, now];
}

function volumeOf(sums: readonly bigint[] | undefined): VolumeSums {
  const at = (word: number): bigint => sums?.[word] ?? 0n;
  return {
    shares: at(Volume.shares),
    collateral: at(Volume.collateral),
    trades: at(Volume.trades),
  };
}
