/**
 * The credentials of a load run: issued and derived again through the level-1 routes (GAPS 2.1).
 * Thread: the tool's only one.
 * Non-goals: keeping credentials beyond the run.
 */
import type { Client } from './load-client.ts';
import { level1, type TestWallet, type Trio } from './wallets.ts';

export interface Trader {
  readonly wallet: TestWallet;
  readonly trio: Trio;
}

export interface Level1 {
  readonly prefix: string;
  readonly chainId: number;
}

const NONCE = '0';

/** Issues a key for every wallet. */
export async function createKeys(
  client: Client,
  how: Level1,
  wallets: readonly TestWallet[],
): Promise<Trader[]> {
  const traders: Trader[] = [];
  for (const wallet of wallets) {
    const trio = await client.ask('POST', '/auth/api-key', headers(how, wallet));
    traders.push({ wallet, trio: trio as Trio });
  }
  return traders;
}

/** Derives every key again; each must be the one that was issued. No secret is ever printed. */
export async function compareKeys(
  client: Client,
  how: Level1,
  traders: readonly Trader[],
): Promise<string[]> {
  const differences: string[] = [];
  for (const { wallet, trio } of traders) {
    const path = '/auth/derive-api-key';
    const derived = (await client.ask('GET', path, headers(how, wallet))) as Trio;
    for (const field of ['apiKey', 'secret', 'passphrase'] as const) {
      if (derived[field] === trio[field]) continue;
      differences.push(`${path} of ${wallet.address}: another ${field} than the one issued`);
    }
  }
  return differences;
}

function headers({ prefix, chainId }: Level1, wallet: TestWallet): Record<string, string> {
  return level1(prefix, wallet, chainId, String(Math.floor(Date.now() / 1000)), NONCE);
}
