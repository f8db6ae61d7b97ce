/**
 * Whether what LMDB holds follows from the log: every value by its checksum, and the newest rows against
 * the tables to which the log leads.
 *
 * Thread: a command-line tool, while no node runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { keptClosed } from '../../engine/orders/orders.ts';
import { State } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { checksumMatches } from '../kv/checksum.ts';
import type { BinaryTable } from '../kv/lmdb.ts';
import type { PackedRows } from '../kv/packed.ts';
import { type DerivedPosition, openDerivedTables, positionOf } from './derived.ts';
import { type Copier, fillCopier, finalCopier } from './fills.ts';
import { openHistoryTables } from './history.ts';
import { pagesOf, RunState, readPage, readRuns } from './id-runs.ts';
import { openPositions, readMark } from './positions.ts';

/** What the log leads to. */
export interface Seen {
  /** Tables after the last batch. */
  readonly t: Tables;
  readonly last: number;
  /** Digests after each batch of the log. */
  readonly digests: ReadonlyMap<number, number>;
  /** The oldest fill that the ring holds. */
  readonly firstFill: number;
}

const READ_ONLY = { durability: 'flushed', readOnly: true } as const;

/** Each throws an Error that says what is wrong, and resolves with what was found. */
export async function verifyDerived(dataDir: string, seen: Seen): Promise<{ text: string }> {
  if (!existsSync(join(dataDir, 'derived')))
    return { text: 'not there: derived at the next start' };
  const tables = openDerivedTables(dataDir, READ_ONLY);
  try {
    const position = positionOf(tables);
    const { t } = seen;
    checkPosition(position, seen);
    const fills = { rows: tables.fills, copy: fillCopier(t), end: position.fills };
    const finals = { rows: tables.finals, copy: finalCopier(t), end: position.finished };
    const ring = Math.max(seen.firstFill, t.state[State.fills]! - t.fillRows);
    const free = t.state[State.closed]! - keptClosed(t);
    const fillCount = compared('fill', { ...fills, first: ring });
    const finalCount = compared('final state', { ...finals, first: free });
    const pages = checkChecksum('ids', tables.ids);
    for (const run of readRuns(tables.meta, RunState.live)) {
      for (let page = 0; page < pagesOf(run); page++) readPage(tables.ids, run, page);
    }
    return {
      text:
        `up to batch ${position.sequence} of ${seen.last}: ${fillCount} of ${position.fills} fills, ` +
        `${finalCount} of ${position.finished} final states, ${pages} pages of ids`,
    };
  } finally {
    await tables.root.close();
  }
}

function checkPosition({ digest, fills, finished, sequence }: DerivedPosition, seen: Seen): void {
  const { digests, last, t } = seen;
  if (sequence > last) throw new Error(`it holds batch ${sequence}, the log ends with ${last}`);
  const expected = digests.get(sequence);
  if (expected !== undefined && expected !== digest) {
    throw new Error(`its digest after batch ${sequence} is ${digest}, that of the log ${expected}`);
  }
  if (fills > t.state[State.fills]! || finished > t.state[State.closed]!) {
    throw new Error('it holds more fills or final states than the log leads to');
  }
}

interface Compared {
  readonly rows: PackedRows;
  readonly copy: Copier;
  /** Rows from here on are in the tables as well. */
  readonly first: number;
  readonly end: number;
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

export async function verifyPositions(dataDir: string, seen: Seen): Promise<{ text: string }> {
  if (!existsSync(join(dataDir, 'positions')))
    return { text: 'not there: derived at the next start' };
  const tables = openPositions(dataDir, READ_ONLY);
  try {
    const mark = readMark(tables);
    if (mark === undefined) return { text: 'not begun: derived at the next start' };
    if (mark.end > seen.t.state[State.fills]!) {
      throw new Error(`they follow from ${mark.end} fills, there are ${seen.t.state[State.fills]}`);
    }
    const rows = checkChecksum('wallets', tables.wallets);
    checkChecksum('interest', tables.interest);
    return { text: `${rows} positions, of ${mark.end} fills` };
  } finally {
    await tables.root.close();
  }
}

export async function verifyHistory(dataDir: string, seen: Seen): Promise<{ text: string }> {
  const path = join(dataDir, 'history');
  if (!existsSync(path)) return { text: 'not there: derived at the next start' };
  const tables = openHistoryTables(path, READ_ONLY);
  try {
    const rows = checkChecksum('prices', tables.prices);
    for (const name of ['totals', 'hours', 'meta'] as const) checkChecksum(name, tables[name]);
    return { text: `${rows} rows of prices, of up to ${seen.t.state[State.fills]} fills` };
  } finally {
    await tables.root.close();
  }
}

/** Number of values. Throws an Error that names the first one that is not what was written. */
function checkChecksum(name: string, table: BinaryTable): number {
  let count = 0;
  for (const { key, value } of table.getRange()) {
    if (!checksumMatches(key, value))
      throw new Error(`a value of ${name}, ${key.toString('hex')}, is damaged`);
    count += 1;
  }
  return count;
}
