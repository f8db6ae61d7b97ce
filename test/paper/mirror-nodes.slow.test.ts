/**
 * Whole nodes: one has a market, another one mirrors it and trades play money, and either is
 * killed.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/common/free-port.ts';
import { type CatalogMarket, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import {
  type BookJson,
  book,
  books,
  get,
  levels,
  type Settings,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { MICRO, Trader } from '../common/traders.ts';
import { verified } from '../common/verified.ts';

interface MirrorJson {
  readonly connected: boolean;
  readonly books: Readonly<Record<'live' | 'in_doubt' | 'paused' | 'absent', number>>;
  readonly troubled: readonly { readonly reason: string; readonly paused: boolean }[];
}

async function mirrorOf(node: TestNode): Promise<MirrorJson> {
  return ((await get(node, '/status')).json as { readonly mirror: MirrorJson }).mirror;
}

async function allLive(node: TestNode, count: number): Promise<void> {
  await until(async () => {
    const mirror = await mirrorOf(node);
    return mirror !== undefined && mirror.books.live === count && mirror.books.absent === 0;
  });
}

async function shown(node: TestNode, token: string): Promise<string> {
  const { asks, bids } = await book(node, token);
  return [...levels(bids), '|', ...levels(asks)].join(' ');
}

interface BalanceJson {
  readonly cash: { readonly total: string };
  readonly positions: readonly { readonly token_id: string; readonly total: string }[];
}

async function balanceOf(node: TestNode, trader: Trader): Promise<BalanceJson> {
  return (await trader.call(node, 'GET', '/ledger/balance')).json as BalanceJson;
}

async function cashOf(node: TestNode, trader: Trader): Promise<string> {
  return (await balanceOf(node, trader)).cash.total;
}

async function listed<T>(node: TestNode, trader: Trader, path: string): Promise<T[]> {
  const found: T[] = [];
  for (let cursor = ''; cursor !== 'LTE='; ) {
    const { json } = await trader.call(node, 'GET', path, `?next_cursor=${cursor}`);
    const page = json as { readonly next_cursor: string; readonly data: readonly T[] };
    found.push(...page.data);
    cursor = page.next_cursor;
  }
  return found;
}

async function openOrders(node: TestNode, trader: Trader): Promise<string[]> {
  const orders = await listed<{ readonly id: string }>(node, trader, '/data/orders');
  return orders.map(({ id }) => id);
}

test('paper orders trade with a mirrored venue, survive a kill of either node, and are paid out', async () => {
  const [sourceDir, mirrorDir] = [temporaryDirectory(), temporaryDirectory()];
  const [market, other] = await withMarkets(sourceDir, [{ id: 1 }, { id: 2 }]);
  assert(market !== undefined && other !== undefined);
  const token = market.tokenIds[0]!;
  const sourceSettings: Settings = {
    LEDGER: 'on',
    FAUCET: '1000',
    PORT: String(await freePort()),
  };
  let source = await OperatorNode.start(sourceDir, sourceSettings);
  const maker = await Trader.join(source.node, 'maker');
  for (const each of [market, other]) {
    await maker.split(source.node, each, 100);
    await maker.place(source.node, { market: each, side: 'SELL', ticks: 60, shares: 50 });
    await maker.place(source.node, { market: each, side: 'BUY', ticks: 40, shares: 40 });
  }

  const mirrorSettings: Settings = {
    LEDGER: 'on',
    FAUCET: '1000',
    PORT: String(await freePort()),
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
  await until(async () => (await shown(mirror, token)) === '40@0.4 5@0.41 | 40@0.6');
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

interface Acknowledged {
  readonly resting: string[];
  /** Micro-shares that orders got at once, by order. */
  readonly taken: Map<string, number>;
}

/** Pause between orders, which bounds their number. */
const TURN_MS = 10;

async function trade(
  node: TestNode,
  trader: Trader,
  markets: readonly CatalogMarket[],
  { resting, taken }: Acknowledged,
  isOver: () => boolean,
): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    const market = markets[turn % markets.length]!;
    const { tokenIds, ticksPerUnit } = market;
    const common = { market, side: 'BUY', shares: Math.ceil(market.minSizeMicro / MICRO) } as const;
    await sleep(TURN_MS);
    try {
      resting.push((await trader.place(node, { ...common, ticks: 1 })).orderID);
      const best = (await book(node, tokenIds[0]!)).asks.at(-1);
      if (best === undefined) continue;
      const ticks = Math.round(Number(best.price) * ticksPerUnit);
      const { errorMsg, orderID, takingAmount } = await trader.order(node, {
        ...{ ...common, ticks, type: 'FAK' },
      });
      if (errorMsg === '') taken.set(orderID, Math.round(Number(takingAmount) * MICRO));
    } catch (error) {
      // Whoever ends the node says so first.
      if (!isOver()) throw error;
    }
  }
}

