/** A wallet of the browser that announces itself by EIP-6963 and signs by ethers, with a key outside of the page. */
import type { Page } from 'puppeteer-core';
import { addressByEthers, typedDataTextByEthers } from '../common/ethers.ts';

/** Its name would be an element, if a page took it for more than text. */
export const WALLET_NAME = 'Test <b>Wallet</b>';
const REJECTED = { code: 4001, message: 'User rejected the request.' };

const IN_PAGE = `{
  const listeners = [];
  const provider = {
    request: async (call) => {
      const { error, result } = await answerOfWallet(call);
      if (error !== undefined) throw Object.assign(new Error(error.message), error);
      return result;
    },
    on: (event, listener) => { listeners.push({ event, listener }); },
    removeListener: (event, listener) => {
      const at = listeners.findIndex((one) => one.event === event && one.listener === listener);
      if (at >= 0) listeners.splice(at, 1);
    },
  };
  globalThis.tellOfWallet = (event, value) => {
    for (const one of [...listeners]) if (one.event === event) one.listener(value);
  };
  const info = { uuid: 'u', name: ${JSON.stringify(WALLET_NAME)}, icon: '', rdns: 'test.wallet' };
  const announce = () =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }));
  addEventListener('eip6963:requestProvider', announce);
  announce();
}`;

interface Call {
  readonly method: string;
  readonly params?: readonly unknown[];
}

export class FakeWallet {
  readonly address: string;
  chainId = 137;
  isLocked = false;
  /** Its owner refuses every signature. */
  refuses = false;
  signatures = 0;
  private readonly key: string;
  private readonly page: Page;

  private constructor(key: string, page: Page) {
    this.key = key;
    this.page = page;
    this.address = addressByEthers(key);
  }

  /** @param key 0x + 64 hex digits */
  static async install(page: Page, key: string): Promise<FakeWallet> {
    const wallet = new FakeWallet(key, page);
    await page.exposeFunction('answerOfWallet', (call: Call) => wallet.answer(call));
    await page.evaluateOnNewDocument(IN_PAGE);
    return wallet;
  }

  async moveTo(chainId: number): Promise<void> {
    this.chainId = chainId;
    await this.tell('chainChanged', `0x${chainId.toString(16)}`);
  }

  async tell(event: string, value: unknown): Promise<void> {
    await this.page.evaluate(`tellOfWallet('${event}', ${JSON.stringify(value)})`);
  }

  private async answer({ method, params = [] }: Call): Promise<object> {
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return { result: this.isLocked ? [] : [this.address.toLowerCase()] };
      case 'eth_chainId':
        return { result: `0x${this.chainId.toString(16)}` };
      case 'wallet_switchEthereumChain':
        await this.moveTo(Number((params[0] as { readonly chainId: string }).chainId));
        return { result: null };
      case 'eth_signTypedData_v4': {
        if (this.refuses || params[0] !== this.address) return { error: REJECTED };
        this.signatures += 1;
        const { signature } = await typedDataTextByEthers(this.key, String(params[1]));
        return { result: signature };
      }
      default:
        return { error: { code: 4200, message: `no method ${method}` } };
    }
  }
}
