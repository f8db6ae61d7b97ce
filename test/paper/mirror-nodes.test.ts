/** Whole nodes: one has a market, the other one mirrors it and trades play money, and either is killed. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import {
  book,
  books,
  freePort,
  get,
  levels,
  type Settings,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';

interface MirrorJson {
  readonly connected: boolean;
  readonly books: Readonly<Record<'live' | 'in_doubt' | 'paused' | 'absent', number>>;
  readonly troubled: readonly { readonly reason: string; readonly paused: boolean }[];
}

async function mirrorOf(node: TestNode): Promise<MirrorJson> {
  return ((await get(node, '/status')).json as { readonly mirror: MirrorJson }).mirror;
}

/** Waits until so many books are live, and none is anything else. */
async function allLive(node: TestNode, count: number): Promise<void> {
  await until(async () => {
    const mirror = await mirrorOf(node);
    return mirror !== undefined && mirror.books.live === count && mirror.books.absent === 0;
  });
}

/** 'size@price' of a book, bids and asks. */
async function shown(node: TestNode, token: string): Promise<string> {
  const { asks, bids } = await book(node, token);
  return [...levels(bids), '|', ...levels(asks)].join(' ');
}

async function cashOf(node: TestNode, trader: Trader): Promise<string> {
  const { json } = await trader.call(node, 'GET', '/ledger/balance');
  return (json as { readonly cash: { readonly total: string } }).cash.total;
}

async function openOrders(node: TestNode, trader: Trader): Promise<string[]> {
  const { json } = await trader.call(node, 'GET', '/data/orders');
  return (json as { readonly data: readonly { readonly id: string }[] }).data.map(({ id }) => id);
}

test('paper orders trade with a mirrored venue, survive a kill of either node, and are paid out', async () => {
  const [sourceDir, mirrorDir] = [temporaryDirectory(), temporaryDirectory()];
  const [market, other] = await withMarkets(sourceDir, [{ id: 1 }, { id: 2 }]);
  assert(market !== undefined && other !== undefined);
  const token = market.tokenIds[0]!;
  const sourceSettings: Settings = {
    ...{ LEDGER: 'on', FAUCET: '1000', PORT: String(await freePort()) },
  };
  let source = await OperatorNode.start(sourceDir, sourceSettings);
  const maker = await Trader.join(source.node, 'maker');
  for (const each of [market, other]) {
    await maker.split(source.node, each, 100);
    await maker.place(source.node, { market: each, side: 'SELL', ticks: 60, shares: 50 });
    await maker.place(source.node, { market: each, side: 'BUY', ticks: 40, shares: 40 });
  }

  const mirrorSettings: Settings = {
    ...{ LEDGER: 'on', FAUCET: '1000', PORT: String(await freePort()) },
    MIRROR_URL: `http://127.0.0.1:${source.node.port}`,
    CATALOG_SYNC_SECONDS: '1',
  };
  let mirror = await TestNode.start(mirrorDir, mirrorSettings);
  await allLive(mirror, 2);
  await until(async () => (await shown(mirror, token)) === '40@0.4 | 50@0.6');

  const paper = await Trader.join(mirror, 'paper');
  const taken = await paper.place(mirror, { market, side: 'BUY', ticks: 60, shares: 10 });
  assert.equal(taken.status, 'matched');
  await paper.place(mirror, { market: other, side: 'BUY', ticks: 60, shares: 10 });
  const resting = await paper.place(mirror, { market, side: 'BUY', ticks: 41, shares: 5 });
  assert.equal(resting.status, 'live');
  assert.equal(await shown(mirror, token), '40@0.4 5@0.41 | 40@0.6');
  assert.equal(await cashOf(mirror, paper), '988000000');

  await source.node.end('SIGKILL');
  await until(async () => (await mirrorOf(mirror)).books.paused === 2);
  assert.equal((await mirrorOf(mirror)).troubled[0]?.reason, 'disconnected');
  await until(async () => (await shown(mirror, token)) === '5@0.41 |');
  assert.deepEqual(await openOrders(mirror, paper), [resting.orderID]);
  source = await OperatorNode.start(sourceDir, sourceSettings);
  await allLive(mirror, 2);
  await until(async () => (await shown(mirror, token)) === '40@0.4 5@0.41 | 50@0.6');

  await mirror.end('SIGKILL');
  await maker.place(source.node, { market, side: 'BUY', ticks: 39, shares: 7 });
  mirror = await TestNode.start(mirrorDir, mirrorSettings);
  await allLive(mirror, 2);
  await until(async () => (await shown(mirror, token)) === '7@0.39 40@0.4 5@0.41 | 50@0.6');
  assert.deepEqual(await openOrders(mirror, paper), [resting.orderID]);

  // Who sells at 0.40 there would have met the order at 0.41 first.
  await maker.place(source.node, { market, side: 'SELL', ticks: 40, shares: 8, type: 'FAK' });
  await until(async () => (await openOrders(mirror, paper)).length === 0);
  await until(async () => (await shown(mirror, token)) === '7@0.39 32@0.4 | 50@0.6');
  assert.equal(await cashOf(mirror, paper), '985950000');

  const pays = { condition: market.conditionId, payout: [1, 0] };
  await source.done('POST /admin/markets/resolve', pays);
  await source.done('POST /admin/markets/void', { condition: other.conditionId });
  // 15 shares at 1, and 10 at a half.
  await until(async () => (await cashOf(mirror, paper)) === '1005950000');
  await until(async () => (await shown(mirror, token)) === '|');
  const { json } = await get(mirror, `/markets?condition_ids=${market.conditionId}&closed=true`);
  const [listed] = json as readonly { readonly umaResolutionStatus?: string }[];
  assert.equal(listed?.umaResolutionStatus, 'resolved');
  await mirror.stop();
  await source.node.stop();
});

