/** API keys of a wallet, and read-only keys of an address. */
import type { Calls } from './calls.ts';
import { type ApiKey, level1Signed } from './credentials.ts';
import { refusal } from './errors.ts';
import type { Signer } from './exchange.ts';
import type { Method } from './http.ts';
import { authData } from './typed-data.ts';
import type { Routes } from './types.ts';

/** A code, and the display name that the wallet gets. */
export interface Invitation {
  readonly code: string;
  readonly name?: string;
}

type Level1Route =
  | 'GET /auth/derive-api-key'
  | 'POST /agents'
  | 'POST /auth/api-key'
  | 'POST /invites/redeem';

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
  create(wallet: Signer, nonce = '0'): Promise<ApiKey> {
    return this.#ask('POST /auth/api-key', wallet, nonce);
  }

  /** Returns the key again. @throws NotFoundError when none was issued, or it was revoked */
  derive(wallet: Signer, nonce = '0'): Promise<ApiKey> {
    return this.#ask('GET /auth/derive-api-key', wallet, nonce);
  }

  /** Redeems an invitation: the key, and once the deposit and the display name. @throws ApiError where it was used */
  redeem(wallet: Signer, invitation: Invitation): Promise<ApiKey> {
    return this.#ask('POST /invites/redeem', wallet, '0', JSON.stringify(invitation));
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

  async #ask(route: Level1Route, wallet: Signer, nonce: string, body = ''): Promise<ApiKey> {
    const by = { wallet, prefix: this.#prefix, chainId: this.#chainId, nonce };
    const answer = await level1Request(this.#calls, by, route, body);
    const { apiKey, passphrase, secret } = answer as ApiKey;
    return { apiKey, secret, passphrase };
  }
}

/** Signer of a level-1 request, and what its signature names. */
interface Level1 {
  readonly wallet: Signer;
  readonly prefix: string;
  readonly chainId: number;
  readonly nonce?: string;
}

/** @throws ApiError for any status but 200 */
export async function level1Request<Route extends Level1Route>(
  calls: Calls,
  { chainId, nonce = '0', prefix, wallet }: Level1,
  route: Route,
  body: string,
): Promise<Routes[Route]['answer']> {
  const [method, path] = route.split(' ') as [Method, string];
  const { clock } = calls;
  let headers: Readonly<Record<string, string>> = {};
  // Once for all tries, because a person may have to confirm it.
  const sign = async (): Promise<void> => {
    const now = clock.now();
    const signature = await wallet.sign(authData(chainId, wallet.address, now, nonce));
    headers = level1Signed(prefix, wallet.address, signature, now, nonce);
  };
  await sign();
  const { reply } = await calls.send(route, method, path, () => headers, body, sign);
  if (reply.status !== 200) throw refusal(route, reply);
  return JSON.parse(reply.body) as Routes[Route]['answer'];
}
