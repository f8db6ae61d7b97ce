/**
 * Reads of projections for requests. Each call reads the newest state of the disk. A caller that reads in several
 * event-loop iterations gets ProjectionUnready if the rows were removed in between.
 *
 * Thread: I/O.
 */
import type { ProjectedPosition, Projections } from './environment.ts';
import type { Accuracy } from './forecasts.ts';
import type { Period } from './periods.ts';
import type { Positions, WalletPosition } from './positions.ts';
import { DamagedRow } from './projection.ts';
import type { BoardOf, Place, PlacedRow } from './ranks.ts';
import { Board } from './ranks.ts';
import type { Rebate, Rebates } from './rebates.ts';
import type { Results, Season, Win } from './results.ts';
import type { Measure, Point } from './scores.ts';
import type { NumberedEntry } from './statements.ts';

/** Account of entries that are of no wallet. */
const VENUE = 0;

/** The rows are being rebuilt from the fills: try again in some seconds. */
export class ProjectionUnready extends Error {
  override readonly message = 'projections: they are being made again';
}

/** Reads rows if the position is far enough. A damaged row starts a rebuild of all. Throws ProjectionUnready. */
export function readRows<T>(
  projections: Projections | undefined,
  isReady: (position: ProjectedPosition) => boolean,
  read: (projections: Projections) => T,
): T {
  const position = projections?.position();
  if (position === undefined || !isReady(position)) throw new ProjectionUnready();
  try {
    return read(projections!);
  } catch (error) {
    if (!(error instanceof DamagedRow)) throw error;
    projections!.condemn();
    throw new ProjectionUnready();
  }
}

export class PositionsReader {
  private readonly projections: Projections | undefined;

  constructor(projections: Projections | undefined) {
    this.projections = projections;
  }

  /** False during a rebuild. */
  isComplete(): boolean {
    return this.projections?.position()?.isWhole ?? false;
  }

  of(account: number, token: number): WalletPosition | undefined {
    return this.read((positions) => positions.of(account, token));
  }

  ofWallet(account: number, token: number, limit: number): WalletPosition[] {
    return this.read((positions) => positions.ofWallet(account, token, limit));
  }

  inToken(token: number, account: number, limit: number): WalletPosition[] {
    return this.read((positions) => positions.inToken(token, account, limit));
  }

  interest(market: number): bigint {
    return this.read((positions) => positions.interest(market));
  }

  private read<T>(look: (positions: Positions) => T): T {
    return readRows(
      this.projections,
      ({ isWhole }) => isWhole,
      ({ positions }) => look(positions),
    );
  }
}

export class StatementsReader {
  private readonly projections: Projections | undefined;

  constructor(projections: Projections | undefined) {
    this.projections = projections;
  }

  /** @param account 0 = an unknown wallet, which has none */
  ofWallet(account: number, before: number, limit: number): NumberedEntry[] {
    return account === 0 ? [] : this.read(account, before, limit);
  }

  /** Entries of the node's fees. */
  ofVenue(before: number, limit: number): NumberedEntry[] {
    return this.read(VENUE, before, limit);
  }

  private read(account: number, before: number, limit: number): NumberedEntry[] {
    return readRows(
      this.projections,
      ({ isWhole }) => isWhole,
      ({ statements }) => statements.ofAccount(account, before, limit),
    );
  }
}

/** Results whose calls throw ProjectionUnready. */
export class ResultsReader {
  private readonly projections: Projections | undefined;

  constructor(projections: Projections | undefined) {
    this.projections = projections;
  }

  /** Growth of a wallet's profit or volume in a period: micro-units of collateral, or micro-shares. */
  score(measure: Measure, account: number, period: Period, number: number): bigint {
    return this.read((results) => scoresOf(results, measure).score(account, period, number));
  }

  /** Sums of a wallet since its first trade; undefined = none. */
  sums(measure: Measure, account: number): readonly bigint[] | undefined {
    return this.read((results) => scoresOf(results, measure).sumsOf(account));
  }

  /** Newest point of a wallet before an hour; undefined = none. */
  pointBefore(measure: Measure, account: number, hour: number): Point | undefined {
    return this.read((results) => scoresOf(results, measure).pointBefore(account, hour));
  }

  /** Points of a wallet from an hour on to before another, in order, `limit` at most. */
  points(measure: Measure, account: number, from: number, to: number, limit: number): Point[] {
    return this.read((results) => scoresOf(results, measure).points(account, from, to, limit));
  }

  /** Rows of a board after a place, the highest score first, `limit` at most. */
  page(of: BoardOf, after: Place | undefined, limit: number): PlacedRow[] {
    return this.read(({ ranks }) => ranks.page(of, after, limit));
  }

  /** Number of rows of a board with a higher score, `limit` at most. */
  countAbove(of: BoardOf, score: bigint, limit: number): number {
    return this.read(({ ranks }) => ranks.countAbove(of, score, limit));
  }

  /** Seasons that are over, in order. */
  seasons(): Season[] {
    return this.read((results) => results.seasons());
  }

  /** Won positions of a period after a place, the largest profit first, `limit` at most. */
  wins(period: Period, number: number, after: Place | undefined, limit: number): Win[] {
    return this.read((results) => results.wins(period, number, after, limit));
  }

  /** Profit of the best won position of a wallet, micro-units; 0 = none. */
  bestWin(account: number): bigint {
    return this.read((results) => results.bestWin(account));
  }

  /** Forecasts of a wallet in the markets that resolved in a period; undefined = none. */
  accuracy(account: number, period: Period, number: number): Accuracy | undefined {
    return this.read((_, forecasts) => forecasts.of(account, period, number));
  }

  private read<T>(look: (results: Results, forecasts: Projections['forecasts']) => T): T {
    return readRows(
      this.projections,
      ({ isWhole }) => isWhole,
      ({ forecasts, results }) => look(results, forecasts),
    );
  }
}

function scoresOf({ profit, volume }: Results, measure: Measure) {
  return measure === Board.profit ? profit : volume;
}

/** Rebates whose calls throw ProjectionUnready. */
export class RebatesReader {
  private readonly projections: Projections | undefined;

  constructor(projections: Projections | undefined) {
    this.projections = projections;
  }

  /** Returns true once all fills before `end` are applied. */
  reaches(end: number): boolean {
    const position = this.projections?.position();
    return position?.isWhole === true && position.end >= end;
  }

  /** Rebates of a day behind a row; also throws while a fill before `end` is not applied. */
  ofDay(
    day: number,
    after: Pick<Rebate, 'account' | 'market'>,
    limit: number,
    end: number,
  ): Rebate[] {
    return this.read(end, (rebates) => rebates.ofDay(day, after, limit));
  }

  /** Rebates of one account, as far as its fills are applied. */
  ofAccount(day: number, account: number, limit: number): Rebate[] {
    return this.read(0, (rebates) => rebates.ofAccount(day, account, limit));
  }

  private read<T>(from: number, look: (rebates: Rebates) => T): T {
    return readRows(
      this.projections,
      ({ end, isWhole }) => isWhole && end >= from,
      ({ rebates }) => look(rebates),
    );
  }
}
