/**
 * Kill -9 between flush and answer. Kills at random moments of a load are in test/torture/kills.ts.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  book,
  get,
  levels,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, type Terms, Trader } from '../common/traders.ts';

test('a kill between flush and answer is settled by sending the order again', async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  assert(market);
  const token = market.tokenIds[0] ?? '';
  let node = await TestNode.start(dataDir);
  const alice = await Trader.join(node, 'alice');
  const bob = await Trader.join(node, 'bob');
  const trades = async (): Promise<unknown[]> => {
    return (await get(node, '/trades')).json as unknown[];
  };
  await alice.place(node, { market, side: 'SELL', ticks: 50, shares: 10 });
  const terms: Terms = { market, side: 'BUY', ticks: 50, shares: 6, type: 'FOK' };
  const order = bob.sign(terms);
  // Nobody listens to the answer; the trade shows once the order is on disk.
  const unheard = bob.postText(node, bodyOf([order])).catch(() => undefined);
  await until(async () => (await trades()).length === 1);
  await node.end('SIGKILL');
  await unheard;
  node = await TestNode.start(dataDir);
  const [again] = await bob.post(node, [order]);
  assert.match(again?.errorMsg ?? '', /Duplicated/);
  assert.equal((await trades()).length, 1, 'matched once');
  assert.deepEqual(levels((await book(node, token)).asks), ['4@0.5']);
});
