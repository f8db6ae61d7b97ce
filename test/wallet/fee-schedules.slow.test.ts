/** A market with a fee schedule, by an operator over HTTP: orders, balances, positions, activity, rebates. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { dateOf } from '../../server/wallet/rebate-payments.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { DAY_MS, HOUR_MS } from '../../storage/projection/periods.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

type Row = Readonly<Record<string, unknown>>;

const dataDir = temporaryDirectory();
const SETTINGS = { LEDGER: 'on', FAUCET: '1000' };
let operator = await OperatorNode.start(dataDir, SETTINGS);
after(() => operator.node.stop());
const alice = await Trader.join(operator.node, 'alice');
const bob = await Trader.join(operator.node, 'bob');

async function run(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await cli(dataDir, [...args, '--url', operator.base]);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout.trimEnd();
}

async function madeMarket(...options: string[]): Promise<CatalogMarket> {
  const outcomes = ['--outcome', 'Yes', '--outcome', 'No'];
  const text = await run('market', 'create', ...outcomes, ...options);
  const conditionId = /condition (\S+)/.exec(text)![1]!;
  const tokenIds = [...text.matchAll(/token (\d+)/g)].map(([, id]) => id!);
  return { conditionId, tokenIds, ticksPerUnit: 100, negRisk: false } as unknown as CatalogMarket;
}

const termsOf = async (market: CatalogMarket): Promise<unknown> => {
  const { json } = await get(operator.node, `/clob-markets/${market.conditionId}`);
  return (json as { fd: unknown }).fd;
};
const cashOf = async (trader: Trader): Promise<number> => {
  const { json } = await trader.ask(operator.node, 'GET', '/ledger/balance');
  return Number((json as { cash: { total: string } }).cash.total);
};
const rowsOf = async (path: string): Promise<readonly Row[]> =>
  (await get(operator.node, path)).json as readonly Row[];

/** Options of Node.js that move the clock of a process by milliseconds. */
const clockMoved = (by: number): string =>
  `--import=data:text/javascript,${encodeURIComponent(
    `const { now } = Date; Date.now = () => now() + ${by};`,
  )}`;

const market = await madeMarket(
  ...['--question', 'Rain?', '--fee-rate', '0.05', '--fee-exponent', '1', '--fee-rebate', '0.25'],
);

test('takers pay the schedule of a market on top of a purchase and out of a sale', async () => {
  await until(async () => (await termsOf(market)) !== undefined);
  assert.deepEqual(await termsOf(market), { r: 0.05, e: 1, to: true });
  const amount = '100000000';
  const body = JSON.stringify({ conditionId: market.conditionId, amount, id: `${Date.now()}-1` });
  const split = await alice.ask(operator.node, 'POST', '/split', body);
  assert.equal(split.status, 200, split.text);
  await alice.place(operator.node, { market, side: 'SELL', ticks: 52, shares: 22.84 });
  const bought = await bob.place(operator.node, { market, side: 'BUY', ticks: 52, shares: 22.84 });
  assert.deepEqual([bought.makingAmount, bought.takingAmount], ['11.8768', '22.84']);
  assert.equal(await cashOf(bob), 1_000_000_000 - 11_876_800 - 285_040);
  await alice.place(operator.node, { market, side: 'BUY', ticks: 50, shares: 10 });
  await bob.place(operator.node, { market, side: 'SELL', ticks: 50, shares: 10 });
  assert.equal(await cashOf(bob), 1_000_000_000 - 12_161_840 + 5_000_000 - 125_000);
  const { fees, imbalance } = await operator.done('GET /admin/ledger');
  assert.deepEqual([fees, imbalance], ['0.41004', '0']);
});

test('activity has the fee in what moved, and a position its cost without it', async () => {
  const activity = `/activity?user=${bob.address}&type=TRADE&sortDirection=ASC`;
  await until(async () => (await rowsOf(activity)).length === 2);
  const moved = (await rowsOf(activity)).map(({ side, usdcSize }) => [side, usdcSize]);
  assert.deepEqual(moved, [
    ['BUY', 12.16184],
    ['SELL', 4.875],
  ]);
  const positions = `/positions?user=${bob.address}`;
  await until(async () => (await rowsOf(positions))[0]?.size === 12.84);
  const [position] = await rowsOf(positions);
  assert.equal(position!.avgPrice, 0.52);
  // 4.875 for shares that had cost 5.2 and 0.124799 of fees.
  assert.equal(position!.realizedPnl, -0.449798);
});

