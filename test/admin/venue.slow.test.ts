/**
 * An operator's own market from deposits to payouts: made, halted, closed, resolved and void, over
 * real HTTP.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { OperationKey } from '../../server/admin/operation-table.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { walletByEthers } from '../common/ethers.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { OperatorNode } from './operator-node.ts';

const dataDir = temporaryDirectory();
await withMarkets(dataDir, [{ id: 1 }]);
const FACTORY = [`0x${'fa'.repeat(20)}`, `0x${'c0'.repeat(32)}`] as const;
const SETTINGS = { LEDGER: 'on', PROXY_WALLET_FACTORY: FACTORY.join(':') };
let operator = await OperatorNode.start(dataDir, SETTINGS);
const alice = await Trader.join(operator.node, 'alice');
const bob = await Trader.join(operator.node, 'bob');
let ids = 0;
const newId = (): string => {
  ids += 1;
  return `${Date.now()}-test-${ids}`;
};

const refused = async (key: OperationKey, body: unknown): Promise<unknown[]> => {
  const { json, status } = await operator.call(key, body);
  return [status, json.error];
};
const cashOf = async ({ address }: Trader): Promise<unknown> =>
  (await operator.done('GET /admin/ledger/balance', undefined, `?wallet=${address}`)).cash;
const deposit = (trader: Trader, amount: string, id = newId()) =>
  operator.done('POST /admin/ledger/deposit', { wallet: trader.address, amount, id });

/** Creates a market; returns it in the form that signers of orders need. */
async function create(wish: Record<string, unknown>): Promise<CatalogMarket> {
  const made = await operator.done('POST /admin/markets', { outcomes: ['Yes', 'No'], ...wish });
  assert.equal(made.changed, true);
  const store = openCatalog(dataDir, { durability: 'flushed', readOnly: true });
  const market = store.load().markets.find(({ conditionId }) => conditionId === made.condition);
  await store.close();
  assert(market !== undefined);
  assert.deepEqual(market.tokenIds, made.tokens);
  return market;
}
/** Waits for payouts: a resolution is answered when it begins. */
const paid = (): Promise<void> =>
  until(async () => (await operator.done('GET /admin/ledger')).resolving === 0);
const shown = async (market: CatalogMarket): Promise<Record<string, unknown>> => {
  const { json } = await get(operator.node, `/clob/markets/${market.conditionId}`);
  return json as Record<string, unknown>;
};

test('a deposit can be paid out once for each id', async () => {
  const id = newId();
  const first = await deposit(alice, '100.5', id);
  assert.deepEqual([first.amount, first.cash, first.repeated], ['100.5', '100.5', false]);
  const again = await deposit(alice, '100.5', id);
  assert.deepEqual([again.cash, again.time, again.repeated], ['100.5', first.time, true]);
  const wallet = alice.address;
  const other = { wallet, amount: '1', id };
  assert.equal((await refused('POST /admin/ledger/deposit', other))[0], 409);
  const out = await operator.done('POST /admin/ledger/withdraw', { wallet, amount: '0.000001' });
  assert.deepEqual([out.amount, out.cash], ['0.000001', '100.499999']);
  assert.equal((await refused('POST /admin/ledger/withdraw', { wallet, amount: '101' }))[0], 400);
  assert.deepEqual(await cashOf(alice), {
    total: '100.499999',
    reserved: '0',
    free: '100.499999',
  });
  const { deposited, imbalance } = await operator.done('GET /admin/ledger');
  assert.deepEqual([deposited, imbalance], ['100.499999', '0']);
});

test('an invalid amount, id or wallet is refused, and nothing changes', async () => {
  const wallet = alice.address;
  const before = await operator.done('GET /admin/ledger');
  for (const amount of ['0', '-1', '1.0000001', '1e3', '', 5, '9007199254.740992']) {
    assert.equal((await refused('POST /admin/ledger/deposit', { wallet, amount }))[0], 400);
  }
  for (const id of [
    '',
    'a\nb',
    'a\u202eb',
    '\u200b',
    'x'.repeat(129),
    `${Date.now() + 3_600_000}-late`,
  ]) {
    assert.equal(
      (await refused('POST /admin/ledger/deposit', { wallet, amount: '1', id }))[0],
      400,
    );
  }
  const unknown = { wallet: `0x${'12'.repeat(20)}`, amount: '1' };
  assert.equal((await refused('POST /admin/ledger/withdraw', unknown))[0], 404);
  const none = await operator.call(`GET /admin/ledger/balance?wallet=${unknown.wallet}`);
  assert.equal(none.status, 404);
  assert.deepEqual(await operator.done('GET /admin/ledger'), before);
});

