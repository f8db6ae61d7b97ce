/**
 * Comparison of LMDB with the log: every value by its checksum, and the newest rows against the tables of the log.
 *
 * Thread: a command-line tool, while no node runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ledgerTotals } from '../../engine/ledger/reads.ts';
import { closedCount, fillCount } from '../../engine/reads.ts';
import { type DerivedPosition, openDerivedTables, positionOf } from './derived.ts';
import { PROJECTIONS, Projections } from './environment.ts';
import { Facts } from './facts.ts';
import type { Seen } from './projection.ts';

const READ_ONLY = { durability: 'flushed', readOnly: true } as const;

/** Each throws an Error with the fault, and resolves with a summary. */
export async function verifyDerived(dataDir: string, seen: Seen): Promise<{ text: string }> {
  if (!existsSync(join(dataDir, 'derived')))
    return { text: 'not there: derived at the next start' };
  const tables = openDerivedTables(dataDir, READ_ONLY);
  try {
    const position = positionOf(tables);
    checkPosition(position, seen);
    const facts = new Facts(tables, () => undefined);
    const found = facts.all.map((projection) => projection.verify(seen));
    return { text: `up to batch ${position.sequence} of ${seen.last}: ${found.join(', ')}` };
  } finally {
    await tables.root.close();
  }
}

function checkPosition(position: DerivedPosition, seen: Seen): void {
  const { digest, entries, fills, finished, sequence } = position;
  const { digests, last, tables } = seen;
  if (sequence > last) throw new Error(`it holds batch ${sequence}, the log ends with ${last}`);
  const expected = digests.get(sequence);
  if (expected !== undefined && expected !== digest) {
    throw new Error(`its digest after batch ${sequence} is ${digest}, that of the log ${expected}`);
  }
  if (
    fills > fillCount(tables) ||
    finished > closedCount(tables) ||
    entries > ledgerTotals(tables).entries
  ) {
    throw new Error('it holds more fills, closed orders or entries than the log leads to');
  }
}

export async function verifyProjections(dataDir: string, seen: Seen): Promise<{ text: string }> {
  if (!existsSync(join(dataDir, PROJECTIONS))) return { text: 'not there: made at the next start' };
  const projections = new Projections(dataDir, READ_ONLY);
  try {
    const position = projections.position();
    if (position === undefined) return { text: 'cannot be used: made again at the next start' };
    const fills = fillCount(seen.tables);
    if (position.end > fills) {
      throw new Error(`they follow from ${position.end} fills, there are ${fills}`);
    }
    const found = projections.all.map((projection) => projection.verify(seen));
    return { text: `of ${position.end} of ${fills} fills: ${found.join(', ')}` };
  } finally {
    await projections.close();
  }
}
