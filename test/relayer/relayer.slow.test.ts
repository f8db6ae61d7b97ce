/** Relayed batches through kills, restarts and resolutions, and where there is no relayer. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import {
  approve,
  COLLATERAL_ADAPTER,
  NEG_RISK_ADAPTER,
  ROUTER,
  redeem,
  routerRedeem,
  routerSplit,
  split,
} from './batches.ts';
import { M, Owner, submit, type Venue } from './owner.ts';

const SETTINGS = { CLIENT_PROFILE: 'polymarket', LEDGER: 'on' };

const dataDir = temporaryDirectory();
const markets = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, negRisk: true },
  { id: 3, hasPositions: true },
  { id: 4, hasPositions: true, negRisk: true },
]);
const [NORMAL = '', , FIRST = ''] = markets.map(({ conditionId }) => conditionId);
const venue: { operator: OperatorNode; readonly markets: Venue['markets'] } = {
  operator: await OperatorNode.start(dataDir, SETTINGS),
  markets,
};

test('nonces and money survive a kill and a restart, and a resolved market is redeemed', async () => {
  const owner = await Owner.join(venue, 'restart');
  await owner.does(split(COLLATERAL_ADAPTER, NORMAL, 7 * M), routerSplit(FIRST, 9 * M));
  await owner.does(approve(ROUTER));
  const before = await owner.has();
  const kept = await owner.signed([approve(ROUTER)], { nonce: 1 });
  await venue.operator.node.end('SIGKILL');
  venue.operator = await OperatorNode.start(dataDir, SETTINGS);
  await owner.isNext();
  assert.deepEqual(await owner.has(), before);
  assert.equal(((await submit(venue, kept)).json as { code: string }).code, 'NONCE_MISMATCH');
  for (const condition of [NORMAL, FIRST]) {
    await venue.operator.done('POST /admin/markets/resolve', { condition, payouts: { Yes: 1 } });
  }
  await until(async () => (await owner.has())[0] === 100);
  await owner.does(redeem(COLLATERAL_ADAPTER, NORMAL), routerRedeem(FIRST, 7));
  const paid = [100, ...Array.from({ length: 8 }, () => 0)];
  assert.deepEqual(await owner.has(), paid);
  await owner.fails('MARKET_RESOLVED', [split(COLLATERAL_ADAPTER, NORMAL, M)]);
  await owner.fails('INVALID_CALL', [redeem(NEG_RISK_ADAPTER, NORMAL)]);
  await venue.operator.node.stop();
  venue.operator = await OperatorNode.start(dataDir, SETTINGS);
  await owner.isNext();
  assert.deepEqual(await owner.has(), paid);
});

test('without a ledger batches are refused by that name, and in the profile spec there is no relayer', async () => {
  await venue.operator.node.stop();
  const directory = temporaryDirectory();
  await withMarkets(directory, [{ id: 1 }]);
  venue.operator = await OperatorNode.start(directory, { CLIENT_PROFILE: 'polymarket' });
  const owner = await Owner.join(venue, 'no ledger', 'WALLET', 0);
  assert.equal((await owner.send([approve(ROUTER)])).status, 409);
  assert.equal(((await owner.send([approve(ROUTER)])).json as { code: string }).code, 'LEDGER_OFF');
  await venue.operator.node.stop();
  venue.operator = await OperatorNode.start(directory, { LEDGER: 'off' });
  assert.equal((await submit(venue, await owner.signed([approve(ROUTER)]))).status, 404);
  for (const path of ['/nonce', '/relay-payload', '/transaction', '/v1/account/transactions/x']) {
    assert.equal((await get(venue.operator.node, path)).status, 404, path);
  }
});
