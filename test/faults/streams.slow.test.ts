/** Each fault of streams over real sockets, for the connections that it names and for no other. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { type Result, Trader } from '../common/traders.ts';
import { followMarket, followUser } from '../streams/stream-node.ts';
import { clearFaults, type Fault, faultsOf, makeFault } from './key-faults.ts';

const dataDir = temporaryDirectory();
const [market, other, third] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }, { id: 3 }]);
assert(market && other && third);
const operator = await OperatorNode.start(dataDir, { FAULTS: 'on' });
const { node } = operator;
const bob = await Trader.join(node, 'bob');

let ticks = 0;

function place(trader: Trader, of = market): Promise<Result> {
  assert(of);
  ticks += 1;
  return trader.place(node, { market: of, side: 'BUY', ticks: ticks % 40, shares: 10 });
}

const userStream = (trader: Trader): Promise<SocketClient> => followUser(node, trader);

async function marketStream(of = market): Promise<SocketClient> {
  assert(of);
  const client = await followMarket(node, of.tokenIds);
  await client.upToNow();
  return client;
}

/** Ids of orders that the stream has placed since the last call. */
async function placed(client: SocketClient): Promise<unknown[]> {
  const events = await client.upToNow();
  return events.filter(({ type }) => type === 'PLACEMENT').map(({ id }) => id);
}

const make = (trader: Trader, fault: object): Promise<Fault> => makeFault(node, trader, fault);
const clear = (trader: Trader): Promise<number> => clearFaults(node, trader);

const changes = async (client: SocketClient): Promise<number> =>
  (await client.upToNow()).filter(({ event_type }) => event_type === 'price_change').length;

test('a frozen stream answers PING and nothing else until the fault ends; others go on', async () => {
  const alice = await Trader.join(node, 'alice');
  const [frozen, going] = [await userStream(alice), await userStream(bob)];
  await make(alice, { kind: 'stream-frozen', seconds: 600 });
  await place(alice);
  const ofBob = await place(bob);
  assert.deepEqual(await placed(going), [ofBob.orderID]);
  assert.deepEqual(await placed(frozen), []);
  // A connection that begins meanwhile says nothing either.
  const late = await userStream(alice);
  await place(alice);
  assert.deepEqual(await placed(late), []);
  await clear(alice);
  const after = await place(alice);
  assert.deepEqual(await placed(frozen), [after.orderID]);
  assert.deepEqual(await placed(late), [after.orderID]);
});

test('a gap leaves out as many events as it counts', async () => {
  const carol = await Trader.join(node, 'carol');
  const client = await userStream(carol);
  await make(carol, { kind: 'stream-gap', count: 2 });
  const ids: string[] = [];
  for (let i = 0; i < 4; i += 1) ids.push((await place(carol)).orderID);
  assert.deepEqual(await placed(client), ids.slice(2));
});

test('a repeat sends events twice, with the same cursor', async () => {
  const dave = await Trader.join(node, 'dave');
  const client = await userStream(dave);
  await make(dave, { kind: 'stream-repeat', count: 1 });
  const ids = [(await place(dave)).orderID, (await place(dave)).orderID];
  const events = (await client.upToNow()).filter(({ type }) => type === 'PLACEMENT');
  assert.deepEqual(
    events.map(({ id }) => id),
    [ids[0], ids[0], ids[1]],
  );
  assert.deepEqual(events[0], events[1]);
});

test('a closed stream ends with code 1012, and again at each new connection while it lasts', async () => {
  const erin = await Trader.join(node, 'erin');
  const [client, going] = [await userStream(erin), await userStream(bob)];
  await make(erin, { kind: 'stream-closed', count: 2 });
  assert.equal((await client.ended()).code, 1012);
  const second = await SocketClient.open(node, '/ws/user');
  second.send({ type: 'user', auth: erin.trio, markets: [] });
  assert.equal((await second.ended()).code, 1012);
  const third = await userStream(erin);
  const [ofErin, ofBob] = [await place(erin), await place(bob)];
  assert.deepEqual(await placed(third), [ofErin.orderID]);
  assert.deepEqual(await placed(going), [ofBob.orderID]);
});

test('a fault of a market strikes streams of its books, and those of no other market', async () => {
  const [struck, going] = [await marketStream(market), await marketStream(other)];
  const { conditionId } = market;
  await operator.done('POST /admin/faults', { kind: 'stream-gap', market: conditionId, count: 1 });
  await place(bob, market);
  await place(bob, other);
  assert.deepEqual([await changes(struck), await changes(going)], [0, 1]);
  await place(bob, market);
  assert.equal(await changes(struck), 1);
  await operator.done('POST /admin/faults', {
    kind: 'stream-closed',
    market: conditionId,
    seconds: 60,
  });
  assert.equal((await struck.ended()).code, 1012);
  await place(bob, other);
  assert.equal(await changes(going), 1);
  await operator.done('POST /admin/faults/clear', {});
  await marketStream(market);
});

test('a fault of all freezes both streams, and a clear ends it', async () => {
  const [books, own] = [await marketStream(), await userStream(bob)];
  await operator.done('POST /admin/faults', { kind: 'stream-frozen', seconds: 600 });
  await place(bob);
  assert.deepEqual([await changes(books), await placed(own)], [0, []]);
  await operator.done('POST /admin/faults/clear', {});
  const { orderID } = await place(bob);
  assert.deepEqual([await changes(books), await placed(own)], [1, [orderID]]);
});

for (const kind of ['stream-gap', 'stream-repeat', 'stream-frozen']) {
  test(`a ${kind} that ends at one connection leaves the others of its key as they were`, async () => {
    const frank = await Trader.join(node, `frank ${kind}`);
    const streams = [await userStream(frank), await userStream(frank), await userStream(frank)];
    await make(frank, { kind, count: 1 });
    const [first, second] = [await place(frank), await place(frank)];
    assert.deepEqual(await faultsOf(node, frank), []);
    const seen = await Promise.all(streams.map(placed));
    const whole = [first.orderID, second.orderID];
    const struck = kind === 'stream-repeat' ? [first.orderID, ...whole] : [second.orderID];
    assert.deepEqual(seen.map(String).toSorted(), [struck, whole, whole].map(String).toSorted());
  });
}

test('a close of a connection is one use, however many topics it joins', async () => {
  const fault = { kind: 'stream-closed', market: third.conditionId, count: 2 };
  await operator.done('POST /admin/faults', fault);
  for (const left of [[1], []]) {
    const client = await followMarket(node, third.tokenIds);
    assert.equal((await client.ended()).code, 1012);
    const { faults } = await operator.done('GET /admin/faults');
    assert.deepEqual(
      (faults as { uses: number }[]).map(({ uses }) => uses),
      left,
    );
  }
  const client = await marketStream(third);
  await place(bob, third);
  assert.equal(await changes(client), 1);
});

test('a stream of books that opens while a fault of all lasts is struck from its begin', async () => {
  await operator.done('POST /admin/faults', { kind: 'stream-frozen', seconds: 600 });
  const late = await marketStream();
  await place(bob);
  assert.equal(await changes(late), 0);
  await operator.done('POST /admin/faults/clear', {});
  await place(bob);
  assert.equal(await changes(late), 1);
});
