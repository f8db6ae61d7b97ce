/** Taker delays over real sockets: by a fault of a key, and what its answers, reads and stream say meanwhile. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import type { SocketClient } from '../common/socket-client.ts';
import { type Terms, Trader } from '../common/traders.ts';
import { followUser } from '../streams/stream-node.ts';
import { type Fault, makeFault } from './key-faults.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const operator = await OperatorNode.start(dataDir, { FAULTS: 'on', DUPLICATE_ORDERS: 'replay' });
const { node } = operator;
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

const priced = (side: 'BUY' | 'SELL', ticks: number, type: Terms['type'] = 'GTC'): Terms => ({
  market,
  side,
  ticks,
  shares: 10,
  type,
});

const delay = (trader: Trader, ms: number, count: number): Promise<Fault> =>
  makeFault(node, trader, { kind: 'taker-delay', ms, count });

async function statusOf(trader: Trader, id: string): Promise<unknown> {
  const { json } = await trader.ask(node, 'GET', `/data/order/${id}`);
  return (json as { status: string }).status;
}

/** Waits for as many messages about an order. */
async function ofOrder(client: SocketClient, id: string, count: number): Promise<string[]> {
  const seen: string[] = [];
  await until(async () => {
    const events = (await client.upToNow()).filter((event) => event.id === id);
    seen.push(...events.map(({ status, type }) => `${String(type)} ${String(status)}`));
    return seen.length >= count;
  });
  return seen;
}

test('an order that would match is delayed, listed, repeated, and matched after the delay', async () => {
  await bob.place(node, priced('SELL', 60));
  await delay(alice, 1_000, 1);
  const stream = await followUser(node, alice);
  const resting = await alice.place(node, priced('BUY', 20));
  assert.equal(resting.status, 'live', 'an order that matches nothing is no use of the fault');
  const signed = alice.sign(priced('BUY', 60));
  const [first] = await alice.post(node, [signed]);
  assert.deepEqual(first, {
    success: true,
    errorMsg: '',
    orderID: signed.id,
    takingAmount: '',
    makingAmount: '',
    status: 'delayed',
  });
  assert.equal(await statusOf(alice, signed.id), 'delayed');
  const open = (await alice.ask(node, 'GET', '/data/orders')).json as { data: { id: string }[] };
  assert.deepEqual(
    open.data.map(({ id }) => id),
    [signed.id, resting.orderID],
  );
  assert.deepEqual(await alice.post(node, [signed]), [first], 'a repeated request is answered so');
  await until(async () => (await statusOf(alice, signed.id)) === 'matched');
  assert.deepEqual(await ofOrder(stream, signed.id, 3), [
    'PLACEMENT DELAYED',
    'UPDATE LIVE',
    'UPDATE MATCHED',
  ]);
  assert.deepEqual(await alice.post(node, [signed]), [first]);
  stream.cut();
});

test('a delayed order is cancelled by its id and with all of its owner, and then never matches', async () => {
  await bob.place(node, priced('SELL', 60));
  await delay(alice, 600_000, 2);
  const ids = [];
  for (let i = 0; i < 2; i++) {
    const result = await alice.place(node, priced('BUY', 60));
    assert.equal(result.status, 'delayed');
    ids.push(result.orderID);
  }
  const one = await alice.ask(node, 'DELETE', '/order', JSON.stringify({ orderID: ids[0] }));
  assert.deepEqual((one.json as { canceled: string[] }).canceled, [ids[0]]);
  const all = await alice.ask(node, 'DELETE', '/cancel-all');
  assert((all.json as { canceled: string[] }).canceled.includes(ids[1]!));
  for (const id of ids) assert.equal(await statusOf(alice, id), 'canceled');
});

test('a killed order that finds nobody after its delay is unmatched on the stream', async () => {
  const sale = await bob.place(node, priced('SELL', 55));
  await delay(alice, 1_000, 1);
  const stream = await followUser(node, alice);
  const taken = await alice.place(node, priced('BUY', 55, 'FAK'));
  assert.equal(taken.status, 'delayed');
  await bob.ask(node, 'DELETE', '/order', JSON.stringify({ orderID: sale.orderID }));
  await until(async () => (await statusOf(alice, taken.orderID)) === 'canceled');
  assert.deepEqual(await ofOrder(stream, taken.orderID, 2), [
    'PLACEMENT DELAYED',
    'CANCELLATION UNMATCHED',
  ]);
  stream.cut();
});

test('an operator gives a market a delay, which clients read, and takes it away again', async () => {
  const { conditionId: condition } = market;
  const terms = async () => (await alice.ask(node, 'GET', `/clob-markets/${condition}`)).json;
  await operator.done('POST /admin/markets/edit', { condition, takerDelay: 7 });
  await until(async () => ((await terms()) as { sd?: number }).sd === 7);
  assert.equal(((await terms()) as { itode?: boolean }).itode, true);
  const shown = (await alice.ask(node, 'GET', `/clob/markets/${condition}`)).json;
  assert.equal((shown as { seconds_delay: number }).seconds_delay, 7);
  const wrong = await operator.call('POST /admin/markets/edit', { condition, takerDelay: 3_601 });
  assert.equal(wrong.status, 400);
  await operator.done('POST /admin/markets/edit', { condition, takerDelay: 0 });
  await until(async () => !('sd' in ((await terms()) as object)));
});

test('a delayed order survives a kill, and is placed by the next start', async () => {
  await bob.place(node, priced('SELL', 58));
  await delay(alice, 3_000, 1);
  const taken = await alice.place(node, priced('BUY', 58));
  assert.equal(taken.status, 'delayed');
  await node.end('SIGKILL');
  const next = await OperatorNode.start(dataDir, { FAULTS: 'on' });
  try {
    const status = async (): Promise<unknown> =>
      (await alice.ask(next.node, 'GET', `/data/order/${taken.orderID}`)).json;
    await until(async () => ((await status()) as { status: string }).status === 'matched');
  } finally {
    await next.node.stop();
  }
});
