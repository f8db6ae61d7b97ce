/** A market that the house quotes in a cluster: whoever leads goes on with the same account and the same orders. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { NEEDS_ETCD, WAIT_MS, withTwoNodes } from '../cluster/whole-cluster.ts';
import { TestNode, until } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { assertAddsUp, assertNoDoubles, houseOf, quotesOf, take, takers } from './house.ts';

const LEDGER = { LEDGER: 'on', FAUCET: '10000' };

test('a node that takes over goes on quoting from the same account', NEEDS_ETCD, () =>
  withTwoNodes(LEDGER, async (cluster, places) => {
    const seed = freshSeed();
    const random = new Random(seed);
    const operatorOf = (i: number): OperatorNode => {
      const { directory, settings } = places[i]!;
      return OperatorNode.of(cluster.nodes[i]!, directory, settings.ADMIN_PORT!);
    };
    const b = operatorOf(1);
    // By the node that follows: the one that leads quotes.
    const made = await b.done('POST /admin/markets', {
      question: 'Does the house quote it?',
      outcomes: ['Yes', 'No'],
      minimum: '1',
      liquidity: '50',
    });
    const condition = String(made.condition);
    const tokens = made.tokens as readonly string[];
    const clients = await takers(b.node.port, 2);
    const trade = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await take(random, random.pick(clients), tokens);
    };
    await quotesOf(b, await houseOf(b, condition));
    await trade(15);
    void take(random, clients[0]!, tokens).catch(() => undefined);
    await cluster.nodes[0]!.end('SIGKILL');
    await until(async () => (await cluster.leader([1])) === 1, WAIT_MS);
    const house = await houseOf(b, condition);
    assert.equal(house.paid_in, '50', `SEED=${seed}`);
    assertNoDoubles(await quotesOf(b, house));
    await trade(15);
    const orders = await quotesOf(b, house);
    assertNoDoubles(orders);
    await assertAddsUp(b);
    const [{ directory, settings }] = places;
    cluster.nodes[0] = await TestNode.start(directory, settings);
    await cluster.level();
    const a = operatorOf(0);
    assert.deepEqual(await houseOf(a, condition), await houseOf(b, condition));
    const ids = (rows: typeof orders): string[] => rows.map(({ id }) => id).sort();
    assert.deepEqual(ids(await quotesOf(b, house)), ids(orders), 'the other node places nothing');
    await b.done('POST /admin/markets/resolve', { condition, payout: [1, 0] });
    await until(async () => (await b.done('GET /admin/ledger')).resolving === 0);
    const { outcomes } = await houseOf(b, condition);
    assert(Number(outcomes[0]!.result) >= -50, `SEED=${seed}`);
    for (const client of clients) client.close();
  }),
);
