import assert from 'node:assert/strict';
import test from 'node:test';
import { TestNode } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { Trader } from '../common/traders.ts';
import { type Json, startNode } from './stream-node.ts';

const FAR = 10;

/** Messages without the time at which they were sent. */
function told(events: readonly Json[]): Json[] {
  return events.map(({ server_ts_ms: _, ...event }) => event);
}

test('a client gets its missed messages after kill -9, equal to those that others saw before', async () => {
  let node: TestNode = await startNode([{ id: 1 }]);
  const { dataDir, settings } = node;
  const [market] = (node as Awaited<ReturnType<typeof startNode>>).markets;
  const [alice, bob] = [await Trader.join(node, 'alice'), await Trader.join(node, 'bob')];
  const follow = async (more: Json = {}): Promise<SocketClient> => {
    const client = await SocketClient.open(node, '/ws/user');
    client.send({ type: 'user', auth: alice.trio, ...more });
    return client;
  };
  const terms = { market: market!, shares: 10 };
  const witness = await follow();
  await alice.place(node, { ...terms, side: 'SELL', ticks: 50 });
  const [first] = await witness.upToNow();
  for (let i = 0; i < FAR; i++) {
    await alice.place(node, { ...terms, side: 'SELL', ticks: 60 + i });
    await bob.place(node, { ...terms, side: 'BUY', ticks: 60 + i });
  }
  await alice.cancel(node, '/cancel-all');
  const seen = await witness.upToNow();
  assert(seen.length > 4 * FAR, `${seen.length}`);

  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, settings);
  const { sequence, stream_id } = first!;
  const client = await follow({ resume: [{ sequence, stream_id }] });
  const resumed = await client.json();
  assert.deepEqual([resumed.event_type, resumed.missed], ['resumed', String(seen.length)]);
  const missed: Json[] = [];
  while (missed.length < seen.length) missed.push(await client.json());
  assert.deepEqual(told(missed), told(seen));
  // And what follows comes behind it.
  await alice.place(node, { ...terms, side: 'SELL', ticks: 80 });
  const [next] = await client.upToNow();
  assert(String(next!.sequence) > String(seen.at(-1)!.sequence));
  await node.end('SIGKILL');
});
