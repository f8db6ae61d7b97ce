/** Markets that the house quotes, on a whole node with a ledger: random takers, a kill in the middle, both results. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type NodeClient, toMicro } from '../../client/client.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import {
  assertAddsUp,
  assertNoDoubles,
  houseOf,
  ordersOf,
  quotesOf,
  take,
  takers,
} from './house.ts';

const dataDir = temporaryDirectory();
const SETTINGS = { LEDGER: 'on', FAUCET: '10000' };
let operator = await OperatorNode.start(dataDir, SETTINGS);
let clients: NodeClient[] = [];
const close = (): void => {
  for (const client of clients) client.close();
};
after(close);
const seed = freshSeed();
const random = new Random(seed);
let number = 0;

interface Made {
  readonly condition: string;
  readonly tokens: readonly string[];
}

async function made(wish: object): Promise<Made> {
  number += 1;
  const { condition, tokens } = await operator.done('POST /admin/markets', {
    question: `Does the house quote market ${number}?`,
    outcomes: ['Yes', 'No'],
    ...wish,
  });
  return { condition: String(condition), tokens: tokens as string[] };
}

async function resolve({ condition }: Made, payout: readonly number[]): Promise<void> {
  await operator.done('POST /admin/markets/resolve', { condition, payout });
  await until(async () => (await operator.done('GET /admin/ledger')).resolving === 0);
}

async function trade(market: Made, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await take(random, random.pick(clients), market.tokens);
}

for (const payout of [
  [1, 0],
  [0, 1],
]) {
  test(`random takers and a kill cost the house at most its sum where ${payout} is paid`, async () => {
    const market = await made({ liquidity: '50', minimum: '1' });
    close();
    clients = await takers(operator.node.port, 3);
    const first = await quotesOf(operator, await houseOf(operator, market.condition));
    assertNoDoubles(first);
    await trade(market, 25);
    // In the middle of what the house sends.
    void take(random, clients[0]!, market.tokens).catch(() => undefined);
    await operator.node.end('SIGKILL');
    operator = await OperatorNode.start(dataDir, SETTINGS);
    close();
    clients = await takers(operator.node.port, 3);
    await assertAddsUp(operator);
    const house = await houseOf(operator, market.condition);
    assert.equal(house.paid_in, '50', `SEED=${seed}`);
    assertNoDoubles(await quotesOf(operator, house));
    await trade(market, 25);
    assertNoDoubles(await quotesOf(operator, house));
    await assertAddsUp(operator);
    const before = await houseOf(operator, market.condition);
    await resolve(market, payout);
    const done = await houseOf(operator, market.condition);
    const [result] = done.outcomes.map((outcome) => outcome.result);
    assert.equal(done.state, 'resolved');
    assert.equal(result, before.outcomes[payout.indexOf(1)]?.result, `SEED=${seed}`);
    const lost = result!.startsWith('-') ? toMicro(result!.slice(1)) : 0n;
    assert(lost <= 50_000_000n, `SEED=${seed}: it lost ${lost}`);
    const query = `?wallet=${done.wallet}&limit=1000`;
    const statement = await operator.done('GET /admin/ledger/statement', undefined, query);
    const entries = statement.entries as { readonly cash_after: string }[];
    const [newest] = entries;
    assert.equal(newest?.cash_after, done.cash, 'the statement ends with what is left');
    assert(entries.length > 20, 'it has traded');
    assert.deepEqual(await ordersOf(operator, done.wallet), []);
    const { condition } = market;
    const { amount } = await operator.done('POST /admin/liquidity/remove', { condition });
    assert.equal(amount, done.cash);
    const emptied = await houseOf(operator, condition);
    assert.deepEqual([emptied.cash, emptied.paid_out], ['0', done.cash]);
    assert.equal(emptied.outcomes[0]?.result, result, 'what it has cost stays on the list');
    await assertAddsUp(operator);
  });
}

test('a start without trades in between leaves the same orders', async () => {
  const market = await made({ liquidity: '50', minimum: '1' });
  const before = await quotesOf(operator, await houseOf(operator, market.condition));
  await operator.node.end('SIGKILL');
  operator = await OperatorNode.start(dataDir, SETTINGS);
  const after = await quotesOf(operator, await houseOf(operator, market.condition));
  const ids = (orders: typeof before): string[] => orders.map(({ id }) => id).sort();
  assert.deepEqual(ids(after), ids(before));
});

test('quotes that an operator cancels come back with the next change of the market', async () => {
  const market = await made({ liquidity: '50', minimum: '1' });
  const house = await houseOf(operator, market.condition);
  const before = await quotesOf(operator, house);
  await operator.done('POST /admin/orders/cancel', { wallet: house.wallet });
  const after = await quotesOf(operator, house);
  assert.equal(after.length, before.length);
  assert.notDeepEqual(new Set(after.map(({ id }) => id)), new Set(before.map(({ id }) => id)));
});

test('everybody sees the account of a market, as the operator does', async () => {
  const { condition } = await made({ minimum: '1' });
  const read = (id: string) => get(operator.node, `/liquidity?condition=${id}`);
  assert.deepEqual((await read(condition)).json, { data: [] });
  assert.deepEqual((await read(`0x${'9'.repeat(64)}`)).json, { data: [] });
  assert.equal((await read('none')).status, 400);
  await operator.done('POST /admin/liquidity/add', { condition, amount: '50' });
  await quotesOf(operator, await houseOf(operator, condition));
  const house = await houseOf(operator, condition);
  assert.deepEqual((await read(condition.toUpperCase().replace('0X', '0x'))).json, {
    data: [house],
  });
});

test('liquidity is added at the same price, removed in part, and wound down', async () => {
  const { condition } = await made({ minimum: '1' });
  const add = (wish: object) => operator.done('POST /admin/liquidity/add', { condition, ...wish });
  await add({ amount: '50', price: '0.2', id: 'first' });
  const again = await add({ amount: '50', price: '0.2', id: 'first' });
  assert.deepEqual([again.amount, again.repeated], ['50', true]);
  const first = await houseOf(operator, condition);
  assert.deepEqual([first.paid_in, first.outcomes[0]?.price], ['50', '0.2000']);
  const shallow = await quotesOf(operator, first);
  await add({ amount: '450' });
  const second = await houseOf(operator, condition);
  assert.deepEqual([second.paid_in, second.outcomes[0]?.price], ['500', '0.2000']);
  const deep = await quotesOf(operator, second);
  const best = (orders: typeof deep) => Math.max(...orders.map((o) => Number(o.original_size)));
  assert(best(deep) > best(shallow));
  await operator.done('POST /admin/liquidity/remove', { condition, amount: '400' });
  const third = await houseOf(operator, condition);
  assert.deepEqual([third.paid_out, third.cash], ['400', '100']);
  assertNoDoubles(await quotesOf(operator, third));
  const tooMuch = { condition, amount: '100.000001' };
  assert.equal((await operator.call('POST /admin/liquidity/remove', tooMuch)).status, 400);
  assert.equal((await houseOf(operator, condition)).paid_out, '400');
  const { amount } = await operator.done('POST /admin/liquidity/remove', { condition });
  assert.equal(amount, '100');
  const last = await houseOf(operator, condition);
  assert.deepEqual([last.state, last.cash, last.outcomes[0]?.result], ['removed', '0', '0']);
  assert.deepEqual(await ordersOf(operator, last.wallet), []);
  await assertAddsUp(operator);
});

test('markets with ticks, minimum sizes, fees, delays and neg-risk are quoted; a halted one is not', async () => {
  const event = await operator.done('POST /admin/events', { title: 'Who?', negRisk: true });
  const markets = [
    await made({ liquidity: '50', tick: '0.001', minimum: '5', feeRate: '0.07', feeExponent: 1 }),
    await made({ liquidity: '1000', tick: '0.1', minimum: '0.01', fee: 100 }),
    await made({ liquidity: '20', tick: '0.0025', takerDelay: 1 }),
    await made({ liquidity: '50', event: event.event, negRisk: true }),
    await made({ liquidity: '50', protocol: 2 }),
  ];
  close();
  clients = await takers(operator.node.port, 1);
  for (const market of markets) {
    const house = await houseOf(operator, market.condition);
    const before = await quotesOf(operator, house);
    const [token = ''] = market.tokens;
    const ask = before.find(({ asset_id: id, side }) => (id === token) === (side === 'SELL'));
    assert(ask !== undefined);
    await clients[0]!.orders.post({
      tokenId: token,
      side: 'BUY',
      price: '0.9',
      size: '20',
      type: 'FAK',
    });
    await until(async () => {
      const { outcomes } = await houseOf(operator, market.condition);
      return outcomes.some(({ shares }) => shares !== '0');
    });
    const orders = await quotesOf(operator, house);
    assertNoDoubles(orders);
    assert(
      orders.some(({ side }) => side === 'SELL'),
      'what it holds it sells',
    );
  }
  const [{ condition }] = markets as [Made];
  await operator.done('POST /admin/markets/halt', { condition });
  const halted = await houseOf(operator, condition);
  assert.equal(halted.state, 'halted');
  await operator.done('POST /admin/liquidity/add', { condition, amount: '500' });
  assert.deepEqual((await houseOf(operator, condition)).orders, halted.orders);
  await operator.done('POST /admin/markets/resume', { condition });
  const sizes = async (): Promise<number> => {
    const orders = await ordersOf(operator, halted.wallet);
    return Math.max(...orders.map((order) => Number(order.original_size)));
  };
  const before = await sizes();
  await until(async () => (await sizes()) > before);
});

test('what the house cannot quote is refused, and nothing is made', async () => {
  const refusal = async (key: string, body: object): Promise<unknown> => {
    const { json, status } = await operator.call(key, body);
    assert(status >= 400, JSON.stringify(json));
    return json.code ?? json.error;
  };
  const three = { question: 'Three?', outcomes: ['a', 'b', 'c'] };
  await refusal('POST /admin/markets', { ...three, liquidity: '50' });
  const { condition } = await operator.done('POST /admin/markets', three);
  await refusal('POST /admin/liquidity/add', { condition, amount: '50' });
  await refusal('POST /admin/liquidity/remove', { condition });
  await refusal('POST /admin/liquidity/add', { condition: `0x${'1'.repeat(64)}`, amount: '50' });
  const ended = await made({});
  await operator.done('POST /admin/markets/close', { condition: ended.condition });
  await refusal('POST /admin/liquidity/add', { condition: ended.condition, amount: '50' });
});
