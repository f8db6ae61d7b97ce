/**
 * Comparison of node.key with that of the cluster. Nodes that begin at the same time, with empty directories, make one each:
 * the one that leads keeps its own, the others take it over while no API key has been issued.
 *
 * Thread: the I/O thread.
 */
import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { openNodeKey } from '../auth/credentials.ts';
import type { Announcements } from './announced.ts';
import { wantCopy } from './join.ts';

const PURPOSE = 'which node.key, version 1';
const LIST_MS = 2_000;

export function fingerprintOf(dataDir: string): string {
  const nodeKey = openNodeKey(dataDir);
  if (!nodeKey.ok) throw new Error(nodeKey.problem);
  return createHash('sha256').update(PURPOSE).update('\0').update(nodeKey.key).digest('hex');
}

/** The leader has this key; `undefined` where its announcement cannot be read. */
export async function isKeyOf(
  leader: string,
  fingerprint: string,
  announcements: Announcements,
): Promise<boolean | undefined> {
  const nodes = await announcements.all(LIST_MS).catch(() => undefined);
  const announced = nodes?.get(leader);
  return announced && announced.key === fingerprint;
}

/** The next start takes a copy of another node, with its key. */
export function retireKey(dataDir: string): void {
  wantCopy(dataDir);
  renameSync(join(dataDir, 'node.key'), join(dataDir, 'node.key.unused'));
}
