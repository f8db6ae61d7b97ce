/** Long bodies under false credentials on a whole node: the hash over them is bounded for each caller. */
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import test from 'node:test';
import { level2 } from '../../client/credentials.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { type Reply, send, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { seconds, Trader } from '../common/traders.ts';

const MIB = 2 ** 20;
const LONG = `[${' '.repeat(MIB - 2)}]`;
const HASHED = 16;
/** Window in which hashed bodies are counted. */
const WINDOW_MS = 10_000;
const ATTEMPTS_MAX = 20;
const AT_ONCE = 4;
const REPEATS_MAX = 5;
/** Entries of the list of callers that have proved themselves; the list begins empty. */
const BELIEVED = 400;
const FALSE_KEY = {
  apiKey: '00000000-0000-4000-8000-000000000000',
  secret: Buffer.alloc(32).toString('base64'),
  passphrase: '0'.repeat(64),
};

useCompiledNodes();
const node = await TestNode.start(temporaryDirectory(), { RATE_LIMITS: 'on' });
const agents = new Map<string, Agent>();
const trader = await Trader.join(node, 'failed proofs');

/**
 * POST with a signature over `signs` in place of the body. A refusal of a body that the node does not read
 * may be lost: the connection ends while the body is being sent. Then the request is repeated.
 */
async function post(
  from: string,
  path: string,
  key: Trader['trio'],
  body: string,
  signs = body,
): Promise<Reply> {
  const agent = agents.get(from) ?? new Agent({ keepAlive: true, localAddress: from });
  agents.set(from, agent);
  const { address } = trader;
  const headers = level2('SERVICE', address, key, 'POST', path, signs, seconds());
  for (let repeats = 0; ; repeats++) {
    try {
      return await send(node, 'POST', path, headers, body, agent);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isCut = code === 'EPIPE' || code === 'ECONNRESET';
      if (!isCut || repeats === REPEATS_MAX) throw error;
    }
  }
}

async function statuses(count: number, ask: () => Promise<Reply>): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    const length = Math.min(AT_ONCE, count - found.length);
    const replies = await Promise.all(Array.from({ length }, ask));
    found.push(...replies.map(({ status }) => status));
  }
  return found;
}

/**
 * Answers to one caller within one window. A slow machine may need several attempts, each with a
 * new caller.
 */
async function inOneWindow<T>(first: number, ask: (caller: string) => Promise<T>) {
  for (let last = first; last < first + ATTEMPTS_MAX; last++) {
    const caller = `127.0.0.${last}`;
    const began = performance.now();
    const answered = await ask(caller);
    if (performance.now() - began < WINDOW_MS) return { caller, answered };
  }
  assert.fail(`no attempt of ${ATTEMPTS_MAX} was over within ${WINDOW_MS} ms`);
}

test('long bodies of a caller without credentials are refused unread after sixteen', async () => {
  const { answered, caller } = await inOneWindow(100, async (from) => {
    const long = (path: string) => post(from, path, FALSE_KEY, LONG);
    const hashed = await statuses(HASHED, () => long('/orders'));
    const refused: Reply[] = [];
    for (const path of ['/orders', '/order', '/heartbeats', '/v1/heartbeats']) {
      refused.push(await long(path));
    }
    return { hashed, refused };
  });
  assert.deepEqual(answered.hashed, new Array<number>(HASHED).fill(401));
  for (const { headers, status } of answered.refused) {
    assert.equal(status, 429);
    assert(Number(headers['retry-after']) <= 10, String(headers['retry-after']));
  }
  // Short ones are told as before, and nobody else is refused.
  assert.equal((await post(caller, '/orders', FALSE_KEY, '[]')).status, 401);
  assert.equal((await post('127.0.0.12', '/orders', trader.trio, LONG)).status, BELIEVED);
});

test('long bodies of a key with wrong signatures are refused likewise, also when a worker begins before the check', async () => {
  const { answered, caller } = await inOneWindow(200, (from) =>
    statuses(HASHED + 1, () => post(from, '/orders', trader.trio, LONG, '[]')),
  );
  assert.deepEqual(answered, [...new Array<number>(HASHED).fill(401), 429]);
  assert.equal((await post(caller, '/orders', trader.trio, '[]')).status, BELIEVED);
});

test('a caller with valid signatures is never refused for long bodies', async () => {
  const right = () => post('127.0.0.14', '/orders', trader.trio, LONG);
  const found = await statuses(2 * HASHED, right);
  assert.deepEqual(found, new Array<number>(2 * HASHED).fill(BELIEVED));
});

test('nobody is refused when rate limits are off', async () => {
  const free = await TestNode.start(temporaryDirectory());
  const { address } = trader;
  const headers = level2('SERVICE', address, FALSE_KEY, 'POST', '/orders', LONG, seconds());
  const found = await statuses(HASHED + 2, () => send(free, 'POST', '/orders', headers, LONG));
  assert.deepEqual(found, new Array<number>(HASHED + 2).fill(401));
  await free.stop();
});
