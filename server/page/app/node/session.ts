/**
 * The wallet of the page and its client. A wallet for play is a key pair that this browser makes and keeps; its secret
 * never leaves the browser. A wallet of the browser keeps its key itself, and signs what its owner confirms.
 */
import { computed, effect, signal } from '@preact/signals';
import {
  ApiError,
  type ApiKey,
  firstAccount,
  type Invitation,
  NodeClient,
  ProviderWallet,
  Wallet,
  WrongChainError,
} from '../../../../client/client.ts';
import { addressText } from '../format.ts';
import { chainText, textOf } from '../refusal-words.ts';
import { nodeUrl, publicClient } from './api.ts';
import { type BrowserWallet, browserWallet, onWallet, switchChain } from './browser-wallets.ts';

const SERVER_FAULTS = 500;
const STORED_KEY = 'trading-page.play-key';
/** The wallet of the browser that is used in place of the key; absent: the key. */
const STORED_WALLET = 'trading-page.wallet';
const UNAUTHORIZED = 401;
/** Behind one address there may be several nodes. */
const OPTIONS = { readsOwnWrites: true };

export interface Session {
  readonly address: string;
  readonly client: NodeClient;
  /** Private key of a wallet for play, 0x and 64 hex digits; undefined of a wallet of the browser. */
  readonly exportKey: (() => string) | undefined;
  /** Undefined of a wallet for play. */
  readonly wallet: BrowserWallet | undefined;
}

interface WrongChain {
  readonly wallet: BrowserWallet;
  readonly needed: number;
}

export const session = signal<Session | undefined>(undefined);
export const isJoining = signal(false);
export const joinFailure = signal('');
/** Wallet that has to move to another chain; undefined where none has to. */
export const wrongChain = signal<WrongChain | undefined>(undefined);
export const address = computed(() => session.value?.address);

let stopListening = (): void => undefined;

/** Uses the wallet for play that this browser keeps; makes one where it has none. */
export async function play(): Promise<void> {
  const stored = localStorage.getItem(STORED_KEY);
  const wallet = stored === null ? Wallet.random() : new Wallet(stored);
  localStorage.setItem(STORED_KEY, wallet.exportKey());
  await join(wallet);
  localStorage.removeItem(STORED_WALLET);
}

/** Redeems an invitation with the wallet that this browser keeps, or with a new one that it keeps from now on. */
export async function redeem(invitation: Invitation): Promise<void> {
  const kept = localStorage.getItem(STORED_KEY);
  const wallet = kept === null ? Wallet.random() : new Wallet(kept);
  localStorage.setItem(STORED_KEY, wallet.exportKey());
  try {
    await join(wallet, invitation);
    localStorage.removeItem(STORED_WALLET);
  } catch (error) {
    joinFailure.value = '';
    // Without an answer the code may be used: then this wallet has what it brought.
    const isRefused = error instanceof ApiError && error.status < SERVER_FAULTS;
    if (kept === null && isRefused) localStorage.removeItem(STORED_KEY);
    throw error;
  }
}

export function hasPlayKey(): boolean {
  return localStorage.getItem(STORED_KEY) !== null;
}

/** Goes on with the wallet that was used last, if there is one. */
export async function resume(): Promise<void> {
  const stored = storedWallet();
  try {
    if (stored !== undefined) {
      const wallet = await browserWallet(stored.rdns);
      if (wallet === undefined) joinFailure.value = 'Your wallet is not in this browser any more.';
      else await connect(wallet, 'eth_accounts');
    } else if (hasPlayKey()) await play();
  } catch (error) {
    joinFailure.value = `Your wallet cannot be used: ${textOf(error)}`;
  }
}

/** Uses the private key of another browser from now on. Throws RangeError where it is none. */
export async function importKey(key: string): Promise<void> {
  const wallet = new Wallet(key);
  await join(wallet);
  localStorage.setItem(STORED_KEY, key);
}

/** Forgets the wallet in use: without its exported key nobody can use a wallet for play again. */
export function leave(): void {
  localStorage.removeItem(session.peek()?.wallet === undefined ? STORED_KEY : STORED_WALLET);
  end();
}

/**
 * Uses a wallet of the browser. Its owner confirms the level-1 signature, unless the page has the API key already.
 * @param method `eth_accounts` asks nobody
 */
