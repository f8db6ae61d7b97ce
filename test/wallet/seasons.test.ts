/** Seasons of a running node: the operation, the refusals meanwhile, standings and boards, over a restart. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { verified } from '../common/verified.ts';

type Row = Readonly<Record<string, unknown>>;

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market !== undefined);
const SETTINGS = { LEDGER: 'on', CLIENT_PROFILE: 'spec' };
const END = 'POST /admin/seasons/end';
let operator = await OperatorNode.start(dataDir, SETTINGS);
const [alice, bob] = (await Promise.all(
  ['alice', 'bob'].map((name) => Trader.join(operator.node, name)),
)) as [Trader, Trader];
const wallets = [alice, bob].map(({ address }) => address.toLowerCase());
for (const { address: wallet } of [alice, bob]) {
  await operator.done('POST /admin/ledger/deposit', { wallet, amount: '100' });
}

async function answer(path: string, status = 200): Promise<Row> {
  const { json, ...reply } = await get(operator.node, path);
  assert.equal(reply.status, status, reply.text);
  return json as Row;
}

const season = { startSum: '250', name: '<b>Spring</b>', id: 'spring' };

test('a season does not end while something is held, and says what', async () => {
  const { node } = operator;
  await alice.place(node, { market, side: 'BUY', ticks: 40, shares: 20 });
  await bob.place(node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 20 });
  const { json, status } = await operator.call(END, season);
  assert.equal(status, 409);
  assert.equal(json.error, 'the season cannot end yet');
  assert.equal(json.detail, 'left: 2 positions');
});

test('the end of a season sets wallets back, and its standings stay', async () => {
  await operator.done('POST /admin/markets/resolve', {
    condition: market.conditionId,
    payout: [1, 0],
  });
  await until(async () => (await operator.done('GET /admin/ledger')).resolving === 0);
  const ended = await operator.done(END, season);
  assert.deepEqual([ended.season, ended.start_sum, ended.repeated], [1, '250', false]);
  await until(async () => (await operator.done(END, season)).state === 'ended');
  const { cash, deposited, seasons } = await operator.done('GET /admin/ledger');
  assert.deepEqual([cash, deposited, seasons], ['500', '500', 1]);
  await until(async () => (await answer('/seasons')).count === 1);
  const { data } = await answer('/seasons');
  const [{ ended_at, ...row } = {}] = data as Row[];
  assert.equal(typeof ended_at, 'number');
  const expected = { season: 1, name: season.name, started_at: null, start_sum: '250' };
  assert.deepEqual(row, expected);
});

/** Both sides of a fill at 0.40 have the same error. */
const standings = (): unknown[][] => [
  [1, wallets[0], '12', '20', '0.36', 1],
  [2, wallets[1], '-12', '20', '0.36', 1],
];
const short = (rows: unknown) =>
  (rows as Row[]).map(({ brier, profit, rank, resolved_markets, volume, wallet }) => [
    ...[rank, wallet, profit, volume],
    ...[brier, resolved_markets],
  ]);

test('standings are paged, bounded and the same after a restart', async () => {
  await operator.node.stop();
  await verified(dataDir, SETTINGS);
  operator = await OperatorNode.start(dataDir, SETTINGS);
  await until(async () => (await get(operator.node, '/seasons/1')).status === 200);
  const whole = await answer('/seasons/1');
  assert.deepEqual(short(whole.data), standings());
  assert.deepEqual([whole.name, whole.next_cursor], [season.name, 'LTE=']);
  const first = await answer('/seasons/1?limit=1');
  const second = await answer(`/seasons/1?limit=1&next_cursor=${String(first.next_cursor)}`);
  assert.deepEqual([...short(first.data), ...short(second.data)], standings());
  await answer('/seasons/2', 404);
  for (const bad of ['/seasons/0', '/seasons/x', '/seasons/1?limit=501', '/seasons?next_cursor=!'])
    await answer(bad, 400);
  await answer(`/seasons/1?next_cursor=${Buffer.from('10001').toString('base64')}`, 400);
});

test('boards of the season begin anew, the others and profits go on', async () => {
  assert.deepEqual((await answer('/v2/leaderboard?time_period=season')).data, []);
  const all = (await answer('/v2/leaderboard?time_period=all')).data as Row[];
  assert.deepEqual(
    all.map(({ pnl }) => pnl),
    [12, -12],
  );
  const { entries } = await operator.done(
    'GET /admin/ledger/statement',
    undefined,
    `?wallet=${alice.address}`,
  );
  const [newest] = entries as Row[];
  assert.deepEqual([newest!.cause, newest!.cash, newest!.cash_after], ['SEASON', '138', '250']);
  const { entries: fees } = await operator.done('GET /admin/ledger/fees');
  assert.deepEqual(fees, []);
  await operator.node.stop();
});
