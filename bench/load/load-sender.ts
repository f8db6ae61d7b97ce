/**
 * Sends the batches of a load run, and sends them again, byte for byte, until each is answered:
 * what was taken the first time comes back as a duplicate, never twice. Unlike the client
 * it counts what was lost, waits for a node that was killed, and takes a 500 for a fault.
 * Thread: the tool's only one; one sender per connection.
 * Non-goals: judging the answers (load-ledger.ts does).
 * Rules: docs/protocol.md#retries
 */
import { setTimeout as pause } from 'node:timers/promises';
import { level2 } from '../../client/credentials.ts';
import type { HttpClient, Reply } from '../../client/http.ts';
import { busyPauseMs, refusal } from './load-client.ts';
import type { Trader } from './load-keys.ts';
import type { Answer } from './load-ledger.ts';
import type { SignedOrder } from './load-orders.ts';

/** The orders of one request, all of one wallet. */
export interface Batch {
  readonly trader: Trader;
  readonly orders: readonly SignedOrder[];
  readonly body: string;
}

interface Settled {
  readonly answers: readonly Answer[];
  /** Earlier sendings of the request without an answer that tells its outcome. */
  readonly lost: number;
  /** Sendings that the node refused because of its rate limits. */
  readonly throttled: number;
  /** From the last send to its answer. */
  readonly latencyMs: number;
}

const SENDINGS_MAX = 1000;
const ORDERS_PATH = '/orders';

/**
 * Sends one batch until it is answered. `ready` is awaited before each sending; it gets whether one
 * was lost before; it resolves when the node can be reached and rejects when there is no hope.
 */
export async function sendBatch(
  client: HttpClient,
  prefix: string,
  batch: Batch,
  ready: (again: boolean) => Promise<void>,
): Promise<Settled> {
  let lost = 0;
  let throttled = 0;
  for (let sending = 0; sending < SENDINGS_MAX; sending += 1) {
    await ready(lost > 0);
    const { wallet, key } = batch.trader;
    const now = String(Math.floor(Date.now() / 1000));
    const headers = level2(prefix, wallet.address, key, 'POST', ORDERS_PATH, batch.body, now);
    const sentAt = performance.now();
    let reply: Reply;
    try {
      reply = await client.send('POST', ORDERS_PATH, headers, batch.body);
    } catch {
      lost += 1;
      continue;
    }
    if (reply.status === 200) {
      const latencyMs = performance.now() - sentAt;
      return { answers: JSON.parse(reply.body) as Answer[], lost, throttled, latencyMs };
    }
    if (reply.status !== 429 && reply.status !== 503) {
      throw new Error(refusal('POST', ORDERS_PATH, reply));
    }
    if (reply.status === 429) throttled += 1;
    // Only `engine busy` and throttling promise that nothing was done (docs/protocol.md#retries).
    if (reply.status === 503 && !reply.body.includes('engine busy')) lost += 1;
    await pause(busyPauseMs(reply));
  }
  throw new Error(`POST ${ORDERS_PATH} was not answered in ${SENDINGS_MAX} tries`);
}
