/**
 * Orders over /ws/user of a whole node: each request has the answer that HTTP has, in every case
 * (docs/protocol.md#orders-over-the-stream).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OPERATIONS, type OperationName } from '../../server/streams/request-frames.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { book, levels, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { type Answer, OrderSocket, onlyAuth } from '../common/order-socket.ts';
import { refusedOrders } from '../common/refused-orders.ts';
import { Opcode, SocketClient } from '../common/socket-client.ts';
import { type Result, type Signed, type Terms, Trader } from '../common/traders.ts';
import { assertFits } from './stream-node.ts';

const dataDir = temporaryDirectory();
const [coin, cup, texts, neg, closed, slow] = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, outcomes: ['Home', 'Draw', 'Away'] },
  { id: 3 },
  { id: 4, negRisk: true },
  { id: 5, closed: true },
  { id: 6, secondsDelay: 1 },
]);
assert(coin && cup && texts && neg && closed && slow);
const operator = await OperatorNode.start(dataDir, { FAULTS: 'on', TAKER_DELAYS: 'catalog' });
const { node } = operator;
const alice = await Trader.join(node, 'stream alice');
const bob = await Trader.join(node, 'stream bob');
const carol = await Trader.join(node, 'stream carol');
const socket = await OrderSocket.open(node, alice.trio);
const other = await OrderSocket.open(node, bob.trio);

const buy = (terms: Partial<Terms> = {}): Terms => ({
  market: coin,
  side: 'BUY',
  ticks: 40,
  shares: 10,
  ...terms,
});
const textOf = ({ item }: Signed): string => JSON.stringify(item);
const resultOf = ({ body }: Answer): Result => body as Result;

/** Sends one text over both transports, and checks that both have the same status and body. */
async function bothAnswer(op: OperationName, body: string): Promise<Answer> {
  const [method = '', path = ''] = OPERATIONS[op].split(' ');
  const http = await alice.ask(node, method, path, body);
  const answer = await socket.ask(op, body);
  assert.deepEqual([answer.status, answer.body], [http.status, http.json], `${op} ${body}`);
  assert.equal(answer.op, op);
  assert.equal(answer.headers['Retry-After'], http.headers['retry-after']);
  assertFits({ event_type: 'answer', ...answer });
  return answer;
}

test('an order, a cancel and a replace over the stream do what they do over HTTP', async () => {
  const first = alice.sign(buy({ ticks: 10 }));
  const placed = await socket.ask('order', textOf(first));
  assert.deepEqual(
    [placed.status, resultOf(placed).orderID, resultOf(placed).status],
    [200, first.id, 'live'],
  );
  assert.deepEqual(levels((await book(node, coin.tokenIds[0]!)).bids), ['10@0.1']);
  const read = await alice.ask(node, 'GET', '/data/orders');
  assert(Number(placed.headers['X-Sequence']) > 0);
  assert.match(read.text, new RegExp(first.id));
  const second = alice.sign(buy({ ticks: 11 }));
  const replaced = await socket.ask(
    'replace',
    JSON.stringify({ orderID: first.id, ...second.item }),
  );
  const { cancel, order } = replaced.body as { cancel: { canceled: string[] }; order: Result };
  assert.deepEqual([cancel.canceled, order.orderID], [[first.id], second.id]);
  const canceled = await socket.ask('cancel', JSON.stringify({ orderID: second.id }));
  assert.deepEqual((canceled.body as { canceled: string[] }).canceled, [second.id]);
  assert.deepEqual((await book(node, coin.tokenIds[0]!)).bids, []);
});

test('every refused order has the same answer over both transports, and leaves the book unchanged', async () => {
  const resting = { market: texts, shares: 50 } as const;
  await bob.place(node, { ...resting, side: 'SELL', ticks: 60 });
  await bob.place(node, { ...resting, side: 'BUY', ticks: 30 });
  const before = await book(node, texts.tokenIds[0]!);
  for (const [text, change] of refusedOrders({ closed, cup, neg })) {
    const signed = alice.sign(buy({ market: texts, ...change }));
    const answer = await bothAnswer('order', textOf(signed));
    assert.equal(resultOf(answer).errorMsg, text);
    const orderID = `0x${'ab'.repeat(32)}`;
    await bothAnswer('replace', JSON.stringify({ orderID, ...signed.item }));
  }
  assert.deepEqual(await book(node, texts.tokenIds[0]!), before);
});

