/** Wallets of the browser: each announces itself to the page (EIP-6963). */
import { effect, signal } from '@preact/signals';
import type { Provider } from '../../../../client/client.ts';

interface Emitter {
  on?(event: string, listener: (value: unknown) => void): unknown;
  removeListener?(event: string, listener: (value: unknown) => void): unknown;
}

export interface BrowserWallet {
  readonly name: string;
  /** Reverse domain name, the same at each load of the page. */
  readonly rdns: string;
  readonly provider: Provider & Emitter;
}

const NAME_LENGTH_MAX = 40;
/** Time in which a wallet announces itself after the page has loaded. */
const ANNOUNCE_MS = 3_000;

export const browserWallets = signal<readonly BrowserWallet[]>([]);

addEventListener('eip6963:announceProvider', (event) => {
  const { info, provider } = (event as CustomEvent<Partial<Announced> | null>).detail ?? {};
  if (typeof provider?.request !== 'function') return;
  const rdns = String(info?.rdns);
  const name = String(info?.name).slice(0, NAME_LENGTH_MAX);
  const others = browserWallets.peek().filter((wallet) => wallet.rdns !== rdns);
  browserWallets.value = [...others, { name, rdns, provider }];
});
dispatchEvent(new Event('eip6963:requestProvider'));

interface Announced {
  readonly info?: { readonly name?: unknown; readonly rdns?: unknown };
  readonly provider: BrowserWallet['provider'];
}

/** Resolves to undefined where no such wallet announces itself. */
export function browserWallet(rdns: string): Promise<BrowserWallet | undefined> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      const found = browserWallets.value.find((wallet) => wallet.rdns === rdns);
      if (found !== undefined) resolve(found);
    });
    setTimeout(() => {
      stop();
      resolve(undefined);
    }, ANNOUNCE_MS);
  });
}

/** Calls back with each event, until the returned function is called. */
export function onWallet(
  { provider }: BrowserWallet,
  event: 'accountsChanged' | 'chainChanged',
  listener: (value: unknown) => void,
): () => void {
  provider.on?.(event, listener);
  return () => void provider.removeListener?.(event, listener);
}

export async function switchChain({ provider }: BrowserWallet, chainId: number): Promise<void> {
  const params = [{ chainId: `0x${chainId.toString(16)}` }];
  await provider.request({ method: 'wallet_switchEthereumChain', params });
}