test('a maker sees what it may be paid back, and a day under way is not paid', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const path = `/rebates/current?date=${today}&maker_address=${alice.address}`;
  await until(async () => (await rowsOf(path)).length === 1);
  const before = await cashOf(alice);
  const [rebate] = await rowsOf(path);
  assert.equal(rebate!.condition_id, market.conditionId);
  assert.equal(rebate!.rebated_fees_usdc, '0.10251');
  assert.deepEqual(await rowsOf(`/rebates/current?date=${today}&maker_address=${bob.address}`), []);
  for (const query of ['', `date=2027-02-30&maker_address=${bob.address}`, `date=${today}`]) {
    const { status, text } = await get(operator.node, `/rebates/current?${query}`);
    assert.equal(status, 400, text);
  }
  const { json, status } = await operator.call('POST /admin/ledger/rebates/pay', { date: today });
  assert.deepEqual([status, json.error], [400, 'invalid_field: date']);
  assert.match(await run('ledger', 'pay-rebates'), /: 0 paid to 0 wallets, 0 were paid before/);
  assert.equal(await cashOf(alice), before);
});

test('an edit changes a part of the schedule, or takes it away, and a restart keeps it', async () => {
  await run('market', 'edit', market.conditionId, '--fee-rate', '0.07');
  await until(async () => ((await termsOf(market)) as { r: number }).r === 0.07);
  assert.deepEqual(await termsOf(market), { r: 0.07, e: 1, to: true });
  await operator.node.end('SIGKILL');
  operator = await OperatorNode.start(dataDir, SETTINGS);
  assert.deepEqual(await termsOf(market), { r: 0.07, e: 1, to: true });
  await run('market', 'edit', market.conditionId, '--fee-rate', '0');
  await until(async () => ((await termsOf(market)) as { r: number }).r === 0);
  const refused = async (fields: object): Promise<unknown> => {
    const condition = market.conditionId;
    const { json, status } = await operator.call('POST /admin/markets/edit', {
      condition,
      ...fields,
    });
    assert.equal(status, 400);
    return json.error;
  };
  assert.equal(await refused({ feeRebate: '0.5' }), 'invalid_field: feeRate');
  assert.equal(await refused({ feeRate: '0.02', feeExponent: 0 }), 'invalid_field: feeRate');
  assert.equal(await refused({ feeRate: '1.1' }), 'invalid_field: feeRate');
  assert.equal(await refused({ feeRate: '0.1', feeExponent: 5 }), 'invalid_field: feeExponent');
});

test('with REBATES=daily a day that is over is paid once, and an operator finds it paid', async () => {
  const [newest] = await rowsOf(`/activity?user=${bob.address}&type=TRADE`);
  const day = Math.floor((Number(newest!.timestamp) * 1_000) / DAY_MS);
  await operator.node.stop();
  const later = (day + 1) * DAY_MS + HOUR_MS - Date.now();
  const moved = { NODE_OPTIONS: clockMoved(later), REBATES: 'daily' };
  operator = await OperatorNode.start(dataDir, { ...SETTINGS, ...moved });
  const paid = `/activity?user=${alice.address}&type=MAKER_REBATE`;
  await until(async () => (await rowsOf(paid)).length > 0);
  const again = await run('ledger', 'pay-rebates', '--date', dateOf(day));
  assert.match(again, /: 0 paid to 0 wallets, 1 were paid before/);
  assert.deepEqual(
    (await rowsOf(paid)).map(({ usdcSize }) => usdcSize),
    [0.10251],
  );
  const { fees, imbalance } = await operator.done('GET /admin/ledger');
  assert.deepEqual([fees, imbalance], ['0.30753', '0']);
  const profitOf = async (period: string): Promise<number> => {
    const { json } = await get(
      operator.node,
      `/v2/leaderboard?time_period=${period}&user=${alice.address}`,
    );
    return Number((json as { data: Row }).data.pnl);
  };
  await until(async () => (await profitOf('day')) === 0.10251);
  const positions = await rowsOf(`/positions?user=${alice.address}`);
  const realised = positions.reduce((sum, { realizedPnl }) => sum + Number(realizedPnl), 0);
  assert.equal((await profitOf('all')).toFixed(6), (realised + 0.10251).toFixed(6));
});
