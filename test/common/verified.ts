/**
 * Nodes with a ledger, and directories that `verify` checks: log, snapshots, ledger, projections.
 */
import assert from 'node:assert/strict';
import { readConfig } from '../../server/config/config.ts';
import { verify } from '../../storage/operations/verify.ts';
import { type Settings, SMALL_NODE } from './node-harness.ts';

/** Units of collateral that a wallet gets with its first key. */
export const FAUCET = 1_000_000;
export const WITH_LEDGER = { LEDGER: 'on', FAUCET: String(FAUCET) };

/** @param settings of its last node, beside those of all nodes of the tests */
export async function verified(dataDir: string, settings: Settings = {}): Promise<void> {
  const configured = readConfig({ ...SMALL_NODE, ...settings }, [], 1);
  assert(configured.ok);
  const { capacities } = configured.config;
  for await (const { ok, part, text } of verify({ dataDir, capacities, onProgress: () => {} })) {
    assert(ok, `${part}: ${text}`);
  }
}
