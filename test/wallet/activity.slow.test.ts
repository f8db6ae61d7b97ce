import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { compileShape } from '../../server/common/schema.ts';
import { ActivityAnswer } from '../../server/wallet/portfolio-schemas.ts';
import { get, TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

type Row = Readonly<Record<string, unknown>>;

const dataDir = temporaryDirectory();
const [market, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(market !== undefined && other !== undefined);
const settings = { LEDGER: 'on', FAUCET: '100', ADMIN_PORT: String(await freePort()) };
const node = await TestNode.start(dataDir, settings);
after(() => node.stop());
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const answer = compileShape(ActivityAnswer);
let requests = 0;

async function activity(query = '', trader = alice): Promise<readonly Row[]> {
  const { json, status, text } = await get(node, `/activity?user=${trader.address}${query}`);
  assert.equal(status, 200, text);
  assert(answer.matches(json), text);
  return json;
}

/** Waits for so many rows: entries appear a fraction of a second after they are durable. */
async function activityOf(count: number, trader = alice): Promise<readonly Row[]> {
  await until(async () => (await activity('', trader)).length === count, 60_000);
  return activity('', trader);
}

async function sets(kind: 'split' | 'merge', amount: number, of = market!): Promise<void> {
  requests += 1;
  const id = `${Date.now()}-${requests}`;
  const body = { conditionId: of.conditionId, amount: String(amount * 1_000_000), id };
  const { status, text } = await alice.ask(node, 'POST', `/${kind}`, JSON.stringify(body));
  assert.equal(status, 200, text);
}

const typesOf = (rows: readonly Row[]): unknown[] => rows.map(({ type }) => type);

test('activity has trades, splits, merges and payouts of a wallet, newest first', async () => {
  await sets('split', 10);
  await alice.place(node, { market, side: 'SELL', ticks: 70, shares: 5 });
  await bob.place(node, { market, side: 'BUY', ticks: 70, shares: 5 });
  const before = Date.now();
  await until(() => Date.now() > before + 1_500);
  await sets('merge', 2);
  await sets('split', 4, other);
  const { conditionId: condition } = market;
  const { code, stderr } = await cli(dataDir, ['market', 'resolve', condition, '--payout', '1,0'], {
    settings,
  });
  assert.equal(code, 0, stderr);
  const rows = await activityOf(5);
  assert.deepEqual(typesOf(rows), ['REDEEM', 'SPLIT', 'MERGE', 'TRADE', 'SPLIT']);
  assert.deepEqual(
    rows.map((row) => [row.size, row.usdcSize, row.side, row.conditionId]),
    [
      // 3 of Yes, which pay 1; 8 of No, which pay nothing.
      [3, 3, '', condition],
      [4, 4, '', other.conditionId],
      [2, 2, '', condition],
      [5, 3.5, 'SELL', condition],
      [10, 10, '', condition],
    ],
  );
  const [redeem, , , trade] = rows;
  for (const row of rows) {
    assert.equal(row.proxyWallet, alice.address);
    assert.match(String(row.transactionHash), /^0x[0-9a-f]{64}$/);
  }
  assert.equal(new Set(rows.map(({ transactionHash }) => transactionHash)).size, rows.length);
  const { asset, outcome, outcomeIndex, token_id } = redeem!;
  assert.deepEqual([asset, token_id, outcome, outcomeIndex], ['', '', '', 999]);
  assert.deepEqual([redeem!.title, redeem!.slug], [trade!.title, trade!.slug]);
  assert.deepEqual(Object.keys(redeem!).sort(), Object.keys(trade!).sort());
  assert.deepEqual(typesOf(await activityOf(2, bob)), ['REDEEM', 'TRADE']);
});

test('types, markets, sides and times select rows, which are then ordered and paged', async () => {
  const rows = await activityOf(5);
  const [redeem, split2, merge, trade, split] = rows;
  for (let offset = 0; offset < 5; offset++) {
    assert.deepEqual(await activity(`&limit=1&offset=${offset}`), [rows[offset]]);
  }
  const cases: readonly (readonly [string, readonly (Row | undefined)[]])[] = [
    ['&type=SPLIT', [split2, split]],
    ['&type=TRADE', [trade]],
    ['&type=REDEEM,MERGE&limit=1&offset=1', [merge]],
    ['&type=REWARD', []],
    ['&side=SELL', [trade]],
    ['&side=BUY', []],
    [`&market=${other.conditionId}`, [split2]],
    ['&sortDirection=ASC', rows.toReversed()],
    ['&sortDirection=ASC&limit=2&offset=1', [trade, merge]],
    ['&sortBy=CASH', [split, split2, trade, redeem, merge]],
    ['&sortBy=TOKENS&limit=1', [split]],
    [`&end=${String(trade!.timestamp)}`, [trade, split]],
    [`&start=${String(merge!.timestamp)}`, [redeem, split2, merge]],
  ];
  for (const [query, expected] of cases) assert.deepEqual(await activity(query), expected, query);
});

test('a row far back is found behind many others, a page of entries at a time', async () => {
  const [, , , trade] = await activityOf(5);
  for (let i = 0; i < 150; i++) await sets(i % 2 === 0 ? 'split' : 'merge', 1, other);
  await until(async () => (await activity('&limit=500')).length === 155, 60_000);
  assert.deepEqual(await activity('&type=TRADE,MERGE&limit=1&offset=76'), [trade]);
  assert.deepEqual(await activity('&limit=1&offset=153'), [trade]);
  assert.equal((await activity('&type=REDEEM')).length, 1);
});

test('shares without any trade are worth the price of their split', async () => {
  const held = async (path: string) =>
    (await get(node, `${path}?user=${alice.address}&market=${other.conditionId}`)).json as Row[];
  const rows = await held('/positions');
  assert.deepEqual(
    rows.map(({ curPrice, cashPnl, initialValue, redeemable }) => [
      curPrice,
      cashPnl,
      initialValue,
      redeemable,
    ]),
    [
      [0.5, 0, 2, false],
      [0.5, 0, 2, false],
    ],
  );
  assert.equal((await held('/value'))[0]!.value, 4);
});