test('every malformed body has the same answer over both transports', async () => {
  const { item } = alice.sign(buy());
  const sent = (change: object) => JSON.stringify({ ...item, order: { ...item.order, ...change } });
  const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const bodies = [
    '7',
    'null',
    'true',
    '"text"',
    'tru',
    '{}',
    '[]',
    '[{}]',
    '{"a":}',
    '{"a":1,}',
    '{"a" 1}',
    '{"orderID":7}',
    '{"orderID":"0x1"}',
    '{"orderID":"","orderId":"0x"}',
    `{"orderID":"0x${'12'.repeat(32)}"}`,
    '{"\\ud800":"\\ud800"}',
    '{"\u0000":1}',
    deep(9),
    deep(33),
    `[${'1,'.repeat(2_000)}1]`,
    sent({ salt: '0x1' }),
    sent({ salt: -1 }),
    sent({ tokenId: 5 }),
    sent({ side: 'buy' }),
    sent({ maker: 'me' }),
    sent({ signatureType: 4 }),
    sent({ signature: undefined }),
    JSON.stringify({ ...item, orderType: 'IOC' }),
    JSON.stringify({ ...item, postOnly: 'yes' }),
    ` \n{ "order" : ${JSON.stringify(item.order)} , "owner" : 1 }\t`,
  ];
  const statuses = new Set<number>();
  for (const op of Object.keys(OPERATIONS) as OperationName[]) {
    for (const body of bodies) statuses.add((await bothAnswer(op, body)).status);
  }
  assert.deepEqual(statuses, new Set([400, 200]));
});

test('a frame without a body is answered as a request of HTTP without one', async () => {
  for (const [op, key] of Object.entries(OPERATIONS)) {
    const [method = '', path = ''] = key.split(' ');
    const http = await alice.ask(node, method, path);
    socket.client.send(`{"id":"${op}","op":"${op}"}`);
    const answer = await socket.answer(op);
    assert.deepEqual([answer.status, answer.body], [http.status, http.json]);
  }
});

test('an order that one transport has taken is a duplicate over the other', async () => {
  const [first, second] = [alice.sign(buy({ ticks: 5 })), alice.sign(buy({ ticks: 6 }))];
  assert.equal(resultOf(await socket.ask('order', textOf(first))).status, 'live');
  const http = await alice.ask(node, 'POST', '/order', textOf(first));
  assert.match(http.text, /Duplicated/);
  assert.deepEqual((await socket.ask('order', textOf(first))).body, http.json);
  assert.match((await alice.ask(node, 'POST', '/order', textOf(second))).text, /"live"/);
  const again = resultOf(await socket.ask('order', textOf(second)));
  assert.match(again.errorMsg, /Duplicated/);
  assert.deepEqual([again.orderID, again.status], [second.id, 'live']);
  const bids = levels((await book(node, coin.tokenIds[0]!)).bids);
  assert.deepEqual(bids, ['10@0.05', '10@0.06']);
});

test('many requests of one connection are carried out in their order, and each has its answer', async () => {
  const orders = Array.from({ length: 100 }, (_, i) => alice.sign(buy({ ticks: 1 + (i % 30) })));
  const ids = orders.map((order) => socket.send('order', textOf(order)));
  const cancels = orders.map(({ id }) => socket.send('cancel', JSON.stringify({ orderID: id })));
  const placed = await Promise.all(ids.map((id) => socket.answer(id)));
  assert.deepEqual(
    placed.map((answer) => resultOf(answer).orderID),
    orders.map(({ id }) => id),
  );
  const canceled = await Promise.all(cancels.map((id) => socket.answer(id)));
  assert.deepEqual(
    canceled.map(({ body }) => (body as { canceled: string[] }).canceled),
    orders.map(({ id }) => [id]),
  );
});

