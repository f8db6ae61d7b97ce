/**
 * Markets that end on a whole node: their orders, the catalog and refusals afterwards, and
 * remaining operations of an operator (docs/protocol.md#end-of-a-market).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { MADE } from '../../storage/catalog/operator-marks.ts';
import {
  catalogFile,
  get,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import { importCatalog, storedMarket } from './imports.ts';
import { OperatorNode } from './operator-node.ts';

const SETTINGS = { LEDGER: 'on', RESULT_CODES: 'on' };
const NOT_READY = 'the market is not yet ready to process new orders';
const FAR = '2040-01-01T00:00:00Z';
const dataDir = temporaryDirectory();
await withMarkets(dataDir, [{ id: 1 }]);
const operator = await OperatorNode.start(dataDir, SETTINGS);
const { node } = operator;
const cliSettings = { LEDGER: 'on', ADMIN_PORT: new URL(operator.base).port };
const alice = await Trader.join(node, 'alice');
await operator.done('POST /admin/ledger/deposit', { wallet: alice.address, amount: '1000' });

const inSeconds = (seconds: number): string =>
  `${new Date(Date.now() + 1_000 * seconds).toISOString().slice(0, 19)}Z`;
const create = async (question: string, wish: object = {}) => {
  const body = { question, outcomes: ['Yes', 'No'], ...wish };
  const { changed, condition, end } = await operator.done('POST /admin/markets', body);
  return { changed, end, condition: String(condition) };
};
const edit = (condition: string, changes: object) =>
  operator.call('POST /admin/markets/edit', { condition, ...changes });

/** Gives a market an end as soon as this machine can take it. */
async function endSoon(condition: string): Promise<string> {
  for (let seconds = 2; ; seconds *= 2) {
    const end = inSeconds(seconds);
    const { json, status } = await edit(condition, { endDate: end });
    if (status === 200) assert.deepEqual([json.changed, json.end], [true, end]);
    // A conflict says that it has come meanwhile.
    if (status !== 400) return end;
  }
}

async function listed(condition: string): Promise<Record<string, unknown>> {
  const { json } = await get(node, `/markets?condition_ids=${condition}`);
  return (json as Record<string, unknown>[])[0]!;
}

async function shown(trader: Trader, id: string, of = node): Promise<Record<string, unknown>> {
  const { json } = await trader.ask(of, 'GET', `/data/order/${id}`);
  return json as Record<string, unknown>;
}

async function refusal(condition: string): Promise<Record<string, string>> {
  const market = await storedMarket(dataDir, condition);
  const signed = alice.sign({ market, side: 'BUY', ticks: 40, shares: 5 });
  const { json } = await alice.ask(node, 'POST', '/order', JSON.stringify(signed.item));
  return json as Record<string, string>;
}

test('at the end of a market its orders end, and the catalog closes it', async () => {
  const made = await create('Does it end?', { endDate: FAR });
  const { condition } = made;
  assert.equal(made.end, FAR);
  const market = await storedMarket(dataDir, condition);
  const { orderID } = await alice.place(node, { market, side: 'BUY', ticks: 40, shares: 10 });
  assert.deepEqual((await listed(condition)).closed, false);

  const end = await endSoon(condition);
  await until(async () => (await shown(alice, orderID)).status === 'canceled');
  assert(Date.now() >= Date.parse(end));
  const { associate_trades, reason } = await shown(alice, orderID);
  assert.deepEqual([reason, associate_trades], ['endReached', []]);
  const balance = await alice.ask(node, 'GET', '/ledger/balance');
  assert.match(JSON.stringify(balance.json), /"reserved":"0"/);

  const { code, detail, errorMsg } = await refusal(condition);
  assert.deepEqual([errorMsg, code], [NOT_READY, 'MARKET_ENDED']);
  assert.equal(
    detail,
    `the market ended at ${new Date(end).toISOString()}: it takes no orders again, and can still resolve`,
  );
  await until(async () => (await listed(condition)).closed === true);
  const { acceptingOrders, endDate } = await listed(condition);
  assert.deepEqual([acceptingOrders, endDate], [false, end]);

  for (const [key, body] of [
    ['POST /admin/markets/edit', { endDate: FAR }],
    ['POST /admin/markets/edit', { keepOpen: true }],
    ['POST /admin/markets/edit', { fee: 5 }],
    ['POST /admin/markets/resume', {}],
  ] as const) {
    const refused = await operator.call(key, { condition, ...body });
    assert.deepEqual([refused.status, refused.json.error], [409, 'the market has ended']);
    assert.equal(refused.json.code, 'MARKET_ENDED');
  }
  const again = await create('Does it end?', { endDate: FAR });
  assert.equal(again.changed, false, 'the same wish finds the market, ended as it is');
});

