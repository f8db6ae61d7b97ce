/**
 * Engine and catalog agree on resolved markets after a kill between the two writes, and after any
 * import.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { openEnvironment } from '../../storage/kv/lmdb.ts';
import {
  catalogFile,
  get,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { changeCatalog, importCatalog, servesStored } from './imports.ts';
import { OperatorNode } from './operator-node.ts';

const SETTINGS = { LEDGER: 'on' };
const FILE = [{ id: 1 }, { id: 2 }, { id: 3 }];

interface Named {
  readonly events: readonly [{ readonly markets: readonly [{ readonly conditionId: string }] }];
}

/** Locks the catalog against other writers until the returned function is called. */
function lockCatalog(dataDir: string): () => Promise<void> {
  const root = openEnvironment({ path: join(dataDir, 'catalog'), durability: 'committed' });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const transaction = root.transactionSync(() => released);
  return async () => {
    release();
    await transaction;
    await root.close();
  };
}

async function withSource(markets: Parameters<typeof withMarkets>[1]): Promise<TestNode> {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, markets);
  return TestNode.start(dataDir);
}

const catalogMarket = async (node: TestNode, id: string): Promise<Record<string, unknown>> =>
  (await get(node, `/markets/${id}`)).json as Record<string, unknown>;
const clobMarket = async (node: TestNode, condition: string): Promise<Record<string, unknown>> =>
  (await get(node, `/clob/markets/${condition}`)).json as Record<string, unknown>;

async function assertResolved(node: TestNode, id: string, condition: string): Promise<void> {
  await until(async () => (await catalogMarket(node, id)).umaResolutionStatus === 'resolved');
  const row = await catalogMarket(node, id);
  assert.deepEqual(
    [row.closed, row.acceptingOrders, row.outcomePrices, row.umaResolutionStatus],
    [true, false, '["1","0"]', 'resolved'],
  );
  assert.match(String(row.closedTime), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const { accepting_orders, closed, tokens } = await clobMarket(node, condition);
  assert.deepEqual([closed, accepting_orders], [true, false]);
  assert.deepEqual(
    (tokens as { price: number; winner: boolean }[]).map(({ price, winner }) => [price, winner]),
    [
      [1, true],
      [0, false],
    ],
  );
}

test('a resolution is in the catalog after the next start when the node was killed between the two', async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, FILE);
  const { conditionId: condition } = market!;
  const operator = await OperatorNode.start(dataDir, SETTINGS);
  const unlock = lockCatalog(dataDir);
  const answer = operator
    .call('POST /admin/markets/resolve', { condition, payout: [1, 0] })
    .catch(() => undefined);
  await until(async () => {
    const { json } = await get(operator.node, `/clob/markets/${condition}`);
    const [first] = (json as { tokens: { price: number }[] }).tokens;
    return first?.price === 1;
  });
  assert.equal((await catalogMarket(operator.node, '1')).closed, false, 'it is between the two');
  await operator.node.end('SIGKILL');
  await answer;
  await unlock();
  const node = await TestNode.start(dataDir, { ...SETTINGS, ADMIN_PORT: '0' });
  await assertResolved(node, '1', condition);
  await node.stop();
});

test('a replaced catalog shows resolved markets again, without another start', async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, FILE);
  const { conditionId: condition } = market!;
  const operator = await OperatorNode.start(dataDir, SETTINGS);
  await operator.done('POST /admin/markets/resolve', { condition, payout: [1, 0] });
  const { closedTime } = await catalogMarket(operator.node, '1');
  // A catalog that is replaced whole has lost what an operator did.
  await withMarkets(dataDir, FILE);
  await until(() => operator.node.log.includes('says now how 1 markets resolve'));
  await assertResolved(operator.node, '1', condition);
  assert(String((await catalogMarket(operator.node, '1')).closedTime) >= String(closedTime));
  await operator.node.stop();
});

test('no import reopens a resolved market, or changes or removes one that an operator made', async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, FILE);
  const { conditionId: condition } = market!;
  const operator = await OperatorNode.start(dataDir, SETTINGS);
  const { node } = operator;
  const made = await operator.done('POST /admin/markets', {
    question: 'Does it stay?',
    outcomes: ['Yes', 'No'],
    tick: '0.001',
  });
  const own = String(made.condition);
  const resolvedOwn = await operator.done('POST /admin/markets', {
    question: 'Does it stay resolved?',
    outcomes: ['Yes', 'No'],
  });
  const { json: row } = await get(node, `/markets?condition_ids=${resolvedOwn.condition}`);
  const [{ id: ownId } = { id: '' }] = row as { id: string }[];
  for (const one of [condition, String(resolvedOwn.condition)]) {
    await operator.done('POST /admin/markets/resolve', { condition: one, payout: [1, 0] });
  }
  const before = await clobMarket(node, own);
  const resolvedAt = (await catalogMarket(node, '1')).closedTime;

  const same = catalogFile(FILE);
  const upper = JSON.parse(
    JSON.stringify(same).replace(condition, `0X${condition.slice(2).toUpperCase()}`),
  ) as object;
  const taken = JSON.parse(
    JSON.stringify(same).replace('"id":"2","slug"', `"id":"${made.event}","slug"`),
  ) as object;
  const imports: readonly [string, object, readonly string[]][] = [
    ['the same', same, []],
    ['its condition in capitals', upper, []],
    ['without it', catalogFile([{ id: 2 }, { id: 3 }]), []],
    ['with it again', same, []],
    ['nothing of before', catalogFile([{ id: 4 }]), ['--force']],
    ['with it again, merged', same, ['--merge']],
    ['an event with the id of the own one', taken, ['--merge']],
    ['the same, merged', same, ['--merge', '--force']],
  ];
  // The log follows the answers.
  await servesStored(node);
  for (const [what, file, flags] of imports) {
    const generations = node.log.split('catalog generation').length;
    await importCatalog(node, file, flags);
    const { closed, closedTime, umaResolutionStatus } = await catalogMarket(node, '1');
    assert.deepEqual(
      [closed, umaResolutionStatus, closedTime],
      [true, 'resolved', resolvedAt],
      what,
    );
    assert.deepEqual(await clobMarket(node, own), before, what);
    await assertResolved(node, ownId, String(resolvedOwn.condition));
    assert.equal(node.log.split('catalog generation').length, generations + 1, 'no repair');
  }
  const source = await withSource([{ id: 1 }, { id: 2 }, { id: 6 }]);
  for (const flags of [[], ['--force']]) {
    await changeCatalog(node, ['sync', `http://127.0.0.1:${source.port}`, ...flags]);
    // It was pulled, and is served a moment after it was loaded.
    await until(async () => (await catalogMarket(node, '6')).closed === false);
    await assertResolved(node, '1', condition);
    await assertResolved(node, ownId, String(resolvedOwn.condition));
    assert.deepEqual(await clobMarket(node, own), before);
  }
  await source.stop();
  const free = catalogFile([{ id: 5 }]);
  const [
    {
      markets: [{ conditionId }],
    },
  ] = (free as Named).events;
  const stolen = JSON.parse(JSON.stringify(free).replace(conditionId, own)) as object;
  await assert.rejects(importCatalog(node, stolen, ['--merge', '--force']), /condition/);
  assert.deepEqual(await clobMarket(node, own), before);
  await operator.node.stop();
});
