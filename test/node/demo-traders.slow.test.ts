import assert from 'node:assert/strict';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '../../server/common/seeded-random.ts';
import { EventChances } from '../../server/demo/demo-chances.ts';
import { readDemo } from '../../server/node/startup-commands.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  type BookJson,
  books,
  get,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { freshSeed } from '../common/random.ts';
import { Trader } from '../common/traders.ts';

useCompiledNodes();
const { markets } = readDemo();
const TRADED = { DEMO: 'on', DEMO_TRADERS: 'on', LOG_LEVEL: 'debug' };
/** True where exactly one outcome happens; one market of two outcomes has a question of its own. */
const isExclusive = ({ books }: EventChances): boolean =>
  books.length > 1 && books.some(({ market }) => market.negRisk || market.tokenIds.length > 2);
const exclusive = EventChances.all(markets).filter(isExclusive);

test('chances move and stay consistent within their event', () => {
  const seed = freshSeed();
  const random = seededRandom(seed);
  const again = seededRandom(seed);
  const twins = EventChances.all(markets);
  assert.equal(exclusive.length, 2);
  for (const [i, event] of EventChances.all(markets).entries()) {
    const first = event.chances();
    let furthest = 0;
    for (let step = 0; step < 2_000; step++) {
      event.step(random);
      twins[i]!.step(again);
      const chances = event.chances();
      assert.deepEqual(chances, twins[i]!.chances(), `SEED=${seed}`);
      assert(chances.every((chance) => chance > 0 && chance < 1));
      if (isExclusive(event)) {
        const sum = chances.reduce((total, chance) => total + chance, 0);
        assert(Math.abs(sum - 1) < 1e-9, `SEED=${seed}: ${chances}`);
      } else
        assert.deepEqual(
          chances.toSorted((a, b) => b - a),
          chances,
          `SEED=${seed}`,
        );
      furthest = Math.max(furthest, Math.abs(chances[0]! - first[0]!));
    }
    assert(furthest > 0.02, `SEED=${seed}: ${furthest}`);
    const last = event.chances();
    event.follow(last);
    for (const [book, chance] of event.chances().entries())
      assert(Math.abs(chance - last[book]!) < 1e-9);
  }
});

function middle({ asks, bids }: BookJson): number {
  return (Number(bids.at(-1)?.price) + Number(asks.at(-1)?.price)) / 2;
}

async function trades(node: TestNode, more: number): Promise<void> {
  const newest = async () => (await get(node, `/trades?limit=${more}`)).json as object[];
  const [before] = await newest();
  // The list is newest first: what was its first row is not among the newest any more.
  await until(async () => {
    const rows = await newest();
    return rows.length === more && !rows.some((row) => isDeepStrictEqual(row, before));
  });
}

test('a node with the demo trades from its first minute on and stops without an error', async () => {
  const node = await TestNode.start(temporaryDirectory(), TRADED);
  const tokens = markets.map(({ tokenIds }) => tokenIds[0]!);
  const before = (await books(node, tokens)).map(middle);
  await trades(node, 10);
  await until(async () => {
    const moved = (await books(node, tokens)).filter((book, i) => middle(book) !== before[i]);
    return moved.length >= 3;
  });
  for (const event of exclusive) {
    // Between a cancel and the next quotes a side may be empty for a moment, on a slow machine for longer.
    await until(async () => {
      const shown = await books(
        node,
        event.books.map((b) => b.market.tokenIds[b.outcome]!),
      );
      const sum = shown.map(middle).reduce((total, price) => total + price, 0);
      return Math.abs(sum - 1) < 0.02 * shown.length;
    });
  }
  const alice = await Trader.join(node, 'alice');
  const [market] = markets;
  const ids: string[] = [];
  // Prices may leave an order behind: then there is another one at the best bid.
  let next = 0;
  await until(async () => {
    const bid = (await books(node, [tokens[0]!]))[0]!.bids.at(-1);
    if (bid !== undefined && performance.now() > next) {
      const ticks = Math.round(Number(bid.price) * market!.ticksPerUnit);
      const terms = { market: market!, side: 'BUY', ticks, shares: 10 } as const;
      ids.push((await alice.place(node, terms)).orderID);
      next = performance.now() + 10_000;
    }
    for (const id of ids) {
      const { json } = await alice.ask(node, 'GET', `/data/order/${id}`);
      if ((json as { readonly size_matched: string }).size_matched !== '0') return true;
    }
    return false;
  }, 180_000);
  await node.stop();
  assert.doesNotMatch(node.log, /demo traders rest/);
});

test('the traders use rate limits of their own, not those of other clients on the machine', async () => {
  const requests = 3;
  const limits = { RATE_LIMITS: 'on', RATE_LIMITS_OVERRIDES: `books=${requests}/86400` };
  const node = await TestNode.start(temporaryDirectory(), { ...TRADED, ...limits });
  await until(() => /demo traders rest: POST \/books answered 429/.test(node.log), 180_000);
  for (let i = 0; i < requests; i++) await books(node, [markets[0]!.tokenIds[0]!]);
  await node.stop();
});

test('the traders ignore a catalog that is not the demo, and sign orders of the version that the node accepts', async () => {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }]);
  const node = await TestNode.start(dataDir, TRADED);
  await until(() => /no demo traders: the catalog is not the demo/.test(node.log));
  assert.deepEqual((await get(node, '/trades')).json, []);
  await node.stop();

  // They sign orders of version 2 where the node takes no others.
  const other = temporaryDirectory();
  const traded = await TestNode.start(other, { ...TRADED, ORDER_VERSION: '2' });
  await until(() => /demo traders trade the demo markets/.test(traded.log));
  await trades(traded, 1);
  await withMarkets(other, [{ id: 1 }]);
  await until(() => /no demo traders: the catalog is not the demo/.test(traded.log));
  await traded.stop();
});
