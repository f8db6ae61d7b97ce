/** Faults of the whole venue, which are control records, and nodes with FAULTS=off, where none is possible. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Tables } from '../../engine/tables/tables.ts';
import { FAULT_OPERATIONS } from '../../server/admin/fault-operations.ts';
import { OperationRefused } from '../../server/admin/operation-row.ts';
import { type Config, readConfig } from '../../server/config/config.ts';
import { FAULT_ROUTES } from '../../server/faults/fault-routes.ts';
import { withFaults } from '../../server/faults/request-faults.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { handlersOf } from '../../server/http/route.ts';
import { servedRows } from '../../server/routes/route-table.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, type Reply, send, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { faultsInMemory } from './faults-in-memory.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
let operator = await OperatorNode.start(dataDir, { FAULTS: 'operator' });
const alice = await Trader.join(operator.node, 'alice');
let ticks = 0;

function ask(postOnly = false): Promise<Reply> {
  assert(market);
  ticks += 1;
  const { item } = alice.sign({ market, side: 'BUY', ticks, shares: 10, postOnly });
  return alice.ask(operator.node, 'POST', '/order', JSON.stringify(item));
}

async function restart(faults: string, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  await operator.node.end(signal);
  operator = await OperatorNode.start(dataDir, { FAULTS: faults });
}

test('a fault of the venue holds over a kill of the node, with all its phases, until it is cleared', async () => {
  const fault = await operator.done('POST /admin/faults', { kind: 'restart', seconds: 3_600 });
  assert.deepEqual([fault.id, fault.phase, fault.by], ['restart', 'restarting', 'operator']);
  assert.equal(Date.parse(fault.ends as string) - Date.parse(fault.since as string), 7_200_000);
  assert.equal((await ask()).status, 425);
  await restart('operator', 'SIGKILL');
  const { faults } = await operator.done('GET /admin/faults');
  assert.deepEqual(
    (faults as { since: unknown; ends: unknown }[]).map(({ ends, since }) => [since, ends]),
    [[fault.since, fault.ends]],
  );
  assert.equal((await ask()).status, 425);
  assert.deepEqual(await operator.done('POST /admin/faults/clear', { id: 'restart' }), {
    cleared: 1,
  });
  assert.equal((await ask()).status, 200);
  await restart('operator', 'SIGKILL');
  assert.equal((await ask()).status, 200);
});

test('a fault of the venue replaces the one of its kind before it', async () => {
  await operator.done('POST /admin/faults', { kind: 'cancel-only', seconds: 3_600 });
  await operator.done('POST /admin/faults', { kind: 'cancel-only' });
  const { faults } = await operator.done('GET /admin/faults');
  assert.deepEqual(
    (faults as { ends: unknown }[]).map(({ ends }) => ends),
    [null],
  );
  assert.equal((await ask()).status, 503);
  assert.deepEqual(await operator.done('POST /admin/faults/clear', {}), { cleared: 1 });
  assert.equal((await ask()).status, 200);
});

test('with FAULTS=operator a key can make none', async () => {
  const body = '{"kind":"delay","count":1}';
  assert.equal((await alice.ask(operator.node, 'POST', '/faults', body)).status, 404);
});

test('with FAULTS=off no fault is possible, not even one that is in the log', async () => {
  await operator.done('POST /admin/faults', { kind: 'disabled' });
  assert.equal((await ask()).status, 503);
  await restart('off');
  assert.equal((await ask()).status, 200);
  for (const method of ['POST', 'GET', 'DELETE']) {
    assert.equal((await alice.ask(operator.node, method, '/faults')).status, 404);
  }
  for (const [key, body] of [
    ['POST /admin/faults', { kind: 'disabled' }],
    ['GET /admin/faults', undefined],
    ['POST /admin/faults/clear', {}],
  ] as const) {
    const { json, status } = await operator.call(key, body);
    assert.deepEqual([status, json.error], [409, 'faults are off'], key);
  }
  assert(!('faults' in ((await get(operator.node, '/status')).json as object)));
  assert.doesNotMatch(await (await fetch(`${operator.base}/metrics`)).text(), /exchange_faults\{/);
  assert.doesNotMatch((await send(operator.node, 'GET', '/openapi.json')).text, /\/faults|"425"/);
  await restart('operator');
  assert.equal((await ask()).status, 503);
  await operator.done('POST /admin/faults/clear', {});
  assert.equal((await ask()).status, 200);
});

test('with FAULTS=off handlers stay as they are, so that the path of an order has no cost', () => {
  const order = () => undefined;
  const handlers = { 'POST /order': order, 'GET /ok': order };
  const rows = servedRows({ ...settings(), faults: 'off' });
  const parts = { tables: {} as Tables, texts: { find: () => 0 as const }, now: Date.now };
  assert.equal(withFaults(undefined, parts, handlers, rows), handlers);
  const { faults } = faultsInMemory();
  const struck = withFaults(faults, parts, handlers, rows);
  assert.notEqual(struck['POST /order'], order);
  // No fault strikes this route.
  assert.equal(struck['GET /ok'], order);
});

/** The settings of a node without any set. */
function settings(): Config {
  const read = readConfig({}, [], 1);
  assert(read.ok);
  return read.config;
}

