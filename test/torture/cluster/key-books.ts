/**
 * Books of API keys: keys that are issued, used and revoked, each request at any node of a cluster.
 * Requests without an answer are sent again. An issued key works from then on, a revoked one never
 * again.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { keysOf } from '../../../bench/load/load-client.ts';
import { compareKeys, type Trader } from '../../../bench/load/load-keys.ts';
import { level1, level2 } from '../../../client/credentials.ts';
import { ApiError } from '../../../client/errors.ts';
import type { HttpClient, Method, Reply } from '../../../client/http.ts';
import type { Wallet } from '../../../client/wallet.ts';
import type { Random } from '../../common/random.ts';

export const LEVEL1 = { prefix: 'SERVICE', chainId: 137 };
const { chainId, prefix } = LEVEL1;
/** Bound of tries: faults last longer than one request is tried. */
const TRIES_MAX = 500;
const RETRY_MS = 20;
const REVOKED_PERCENT = 50;

export class KeyBooks {
  readonly live: Trader[] = [];
  readonly revoked: Trader[] = [];
  private readonly client: HttpClient;
  private readonly random: Random;
  /** Keys that may be revoked, as no lost request can make them active again. */
  private readonly doomed: Trader[] = [];

  constructor(client: HttpClient, random: Random) {
    this.client = client;
    this.random = random;
  }

  /** Issues a key and uses it; revokes another one now and then, and uses that. */
  async round(wallet: Wallet): Promise<void> {
    await this.issue(wallet);
    const trader = this.doomed[0];
    if (trader === undefined || !this.random.chance(REVOKED_PERCENT)) return;
    this.doomed.shift();
    await this.revoke(trader);
  }

  /** Compares the answers of an up-to-date node to every key. */
  async compare(client: HttpClient): Promise<string[]> {
    const keys = keysOf(client, LEVEL1);
    const differences = await compareKeys(keys, this.live);
    for (const trader of this.live) {
      const { body, status } = await use(client, trader);
      if (status !== 200) differences.push(`${named(trader)} is issued: ${status} ${body}`);
    }
    for (const trader of this.revoked) {
      const { body, status } = await use(client, trader);
      if (status !== 401) differences.push(`${named(trader)} is revoked: ${status} ${body}`);
      const derived = await keys.derive(trader.wallet).catch((error: unknown) => error);
      if (derived instanceof ApiError && derived.status === 404) continue;
      differences.push(`${named(trader)} is revoked, and derived again`);
    }
    return differences;
  }

  private async issue(wallet: Wallet): Promise<void> {
    const send = (): Promise<Reply> => {
      const now = String(Math.floor(Date.now() / 1_000));
      const headers = level1(prefix, wallet, chainId, now, '0');
      return this.client.send('POST', '/auth/api-key', headers);
    };
    const { lost, reply } = await untilAnswered(send);
    assert.equal(reply.status, 200, reply.body);
    const trader = { wallet, key: JSON.parse(reply.body) as Trader['key'] };
    this.live.push(trader);
    if (lost === 0) this.doomed.push(trader);
    const used = await untilAnswered(() => use(this.client, trader));
    assert.equal(used.reply.status, 200, `an issued key: ${used.reply.body}`);
  }

  private async revoke(trader: Trader): Promise<void> {
    this.live.splice(this.live.indexOf(trader), 1);
    const path = '/auth/api-key';
    const { lost, reply } = await untilAnswered(() => send(this.client, trader, 'DELETE', path));
    // Where an answer was lost, the key may be revoked already.
    const expected = lost > 0 && reply.status === 401 ? 401 : 200;
    assert.equal(reply.status, expected, reply.body);
    this.revoked.push(trader);
    // The one that leads decides, whichever node is asked.
    const used = await untilAnswered(() => send(this.client, trader, 'DELETE', '/cancel-all'));
    assert.equal(used.reply.status, 401, `a revoked key: ${used.reply.body}`);
  }
}

function named({ key, wallet }: Trader): string {
  return `the key ${key.apiKey} of ${wallet.address}`;
}

function use(client: HttpClient, trader: Trader): Promise<Reply> {
  return send(client, trader, 'GET', '/auth/api-keys');
}

function send(
  client: HttpClient,
  { key, wallet }: Trader,
  method: Method,
  path: string,
): Promise<Reply> {
  const now = String(Math.floor(Date.now() / 1_000));
  return client.send(method, path, level2(prefix, wallet.address, key, method, path, '', now));
}

/** Repeats a request until its answer is certain; returns the number of repeats. */
async function untilAnswered(
  send: () => Promise<Reply>,
): Promise<{ readonly reply: Reply; readonly lost: number }> {
  for (let lost = 0; lost < TRIES_MAX; lost++) {
    const reply = await send().catch(() => undefined);
    if (reply !== undefined && reply.status !== 503) return { reply, lost };
    await sleep(RETRY_MS);
  }
  throw new Error(`no answer in ${TRIES_MAX} tries`);
}
