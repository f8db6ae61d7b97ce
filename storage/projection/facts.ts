/**
 * The facts (derived.ts): fills and closed orders, as they lie in the tables that the log has led to. Once the
 * log is trimmed nothing else has them.
 *
 * Thread: the follower writes. After a transaction that failed the index of ids knows what was not written:
 * facts are opened anew.
 */
import { State } from '../../engine/layout.ts';
import { keptFinished } from '../../engine/orders.ts';
import type { Tables } from '../../engine/tables.ts';
import {
  type DerivedPosition,
  type DerivedTables,
  FORMAT,
  positionOf,
  putPosition,
} from '../derived.ts';
import { type Copier, fillCopier, finalCopier, finalWord } from '../fills.ts';
import { IdIndex } from '../id-index.ts';
import { pagesOf, RunState, readPage, readRuns } from '../id-runs.ts';
import type { PackedRows } from '../packed.ts';
import { checkRows, type Projection, project, type Seen } from './projection.ts';

/** What the log has led to: rows that lie in the tables. */
export interface LogEvents {
  readonly t: Tables;
  readonly fills: Span;
  /** Orders, counted as they were closed. */
  readonly closed: Span;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

class Fills implements Projection<LogEvents> {
  readonly name = 'fills';
  readonly format = FORMAT;
  private readonly tables: DerivedTables;

  constructor(tables: DerivedTables) {
    this.tables = tables;
  }

  apply({ fills, t }: LogEvents): void {
    this.tables.fills.put(fills.from, fills.to, fillCopier(t));
  }

  verify({ firstFill, t }: Seen): string {
    const end = positionOf(this.tables).fills;
    const first = Math.max(firstFill, t.state[State.fills]! - t.fillRows);
    const fills = { rows: this.tables.fills, first, end, copy: fillCopier(t) };
    return `${compared('fill', fills)} of ${end} fills`;
  }
}

class ClosedOrders implements Projection<LogEvents> {
  readonly name = 'closed orders';
  readonly format = FORMAT;
  readonly ids: IdIndex;
  private readonly tables: DerivedTables;

  /** Throws Damage. */
  constructor(tables: DerivedTables, warn: (line: string) => void) {
    this.tables = tables;
    this.ids = new IdIndex(tables, warn);
  }

  apply({ closed: { from, to }, t }: LogEvents): void {
    this.tables.finals.put(from, to, finalCopier(t));
    this.ids.add(from, to, (sequence) => finalWord(t, sequence));
  }

  verify({ t }: Seen): string {
    const { finals, ids, meta } = this.tables;
    const end = positionOf(this.tables).finished;
    const first = t.state[State.finished]! - keptFinished(t);
    const count = compared('closed order', { rows: finals, first, end, copy: finalCopier(t) });
    const pages = checkRows('ids', ids);
    for (const run of readRuns(meta, RunState.live)) {
      for (let page = 0; page < pagesOf(run); page++) readPage(ids, run, page);
    }
    return `${count} of ${end} closed orders, ${pages} pages of ids`;
  }
}

export class Facts {
  readonly closed: ClosedOrders;
  readonly projections: readonly Projection<LogEvents>[];
  private readonly tables: DerivedTables;

  /** Throws Damage. */
  constructor(tables: DerivedTables, warn: (line: string) => void) {
    this.tables = tables;
    this.closed = new ClosedOrders(tables, warn);
    this.projections = [new Fills(tables), this.closed];
  }

  /** One transaction. */
  write(t: Tables, from: DerivedPosition, to: DerivedPosition): void {
    const events = {
      t,
      fills: { from: from.fills, to: to.fills },
      closed: { from: from.finished, to: to.finished },
    };
    const { root } = this.tables;
    project(root, this.projections, events, () => putPosition(this.tables, to));
  }
}

interface Compared {
  readonly rows: PackedRows;
  /** Rows from here on are in memory as well. */
  readonly first: number;
  readonly end: number;
  readonly copy: Copier;
}

/** Number of rows that are there. Throws Damage, or an Error that names a row that differs. */
function compared(name: string, { copy, end, first, rows }: Compared): number {
  const own = Buffer.alloc(rows.rowBytes);
  let count = 0;
  for (const [sequence, row] of rows.range(0, end)) {
    count += 1;
    if (sequence < first) continue;
    copy(sequence, own, 0);
    if (!own.equals(row)) throw new Error(`${name} ${sequence} is another than the log leads to`);
  }
  return count;
}
