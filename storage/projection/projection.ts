/**
 * Projections: data that follows from the log, in rows of LMDB. Each implements `Projection`. The projector writes
 * them, in two environments with a position each:
 *
 * derived/ has facts (facts.ts), which cannot be rebuilt once the log is trimmed;
 *
 * projections/ has data that follows from the facts (environment.ts): removed and rebuilt if it is missing, damaged
 * or of another format.
 *
 * Thread: the projector writes; any thread reads.
 */
import type { FillRows } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { checksumMatches } from '../kv/checksum.ts';
import type { BinaryTable, RootDatabase } from '../kv/lmdb.ts';

/** State of the log with which verify() compares rows. */
export interface Seen {
  readonly tables: Tables;
  readonly last: number;
  /** Digests after each batch of the log. */
  readonly digests: ReadonlyMap<number, number>;
  /** Oldest fill of the ring. */
  readonly firstFill: number;
}

export interface Projection<Events> {
  readonly name: string;
  readonly format: number;
  /**
   * Applies events that follow those of the previous call; only inside a transaction of its environment. Throws
   * DamagedRow if a required row is damaged.
   */
  apply(events: Events): void;
  /** Checks every row. Returns a summary. Throws an Error that names a fault. */
  verify(seen: Seen): string;
}

export interface FactProjection extends Projection<FactEvents> {
  /** Removes all rows; only inside a transaction. */
  clear(): void;
}

export interface FillAt {
  readonly rows: FillRows;
  readonly row: FillRow;
}

/** Fills in order, rows [0, count) as those of the engine's ring; entries in order. */
export interface FactEvents {
  readonly tables: Tables;
  readonly count: number;
  readonly fillI: Int32Array;
  readonly fillF: Float64Array;
  /** Fill of any sequence, also one of an earlier call; `undefined` if it is gone. */
  readonly fillAt: (sequence: number) => FillAt | undefined;
  /** Numbers and rows (entries.ts); none without a ledger. */
  readonly entries: readonly (readonly [number, Buffer])[];
}

/** A damaged row of projections/: all of them are rebuilt. */
export class DamagedRow extends Error {
  constructor(what: string) {
    super(`projections: a row of ${what} is damaged`);
  }
}

/** Applies events to projections, and stores the reached position, in one transaction. */
export function project<Events>(
  root: RootDatabase<Buffer, string>,
  projections: readonly Projection<Events>[],
  events: Events,
  putPosition: () => void,
): void {
  root.transactionSync(() => {
    for (const projection of projections) projection.apply(events);
    putPosition();
  });
}

/** Number of values. Throws an Error that names the first damaged one. */
export function checkRows(name: string, table: BinaryTable): number {
  let count = 0;
  for (const { key, value } of table.getRange()) {
    if (!checksumMatches(key, value)) {
      throw new Error(`a value of ${name}, ${key.toString('hex')}, is damaged`);
    }
    count += 1;
  }
  return count;
}