test('a declared signer signs for a wallet, until another one is declared', async () => {
  const wallet = `0x${'77'.repeat(20)}`;
  const paid = await operator.done('POST /admin/ledger/deposit', {
    wallet,
    amount: '50',
    signer: alice.address,
  });
  assert.equal(paid.cash, '50');
  const market = await create({ question: 'Does a declared signer sign?' });
  const order = { market, side: 'BUY' as const, ticks: 10, shares: 10 };
  const signed = { signed: { maker: wallet, signatureType: 2 } };
  await alice.place(operator.node, { ...order, ...signed });
  await operator.done('POST /admin/ledger/declare', { wallet, signer: bob.address });
  assert.equal((await alice.order(operator.node, { ...order, ...signed })).success, false);
  const query = `?wallet=${wallet}`;
  const open = await operator.done('GET /admin/orders', undefined, query);
  assert.deepEqual(open, { total: 0, orders: [] }, 'orders of the signer before have ended');
  const { cash } = await operator.done('GET /admin/ledger/balance', undefined, query);
  assert.deepEqual(cash, { total: '50', reserved: '0', free: '50' });
  await bob.place(operator.node, { ...order, ...signed });
});

test('a wallet that follows from its signer trades with its own money, and its signer sees the trades', async () => {
  const wallet = walletByEthers(...FACTORY, alice.address, true);
  await operator.done('POST /admin/ledger/deposit', { wallet, amount: '50' });
  const balances = async (query: string): Promise<unknown[]> => {
    const path = '/balance-allowance';
    const told = [0, 1, 2].map((type) =>
      alice.call(operator.node, 'GET', path, `?${query}&signature_type=${type}`),
    );
    return (await Promise.all(told)).map(({ json }) => (json as { balance: string }).balance);
  };
  const { total } = (await cashOf(alice)) as { total: string };
  const own = String(micro(total));
  assert.deepEqual(await balances('asset_type=COLLATERAL'), [own, '50000000', '0']);

  const market = await create({ question: 'Does a derived wallet trade?' });
  const order = { market, side: 'BUY' as const, ticks: 50 };
  const signed = { signed: { maker: wallet, signatureType: 1 } };
  const stolen = await bob.order(operator.node, { ...order, ...signed, shares: 10 });
  assert.equal(stolen.errorMsg, 'invalid order signature');
  const large = await alice.order(operator.node, { ...order, ...signed, shares: 101 });
  assert.equal(large.errorMsg, 'not enough balance / allowance');
  await alice.place(operator.node, { ...order, ...signed, shares: 10 });
  assert.deepEqual(await balances('asset_type=COLLATERAL'), [own, '50000000', '0'], 'in total');
  const carol = await Trader.join(operator.node, 'carol');
  await deposit(carol, '5');
  await carol.place(operator.node, { ...order, outcome: 1, shares: 10 });
  assert.deepEqual(await balances('asset_type=COLLATERAL'), [own, '45000000', '0']);
  const query = `asset_type=CONDITIONAL&token_id=${market.tokenIds[0]}`;
  assert.deepEqual(await balances(query), ['0', '10000000', '0']);
});

