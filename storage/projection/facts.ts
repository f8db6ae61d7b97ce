/**
 * The facts (derived.ts): fills, closed orders, and where these are by id, as they follow from the tables that
 * the log has led to. Once the log is trimmed nothing else has them, but for the newest, which memory has too.
 *
 * Thread: the follower writes. After a transaction that failed the index of ids knows what was not written:
 * facts are opened anew.
 */
import { accountCount, fillCount, nextReusableClosed } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { PackedRows } from '../kv/packed.ts';
import {
  type DerivedPosition,
  type DerivedTables,
  FORMAT,
  positionOf,
  putPosition,
} from './derived.ts';
import { entryOf } from './entries.ts';
import { type Copier, fillCopier, finalCopier, finalWord } from './fills.ts';
import { IdIndex } from './id-index.ts';
import { pagesOf, RunState, readPage, readRuns } from './id-runs.ts';
import { checkRows, type Projection, project, type Seen } from './projection.ts';

/** What the log has led to: rows in the tables, from those of one position to those of another. */
interface LogEvents {
  readonly t: Tables;
  readonly from: DerivedPosition;
  readonly to: DerivedPosition;
  /** Copies those of the ledger that wait. */
  readonly entry: Copier;
}

export interface RepairOptions {
  readonly t: Tables;
  /** The oldest fill of the ring at the start. */
  readonly firstFill: number;
  /** What is in LMDB now. */
  readonly position: () => DerivedPosition;
  /** Throws where the disk may have no room for a transaction of so many rows. */
  readonly needRows: (rows: number) => void;
}

type Transact = (write: () => void) => void;
type Warn = (line: string) => void;

abstract class FactRows implements Projection<LogEvents> {
  abstract readonly name: string;
  readonly format = FORMAT;
  protected readonly tables: DerivedTables;
  protected abstract readonly rows: PackedRows;

  constructor(tables: DerivedTables) {
    this.tables = tables;
  }

  apply({ from, t, to }: LogEvents): void {
    this.rows.put(this.end(from), this.end(to), this.copier(t));
  }

  /** Rows that are in memory as well are compared with those. */
  verify({ firstFill, t }: Seen): string {
    const { name, rows } = this;
    const end = this.end(positionOf(this.tables));
    const first = this.first(t, firstFill);
    const copy = this.copier(t);
    const own = Buffer.alloc(rows.rowBytes);
    let count = 0;
    for (const [sequence, row] of rows.range(0, end)) {
      count += 1;
      if (sequence < first) continue;
      copy(sequence, own, 0);
      if (own.equals(row)) continue;
      throw new Error(`${name}: row ${sequence} is another than the log leads to`);
    }
    return `${count} of ${end} ${name}`;
  }

  /** Makes values again that are damaged, as far as memory has their rows. */
  *repairs({ firstFill, position, t }: RepairOptions, transact: Transact, warn: Warn) {
    const { name, rows } = this;
    const { blockRows } = rows;
    const first = (): number => this.first(t, firstFill);
    const end = (): number => this.end(position());
    for (let at = first(); at < end(); at += blockRows - (at % blockRows)) {
      yield;
      const from = Math.max(at, first());
      if (rows.isSound(from)) continue;
      const to = Math.min(end(), at + blockRows - (at % blockRows));
      if (from >= to) continue;
      transact(() => rows.put(from, to, this.copier(t)));
      warn(`derived: ${name} ${from} to ${to - 1} were damaged, and are made again`);
    }
  }

  protected abstract readonly copier: (t: Tables) => Copier;
  /** Rows before it are in LMDB. */
  protected abstract end(position: DerivedPosition): number;
  /** Rows from here on are in memory. */
  protected abstract first(t: Tables, firstFill: number): number;
}

class Fills extends FactRows {
  readonly name = 'fills';
  protected readonly rows = this.tables.fills;
  protected readonly copier = fillCopier;

  protected end({ fills }: DerivedPosition): number {
    return fills;
  }

  protected first(t: Tables, firstFill: number): number {
    return Math.max(firstFill, fillCount(t) - t.fillRows);
  }
}

class ClosedOrders extends FactRows {
  readonly name = 'final states of orders';
  protected readonly rows = this.tables.closedOrders;
  protected readonly copier = finalCopier;

  protected end({ finished }: DerivedPosition): number {
    return finished;
  }

  protected first(t: Tables): number {
    return nextReusableClosed(t);
  }
}

class ClosedIds implements Projection<LogEvents> {
  readonly name = 'ids';
  readonly format = FORMAT;
  readonly index: IdIndex;
  private readonly tables: DerivedTables;

  /** Throws Damage. */
  constructor(tables: DerivedTables, warn: Warn) {
    this.tables = tables;
    this.index = new IdIndex(tables, warn);
  }

  apply({ from, t, to }: LogEvents): void {
    this.index.add(from.finished, to.finished, (sequence) => finalWord(t, sequence));
  }

  verify(): string {
    const { ids, meta } = this.tables;
    const pages = checkRows('ids', ids);
    for (const run of readRuns(meta, RunState.live)) {
      for (let page = 0; page < pagesOf(run); page++) readPage(ids, run, page);
    }
    return `${pages} pages of ids`;
  }
}

class Entries implements Projection<LogEvents> {
  readonly name = 'entries';
  readonly format = FORMAT;
  private readonly tables: DerivedTables;

  constructor(tables: DerivedTables) {
    this.tables = tables;
  }

  apply({ entry, from, to }: LogEvents): void {
    this.tables.entries.put(from.entries, to.entries, entry);
  }

  /** Each has another number than the one before it, and a wallet, or is of the venue. */
  verify({ t }: Seen): string {
    const end = positionOf(this.tables).entries;
    let count = 0;
    for (const [number, row] of this.tables.entries.range(0, end)) {
      const { account } = entryOf(row);
      if (account < 0 || account > accountCount(t))
        throw new Error(`entries: row ${number} is of no wallet that the log leads to`);
      count += 1;
    }
    return `${count} of ${end} entries`;
  }
}

export class Facts {
  readonly all: readonly Projection<LogEvents>[];
  private readonly tables: DerivedTables;
  private readonly warn: Warn;
  private readonly rows: readonly FactRows[];
  private readonly ids: ClosedIds;

  /** Throws Damage. */
  constructor(tables: DerivedTables, warn: Warn) {
    this.tables = tables;
    this.warn = warn;
    this.rows = [new Fills(tables), new ClosedOrders(tables)];
    this.ids = new ClosedIds(tables, warn);
    this.all = [...this.rows, this.ids, new Entries(tables)];
  }

  /** One transaction. */
  write(events: LogEvents): void {
    project(this.tables.root, this.all, events, () => putPosition(this.tables, events.to));
  }

  /**
   * Looks at what is on disk, a value at a time beside the follower's work, and makes again what is not as it
   * was written: rows that are in memory still, and the index of ids, which follows from the rows. Older rows
   * that are damaged are found when they are read, and named. Throws where something cannot be written, or read
   * at all.
   */
  *repairs(options: RepairOptions): Generator<void> {
    const transact = (write: () => void): void => {
      options.needRows(this.tables.fills.blockRows);
      this.tables.root.transactionSync(write);
    };
    for (const rows of this.rows) yield* rows.repairs(options, transact, this.warn);
    yield* this.ids.index.check(transact);
  }
}