test('a market that has ended splits, merges and resolves', async () => {
  const { condition } = await create('Does it pay?', { endDate: FAR });
  await endSoon(condition);
  await until(async () => (await listed(condition)).closed === true);
  const move = async (path: string) => {
    const id = `${Date.now()}-${path.slice(1)}`;
    const body = JSON.stringify({ conditionId: condition, amount: '5000000', id });
    const { status, text } = await alice.ask(node, 'POST', path, body);
    assert.equal(status, 200, text);
  };
  await move('/split');
  await move('/merge');
  const resolution = { condition, payouts: { Yes: 1 } };
  const { state } = await operator.done('POST /admin/markets/resolve', resolution);
  assert.match(String(state), /^resolv/);
  await until(async () => (await listed(condition)).umaResolutionStatus === 'resolved');
  const { code, detail } = await refusal(condition);
  assert.deepEqual(
    [code, detail],
    ['MARKET_RESOLVED', 'the market has resolved: its payouts are final'],
  );
});

test('each reason for which a market refuses orders has a code and a detail of its own', async () => {
  const halted = await create('Is it halted?');
  const closed = await create('Is it closed?');
  const isVoid = await create('Is it void?');
  await operator.done('POST /admin/markets/halt', { condition: halted.condition });
  await operator.done('POST /admin/markets/close', { condition: closed.condition });
  await operator.done('POST /admin/markets/void', { condition: isVoid.condition });
  const refusals = [];
  for (const { condition } of [halted, closed, isVoid]) refusals.push(await refusal(condition));
  assert.deepEqual(
    refusals.map(({ code, detail, errorMsg }) => [errorMsg, code, detail]),
    [
      [
        NOT_READY,
        'MARKET_HALTED',
        'the market is halted, or the catalog has left it out: open orders stay, and can be canceled',
      ],
      [NOT_READY, 'MARKET_CLOSED', 'the operator has closed the market: it takes no orders again'],
      [NOT_READY, 'MARKET_RESOLVED', 'the market is void: its payouts are final'],
    ],
  );
});

test('with keepOpen an end date closes nothing, and an edit without it sets the end', async () => {
  const past = '2020-01-01T00:00:00Z';
  const kept = { endDate: past, startDate: past, keepOpen: true };
  const made = await create('Is it kept open?', kept);
  assert.deepEqual([made.end, (await listed(made.condition)).endDate], [null, past]);
  const market = await storedMarket(dataDir, made.condition);
  await alice.place(node, { market, side: 'BUY', ticks: 40, shares: 5 });
  const given = await edit(made.condition, { endDate: FAR });
  assert.deepEqual([given.json.end, given.json.changed], [FAR, true]);
  const taken = await edit(made.condition, { keepOpen: true });
  assert.deepEqual([taken.json.end, taken.json.changed], [null, true]);
  const same = await edit(made.condition, { keepOpen: true });
  assert.deepEqual([same.json.end, same.json.changed], [null, false]);
});

test('an end in the past is refused, and so is an invalid time', async () => {
  const past = { startDate: '2020-01-01T00:00:00Z', endDate: '2020-01-02T00:00:00Z' };
  const body = { question: 'Is it past?', outcomes: ['Yes', 'No'], ...past };
  const { json, status } = await operator.call('POST /admin/markets', body);
  assert.deepEqual([status, json.error], [400, 'invalid_field: endDate']);
  assert.match(String(json.detail), /to come, unless keepOpen is true/);
  const { condition } = await create('Is it to come?');
  for (const endDate of [past.endDate, '2027-19-01T00:00:00Z']) {
    const refused = await edit(condition, { endDate });
    assert.deepEqual([refused.status, refused.json.error], [400, 'invalid_field: endDate']);
  }
});

