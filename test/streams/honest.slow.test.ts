/** Under load, with clients that come and go, every client has the books of POST /books. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { books } from '../common/node-harness.ts';
import { freshSeed, Random, SHORT } from '../common/random.ts';
import { bodyOf, type Signed, Trader } from '../common/traders.ts';
import { HonestClient } from './honest-clients.ts';
import { type StreamNode, startNode } from './stream-node.ts';

const CONNECTED = 50;
const TRADERS = 3;

function load(node: StreamNode, traders: readonly Trader[], random: Random, count: number) {
  return traders.map((trader) => {
    const orders: Signed[] = Array.from({ length: count }, () => {
      const market = random.pick(node.markets);
      return trader.sign({
        market,
        outcome: random.below(market.tokenIds.length),
        side: random.chance(50) ? 'BUY' : 'SELL',
        ticks: random.between(44, 56),
        shares: random.between(5, 40),
        type: random.chance(20) ? 'FAK' : 'GTC',
      });
    });
    return { trader, body: bodyOf(orders) };
  });
}

async function keepHonest(rounds: number): Promise<void> {
  const seed = freshSeed();
  try {
    await runHonest(rounds, seed);
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
}

async function runHonest(rounds: number, seed: number): Promise<void> {
  const random = new Random(seed);
  const node = await startNode([{ id: 1 }, { id: 2 }, { id: 3, outcomes: ['A', 'B', 'C'] }], {
    WORKERS: '2',
    ORDERS_MAX: '65536',
    ORDER_HISTORY: '65536',
  });
  const traders = await Promise.all(
    Array.from({ length: TRADERS }, (_, i) => Trader.join(node, `honest ${i}`)),
  );
  const tokens = node.markets.flatMap(({ tokenIds }) => tokenIds);
  const clients = Array.from({ length: CONNECTED }, (_, i) => {
    return new HonestClient(node, new Random(seed + i));
  });
  await Promise.all(clients.map((client) => client.connect(tokens)));
  for (let round = 0; round < rounds; round++) {
    const batches = [0, 1, 2].flatMap(() => load(node, traders, random, 5));
    const posted = batches.map(async ({ body, trader }) => {
      assert.equal((await trader.postText(node, body)).status, 200);
    });
    await Promise.all([...posted, ...clients.map((client) => client.act(tokens))]);
    await Promise.all(clients.map((client) => client.caughtUp()));
    // Nothing is under way: everything that was answered has been published.
    const hashes = new Map(
      (await books(node, tokens)).map(({ asset_id, hash }) => [asset_id, hash]),
    );
    for (const { follower, wanted } of clients) {
      for (const token of wanted) assert.equal(follower.hash(token), hashes.get(token));
    }
  }
  for (const client of clients) client.end();
  const confirmed = clients.reduce((sum, client) => sum + client.confirmed, 0);
  const reconnects = clients.reduce((sum, client) => sum + client.reconnects, 0);
  assert(confirmed > 10 * rounds, `${confirmed} books came behind their deltas`);
  assert(reconnects > CONNECTED + rounds, `${reconnects} connections`);
  await node.stop();
}

test('fifty clients have the books of POST /books while orders arrive', () => keepHonest(6));

test('fifty clients keep equal books for long', { skip: SHORT }, () => keepHonest(300));
