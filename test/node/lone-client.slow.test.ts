/**
 * One client that waits for each answer: from its ninth request on the worker writes the records itself
 * (storage/log/lent-place.ts). Nothing that was acknowledged is missing after a kill, or after a write that failed.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { get, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { freshSeed, Random } from '../common/random.ts';
import { type Terms, Trader } from '../common/traders.ts';

/** Sends orders one after the other until the node is gone; the ids of those that were acknowledged. */
async function sendUntilGone(node: TestNode, trader: Trader, market: Terms['market']) {
  const acknowledged: string[] = [];
  for (let i = 0; !node.hasEnded && i < 100_000; i += 1) {
    const terms = { market, side: 'BUY', ticks: 1 + (i % 40), shares: 6, type: 'GTC' } as const;
    const results = await trader.post(node, [trader.sign(terms)]).catch(() => []);
    for (const { orderID, success } of results) if (success) acknowledged.push(orderID);
  }
  return acknowledged;
}

async function assertAllThere(node: TestNode, trader: Trader, ids: readonly string[]) {
  for (const id of ids) {
    const { json, status } = await trader.ask(node, 'GET', `/data/order/${id}`);
    assert.deepEqual([status, (json as { id: string }).id], [200, id]);
  }
}

test('orders of a client that waits for each answer survive a kill, and follow one another', async () => {
  const random = new Random(freshSeed());
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  let node = await TestNode.start(dataDir);
  const alice = await Trader.join(node, 'alice');
  for (let life = 0; life < 4; life += 1) {
    const sending = sendUntilGone(node, alice, market!);
    await sleep(random.between(300, 900));
    await node.end('SIGKILL');
    const ids = await sending;
    assert(ids.length > 20, `${ids.length} orders came alone`);
    node = await TestNode.start(dataDir);
    await assertAllThere(node, alice, ids);
  }
  assert.equal((await get(node, '/ok')).status, 200);
});

test('a write by a worker that fails stops the node, and what it would have acknowledged is not', async () => {
  const random = new Random(freshSeed());
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  const fails = random.between(20, 60);
  const faults = preloaded({ FAULT_WRITE_FAILS: String(fails) });
  let node = await TestNode.start(dataDir, faults);
  const alice = await Trader.join(node, 'alice');
  const ids = await sendUntilGone(node, alice, market!);
  await node.exit();
  // The I/O thread would have named the text of the error, too.
  assert.match(node.log, /a write failed: EIO, write/);
  assert(ids.length > 8 && ids.length < fails, `${ids.length} of ${fails}`);
  node = await TestNode.start(dataDir);
  await assertAllThere(node, alice, ids);
});
