/**
 * A wallet behind a provider (EIP-1193), such as one of a browser: it keeps the key, and asks its owner before it
 * signs.
 */
import type { Signer } from './exchange.ts';
import type { TypedData } from './typed-data.ts';
import { checksummed } from './wallet.ts';

export interface Provider {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
}

/** The wallet is on another chain than the one that the typed data names; nothing was signed. */
export class WrongChainError extends Error {
  readonly needed: number;
  readonly actual: number;

  constructor(needed: number, actual: number) {
    super(`the wallet is on chain ${actual}, and chain ${needed} is needed`);
    this.name = 'WrongChainError';
    this.needed = needed;
    this.actual = actual;
  }
}

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Errors of the provider are thrown as they are: `code` 4001 where the owner refuses. */
export class ProviderWallet implements Signer {
  readonly address: string;
  readonly #provider: Provider;
  readonly #chainId: number;

  private constructor(provider: Provider, address: string, chainId: number) {
    this.#provider = provider;
    this.address = address;
    this.#chainId = chainId;
  }

  /**
   * @param chainId the venue's, `chain_id` of its info
   * @param method `eth_accounts` asks nobody @returns undefined where the wallet shows no account
   * @throws WrongChainError
   */
  static async connect(
    provider: Provider,
    chainId: number,
    method: 'eth_requestAccounts' | 'eth_accounts' = 'eth_requestAccounts',
  ): Promise<ProviderWallet | undefined> {
    const address = firstAccount(await provider.request({ method }));
    if (address === undefined) return undefined;
    const wallet = new ProviderWallet(provider, address, chainId);
    await wallet.#checkChain();
    return wallet;
  }

  async sign(data: TypedData): Promise<string> {
    await this.#checkChain();
    const params = [this.address, JSON.stringify(data)];
    return String(await this.#provider.request({ method: 'eth_signTypedData_v4', params }));
  }

  async #checkChain(): Promise<void> {
    const actual = Number(await this.#provider.request({ method: 'eth_chainId' }));
    if (actual !== this.#chainId) throw new WrongChainError(this.#chainId, actual);
  }
}

/** First of a list of accounts, checksummed. */
export function firstAccount(accounts: unknown): string | undefined {
  const [first] = Array.isArray(accounts) ? accounts : [];
  const address = String(first).toLowerCase();
  return ADDRESS.test(address) ? checksummed(address.slice(2)) : undefined;
}