test('a fault of the venue that a clear ends at once is answered, as one that has ended', async () => {
  const { faults } = faultsInMemory();
  const [make, clear] = ['POST /admin/faults', 'POST /admin/faults/clear'].map((wanted) => {
    const row = FAULT_OPERATIONS.find(({ key }) => key === wanted)!;
    return row.handler({ faults, isCluster: false, t: {} as Tables }) as (
      input: object,
    ) => Promise<object>;
  });
  const [made, cleared] = await Promise.all([make!({ kind: 'disabled' }), clear!({})]);
  assert.deepEqual([(made as { id: string }).id, cleared], ['disabled', { cleared: 1 }]);
  assert.deepEqual(faults.list(), []);
});

test('in a cluster only control records are made, and others are refused by name', async () => {
  const { faults, written } = faultsInMemory();
  const make = FAULT_OPERATIONS.find(({ key }) => key === 'POST /admin/faults')!;
  const parts = { faults, isCluster: true, t: {} as Tables };
  const handler = make.handler(parts) as (input: object) => Promise<unknown>;
  for (const input of [
    { kind: 'lost-answer' },
    { kind: 'stale-book' },
    { kind: 'stream-gap' },
    { kind: 'disabled', wallet: alice.address },
    { kind: 'taker-delay', market: market!.conditionId },
  ]) {
    const refused = await handler(input);
    assert(refused instanceof OperationRefused, input.kind);
    assert.deepEqual([refused.status, refused.error], [409, 'this does not hold in a cluster']);
    assert.match(refused.detail, new RegExp(`^${input.kind} `));
  }
  assert.deepEqual([faults.list(), written], [[], []]);
  const ofVenue = ['restart', 'cancel-only', 'disabled', 'clock-skew', 'taker-delay'];
  for (const kind of ofVenue) {
    assert.equal(((await handler({ kind, seconds: 60 })) as { id: string }).id, kind);
  }
  assert.equal(written.length, ofVenue.length);
  const routes = handlersOf(FAULT_ROUTES, { faults, isCluster: true });
  const answers: [number, string][] = [];
  const body = Buffer.from('{"kind":"delay","count":1}');
  const reply = (status: number, text: string) => answers.push([status, text]);
  const context = { body, reply, aborted: false } as unknown as RequestContext;
  const caller = {
    ok: true,
    apiKey: 'key',
    address: new Uint8Array(20),
    apiKeyBytes: new Uint8Array(16),
  } as const;
  await routes['POST /faults'](context, {}, caller);
  assert.deepEqual([answers[0]![0], JSON.parse(answers[0]![1]).code], [409, 'NOT_IN_A_CLUSTER']);
  faults.close();
});
