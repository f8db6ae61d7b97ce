/** API keys of a wallet, and read-only keys of an address. */
import type { Calls } from './calls.ts';
import { type ApiKey, level1 } from './credentials.ts';
import { refusal } from './errors.ts';
import type { Method } from './http.ts';
import type { Wallet } from './wallet.ts';

/** With some client profiles a node sends them in a member. */
type Listed = readonly string[] & { readonly apiKeys?: readonly string[] };

export class Keys {
  readonly #calls: Calls;
  readonly #prefix: string;
  readonly #chainId: number;

  constructor(calls: Calls, prefix: string, chainId: number) {
    this.#calls = calls;
    this.#prefix = prefix;
    this.#chainId = chainId;
  }

  /** The key of a wallet and nonce: a new one, or the one that was issued before. */
  create(wallet: Wallet, nonce = '0'): Promise<ApiKey> {
    return this.#ask('POST', '/auth/api-key', wallet, nonce);
  }

  /** Returns the key again. @throws NotFoundError when none was issued, or it was revoked */
  derive(wallet: Wallet, nonce = '0'): Promise<ApiKey> {
    return this.#ask('GET', '/auth/derive-api-key', wallet, nonce);
  }

  async list(): Promise<readonly string[]> {
    const answer: Listed = await this.#calls.call('GET /auth/api-keys', {});
    return answer.apiKeys ?? answer;
  }

  /** Revokes a key of the caller, by default this client's. Sent once: see NoAnswerError. */
  async revoke(apiKey?: string): Promise<void> {
    const query = apiKey === undefined ? {} : { apiKey };
    await this.#calls.call('DELETE /auth/api-key', { query });
  }

  /** A key that only reads own orders and trades. It is itself a secret. */
  async createReadOnly(): Promise<string> {
    return (await this.#calls.call('POST /auth/readonly-api-key', {})).apiKey;
  }

  async listReadOnly(): Promise<readonly string[]> {
    return (await this.#calls.call('GET /auth/readonly-api-keys', {})).readonlyApiKeys;
  }

  async revokeReadOnly(key: string): Promise<void> {
    await this.#calls.call('DELETE /auth/readonly-api-key', { body: { key } });
  }

  async #ask(method: Method, path: string, wallet: Wallet, nonce: string): Promise<ApiKey> {
    const { clock } = this.#calls;
    const headers = () => level1(this.#prefix, wallet, this.#chainId, clock.now(), nonce);
    const route = `${method} ${path}` as 'POST /auth/api-key' | 'GET /auth/derive-api-key';
    const { reply } = await this.#calls.send(route, method, path, headers, '');
    if (reply.status !== 200) throw refusal(route, reply);
    return JSON.parse(reply.body) as ApiKey;
  }
}