test('a taker waits for the delay of its market over the stream, too', async () => {
  await bob.place(node, { market: slow, side: 'SELL', ticks: 50, shares: 10 });
  const taker = alice.sign({ market: slow, side: 'BUY', ticks: 50, shares: 10 });
  assert.equal(resultOf(await socket.ask('order', textOf(taker))).status, 'delayed');
});

test('a read-only key is answered as over HTTP, and places nothing', async () => {
  const made = await carol.ask(node, 'POST', '/auth/readonly-api-key');
  const { apiKey } = made.json as { apiKey: string };
  const reader = await OrderSocket.open(node, { apiKey });
  for (const op of Object.keys(OPERATIONS) as OperationName[]) {
    const answer = await reader.ask(op, textOf(carol.sign(buy())));
    assert.equal(answer.status, 403);
    assert.match(JSON.stringify(answer.body), /read-only key/);
  }
  reader.client.cut();
});

test('a key that is revoked is refused from its next request on, and its connection closes', async () => {
  const dora = await Trader.join(node, 'stream dora');
  const own = await OrderSocket.open(node, dora.trio);
  assert.equal(
    resultOf(await own.ask('order', textOf(dora.sign(buy({ ticks: 3 }))))).status,
    'live',
  );
  assert.equal((await dora.ask(node, 'DELETE', '/auth/api-key')).status, 200);
  const body = textOf(dora.sign(buy({ ticks: 4 })));
  const answer = await own.ask('order', body);
  const http = await dora.ask(node, 'POST', '/order', body);
  assert.deepEqual([answer.status, answer.body], [http.status, http.json]);
  assert.equal(answer.status, 401);
  assert.deepEqual(await own.ended(), { code: 1008, reason: 'the API key was revoked' });
});

test('a wallet that is banned is refused from its next request on', async () => {
  const eve = await Trader.join(node, 'stream eve');
  const own = await OrderSocket.open(node, eve.trio);
  await operator.done('POST /admin/bans', { wallet: eve.address, reason: 'a test' });
  const answer = await own.ask('order', textOf(eve.sign(buy())));
  assert.deepEqual(
    [answer.status, answer.body],
    [403, { error: 'address banned', code: 'ADDRESS_BANNED' }],
  );
  assert.equal((await own.ended()).code, 1008);
});

test('a connection that closes with requests under way leaves each of them carried out or not, once', async () => {
  const orders = Array.from({ length: 40 }, () => bob.sign(buy({ ticks: 2, shares: 5 })));
  const leaving = await OrderSocket.open(node, bob.trio);
  for (const order of orders) leaving.send('order', textOf(order));
  leaving.client.cut();
  // Behind them in the queue of the wallet.
  const last = bob.sign(buy({ ticks: 2, shares: 5 }));
  await other.ask('order', textOf(last));
  const repeated = await Promise.all(orders.map((order) => other.ask('order', textOf(order))));
  for (const [i, answer] of repeated.entries()) {
    const { errorMsg, orderID } = resultOf(answer);
    assert.equal(orderID, orders[i]!.id);
    assert.match(errorMsg, /^$|Duplicated/);
  }
  const { json } = await bob.ask(
    node,
    'DELETE',
    '/cancel-market-orders',
    JSON.stringify({ market: coin.conditionId }),
  );
  assert.equal((json as { canceled: string[] }).canceled.length, orders.length + 1);
});

test('faults of a key strike its requests over the stream as over HTTP', async () => {
  const make = async (fault: object): Promise<void> => {
    assert.equal((await bob.ask(node, 'POST', '/faults', JSON.stringify(fault))).status, 200);
  };
  await make({ kind: 'rate-limit', count: 1, seconds: 600 });
  const limited = await other.ask('order', textOf(bob.sign(buy({ ticks: 2 }))));
  assert.equal(limited.status, 429);
  assert(Number(limited.headers['Retry-After']) >= 1);
  await make({ kind: 'lost-answer', count: 1 });
  const lost = bob.sign(buy({ ticks: 2 }));
  const struck = await OrderSocket.open(node, bob.trio);
  struck.send('order', textOf(lost));
  assert.deepEqual(await struck.ended(), { code: 1006, reason: '' });
  assert.match((await bob.ask(node, 'POST', '/order', textOf(lost))).text, /Duplicated/);
});

