/**
 * What follows from the log, in rows of LMDB. Every kind of it implements `Projection`, and the follower
 * writes it, in two environments with a position each:
 *
 *   derived/       facts (facts.ts): what cannot be made again once the log is trimmed
 *   projections/   what follows from the facts (environment.ts): thrown away and made again where it is missing,
 *                  damaged or of another format
 *
 * Thread: the follower writes; any thread reads.
 */
import type { Tables } from '../../engine/tables/tables.ts';
import { checksumMatches } from '../kv/checksum.ts';
import type { BinaryTable, RootDatabase } from '../kv/lmdb.ts';

/** What the log leads to: verify() compares rows with it. */
export interface Seen {
  /** Tables after the last batch. */
  readonly t: Tables;
  readonly last: number;
  /** Digests after each batch of the log. */
  readonly digests: ReadonlyMap<number, number>;
  /** The oldest fill that the ring holds. */
  readonly firstFill: number;
}

export interface Projection<Events> {
  readonly name: string;
  /** Of its rows. */
  readonly format: number;
  /**
   * Takes in events, which follow those of the call before; only inside a transaction of its environment.
   * Throws DamagedRow where a row that it needs is not what was written.
   */
  apply(events: Events): void;
  /** Looks at every row: what there is, as a text. Throws an Error that names what is wrong. */
  verify(seen: Seen): string;
}

/** One that follows from the facts fills and entries alone. */
export interface FactProjection extends Projection<FactEvents> {
  /** Removes all rows; only inside a transaction. */
  clear(): void;
}

/** Fills in their order, rows [0, count) as those of the engine's ring; entries in theirs. */
export interface FactEvents {
  readonly t: Tables;
  readonly count: number;
  readonly fillI: Int32Array;
  readonly fillF: Float64Array;
  /** Numbers and rows (entries.ts); none without a ledger. */
  readonly entries: readonly (readonly [number, Buffer])[];
}

/** A row of projections/ is not what was written: all of them are made again. */
export class DamagedRow extends Error {
  constructor(what: string) {
    super(`projections: a row of ${what} is damaged`);
  }
}

/** Has projections take in events, and puts the position that they reach, in one transaction. */
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

/** Number of values. Throws an Error that names the first one that is not what was written. */
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
