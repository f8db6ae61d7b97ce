/**
 * Looks at what is derived, a value at a time beside the follower's work, and makes again what is not as it
 * was written: rows that are in memory still, and the index of ids, which follows from the rows. Older
 * rows that are damaged are found when they are read, and named.
 *
 * Thread: the follower.
 */
import { State } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { PackedRows } from '../kv/packed.ts';
import type { DerivedPosition, DerivedTables } from './derived.ts';
import { type Copier, fillCopier, finalCopier } from './fills.ts';
import type { IdIndex } from './id-index.ts';

export interface RepairOptions {
  readonly derived: DerivedTables;
  readonly ids: IdIndex;
  readonly tables: Tables;
  /** The oldest fill that the ring held at the start. */
  readonly firstFill: number;
  /** What is in LMDB now. */
  readonly position: () => DerivedPosition;
  readonly warn: (line: string) => void;
  /** Throws where the disk may have no room for a transaction of so many rows. */
  readonly requireFreeSpace: (rows: number) => void;
}

/** Throws where something cannot be written, or read at all. */
export function* repairs(o: RepairOptions): Generator<void> {
  const { derived, firstFill, position, tables: t, warn } = o;
  const { state } = t;
  const transact = (write: () => void): void => {
    o.requireFreeSpace(derived.fills.blockRows);
    derived.root.transactionSync(write);
  };
  const fills = {
    name: 'fills',
    rows: derived.fills,
    copy: fillCopier(t),
    first: () => Math.max(firstFill, state[State.fills]! - t.fillRows),
    end: () => position().fills,
  };
  const finals = {
    name: 'final states of orders',
    rows: derived.finals,
    copy: finalCopier(t),
    first: () => state[State.nextReusableClosed]!,
    end: () => position().finished,
  };
  for (const table of [fills, finals]) yield* repairRows(table, transact, warn);
  yield* o.ids.check(transact);
}

interface Kept {
  readonly name: string;
  readonly rows: PackedRows;
  readonly copy: Copier;
  /** What is in memory as well: from here to before `end`. */
  readonly first: () => number;
  readonly end: () => number;
}

function* repairRows(
  { copy, end, first, name, rows }: Kept,
  transact: (write: () => void) => void,
  warn: (line: string) => void,
): Generator<void> {
  const { blockRows } = rows;
  for (let at = first(); at < end(); at += blockRows - (at % blockRows)) {
    yield;
    const from = Math.max(at, first());
    if (rows.isSound(from)) continue;
    const to = Math.min(end(), at + blockRows - (at % blockRows));
    if (from >= to) continue;
    transact(() => rows.put(from, to, copy));
    warn(`derived: ${name} ${from} to ${to - 1} were damaged, and are made again`);
  }
}