test('only a frame with an operation is a request, and every other message keeps its answer', async () => {
  const kept: readonly (readonly [string, string])[] = [
    ['{"op":"orders","id":"1","body":[]}', 'type or operation is needed'],
    ['{"op":"ORDER","id":"1"}', 'type or operation is needed'],
    ['{"op":7,"id":"1"}', 'type or operation is needed'],
    ['{"\\u006fp":"order","id":"1"}', 'type or operation is needed'],
    ['{"op":"order","id":"1","body":{}', 'not a JSON object'],
    ['{"op":"order","id":"1","body":{}}}', 'not a JSON object'],
    ['{"op":"order","id":"1","body":"}', 'not a JSON object'],
    ['[{"op":"order","id":"1"}]', 'not a JSON object'],
    ['{"op":"order" "id":"1"}', 'not a JSON object'],
    ['{"op":"order","id":"1","type":"market"}', 'type must be user on this path'],
    ['{"op":"order","id":"1","t\\u0079pe":"market"}', 'type must be user on this path'],
    [
      `{"op":"order","id":"1","type":"user","markets":${'['.repeat(20)}${']'.repeat(20)}}`,
      'too many values, or too deep',
    ],
  ];
  const client = await SocketClient.open(node, '/ws/user');
  client.send(onlyAuth(alice.trio));
  assert.equal((await client.json()).event_type, 'subscription');
  for (const [text, detail] of kept) {
    client.send(text);
    const { error, detail: given } = await client.json();
    assert.deepEqual([error, given], ['invalid_message', detail], text);
  }
  for (const id of ['7', 'null', '""', '"a\\u0041"', '"é"', `"${'a'.repeat(65)}"`]) {
    client.send(`{"op":"order","id":${id},"body":{}}`);
    const { detail, error } = await client.json();
    assert.equal(error, 'invalid_message', id);
    assert.match(String(detail), /^id must be/);
  }
  client.send('{"op":"order"}');
  assert.equal((await client.json()).error, 'invalid_message');
  for (const id of ['a', ' !#[]^~', 'b'.repeat(64)]) {
    client.send({ body: {}, note: [{}], id, op: 'cancel' });
    assert.equal((await client.json()).id, id);
  }
  const market = await SocketClient.open(node, '/ws/market');
  market.send('{"op":"order","id":"1","body":{}}');
  assert.equal((await market.json()).detail, 'type or operation is needed');
  for (const each of [client, market]) each.cut();
});

test('a request before the credentials ends the connection', async () => {
  const client = await SocketClient.open(node, '/ws/user');
  client.send(`{"op":"order","id":"1","body":${textOf(alice.sign(buy()))}}`);
  assert.equal((await client.json()).error, 'invalid_auth');
  assert.equal((await client.ended()).code, 1008);
});

test('a frame above the bound of messages cuts the connection, and one of invalid UTF-8 is refused', async () => {
  const long = await OrderSocket.open(node, carol.trio);
  long.send('order', `"${'a'.repeat(90_000)}"`);
  assert.deepEqual(await long.ended(), { code: 1006, reason: '' });
  const binary = await OrderSocket.open(node, carol.trio);
  const bytes = Buffer.from('{"op":"order","id":"1","body":{"order":"\u00ff"}}', 'latin1');
  binary.client.frame(2, bytes);
  const { body, status } = await binary.answer('1');
  assert.deepEqual([status, (body as { detail: string }).detail], [400, 'body must be JSON']);
  binary.client.frame(Opcode.text, bytes);
  assert.equal((await binary.ended()).code, 1006);
});

test('requests count in the metrics of their operation', async () => {
  const response = await fetch(`${operator.base}/metrics`);
  const text = await response.text();
  const line = /^\S*\{method="order",route="\/ws\/user",status="200"\} (\d+)$/m.exec(text);
  assert(Number(line?.[1]) > 100, text.slice(0, 2_000));
});
