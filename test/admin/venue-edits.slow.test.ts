import assert from 'node:assert/strict';
import test from 'node:test';
import { catalogFile, get, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import { importCatalog, storedMarket } from './imports.ts';
import { OperatorNode } from './operator-node.ts';

const dataDir = temporaryDirectory();
await withMarkets(dataDir, [{ id: 1 }]);
const operator = await OperatorNode.start(dataDir, { LEDGER: 'on' });
const SETTINGS = { LEDGER: 'on', ADMIN_PORT: new URL(operator.base).port };
const alice = await Trader.join(operator.node, 'alice');
await operator.done('POST /admin/ledger/deposit', { wallet: alice.address, amount: '1000' });

const create = async (question: string, wish: object = {}): Promise<string> => {
  const body = { question, outcomes: ['Yes', 'No'], ...wish };
  return String((await operator.done('POST /admin/markets', body)).condition);
};
const edit = (body: object) => operator.call('POST /admin/markets/edit', body);
const shown = async (condition: string): Promise<Record<string, unknown>> =>
  (await get(operator.node, `/clob/markets/${condition}`)).json as Record<string, unknown>;
const eventShown = async (id: unknown): Promise<Record<string, unknown>> =>
  (await get(operator.node, `/events/${id}`)).json as Record<string, unknown>;

test('an event is edited, once for the same edit, and imports keep it', async () => {
  const { event } = await operator.done('POST /admin/events', {
    title: 'Boats',
    tags: ['Sea'],
    startDate: '2027-01-01T00:00:00Z',
  });
  await create('Does it float?', { event });
  const changes = { title: 'Ships', description: 'of wood', tags: ['Sea', 'Ice'] };
  const body = { event, ...changes, endDate: '2027-02-01T00:00:00Z' };
  assert.equal((await operator.done('POST /admin/events/edit', body)).changed, true);
  assert.equal((await operator.done('POST /admin/events/edit', body)).changed, false);
  const isEdited = async () => {
    const { description, endDate, tags, title } = await eventShown(event);
    assert.deepEqual([title, description, endDate], ['Ships', 'of wood', body.endDate]);
    const labels = (tags as { label: string }[]).map(({ label }) => label);
    assert.deepEqual(labels.toSorted(), ['Ice', 'Sea']);
  };
  await isEdited();
  await importCatalog(operator.node, catalogFile([{ id: 1 }]), ['--force']);
  await isEdited();
  const again = { title: 'Boats', tags: ['Sea'], startDate: '2027-01-01T00:00:00Z' };
  const same = await operator.done('POST /admin/events', again);
  assert.deepEqual([same.event, same.changed], [event, false], 'its first wish still names it');
});

test('the edit of an imported event outlives the next import', async () => {
  const title = 'Renamed by the operator';
  await operator.done('POST /admin/events/edit', { event: '1', title });
  await importCatalog(operator.node, catalogFile([{ id: 1 }]));
  assert.equal((await eventShown('1')).title, title);
});

test('edited terms of a market (tick, minimum, fee) take effect for later orders', async () => {
  const condition = await create('Does it pay fees?', { fee: 50 });
  assert.equal((await shown(condition)).taker_base_fee, 50);
  const market = await storedMarket(dataDir, condition);
  const bid = { market, side: 'BUY' as const, ticks: 40, shares: 5 };
  await alice.place(operator.node, { ...bid, signed: { feeRateBps: '50' } });
  const terms = { condition, tick: '0.001', minimum: '10', fee: 200 };
  assert.equal((await operator.done('POST /admin/markets/edit', terms)).changed, true);
  assert.equal((await operator.done('POST /admin/markets/edit', terms)).changed, false);
  const after = await shown(condition);
  assert.deepEqual(
    [after.minimum_tick_size, after.minimum_order_size, after.taker_base_fee],
    [0.001, 10, 200],
  );
  const { json } = await get(operator.node, `/fee-rate?token_id=${market.tokenIds[0]}`);
  assert.deepEqual(json, { base_fee: 200 });
  const low = await alice.order(operator.node, { ...bid, signed: { feeRateBps: '50' } });
  assert.equal(low.errorMsg, 'feeRateBps must be >= exchangeBaseFeeRate');
  const small = await alice.order(operator.node, { ...bid, signed: { feeRateBps: '200' } });
  assert.match(small.errorMsg, /minimum/);
  const { orders } = await operator.done(
    'GET /admin/orders',
    undefined,
    `?wallet=${alice.address}`,
  );
  assert.equal((orders as unknown[]).length, 1, 'what rests stays');
});

test('a tick becomes coarser only when no order rests', async () => {
  const condition = await create('Is it coarse?', { tick: '0.001' });
  const market = await storedMarket(dataDir, condition);
  await alice.place(operator.node, { market, side: 'BUY', ticks: 400, shares: 5 });
  const coarse = { condition, tick: '0.01' };
  const { json, status } = await edit(coarse);
  assert.deepEqual([status, json.error], [409, 'tick cannot become coarser while orders rest']);
  assert.match(String(json.detail ?? JSON.stringify(json)), /no open order/);
  assert.equal((await shown(condition)).minimum_tick_size, 0.001);
  assert.equal((await edit({ condition, tick: '0.0001' })).status, 200, 'a finer one may');
  await alice.cancel(operator.node, '/cancel-all');
  assert.equal((await edit(coarse)).status, 200);
  assert.equal((await shown(condition)).minimum_tick_size, 0.01);
});

test('outcomes, event and group of a market never change, and invalid values are refused', async () => {
  const condition = await create('Is it fixed?');
  const event = (await storedMarket(dataDir, condition)).eventId;
  const same = { condition, outcomes: ['Yes', 'No'], event, negRisk: false };
  assert.equal((await operator.done('POST /admin/markets/edit', same)).changed, false);
  const before = await shown(condition);
  const cases: readonly [object, number, RegExp][] = [
    [{ outcomes: ['No', 'Yes'] }, 409, /outcomes cannot be changed/],
    [{ event: '1' }, 409, /event cannot be changed/],
    [{ negRisk: true }, 409, /negRisk cannot be changed/],
    [{ tick: '0.03' }, 400, /invalid_field: tick/],
    [{ minimum: '-1' }, 400, /invalid_field: minimum/],
    [{ minimum: '0.0000001' }, 400, /invalid_field: minimum/],
    [{ fee: -1 }, 400, /invalid_field: fee/],
    [{ fee: 1_001 }, 400, /invalid_field: fee.* 1000/],
    [{ fee: 1.5 }, 400, /invalid_field: fee/],
    [{ question: '' }, 400, /invalid_field: question/],
    [{ endDate: 'never' }, 400, /invalid_field: endDate/],
    [{ endDate: '2020-01-01T00:00:00Z' }, 400, /endDate.* not before startDate/],
    [{ colour: 'red' }, 400, /unknown_field: colour/],
    [{ condition: `0x${'1'.repeat(64)}`, fee: 1 }, 404, /market not found/],
  ];
  for (const [change, status, text] of cases) {
    const answer = await edit({ condition, ...change });
    assert.equal(answer.status, status, JSON.stringify([change, answer.json]));
    assert.match(JSON.stringify(answer.json), text);
  }
  const events: readonly [object, number, RegExp][] = [
    [{ event, negRisk: true }, 409, /negRisk cannot be changed/],
    [{ event: '999' }, 404, /event not found/],
    [{ event: 'x' }, 404, /no event has this number or slug/],
    [{ event, title: 7 }, 400, /invalid_field: title/],
    [{ event, startDate: '2027-01-02T00:00:00Z', endDate: '2027-01-01T00:00:00Z' }, 400, /endDate/],
  ];
  for (const [body, status, text] of events) {
    const answer = await operator.call('POST /admin/events/edit', body);
    assert.equal(answer.status, status, JSON.stringify([body, answer.json]));
    assert.match(JSON.stringify(answer.json), text);
  }
  assert.deepEqual(await shown(condition), before);
});

test('the command line edits events and markets, and prints refusals', async () => {
  const run = (...args: string[]) => cli(dataDir, args, { settings: SETTINGS });
  const condition = await create('Is it edited by command?');
  const { eventId } = await storedMarket(dataDir, condition);
  const first = await run('market', 'edit', condition, '--fee', '30', '--question', 'Edited?');
  assert.deepEqual([first.code, first.stdout], [0, `${condition} is changed\n`], first.stderr);
  const { question, taker_base_fee } = await shown(condition);
  assert.deepEqual([question, taker_base_fee], ['Edited?', 30]);
  const title = ['event', 'edit', eventId, '--title', 'Edited event'];
  assert.equal((await run(...title)).stdout, `event ${eventId} is changed\n`);
  assert.equal((await run(...title)).stdout, `event ${eventId} was so before\n`);
  const bad = await run('market', 'edit', condition, '--fee', 'much');
  assert.deepEqual([bad.code, /invalid_field: fee/.test(bad.stderr)], [1, true], bad.stderr);
  const { entries } = await operator.done('GET /admin/audit', undefined, '?limit=1');
  const [newest] = entries as { route: string; status: number }[];
  assert.deepEqual([newest?.route, newest?.status], ['POST /admin/events/edit', 200]);
  await operator.node.stop();
});
