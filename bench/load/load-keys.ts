/**
 * The credentials of a load run: issued and derived again through the level-1 routes.
 * Thread: the tool's only one.
 * Non-goals: keeping credentials beyond the run.
 */
import type { ApiKey } from '../../client/credentials.ts';
import type { Keys } from '../../client/keys.ts';
import type { Wallet } from '../../client/wallet.ts';

export interface Trader {
  readonly wallet: Wallet;
  readonly key: ApiKey;
}

/** Issues a key for every wallet. */
export async function createKeys(keys: Keys, wallets: readonly Wallet[]): Promise<Trader[]> {
  const traders: Trader[] = [];
  for (const wallet of wallets) traders.push({ wallet, key: await keys.create(wallet) });
  return traders;
}

/** Derives every key again; each must be the one that was issued. No secret is ever printed. */
export async function compareKeys(keys: Keys, traders: readonly Trader[]): Promise<string[]> {
  const differences: string[] = [];
  for (const { key, wallet } of traders) {
    const derived = await keys.derive(wallet);
    for (const field of ['apiKey', 'secret', 'passphrase'] as const) {
      if (derived[field] === key[field]) continue;
      differences.push(`the key of ${wallet.address}: another ${field} than the one issued`);
    }
  }
  return differences;
}
