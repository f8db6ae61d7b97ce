/**
 * A client under random faults: by its own events and answers it knows each of its orders and trades, once. The
 * faults are drawn from a printed seed.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeClient, type OrderEvent, type TradeEvent, Wallet } from '../../client/client.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';

const ROUNDS = 40;
const ROUNDS_MAX = 20 * ROUNDS;
const AGAIN_MS = 50;

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const [tokenId = ''] = market.tokenIds;
const operator = await OperatorNode.start(dataDir, { FAULTS: 'operator' });
const url = `http://127.0.0.1:${operator.node.port}`;

function connect(name: string): Promise<NodeClient> {
  const wallet = Wallet.fromSeed(`own books/${name}`);
  return NodeClient.connect(url, { wallet });
}

const FAULTS: readonly { readonly kind: string; readonly [member: string]: unknown }[] = [
  { kind: 'lost-answer', count: 1 },
  { kind: 'lost-answer', probability: 0.5, count: 2 },
  { kind: 'delay', ms: 30, count: 2 },
  { kind: 'rate-limit', ms: 50, count: 1 },
  { kind: 'stream-gap', count: 2 },
  { kind: 'stream-repeat', count: 2 },
  { kind: 'stream-closed', count: 1 },
  { kind: 'stream-frozen', count: 3 },
];

/** True once each of the kinds has struck. */
async function haveStruck(kinds: ReadonlySet<string>): Promise<boolean> {
  const metrics = await (await fetch(`${operator.base}/metrics`)).text();
  const has = (kind: string): boolean =>
    new RegExp(`exchange_fault_uses_total\\{kind="${kind}"\\} [1-9]`).test(metrics);
  return [...kinds].every(has);
}

test('a client loses and doubles no order and no trade by its own books under random faults', async (t) => {
  const seed = freshSeed();
  console.error(`own books: SEED=${seed}`);
  const random = new Random(seed);
  const [maker, taker] = [await connect('maker'), await connect('taker')];
  t.after(() => [maker, taker].map((client) => client.close()));
  const wallet = Wallet.fromSeed('own books/maker').address;
  const open = new Map<string, string>();
  const trades: TradeEvent[] = [];
  const stream = await maker.followUser({
    order: (event: OrderEvent) => open.set(event.id, event.type),
    trade: (event) => {
      if (event.status === 'MATCHED') trades.push(event);
    },
  });
  t.after(() => stream.close());
  const posted: string[] = [];
  const kinds = new Set<string>();
  // Faults that come last strike further orders: the stream may be away when they begin.
  for (let round = 0; round < ROUNDS || !(await haveStruck(kinds)); round += 1) {
    assert(round < ROUNDS_MAX, 'each kind strikes');
    // The stream comes back in its own time.
    if (round >= ROUNDS) await sleep(AGAIN_MS);
    if (round < ROUNDS) {
      const fault = FAULTS[random.below(FAULTS.length)]!;
      kinds.add(fault.kind);
      const drawn = 'probability' in fault ? { seed: random.below(1_000) } : {};
      await operator.done('POST /admin/faults', { ...fault, ...drawn, wallet });
    }
    const price = `0.${30 + random.below(10)}`;
    const { id } = await maker.orders.post({ tokenId, side: 'BUY', price, size: '10' });
    posted.push(id);
    if (random.below(3) === 0) {
      await taker.orders.post({ tokenId, side: 'SELL', price: '0.3', size: '15', type: 'FAK' });
    }
  }
  await operator.done('POST /admin/faults/clear', {});
  assert.equal(new Set(posted).size, posted.length);
  await stream.reconcile();
  const truth = new Set<string>();
  for await (const order of maker.orders.open()) truth.add(order.id);
  const matched = new Set<string>();
  for await (const trade of maker.orders.trades()) matched.add(trade.id);
  assert(matched.size > 0);
  await until(() => trades.length >= matched.size);
  assert.deepEqual(trades.map(({ id }) => id).toSorted(), [...matched].toSorted());
  const own = [...open].filter(([, type]) => type !== 'CANCELLATION').map(([id]) => id);
  assert.deepEqual(own.toSorted(), posted.toSorted());
  for (const id of truth) assert(posted.includes(id), id);
});
