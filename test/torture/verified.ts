/** Nodes with a ledger, and directories held against themselves as `verify` does it: log, images, ledger, what is derived. */
import assert from 'node:assert/strict';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { verify } from '../../storage/operations/verify.ts';

/** Units that a wallet gets with its first key. */
export const FAUCET = 1_000_000;
export const WITH_LEDGER = { LEDGER: 'on', FAUCET: String(FAUCET) };

/** @param capacities of a node that has no image yet */
export async function verified(dataDir: string, capacities: Capacities): Promise<void> {
  for await (const { ok, part, text } of verify({ dataDir, capacities, onProgress: () => {} })) {
    assert(ok, `${part}: ${text}`);
  }
}