test('the living demo of one node is mirrored by another one', async () => {
  const profile = { CLIENT_PROFILE: 'polymarket' };
  const demo = { ...profile, DEMO: 'on', DEMO_TRADERS: 'on' };
  const source = await TestNode.start(temporaryDirectory(), demo);
  const mirror = await TestNode.start(temporaryDirectory(), {
    ...{ ...profile, LEDGER: 'on', CATALOG_SYNC_SECONDS: '1' },
    ...{ MIRROR_URL: `http://127.0.0.1:${source.port}`, MIRROR_MARKETS: 'top:12' },
  });
  await allLive(mirror, 12);
  const { json } = await get(source, '/markets?closed=false&limit=100');
  const pairs = (json as readonly { readonly clobTokenIds: string }[])
    .map(({ clobTokenIds }) => JSON.parse(clobTokenIds) as string[])
    .filter((tokens) => tokens.length === 2);
  const mirrored = await books(
    mirror,
    pairs.map(([first]) => first!),
  );
  const tokens = mirrored
    .filter(({ asks, bids }) => asks.length + bids.length > 0)
    .map(({ asset_id }) => asset_id);
  assert.equal(tokens.length, 12);
  const sides = async (node: TestNode): Promise<string> =>
    JSON.stringify(
      (await books(node, tokens)).map(({ asks, bids }) => [levels(asks), levels(bids)]),
    );
  // Each time after a change.
  let last = '';
  for (let changes = 0; changes < 5; changes++) {
    await until(async () => {
      const [there, here] = await Promise.all([sides(source), sides(mirror)]);
      if (there !== here || there === last) return false;
      last = there;
      return true;
    });
  }
  const trades = (await get(mirror, '/trades?limit=1')).json as readonly unknown[];
  assert.equal(trades.length, 1);
  await mirror.stop();
  await source.stop();
});

test('a directory without a ledger is not mirrored into, and the node says so', async () => {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }]);
  await (await TestNode.start(dataDir)).stop();
  const MIRROR_URL = 'http://127.0.0.1:1';
  const node = await TestNode.start(dataDir, { MIRROR_URL, LEDGER: 'on' });
  assert.match(node.log, /MIRROR_URL needs a ledger, and DATA_DIR was made without one/);
  assert.equal(await mirrorOf(node), undefined);
  await node.stop();
});
