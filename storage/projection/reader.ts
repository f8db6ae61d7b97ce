/**
 * Reads of projections for requests. Each call reads the newest state of the disk. A caller that reads in several
 * event-loop iterations gets ProjectionUnready if the rows were removed in between.
 *
 * Thread: I/O.
 */
import type { ProjectedPosition, Projections } from './environment.ts';
import type { Positions, WalletPosition } from './positions.ts';
import { DamagedRow } from './projection.ts';
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

/** Positions whose calls throw ProjectionUnready. */
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

/** Statements whose call throws ProjectionUnready. */
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
