/** `venue export`: the same files of a running node, of a stopped one and of a backup; hostile texts are no formulas. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { openParquet } from '../../storage/columns/parquet-reader.ts';
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

/** Rows of a Parquet file as texts, with times as unix milliseconds; of a decimal its text alone. */
async function parquetRows(path: string): Promise<Record<string, string>[]> {
  const { columns, groups } = await openParquet(path);
  const shown = columns.filter((name) => !name.endsWith('_micros'));
  const rows: Record<string, string>[] = [];
  for await (const { columns: values, length } of groups(shown)) {
    for (let i = 0; i < length; i++) {
      const cells = shown.map((name) => [name, textOf(values.get(name)![i])]);
      rows.push(Object.fromEntries(cells));
    }
  }
  return rows;
}

function textOf(value: unknown): string {
  return value instanceof Date ? String(value.getTime()) : String(value ?? '');
}

test('the files of Parquet have the rows of those of CSV, and names are not changed in them', async () => {
  const into = join(temporaryDirectory(), 'parquet');
  const { code, stderr } = await cli(dataDir, ['venue', 'export', into, '--format', 'parquet'], {
    settings: SETTINGS,
  });
  assert.equal(code, 0, stderr);
  const csv = await exported(dataDir);
  for (const name of ['people', 'markets', 'trades']) {
    const rows = await parquetRows(join(into, `${name}.parquet`));
    const texts = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, text]) => [key, /^[=+]/.test(text) ? `'${text}` : text]),
      ),
    );
    assert.deepEqual(texts, rowsOf(csv[`${name}.csv`]!), name);
    assert(rows.length > 0);
  }
  const trades = join(into, 'all.parquet');
  assert.equal((await cli(dataDir, ['trades', 'export', trades])).code, 0);
  assert.deepEqual(await parquetRows(trades), await parquetRows(join(into, 'trades.parquet')));
  const info = await cli(dataDir, ['record', 'info', trades, '--json']);
  assert.deepEqual(JSON.parse(info.stdout).messages, { last_trade_price: 1 });
});

test('statement and positions of a wallet are written as Parquet with the numbers of their lists', async () => {
  const into = temporaryDirectory();
  const run = async (...args: readonly string[]) => {
    const { code, stderr, stdout } = await cli(dataDir, [...args, '--url', operator.base]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const statement = join(into, 'statement.parquet');
  await run('ledger', 'statement', alice.address, '--parquet', statement);
  const listed = (await run('ledger', 'statement', alice.address, '--json')).trim().split('\n');
  assert.deepEqual(
    await parquetRows(statement),
    listed.map((line) =>
      Object.fromEntries(
        Object.entries(JSON.parse(line) as object).map(([key, value]) => [key, String(value)]),
      ),
    ),
  );
  const holdings = join(into, 'holdings.parquet');
  await run('ledger', 'balance', bob.address, '--parquet', holdings);
  const { cash, positions } = JSON.parse(await run('ledger', 'balance', bob.address, '--json'));
  const [ofCash, ...rest] = await parquetRows(holdings);
  assert.deepEqual([ofCash!.token_id, ofCash!.total], ['cash', cash.total]);
  assert.deepEqual(rest, positions);
});

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
