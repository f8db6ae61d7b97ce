import assert from 'node:assert/strict';
import test from 'node:test';
import { readDemo } from '../../server/node/startup-commands.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { books, get, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';

useCompiledNodes();
const { markets } = readDemo();
const PLAY = { DEMO: 'on', LEDGER: 'on', FAUCET: '1000', POSITIONS_MAX: '16384' };

test('the demo trades with a ledger, also after a restart, and a newcomer buys from its makers', async () => {
  const dataDir = temporaryDirectory();
  let node = await TestNode.start(dataDir, { ...PLAY, DEMO_TRADERS: 'on' });
  const trades = async () => (await get(node, '/trades?limit=1000')).json as unknown[];
  const begun = (await trades()).length;
  assert(begun > 0, 'its first orders have traded');
  await until(async () => (await trades()).length >= begun + 5);
  await node.stop();
  node = await TestNode.start(dataDir, { ...PLAY, DEMO_TRADERS: 'off' });
  const [market] = markets;
  const alice = await Trader.join(node, 'alice');
  const [book] = await books(node, [market!.tokenIds[0]!]);
  // The last level, as what the traders have left at the best one may be less than is bought.
  const price = Number(book!.asks[0]!.price);
  const ticks = Math.round(price * market!.ticksPerUnit);
  const bought = await alice.place(node, { market: market!, side: 'BUY', ticks, shares: 10 });
  assert.equal(bought.status, 'matched');
  const { json } = await alice.ask(node, 'GET', '/ledger/balance');
  const { positions } = json as { positions: readonly { token_id: string; total: string }[] };
  assert.deepEqual(
    positions.map(({ token_id, total }) => [token_id, total]),
    [[market!.tokenIds[0]!, '10000000']],
  );
  await node.stop();
});

test('--play starts a node with a ledger whose first keys bring 1000', async () => {
  const flags = ['start', '--play', '--port', '0'];
  const node = await TestNode.start(temporaryDirectory(), {}, flags, 'server/cli/cli');
  const bob = await Trader.join(node, 'bob');
  const { json } = await bob.ask(node, 'GET', '/ledger/balance');
  assert.equal((json as { cash: { free: string } }).cash.free, '1000000000');
  await node.stop();
});
