/**
 * Facts (derived.ts): fills, closed orders, and their index by id, as they follow from the tables of the log. Once
 * the log is trimmed nothing else has them, except the newest, which are in memory too.
 *
 * Thread: the projector writes. After a failed transaction the index of ids contains unwritten entries: open the
 * facts anew.
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

interface LogEvents {
  readonly tables: Tables;
  readonly from: DerivedPosition;
  readonly to: DerivedPosition;
  readonly entry: Copier;
}

export interface RepairOptions {
  readonly tables: Tables;
  readonly firstFill: number;
  readonly position: () => DerivedPosition;
  /** Throws if the disk may lack space for a transaction of so many rows. */
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

  apply({ from, tables, to }: LogEvents): void {
    this.rows.put(this.end(from), this.end(to), this.copier(tables));
  }

  /** Compares with the rows that are in memory as well. */
  verify({ firstFill, tables }: Seen): string {
    const { name, rows } = this;
    const end = this.end(positionOf(this.tables));
    const first = this.first(tables, firstFill);
    const copy = this.copier(tables);
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

  /** Rewrites damaged values whose rows are in memory. */
  *repairs({ firstFill, position, tables }: RepairOptions, transact: Transact, warn: Warn) {
    const { name, rows } = this;
    const { blockRows } = rows;
    const first = (): number => this.first(tables, firstFill);
    const end = (): number => this.end(position());
    for (let at = first(); at < end(); at += blockRows - (at % blockRows)) {
      yield;
      const from = Math.max(at, first());
      if (rows.isSound(from)) continue;
      const to = Math.min(end(), at + blockRows - (at % blockRows));
      if (from >= to) continue;
      transact(() => rows.put(from, to, this.copier(tables)));
      warn(`derived: ${name} ${from} to ${to - 1} were damaged, and are made again`);
    }
  }

  protected abstract readonly copier: (tables: Tables) => Copier;
  protected abstract end(position: DerivedPosition): number;
  /** Rows from here on are in memory. */
  protected abstract first(tables: Tables, firstFill: number): number;
}

class Fills extends FactRows {
  readonly name = 'fills';
  protected readonly rows = this.tables.fills;
  protected readonly copier = fillCopier;

  protected end({ fills }: DerivedPosition): number {
    return fills;
  }

  protected first(tables: Tables, firstFill: number): number {
    return Math.max(firstFill, fillCount(tables) - tables.fillRows);
  }
}

class ClosedOrders extends FactRows {
  readonly name = 'final states of orders';
  protected readonly rows = this.tables.closedOrders;
  protected readonly copier = finalCopier;

  protected end({ finished }: DerivedPosition): number {
    return finished;
  }

  protected first(tables: Tables): number {
    return nextReusableClosed(tables);
  }
}

class ClosedIds implements Projection<LogEvents> {
  readonly name = 'ids';
  readonly format = FORMAT;
  readonly index: IdIndex;
  private readonly tables: DerivedTables;

  constructor(tables: DerivedTables, warn: Warn) {
    this.tables = tables;
    this.index = new IdIndex(tables, warn);
  }

  apply({ from, tables, to }: LogEvents): void {
    this.index.add(from.finished, to.finished, (sequence) => finalWord(tables, sequence));
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

  /** Checks that numbers increase, and that each entry is of a wallet or of the node. */
  verify({ tables }: Seen): string {
    const end = positionOf(this.tables).entries;
    let count = 0;
    for (const [number, row] of this.tables.entries.range(0, end)) {
      const { account } = entryOf(row);
      if (account < 0 || account > accountCount(tables))
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
   * Checks the values on disk one at a time, beside the projector's work. Rewrites damaged ones from memory, and the
   * index of ids from the rows. Older damaged rows are found and named when they are read. Throws if something cannot
   * be written, or read at all.
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
