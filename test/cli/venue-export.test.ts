/** `venue export`: the same files of a running node, of a stopped one and of a backup; hostile texts are no formulas. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { csvCells } from '../../storage/texts/csv.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

const SETTINGS = { LEDGER: 'on', CLIENT_PROFILE: 'spec' };
const dataDir = temporaryDirectory();
const [market, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(market !== undefined && other !== undefined);
const operator = await OperatorNode.start(dataDir, SETTINGS);
const { node } = operator;
const [alice, bob] = (await Promise.all(
  ['alice', 'bob'].map((name) => Trader.join(node, name)),
)) as [Trader, Trader];
for (const { address: wallet } of [alice, bob]) {
  await operator.done('POST /admin/ledger/deposit', { wallet, amount: '100' });
}
const HOSTILE = '=HYPERLINK("http://x")';
await operator.done('POST /admin/wallets/name', { wallet: bob.address, name: HOSTILE });
await operator.done('POST /admin/markets/edit', {
  condition: other.conditionId,
  question: '+1, "quoted"?',
});
await alice.place(node, { market, side: 'BUY', ticks: 40, shares: 20 });
await bob.place(node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 20 });
await operator.done('POST /admin/markets/resolve', {
  condition: market.conditionId,
  payout: [1, 0],
});
await until(async () => {
  const { json } = await get(node, '/v2/leaderboard?time_period=all');
  return (json as { data: unknown[] }).data.length === 2;
});

type Files = Readonly<Record<string, string>>;

async function exported(from: string): Promise<Files> {
  const into = join(temporaryDirectory(), 'new', 'files');
  const { code, stderr, stdout } = await cli(from, ['venue', 'export', into], {
    settings: SETTINGS,
  });
  assert.equal(code, 0, stderr);
  const names = readdirSync(into).sort();
  assert.deepEqual(names, ['markets.csv', 'people.csv', 'trades.csv']);
  assert.deepEqual(
    stdout.trim().split('\n').sort(),
    names.map((name) => join(into, name)),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(into, name), 'utf8')]));
}

/** Rows of a file as objects. */
function rowsOf(text: string): Record<string, string>[] {
  const [head, ...lines] = text.trim().split(/\r?\n/).map(csvCells) as string[][];
  return lines.map((cells) => Object.fromEntries(cells.map((cell, i) => [head![i], cell])));
}

test('people, markets with results and trades are exported from wherever they lie', async () => {
  const running = await exported(dataDir);
  const people = rowsOf(running['people.csv']!).sort((a, b) => Number(b.profit) - Number(a.profit));
  const short = people.map(({ cash, name, operator_name, profit, trades, volume, wallet }) => [
    wallet,
    [name, operator_name, cash, profit, volume, trades],
  ]);
  assert.deepEqual(short, [
    [alice.address, ['', '', '112', '12', '20', '1']],
    [bob.address, ['', `'${HOSTILE}`, '88', '-12', '20', '1']],
  ]);
  for (const { joined } of people) assert(Math.abs(Number(joined) - Date.now()) < 600_000);
  const markets = rowsOf(running['markets.csv']!);
  const found = markets.map(({ condition, question, result, state, volume }) => [
    condition,
    question,
    state,
    result,
    volume,
  ]);
  assert.deepEqual(found, [
    [market.conditionId, market.question, 'resolved', market.outcomes[0], '20'],
    [other.conditionId, `'+1, "quoted"?`, 'open', '', '0'],
  ]);
  const [trade, ...more] = rowsOf(running['trades.csv']!);
  assert.deepEqual([trade!.taker, trade!.size, more.length], [bob.address, '20', 0]);
  const backup = join(temporaryDirectory(), 'backup');
  assert.equal((await cli(dataDir, ['backup', backup], { settings: SETTINGS })).code, 0);
  assert.deepEqual(await exported(backup), running);
  await node.stop();
  assert.deepEqual(await exported(dataDir), running);
});

test('a directory without projections is refused, and nothing is written', async () => {
  const into = join(temporaryDirectory(), 'files');
  const { code, stderr } = await cli(temporaryDirectory(), ['venue', 'export', into]);
  assert.equal(code, 1);
  assert.match(stderr, /has no whole projections/);
  assert.throws(() => readdirSync(into), /ENOENT/);
});
