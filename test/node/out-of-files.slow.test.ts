/**
 * A node whose open files are used up by idle connections. It goes on, refuses orders while the log
 * needs a file, says so, and accepts orders again by itself. A real limit, set by prlimit while the
 * node runs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { idleConnections } from '../common/idle-connections.ts';
import {
  book,
  type Reply,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, type Result, Trader } from '../common/traders.ts';

useCompiledNodes();
const skip = spawnSync('prlimit', ['--version']).status !== 0 && 'no prlimit here';
const SEGMENT_BYTES = 65_536;
/** Well below the time-out of a silent connection. */
const PING_MS = 2_000;
const ORDERS = 20;
const SHARES = 5;
/** Fewer than fill three segments. */
const ROUNDS_MAX = 40;

function segmentsOf({ dataDir }: TestNode): number {
  return readdirSync(join(dataDir, 'log')).filter((name) => name.endsWith('.segment')).length;
}

test('a node goes on when idle connections use up all files', { skip }, async (t) => {
  // On a disk: in memory the log prepares its next segment before the files are used up.
  const dataDir = temporaryDirectory('/var/tmp');
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  assert(market);
  const settings = { LOG_SEGMENT_BYTES: String(SEGMENT_BYTES) };
  const adminPort = await freePort();
  let node = await TestNode.start(dataDir, { ...settings, ADMIN_PORT: String(adminPort) });
  const alice = await Trader.join(node, 'alice');
  const connection = new Agent({ keepAlive: true, maxSockets: 1 });
  const operator = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    connection.destroy();
    operator.destroy();
  });
  let taken = 0;
  const post = async (): Promise<Reply> => {
    const orders = Array.from({ length: ORDERS }, () =>
      alice.sign({ market, side: 'BUY', ticks: 10, shares: SHARES }),
    );
    const reply = await alice.ask(node, 'POST', '/orders', bodyOf(orders), connection);
    // A slow machine: nothing was placed.
    if (reply.text.includes('engine busy')) return post();
    if (reply.status !== 200) return reply;
    assert((reply.json as Result[]).every(({ success }) => success));
    taken += ORDERS;
    return reply;
  };
  const status = async () => {
    const reply = await send(node, 'GET', '/status', {}, '', connection);
    return reply.json as {
      readonly status: string;
      readonly paused: readonly { readonly reason: string }[];
      readonly follower: { readonly behind: number };
    };
  };
  const told = async (path: string): Promise<Reply> =>
    send({ port: adminPort }, 'GET', path, {}, '', operator);

  // The next file of the log has just been prepared: the switch to it comes without another one.
  const before = segmentsOf(node);
  while (segmentsOf(node) === before) assert.equal((await post()).status, 200);
  // The follower begins after the port is open, and on a busy machine late: it needs files for that.
  await until(async () => (await status()).follower.behind === 0);
  assert.equal((await told('/ready')).status, 200);
  const endIdle = await idleConnections(node);
  // There is no file for another connection: those that the test has must not be closed for their silence.
  const pings = setInterval(() => {
    status().catch(() => undefined);
    told('/ready').catch(() => undefined);
  }, PING_MS);
  let isDone = false;
  t.after(() => {
    if (!isDone) console.error(node.log);
    clearInterval(pings);
    endIdle();
  });

  await t.test('orders are refused with a reason once the log needs a file', async () => {
    const prepared = taken;
    let reply = await post();
    for (let i = 0; reply.status === 200; i++) {
      assert(i < ROUNDS_MAX, 'the log needs a file by now');
      reply = await post();
    }
    assert.deepEqual(
      [reply.status, reply.json],
      [503, { error: 'journal unavailable', code: 'JOURNAL_UNAVAILABLE' }],
    );
    const { paused, status: word } = await status();
    assert.deepEqual([word, paused.map(({ reason }) => reason)], ['read-only', ['files']]);
    const says = /warn log: the next segment cannot be made: EMFILE.*; reads only, until/;
    await until(() => says.test(node.log));
    const ready = await told('/ready');
    assert.equal(ready.status, 503);
    assert.match(ready.text, /EMFILE/);
    assert.match((await told('/metrics')).text, /^exchange_paused\{reason="files"\} 1$/m);
    // The follower cannot open a segment to which the log has gone on meanwhile.
    if (taken > prepared) await until(() => /the log is read on later: EMFILE/.test(node.log));
    assert(!node.hasEnded);
  });

  await t.test('a new catalog waits, and the old one stays in use', async () => {
    await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
    await until(() =>
      node.log.includes('a new catalog cannot be loaded, the old one stays in use'),
    );
    assert.equal((await status()).status, 'read-only');
  });

  await t.test('the node resumes by itself with every acknowledged order', async () => {
    endIdle();
    await until(() => node.log.includes('files can be opened again: orders are taken'));
    assert.equal((await post()).status, 200);
    await until(() => node.log.includes('catalog generation 2'));
    await until(async () => (await status()).follower.behind === 0);
    clearInterval(pings);
    await node.end('SIGKILL');
    node = await TestNode.start(dataDir, settings);
    const { bids } = await book(node, market.tokenIds[0]!);
    assert.equal(Number(bids[0]?.size), taken * SHARES);
    await node.stop();
    isDone = true;
  });
});