export async function connect(
  wallet: BrowserWallet,
  method: 'eth_requestAccounts' | 'eth_accounts' = 'eth_requestAccounts',
): Promise<void> {
  await joining(async () => {
    const { info, keys } = await publicClient();
    const { name, provider, rdns } = wallet;
    const signer = await ProviderWallet.connect(provider, info.chain_id, method);
    if (signer === undefined) {
      throw new Error(`${name} shows no account. Unlock it, and connect it again.`);
    }
    const stored = storedWallet();
    const isKnown = stored?.rdns === rdns && stored.address === signer.address;
    let key = isKnown ? stored.key : await keys.create(signer);
    let client = await NodeClient.connect(nodeUrl(), { ...OPTIONS, wallet: signer, key });
    if (isKnown && !(await isTaken(client))) {
      client.close();
      key = await keys.create(signer);
      client = await NodeClient.connect(nodeUrl(), { ...OPTIONS, wallet: signer, key });
    }
    localStorage.setItem(STORED_WALLET, JSON.stringify({ rdns, address: signer.address, key }));
    begin({ address: signer.address, client, exportKey: undefined, wallet });
  }, wallet);
}

/** Asks the wallet to move to the chain of the venue. */
export async function moveChain(): Promise<void> {
  const wrong = wrongChain.peek();
  if (wrong === undefined) return;
  await joining(() => switchChain(wrong.wallet, wrong.needed));
  await useMoved(wrong);
}

/** Uses a wallet that has moved to the chain of the venue. */
async function useMoved(wrong: WrongChain): Promise<void> {
  if (wrongChain.peek() !== wrong) return;
  wrongChain.value = undefined;
  joinFailure.value = '';
  if (session.peek()?.wallet !== wrong.wallet) await connect(wrong.wallet, 'eth_accounts');
}

effect(() => {
  const wrong = wrongChain.value;
  if (wrong === undefined) return undefined;
  return onWallet(wrong.wallet, 'chainChanged', (chain) => {
    if (Number(chain) === wrong.needed) useMoved(wrong).catch(() => undefined); // joinFailure says it
  });
});

async function join(wallet: Wallet, invitation?: Invitation): Promise<void> {
  await joining(async () => {
    const invited = invitation === undefined ? {} : { invitation };
    const client = await NodeClient.connect(nodeUrl(), { ...OPTIONS, ...invited, wallet });
    const exportKey = (): string => wallet.exportKey();
    begin({ address: wallet.address, client, exportKey, wallet: undefined });
  });
}

async function joining(act: () => Promise<void>, wallet?: BrowserWallet): Promise<void> {
  isJoining.value = true;
  joinFailure.value = '';
  try {
    await act();
  } catch (error) {
    joinFailure.value = textOf(error);
    if (wallet !== undefined && error instanceof WrongChainError) {
      wrongChain.value = { wallet, needed: error.needed };
    }
    throw error;
  } finally {
    isJoining.value = false;
  }
}

function begin(next: Session): void {
  end();
  session.value = next;
  const { address: own, client, wallet } = next;
  if (wallet === undefined) return;
  const needed = client.info.chain_id;
  const stops = [
    onWallet(wallet, 'accountsChanged', (accounts) => {
      const account = firstAccount(accounts);
      if (account === own) return;
      end();
      joinFailure.value =
        account === undefined
          ? `${wallet.name} is locked, or no longer connected. Connect it again.`
          : `${wallet.name} shows account ${addressText(account)} now. Connect it to use that one.`;
    }),
    onWallet(wallet, 'chainChanged', (chain) => {
      const actual = Number(chain);
      if (actual === needed) return;
      wrongChain.value = { wallet, needed };
      joinFailure.value = chainText(needed, actual);
    }),
  ];
  stopListening = () => {
    for (const stop of stops) stop();
  };
}

function end(): void {
  stopListening();
  stopListening = () => undefined;
  wrongChain.value = undefined;
  session.peek()?.client.close();
  session.value = undefined;
}

interface StoredWallet {
  readonly rdns: string;
  readonly address: string;
  readonly key: ApiKey;
}

function storedWallet(): StoredWallet | undefined {
  const text = localStorage.getItem(STORED_WALLET);
  return text === null ? undefined : (JSON.parse(text) as StoredWallet);
}

/** False where the node does not know the API key any more. */
async function isTaken(client: NodeClient): Promise<boolean> {
  try {
    await client.keys.list();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === UNAUTHORIZED) return false;
    throw error;
  }
}
