import assert from 'node:assert/strict';
import test from 'node:test';
import { level1 } from '../../client/credentials.ts';
import { Wallet } from '../../client/wallet.ts';
import { get, send, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { CHAIN_ID, seconds, Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(market !== undefined && other !== undefined);
const SETTINGS = { LEDGER: 'on', FAUCET: '1000' };
let node = await TestNode.start(dataDir, SETTINGS);
const [yes = '', no = ''] = market.tokenIds;

interface Amounts {
  readonly total: string;
  readonly reserved: string;
  readonly free: string;
}
interface Balance {
  readonly cash: Amounts;
  readonly positions: readonly (Amounts & { readonly token_id: string })[];
}

async function balanceOf(trader: Trader): Promise<Balance> {
  const { json, status, text } = await trader.ask(node, 'GET', '/ledger/balance');
  assert.equal(status, 200, text);
  return json as Balance;
}

async function sets(
  trader: Trader,
  kind: 'split' | 'merge',
  change: Readonly<Record<string, unknown>> = {},
): Promise<{ status: number; json: unknown }> {
  const id = `${Date.now()}-${Math.random()}`;
  const body = { conditionId: market!.conditionId, amount: '10000000', id, ...change };
  const { json, status } = await trader.ask(node, 'POST', `/${kind}`, JSON.stringify(body));
  return { status, json };
}

const amounts = (total: number, reserved = 0): Amounts => ({
  total: String(total),
  reserved: String(reserved),
  free: String(total - reserved),
});

test('the first API key of a wallet brings money once, with any later keys', async () => {
  const alice = await Trader.join(node, 'alice');
  assert.deepEqual(await balanceOf(alice), { cash: amounts(1_000_000_000), positions: [] });
  const wallet = Wallet.fromSeed('whole node test/twice');
  const issue = (nonce: string) =>
    send(node, 'POST', '/auth/api-key', level1('SERVICE', wallet, CHAIN_ID, seconds(), nonce));
  const replies = await Promise.all(['0', '1', '0', '2'].map(issue));
  for (const { status } of replies) assert.equal(status, 200);
  const twice = await Trader.join(node, 'twice');
  assert.deepEqual((await balanceOf(twice)).cash, amounts(1_000_000_000));
});

test('an order reserves money, and one that is too large is refused', async () => {
  const bob = await Trader.join(node, 'bob');
  await bob.place(node, { market, side: 'BUY', ticks: 50, shares: 100 });
  assert.deepEqual((await balanceOf(bob)).cash, amounts(1_000_000_000, 50_000_000));
  const refused = await bob.order(node, { market, side: 'BUY', ticks: 50, shares: 2_000 });
  assert.equal(refused.errorMsg, 'not enough balance / allowance');
  const sale = await bob.order(node, { market, side: 'SELL', ticks: 60, shares: 5 });
  assert.equal(sale.errorMsg, 'not enough balance / allowance');
  await bob.cancel(node, '/cancel-all');
  assert.deepEqual((await balanceOf(bob)).cash, amounts(1_000_000_000));
});

test('cash becomes complete sets and cash again, and GET /balance-allowance shows totals', async () => {
  const carol = await Trader.join(node, 'carol');
  const split = await sets(carol, 'split');
  assert.equal(split.status, 200);
  assert.equal((split.json as { cash: string }).cash, '990000000');
  await carol.place(node, { market, side: 'SELL', ticks: 60, shares: 5 });
  const { cash, positions } = await balanceOf(carol);
  assert.deepEqual(cash, amounts(990_000_000));
  assert.deepEqual(
    new Map(positions.map(({ token_id, ...rest }) => [token_id, rest])),
    new Map([
      [yes, amounts(10_000_000, 5_000_000)],
      [no, amounts(10_000_000)],
    ]),
  );
  const told = async (query: string) => {
    const { json } = await carol.call(node, 'GET', '/balance-allowance', query);
    return (json as { balance: string }).balance;
  };
  assert.equal(await told('?asset_type=COLLATERAL&signature_type=0'), '990000000');
  assert.equal(await told('?asset_type=COLLATERAL'), '990000000');
  assert.equal(await told(`?asset_type=CONDITIONAL&token_id=${yes}`), '10000000');
  assert.equal(await told(`?asset_type=CONDITIONAL&token_id=${other.tokenIds[0]}`), '0');
  assert.equal(await told('?asset_type=COLLATERAL&signature_type=1'), '0', 'no factory is known');
  assert.equal((await sets(carol, 'merge')).status, 400, 'half of the shares are reserved');
  const merge = await sets(carol, 'merge', { amount: '5000000' });
  assert.equal((merge.json as { cash: string }).cash, '995000000');
});

test('a repeated request gets the first answer, also after a restart; another body is 409', async () => {
  const dave = await Trader.join(node, 'dave');
  const id = `${Date.now()}-once`;
  const first = await sets(dave, 'split', { id });
  assert.equal(first.status, 200);
  await sets(dave, 'split');
  assert.deepEqual(await sets(dave, 'split', { id }), first);
  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, SETTINGS);
  assert.deepEqual(await sets(dave, 'split', { id }), first);
  for (const change of [{ amount: '1' }, { conditionId: other.conditionId }]) {
    assert.equal((await sets(dave, 'split', { id, ...change })).status, 409);
  }
  assert.equal((await sets(dave, 'merge', { id })).status, 409);
  const erin = await Trader.join(node, 'erin');
  assert.equal((await sets(erin, 'split', { id })).status, 200, 'ids of wallets are apart');
  assert.deepEqual((await balanceOf(dave)).cash, amounts(980_000_000));
});

test('a wrong request is refused with a clear error, and changes nothing', async () => {
  const frank = await Trader.join(node, 'frank');
  const ahead = `${Date.now() + 3_600_000}-x`;
  const cases: readonly [Readonly<Record<string, unknown>>, number, RegExp][] = [
    [{ amount: '1.5' }, 400, /invalid_field: amount/],
    [{ amount: '-1' }, 400, /invalid_field: amount/],
    [{ amount: 1 }, 400, /invalid_field: amount/],
    [{ amount: undefined }, 400, /invalid_field: amount/],
    [{ amount: '0' }, 400, /amount must be a whole number/],
    [{ amount: '9007199254740992' }, 400, /amount must be a whole number/],
    [{ amount: '9007199254740993' }, 400, /amount must be a whole number/],
    [{ amount: '99999999999999999' }, 400, /invalid_field: amount/],
    [{ amount: '1000000001' }, 400, /not enough balance/],
    [{ conditionId: `0x${'7'.repeat(64)}` }, 404, /market is not registered/],
    [{ conditionId: 'x' }, 400, /invalid_field: conditionId/],
    [{ id: 'x' }, 400, /invalid_field: id/],
    [{ id: '1' }, 400, /invalid_field: id/],
    [{ id: ahead }, 400, /at most 300 s ahead/],
  ];
  for (const [change, status, text] of cases) {
    const reply = await sets(frank, 'split', change);
    assert.equal(reply.status, status, JSON.stringify([change, reply.json]));
    assert.match(JSON.stringify(reply.json), text);
  }
  assert.equal((await sets(frank, 'merge')).status, 400);
  for (const body of ['', '[]', 'x', '7']) {
    assert.equal((await frank.ask(node, 'POST', '/split', body)).status, 400);
  }
  assert.equal((await send(node, 'POST', '/split', {}, '{}')).status, 401);
  assert.equal((await get(node, '/ledger/balance')).status, 401);
  assert.deepEqual(await balanceOf(frank), { cash: amounts(1_000_000_000), positions: [] });
});

test('a directory keeps its mode, and all routes of the ledger are refused without one', async () => {
  await node.stop();
  node = await TestNode.start(dataDir, {});
  assert.match(node.log, /listening on .*, ledger on\n/);
  const alice = await Trader.join(node, 'alice');
  assert.deepEqual((await balanceOf(alice)).cash, amounts(1_000_000_000));
  await node.stop();
  const plain = temporaryDirectory();
  await withMarkets(plain, [{ id: 1 }]);
  node = await TestNode.start(plain);
  const bob = await Trader.join(node, 'bob');
  assert.equal((await bob.ask(node, 'GET', '/ledger/balance')).status, 409);
  assert.equal((await sets(bob, 'split')).status, 409);
  const { json } = await bob.call(node, 'GET', '/balance-allowance', '?asset_type=COLLATERAL');
  assert.equal((json as { balance: string }).balance, String(Number.MAX_SAFE_INTEGER));
  await node.stop();
});
