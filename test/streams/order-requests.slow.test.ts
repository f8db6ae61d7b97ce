/** Orders over /ws/user: limits, the end of a node, and its kill. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import {
  type Settings,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { type Answer, OrderSocket } from '../common/order-socket.ts';
import { type Result, type Signed, Trader } from '../common/traders.ts';

useCompiledNodes();

async function venue(settings: Settings) {
  const directory = temporaryDirectory();
  const [coin] = await withMarkets(directory, [{ id: 1 }]);
  assert(coin);
  const node = await TestNode.start(directory, settings);
  const alice = await Trader.join(node, 'stream alice');
  const sign = (ticks = 10): Signed => alice.sign({ market: coin, side: 'BUY', ticks, shares: 5 });
  const openIds = async (place: TestNode): Promise<string[]> => {
    const { json } = await alice.ask(place, 'GET', '/data/orders');
    return (json as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  return { directory, node, alice, sign, openIds };
}

const textOf = ({ item }: Signed): string => JSON.stringify(item);

test('requests over the stream count in the rows of their routes, with the answers of HTTP beyond them', async () => {
  const { alice, node, sign } = await venue({
    RATE_LIMITS: 'on',
    RATE_LIMITS_OVERRIDES: 'orderBurst=5/600,cancelSustained=2/600',
    ORDERS_PER_10S: '7',
  });
  const socket = await OrderSocket.open(node, alice.trio);
  const cancel = JSON.stringify({ orderID: `0x${'ab'.repeat(32)}` });
  for (let i = 0; i < 2; i++) {
    assert.equal((await alice.ask(node, 'POST', '/order', textOf(sign()))).status, 200);
    assert.equal((await socket.ask('cancel', cancel)).status, 200);
  }
  for (let i = 0; i < 3; i++) assert.equal((await socket.ask('order', textOf(sign()))).status, 200);
  const http = await alice.ask(node, 'POST', '/order', textOf(sign()));
  const answer = await socket.ask('order', textOf(sign()));
  assert.deepEqual([answer.status, answer.body], [429, http.json]);
  assert(Number(answer.headers['Retry-After']) > 500);
  // A refused request is no order of the key, whose row is full after two replaces.
  const replace = (): string => JSON.stringify({ orderID: `0x${'ab'.repeat(32)}`, ...sign().item });
  for (const status of [200, 200, 429]) {
    assert.equal((await socket.ask('replace', replace())).status, status);
  }
  const beyond = await alice.ask(node, 'POST', '/replace', replace());
  const last = await socket.ask('replace', replace());
  assert.deepEqual([last.status, last.body], [beyond.status, beyond.json]);
  const [refused, other] = [
    await alice.ask(node, 'DELETE', '/order', cancel),
    await socket.ask('cancel', cancel),
  ];
  assert.deepEqual([other.status, other.body], [refused.status, refused.json]);
  assert.equal(other.status, 429);
  await node.stop();
});

test('a connection beyond the messages of streams is closed, and every request that it had sent is answered or not, once', async () => {
  const { alice, node, openIds, sign } = await venue({ STREAM_SUBSCRIPTIONS_MAX: '1' });
  const socket = await OrderSocket.open(node, alice.trio);
  const orders = Array.from({ length: 20 }, () => sign());
  for (const order of orders) socket.send('order', textOf(order));
  // More than 2,000 in ten seconds.
  socket.client.burst(1, Buffer.from('{"op":"cancel","id":"c","body":7}'), 2_100);
  const { code, reason } = await socket.ended();
  assert.equal(code, 1008);
  assert.match(reason, /^more than \d+ messages/);
  const other = await OrderSocket.open(node, alice.trio);
  for (const order of orders) {
    const { orderID } = (await other.ask('order', textOf(order))).body as Result;
    assert.equal(orderID, order.id);
  }
  assert.deepEqual((await openIds(node)).sort(), orders.map(({ id }) => id).sort());
  await node.stop();
});

test('orders acknowledged over the stream survive a kill -9, each once', async () => {
  const { alice, directory, node, sign } = await venue({});
  const socket = await OrderSocket.open(node, alice.trio);
  const acknowledged = new Set<string>();
  const orders = new Map<string, Signed>();
  for (let round = 0; round < 40; round++) {
    const sent = [sign(), sign(), sign()];
    const ids = sent.map((order) => socket.send('order', textOf(order)));
    for (const order of sent) orders.set(order.id, order);
    const answers: Answer[] = await Promise.all(ids.map((id) => socket.answer(id)));
    for (const { body } of answers) acknowledged.add((body as Result).orderID);
  }
  for (let i = 0; i < 20; i++) {
    const order = sign();
    orders.set(order.id, order);
    socket.send('order', textOf(order));
  }
  await node.end('SIGKILL');
  const next = await TestNode.start(directory);
  const again = await OrderSocket.open(next, alice.trio);
  assert.equal(acknowledged.size, 120);
  for (const order of orders.values()) {
    const { errorMsg, orderID } = (await again.ask('order', textOf(order))).body as Result;
    assert.equal(orderID, order.id);
    assert.match(errorMsg, acknowledged.has(orderID) ? /Duplicated/ : /^$|Duplicated/);
  }
  const { json } = await alice.ask(next, 'DELETE', '/cancel-all');
  const { canceled } = json as { canceled: string[] };
  assert.deepEqual(canceled.sort(), [...orders.keys()].sort());
  await next.stop();
});

test('a node that stops answers the requests under way, and refuses later ones', async () => {
  const { alice, directory, node, openIds, sign } = await venue({});
  const socket = await OrderSocket.open(node, alice.trio);
  const ids = Array.from({ length: 60 }, () => socket.send('order', textOf(sign())));
  await socket.answer(ids[0]!);
  const ended = node.end('SIGTERM');
  assert.equal((await socket.ended()).code, 1001);
  assert.equal((await ended).code, 0, node.log);
  const placed: string[] = [];
  for (const id of ids.slice(1)) {
    const { body, status } = await socket.answer(id);
    if (status === 200) placed.push((body as Result).orderID);
    else assert.deepEqual([status, (body as { code: string }).code], [503, 'SHUTTING_DOWN']);
  }
  const next = await TestNode.start(directory);
  const open = new Set(await openIds(next));
  for (const id of placed) assert(open.has(id));
  assert.equal(open.size, placed.length + 1);
  await next.stop();
});
