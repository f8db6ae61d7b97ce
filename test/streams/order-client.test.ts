/** Requests over /ws/user whose handlers are those of the test: bounds, failures and answers of every size. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Unavailable } from '../../server/common/unavailable.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { IN_FLIGHT_MAX, type Operation } from '../../server/streams/order-requests.ts';
import { OPERATION_NAMES, OPERATIONS } from '../../server/streams/request-frames.ts';
import { until } from '../common/node-harness.ts';
import { OrderSocket } from '../common/order-socket.ts';
import { LIMITS, SocketStage } from './socket-stage.ts';

const [ALICE] = [1] as const;
let handler: (context: RequestContext) => void | Promise<void> = () => undefined;
const operations = OPERATION_NAMES.map((name): Operation => {
  const [method, path] = OPERATIONS[name].split(' ') as [Operation['method'], string];
  const handle = (context: RequestContext): void | Promise<void> => handler(context);
  return { name, method, path, limits: [], isForwarded: () => false, handler: handle };
});
const orders = { operations, refusalOf: () => undefined, seconds: () => 0 };
const stage = new SocketStage({ ...LIMITS, connectionsMax: 10 }, 100, orders);
await stage.open();
after(() => stage.stop());

test('a connection has a bounded number of requests under way, and gets further ones once some are answered', async () => {
  const waiting: RequestContext[] = [];
  handler = (context) => void waiting.push(context);
  const socket = await OrderSocket.open(stage, stage.auth(ALICE));
  const ids = Array.from({ length: IN_FLIGHT_MAX }, () => socket.send('order', '{}'));
  const { body, status } = await socket.ask('cancel', '{}');
  assert.deepEqual([status, (body as { code: string }).code], [503, 'ENGINE_BUSY']);
  assert.equal(waiting.length, IN_FLIGHT_MAX);
  // Another connection of the wallet has its own number.
  const other = await OrderSocket.open(stage, stage.auth(ALICE));
  other.send('order', '{}');
  await until(() => waiting.length === IN_FLIGHT_MAX + 1);
  waiting.shift()!.reply(200, '{}');
  assert.equal((await socket.answer(ids[0]!)).status, 200);
  const next = socket.send('order', '{}');
  await until(() => waiting.length === IN_FLIGHT_MAX + 1);
  for (const context of waiting) context.reply(200, '{}');
  for (const id of [...ids.slice(1), next]) assert.equal((await socket.answer(id)).status, 200);
  for (const each of [socket, other]) each.client.cut();
});

test('a request of a connection that has closed knows it, and its answer goes nowhere', async () => {
  let left: RequestContext | undefined;
  handler = (context) => {
    left = context;
  };
  const socket = await OrderSocket.open(stage, stage.auth(ALICE));
  socket.send('order', '{}');
  await until(() => left !== undefined);
  assert.equal(left!.aborted, false);
  socket.client.cut();
  await until(() => left!.aborted);
  left!.reply(200, '{}');
  assert.throws(() => left!.reply(200, '{}'), /answered once/);
});

test('a handler that throws is answered as over HTTP, and the log names the answer', async () => {
  const socket = await OrderSocket.open(stage, stage.auth(ALICE));
  const failures: readonly (() => void | Promise<void>)[] = [
    () => {
      throw new Error('at once');
    },
    () => Promise.reject(new Error('later')),
  ];
  for (const failure of failures) {
    handler = failure;
    const { body, headers, status } = await socket.ask('replace', '{}');
    assert.deepEqual([status, (body as { code: string }).code], [500, 'INTERNAL_ERROR']);
    assert(headers['X-Request-Id']);
    assert.match(stage.lines.at(-1)!, /^POST \/replace failed: (at once|later)$/);
  }
  handler = () => Promise.reject(new Unavailable('NOT_LEADING', 'nobody leads'));
  const { headers, status } = await socket.ask('cancel', '{}');
  assert.deepEqual([status, headers['Retry-After']], [503, '1']);
  socket.client.cut();
});

test('an answer of any length and with any letters arrives as it was given', async () => {
  const socket = await OrderSocket.open(stage, stage.auth(ALICE));
  for (const length of [0, 1, 65_000, 65_300, 65_500, 70_000, 500_000]) {
    const body = JSON.stringify({ text: `é€😀${'a'.repeat(length)}` });
    for (const given of [body, Buffer.from(body)]) {
      handler = (context) => context.reply(200, given, [['Retry-After', '7']]);
      const answer = await socket.ask('order', '{}');
      assert.deepEqual(answer.body, JSON.parse(body));
      assert.deepEqual(answer.headers, { 'Retry-After': '7' });
    }
  }
  socket.client.cut();
});