test('markets of imports and of older versions trade on after their dates', async () => {
  const old = catalogFile([{ id: 1 }, { id: 7 }]) as {
    events: { markets: Record<string, unknown>[] }[];
  };
  for (const { markets } of old.events) {
    for (const market of markets) market.endDate = '2020-01-01T00:00:00Z';
  }
  // As an older version stored what an operator made.
  const wish = {
    question: 'Question 7?',
    outcomes: ['Yes', 'No'],
    endDate: '2020-01-01T00:00:00Z',
  };
  Object.assign(old.events[1]!, { [MADE]: { title: 'Event 7' } });
  Object.assign(old.events[1]!.markets[0]!, { [MADE]: wish });
  await importCatalog(node, old);
  for (const { markets } of old.events) {
    const market = await storedMarket(dataDir, String(markets[0]!.conditionId));
    await alice.place(node, { market, side: 'BUY', ticks: 30, shares: 5 });
  }
});

test('the command line sets, moves and removes an end, and prints it', async () => {
  const run = (...args: string[]) => cli(dataDir, args, { settings: cliSettings });
  const question = ['--question', 'Does it end by command?', '--outcome', 'Yes', '--outcome', 'No'];
  const made = await run('market', 'create', ...question, '--end', FAR);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^ends 2040-01-01T00:00:00Z$/m);
  const condition = /^condition (0x\w+)$/m.exec(made.stdout)![1]!;
  const moved = await run('market', 'edit', condition, '--end', '2041-01-01T00:00:00Z');
  assert.equal(moved.stdout, `${condition} is changed; ends 2041-01-01T00:00:00Z\n`, moved.stderr);
  const taken = await run('market', 'edit', condition, '--keep-open');
  assert.equal(taken.stdout, `${condition} is changed\n`, taken.stderr);
  const kept = ['--question', 'Is it kept?', ...question.slice(2), '--end', FAR, '--keep-open'];
  assert.match((await run('market', 'create', ...kept)).stdout, /^ends never$/m);
});

test('a market that ended while the node was down has ended when the node answers', async () => {
  const { condition } = await create('Does it end in the dark?', { endDate: FAR });
  const market = await storedMarket(dataDir, condition);
  const { orderID } = await alice.place(node, { market, side: 'BUY', ticks: 40, shares: 5 });
  const end = inSeconds(10);
  assert.equal((await edit(condition, { endDate: end })).status, 200);
  await node.end('SIGKILL');
  await until(() => Date.now() > Date.parse(end));
  const next = await TestNode.start(dataDir, SETTINGS);
  assert.equal((await shown(alice, orderID, next)).reason, 'endReached');
  await until(async () => {
    const { json } = await get(next, `/markets?condition_ids=${condition}`);
    return (json as Record<string, unknown>[])[0]!.closed === true;
  });
  await next.stop();
  const checked = await cli(dataDir, ['verify']);
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
});

test('a market ends on a node without a ledger', async () => {
  const directory = temporaryDirectory();
  const [market] = await withMarkets(directory, [{ id: 1 }]);
  const plain = await TestNode.start(directory);
  const bob = await Trader.join(plain, 'bob');
  const { orderID } = await bob.place(plain, {
    market: market!,
    side: 'BUY',
    ticks: 40,
    shares: 5,
  });
  await withMarkets(directory, [{ id: 1, end: Date.now() + 2_000 }]);
  await until(async () => (await shown(bob, orderID, plain)).reason === 'endReached');
  const refused = await bob.order(plain, { market: market!, side: 'BUY', ticks: 40, shares: 5 });
  assert.equal(refused.errorMsg, NOT_READY);
  await until(async () => {
    const { json } = await get(plain, '/markets/1');
    return (json as Record<string, unknown>).closed === true;
  });
  await plain.stop();
});