async function checkAcknowledged(
  node: TestNode,
  trader: Trader,
  { resting, taken }: Acknowledged,
): Promise<void> {
  const open = new Set(await openOrders(node, trader));
  assert.deepEqual(
    resting.filter((id) => !open.has(id)),
    [],
  );
  const trades = await listed<{
    readonly taker_order_id: string;
    readonly asset_id: string;
    readonly size: string;
  }>(node, trader, '/data/trades');
  const got = new Map<string, number>();
  const shares = new Map<string, number>();
  for (const { asset_id: token, size, taker_order_id: id } of trades) {
    const micro = Math.round(Number(size) * MICRO);
    got.set(id, (got.get(id) ?? 0) + micro);
    shares.set(token, (shares.get(token) ?? 0) + micro);
  }
  for (const [id, micro] of taken) assert.equal(got.get(id), micro);
  const { positions } = await balanceOf(node, trader);
  const held = positions.map(({ token_id: token, total }) => [token, Number(total)] as const);
  assert.deepEqual(new Map(held.sort()), new Map([...shares].sort()));
}

test('a node mirrors the live demo of another one through kills of both', async () => {
  const [sourceDir, mirrorDir] = [temporaryDirectory(), temporaryDirectory()];
  const demo: Settings = {
    CLIENT_PROFILE: 'polymarket',
    DEMO: 'on',
    DEMO_TRADERS: 'on',
    PORT: String(await freePort()),
  };
  let source = await TestNode.start(sourceDir, demo);
  const mirrorSettings: Settings = {
    LEDGER: 'on',
    FAUCET: '1000000',
    CATALOG_SYNC_SECONDS: '1',
    MIRROR_URL: `http://127.0.0.1:${source.port}`,
    MIRROR_MARKETS: 'top:12',
    PORT: String(await freePort()),
  };
  let mirror = await TestNode.start(mirrorDir, mirrorSettings);
  await allLive(mirror, 12);
  const events = (await get(source, '/events?closed=false&limit=100')).json;
  const read = readCatalog({ tags: [], series: [], events });
  assert(read.ok);
  const pairs = read.catalog.markets.filter(({ tokenIds }) => tokenIds.length === 2);
  const firsts = await books(
    mirror,
    pairs.map(({ tokenIds }) => tokenIds[0]!),
  );
  const isShown = ({ asks, bids }: BookJson): boolean => asks.length + bids.length > 0;
  const shownFirsts = new Set(firsts.filter(isShown).map(({ asset_id: token }) => token));
  const markets = pairs.filter(({ tokenIds }) => shownFirsts.has(tokenIds[0]!));
  assert.equal(markets.length, 12);
  const tokens = markets.flatMap(({ tokenIds }) => tokenIds);
  const sides = async (node: TestNode): Promise<string[]> =>
    (await books(node, tokens)).map(({ asks, bids }) => [levels(asks), levels(bids)].join('|'));
  /**
   * Waits until each book was equal on both nodes after a change; books may change between two
   * reads.
   */
  const equal = async (times: number): Promise<void> => {
    let last = '';
    for (let changes = 0; changes < times; changes++) {
      const left = new Set(tokens.keys());
      let newest = last;
      await until(async () => {
        const [there, here] = await Promise.all([sides(source), sides(mirror)]);
        newest = there.join();
        if (newest === last) return false;
        for (const i of left) if (there[i] === here[i]) left.delete(i);
        return left.size === 0;
      });
      last = newest;
    }
  };
  await equal(2);

  const paper = await Trader.join(mirror, 'paper');
  const acknowledged: Acknowledged = { resting: [], taken: new Map() };
  let isOver = false;
  const first = trade(mirror, paper, markets, acknowledged, () => isOver);
  await until(() => acknowledged.taken.size > 5);
  await source.end('SIGKILL');
  const { length } = acknowledged.resting;
  await until(async () => (await mirrorOf(mirror)).books.paused === 12);
  await until(() => acknowledged.resting.length > length + 5);
  isOver = true;
  await first;
  source = await TestNode.start(sourceDir, demo);
  await allLive(mirror, 12);
  await checkAcknowledged(mirror, paper, acknowledged);
  await paper.cancel(mirror, '/cancel-all');
  acknowledged.resting.length = 0;
  await equal(2);

  isOver = false;
  const second = trade(mirror, paper, markets, acknowledged, () => isOver);
  // In each market there is one: all of them are mirrored again, whatever their volumes are by then.
  await until(() => acknowledged.resting.length > markets.length);
  isOver = true;
  await mirror.end('SIGKILL');
  await second;
  mirror = await TestNode.start(mirrorDir, mirrorSettings);
  await allLive(mirror, 12);
  await checkAcknowledged(mirror, paper, acknowledged);
  await paper.cancel(mirror, '/cancel-all');
  await equal(2);
  await mirror.stop();
  await source.stop();
  await verified(mirrorDir, mirrorSettings);
});

test('a start that mirrors into a directory without a ledger is refused', async () => {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }]);
  await (await TestNode.start(dataDir)).stop();
  const MIRROR_URL = 'http://127.0.0.1:1';
  for (const [settings, why] of [
    [{ MIRROR_URL, LEDGER: 'on' }, /error LEDGER=on: DATA_DIR \S+ was begun without a ledger\n/],
    [{ MIRROR_URL }, /error MIRROR_URL=\S+: DATA_DIR \S+ was begun without a ledger\n/],
  ] as const) {
    const { code, log } = await TestNode.refuse(dataDir, settings);
    assert.deepEqual([code, why.test(log)], [2, true], log);
  }
});