test('a market that an operator creates trades, and a repeated request returns the same market', async () => {
  const wish = { question: 'Will it trade?', tick: '0.001', minimum: '1' };
  const market = await create(wish);
  assert.deepEqual([market.ticksPerUnit, market.minSizeMicro], [1_000, 1_000_000]);
  const again = await operator.done('POST /admin/markets', { outcomes: ['Yes', 'No'], ...wish });
  assert.deepEqual([again.changed, again.condition], [false, market.conditionId]);
  const other = { ...wish, outcomes: ['Yes', 'No'], tick: '0.01' };
  assert.equal((await refused('POST /admin/markets', other))[0], 409);
  const apart = await operator.done('POST /admin/markets', { ...other, key: 'second' });
  const byOldName = await operator.done('POST /admin/markets', { ...other, id: 'second' });
  assert.deepEqual(byOldName, { ...apart, changed: false }, 'id is another name of key');
  const both = await operator.call('POST /admin/markets', { ...other, id: 'a', key: 'b' });
  assert.deepEqual([both.status, both.json.error], [400, 'invalid_field: id']);
  const events = [];
  for (const named of [{ id: 'x' }, { key: 'x' }]) {
    events.push(await operator.done('POST /admin/events', { title: 'Namesakes', ...named }));
  }
  assert.deepEqual(events[1], { ...events[0], changed: false });
  assert.notEqual(apart.condition, market.conditionId);

  await deposit(bob, '100');
  await alice.place(operator.node, { market, side: 'BUY', ticks: 400, shares: 10 });
  const sold = await bob.order(operator.node, {
    market,
    outcome: 1,
    side: 'BUY',
    ticks: 600,
    shares: 10,
  });
  assert.equal(sold.status, 'matched');
  const { positions } = await operator.done(
    'GET /admin/ledger/balance',
    undefined,
    `?wallet=${bob.address}`,
  );
  const names = { condition_id: market.conditionId, outcome: 'No', slug: 'will-it-trade' };
  assert.deepEqual(positions, [
    { token_id: market.tokenIds[1], ...names, total: '10', reserved: '0', free: '10' },
  ]);
});

test('invalid requests are refused with their member', async () => {
  const outcomes = ['Yes', 'No'];
  const cases: readonly [OperationKey, object, number][] = [
    ['POST /admin/markets', { outcomes }, 400],
    ['POST /admin/markets', { question: ' ', outcomes }, 400],
    ['POST /admin/markets', { question: 'One?', outcomes: ['Yes'] }, 400],
    ['POST /admin/markets', { question: 'Twice?', outcomes: ['Yes', 'Yes'] }, 400],
    ['POST /admin/markets', { question: 'Tick?', outcomes, tick: '0.03' }, 400],
    ['POST /admin/markets', { question: 'Where?', outcomes, event: '999' }, 404],
    ['POST /admin/markets', { question: 'Whose?', outcomes, event: '1' }, 409],
    ['POST /admin/events', {}, 400],
    ['POST /admin/events', { title: 'When?', endDate: 'tomorrow' }, 400],
    ['POST /admin/markets/halt', { condition: `0x${'0'.repeat(64)}` }, 404],
    ['POST /admin/markets/resolve', { condition: `0x${'0'.repeat(64)}`, payout: [1, 0] }, 404],
  ];
  for (const [key, body, status] of cases) {
    assert.equal((await refused(key, body))[0], status, JSON.stringify(body));
  }
});

test('a halted market refuses orders until it is resumed, and a closed one for ever', async () => {
  const market = await create({ question: 'Will it stop?' });
  const { conditionId: condition } = market;
  const bid = { market, side: 'BUY' as const, ticks: 10, shares: 10 };
  await alice.place(operator.node, bid);
  const { reserved } = (await cashOf(alice)) as { reserved: string };
  assert.equal((await operator.done('POST /admin/markets/halt', { condition })).changed, true);
  assert.equal((await operator.done('POST /admin/markets/halt', { condition })).changed, false);
  assert.equal((await alice.order(operator.node, bid)).success, false);
  assert.equal((await shown(market)).accepting_orders, false);
  await operator.done('POST /admin/markets/resume', { condition });
  await alice.place(operator.node, bid);
  const edited = { condition, question: 'Has it stopped?', tick: '0.001' };
  await operator.done('POST /admin/markets/edit', edited);
  const { minimum_tick_size, question } = await shown(market);
  assert.deepEqual([question, minimum_tick_size], ['Has it stopped?', 0.001]);
  await operator.done('POST /admin/markets/close', { condition });
  assert.equal((await shown(market)).closed, true);
  const left = (await cashOf(alice)) as { reserved: string };
  assert(Number(left.reserved) < Number(reserved), 'its open orders have ended');
  assert.deepEqual(await refused('POST /admin/markets/resume', { condition }), [
    409,
    'the market is closed',
  ]);
});

