import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import { OperatorNode } from './operator-node.ts';

type Entry = Readonly<Record<string, unknown>>;
interface Page {
  readonly wallet: string;
  readonly entries: readonly Entry[];
  readonly more: boolean;
}

const ROUTE = 'GET /admin/ledger/statement';
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market !== undefined);
const operator = await OperatorNode.start(dataDir, { LEDGER: 'on' });
after(() => operator.node.stop());
const alice = await Trader.join(operator.node, 'alice');
const bob = await Trader.join(operator.node, 'bob');

const page = async (query = ''): Promise<Page> =>
  (await operator.done(ROUTE, undefined, `?wallet=${alice.address}${query}`)) as never;
async function run(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await cli(dataDir, [
    ...['ledger', 'statement', ...args],
    ...['--url', operator.base],
  ]);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout.trimEnd();
}

for (const { address } of [alice, bob]) {
  await operator.done('POST /admin/ledger/deposit', { wallet: address, amount: '100.5' });
}
await alice.place(operator.node, { market, side: 'BUY', ticks: 40, shares: 10 });
await bob.order(operator.node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 10 });
await operator.done('POST /admin/ledger/withdraw', { wallet: alice.address, amount: '0.5' });
await until(async () => (await page()).entries.length === 3, 60_000);

test('an operator is shown every entry of a wallet, in decimals, newest first and in pages', async () => {
  const { entries, more, wallet } = await page();
  assert.deepEqual([wallet, more], [alice.address, false]);
  assert.deepEqual(
    entries.map((row) => [row.cause, row.cash, row.shares, row.cash_after, row.shares_after]),
    [
      ['WITHDRAW', '-0.5', '0', '96', '0'],
      ['TRADE', '-4', '10', '96.5', '10'],
      ['DEPOSIT', '100.5', '0', '100.5', '0'],
    ],
  );
  assert.equal(entries[1]!.token_id, market.tokenIds[0]);
  const first = await page('&limit=2');
  assert.deepEqual([first.entries, first.more], [entries.slice(0, 2), true]);
  const rest = await page(`&limit=2&before=${String(first.entries[1]!.entry)}`);
  assert.deepEqual([rest.entries, rest.more], [entries.slice(2), false]);
});

test('an unknown wallet and an invalid page are refused, and nobody reads a statement without the token', async () => {
  const unknown = `0x${'7'.repeat(40)}`;
  assert.equal((await operator.call(`${ROUTE}?wallet=${unknown}`)).status, 404);
  for (const query of ['', `?wallet=${unknown}&limit=0`, `?wallet=${unknown}&before=-1`]) {
    assert.equal((await operator.call(`${ROUTE}${query}`)).status, 400, query);
  }
  assert.equal(
    (await operator.call(`${ROUTE}?wallet=${alice.address}`, undefined, {})).status,
    401,
  );
});

test('the command prints a table, objects or CSV, with the requested number of entries', async () => {
  const { entries } = await page();
  const lines = (await run(alice.address)).split('\n');
  assert.equal(lines.length, 4);
  assert.match(lines[0]!, /^entry +time +cause +outcome +cash +shares +cash after +shares after$/);
  assert.match(lines[2]!, / TRADE +Yes +-4 +10 +96\.5 +10$/);
  const objects = (await run(alice.address, '--json')).split('\n');
  assert.deepEqual(
    objects.map((line) => JSON.parse(line) as unknown),
    entries,
  );
  const [names, ...rows] = (await run(alice.address, '--csv', '--limit', '1')).split('\r\n');
  assert.equal(names, Object.keys(entries[0]!).join(','));
  assert.deepEqual(rows, [Object.values(entries[0]!).join(',')]);
});

test('without a ledger there are no statements, no fees and no deposits', async () => {
  const plain = await OperatorNode.start(temporaryDirectory());
  const wallet = alice.address;
  const lines = [{ line: 1, wallet, amount: '1' }];
  for (const [key, body] of [
    [`${ROUTE}?wallet=${wallet}`],
    ['GET /admin/ledger/fees'],
    ['POST /admin/ledger/fees/pay', { wallet, amount: '1' }],
    ['POST /admin/ledger/fees/draw', { amount: '1' }],
    ['POST /admin/ledger/deposits', { id: 'file', lines }],
  ] as const) {
    const { json, status } = await plain.call(key, body);
    assert.deepEqual([status, json.error], [409, 'this node has no ledger'], key);
  }
  await plain.node.stop();
});
