/** A directory that no node runs on, held against itself as `verify` does it: log, images, ledger, what is derived. */
import assert from 'node:assert/strict';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { verify } from '../../storage/operations/verify.ts';

/** @param capacities of a node that has no image yet */
export async function verified(dataDir: string, capacities: Capacities): Promise<void> {
  for await (const { ok, part, text } of verify({ dataDir, capacities, onProgress: () => {} })) {
    assert(ok, `${part}: ${text}`);
  }
}