test('a resolved market pays once, shows it, and stays resolved after a restart', async () => {
  const market = await create({ question: 'Will it pay?' });
  const { conditionId: condition } = market;
  const [before, was] = (await Promise.all([cashOf(alice), cashOf(bob)])) as { total: string }[];
  await alice.place(operator.node, { market, side: 'BUY', ticks: 40, shares: 10 });
  await bob.order(operator.node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 10 });
  const id = newId();
  for (const payout of [[0, 0], [1], [1, 0, 0], [-1, 1]]) {
    assert.equal((await refused('POST /admin/markets/resolve', { condition, payout }))[0], 400);
  }
  const first = { condition, payout: [1, 0], id };
  const resolved = await operator.done('POST /admin/markets/resolve', first);
  assert.deepEqual([resolved.id, resolved.payout, resolved.void], [id, [1, 0], false]);
  assert.equal((await operator.done('POST /admin/markets/resolve', first)).repeated, true);
  const other = { condition, payout: [0, 1] };
  assert.equal((await refused('POST /admin/markets/resolve', other))[0], 409);
  assert.equal((await refused('POST /admin/markets/resume', { condition }))[0], 409);
  const isPaid = async () => {
    await paid();
    const [after, now] = (await Promise.all([cashOf(alice), cashOf(bob)])) as { total: string }[];
    assert.equal(micro(after!.total) - micro(before!.total), 6_000_000);
    assert.equal(micro(now!.total) - micro(was!.total), -6_000_000);
    const { closed, tokens } = await shown(market);
    assert.equal(closed, true);
    assert.deepEqual(
      (tokens as { price: number; winner: boolean }[]).map((one) => [one.price, one.winner]),
      [
        [1, true],
        [0, false],
      ],
    );
    const { json } = await get(operator.node, `/markets?slug=${market.slug}`);
    const [row] = json as { closed: boolean; outcomePrices: string }[];
    assert.deepEqual([row?.closed, row?.outcomePrices], [true, '["1","0"]']);
  };
  await isPaid();
  await operator.node.stop();
  operator = await OperatorNode.start(dataDir, SETTINGS);
  await isPaid();
  assert.equal((await operator.done('POST /admin/markets/resolve', first)).repeated, true);
});

test('a void market pays half of each outcome', async () => {
  const market = await create({ question: 'Will it be void?' });
  const { total } = (await cashOf(bob)) as { total: string };
  await alice.place(operator.node, { market, side: 'BUY', ticks: 40, shares: 10 });
  await bob.order(operator.node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 10 });
  const answer = await operator.done('POST /admin/markets/void', { condition: market.conditionId });
  assert.deepEqual([answer.payout, answer.void], [[1, 1], true]);
  await paid();
  assert.equal(micro(((await cashOf(bob)) as { total: string }).total) - micro(total), -1_000_000);
  const { tokens } = await shown(market);
  assert.deepEqual(
    (tokens as { price: number }[]).map(({ price }) => price),
    [0.5, 0.5],
  );
});

test('at most one market of a neg-risk event resolves to Yes', async () => {
  const { event } = await operator.done('POST /admin/events', {
    title: 'Who wins?',
    negRisk: true,
    tags: ['Sports'],
  });
  const again = { title: 'Who wins?', negRisk: true, tags: ['Sports'] };
  assert.equal((await operator.done('POST /admin/events', again)).changed, false);
  assert.equal((await refused('POST /admin/events', { title: 'Who wins?' }))[0], 409);
  const markets: CatalogMarket[] = [];
  for (const name of ['Owls', 'Foxes', 'Herons']) {
    markets.push(await create({ question: `Do the ${name} win?`, event }));
  }
  assert(markets.every(({ eventId, negRisk }) => negRisk && eventId === event));
  const [owls, foxes, herons] = markets.map(({ conditionId }) => conditionId);
  const resolve = (condition: string | undefined, payout: number[]) =>
    operator.call('POST /admin/markets/resolve', { condition, payout });
  assert.equal((await resolve(owls, [1, 0])).status, 200);
  assert.equal((await resolve(foxes, [1, 0])).status, 409);
  assert.equal((await resolve(foxes, [0, 1])).status, 200);
  assert.equal((await resolve(herons, [0, 1])).status, 200);
});

test('every change is in the audit log, and the ledger adds up', async () => {
  await paid();
  const { entries } = await operator.done('GET /admin/audit', undefined, '?limit=1');
  const [newest] = entries as { route: string; status: number }[];
  assert.deepEqual([newest?.route, newest?.status], ['POST /admin/markets/resolve', 200]);
  const sums = await operator.done('GET /admin/ledger');
  assert.deepEqual([sums.imbalance, sums.resolving], ['0', 0]);
  await operator.node.stop();
});

function micro(text: string): number {
  return Math.round(Number(text) * 1_000_000);
}
