/** The preview of a payout, beside what the ledger then pays, over real HTTP. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import { OperatorNode } from './operator-node.ts';

interface Row {
  readonly wallet: string;
  readonly name: string;
  readonly outcome: string;
  readonly shares: string;
  readonly paid: string;
}

const PAGE = 2;
const micro = (text: string): number => Math.round(Number(text) * 1e6);
const sum = (rows: readonly Row[], of: 'paid' | 'shares'): number =>
  rows.reduce((total, row) => total + micro(row[of]), 0);

test('a preview names each wallet and pays what the ledger then pays, with open orders and fractions', async () => {
  const seed = freshSeed();
  console.log(`SEED=${seed}`);
  const random = new Random(seed);
  const dataDir = temporaryDirectory();
  const markets = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }, { id: 3 }]);
  const operator = await OperatorNode.start(dataDir, { LEDGER: 'on' });
  const { node } = operator;
  const traders: Trader[] = [];
  for (const name of ['alice', 'bob', 'carol', 'dora']) {
    const trader = await Trader.join(node, name);
    traders.push(trader);
    await operator.done('POST /admin/ledger/deposit', { wallet: trader.address, amount: '900' });
  }
  await operator.done('POST /admin/wallets/name', { wallet: traders[0]!.address, name: 'Ada' });
  const balances = () =>
    Promise.all(
      traders.map(async ({ address }) => {
        const found = await operator.done(
          'GET /admin/ledger/balance',
          undefined,
          `?wallet=${address}`,
        );
        const { free, reserved, total } = found.cash as Record<string, string>;
        return { free: micro(free!), reserved: micro(reserved!), total: micro(total!) };
      }),
    );
  const payouts = [{ payout: [1, 2] }, { void: true }, { payouts: { Yes: 1 } }];
  for (const [i, pays] of payouts.entries()) {
    const market = markets[i]!;
    const condition = market.conditionId;
    for (let turn = 0; turn < 16; turn++) {
      const [buyer, seller] = [random.below(4), random.below(4)];
      const [ticks, shares] = [20 + random.below(60), 5 + random.below(20)];
      await traders[buyer]!.order(node, { market, side: 'BUY', ticks, shares });
      const other = { market, outcome: 1, side: 'BUY' as const, ticks: 100 - ticks, shares };
      if (buyer !== seller) await traders[seller]!.order(node, other);
    }
    // A row of each outcome at least, an order that sells and one that buys rest.
    const [alice, bob, carol] = traders as [Trader, Trader, Trader];
    await carol.place(node, { market, side: 'BUY', ticks: 90, shares: 7 });
    await bob.place(node, { market, outcome: 1, side: 'BUY', ticks: 90, shares: 9 });
    await alice.place(node, { market, outcome: 1, side: 'BUY', ticks: 2, shares: 11 });

    const before = await balances();
    const rows: Row[] = [];
    let sums: Record<string, unknown> = {};
    for (let after: unknown = 0; after !== null; after = sums.next) {
      const page = await operator.done('POST /admin/markets/dry-run', {
        condition,
        ...pays,
        after,
        limit: PAGE,
      });
      const { next: _, rows: __, ...all } = page;
      const { next: ___, rows: ____, ...seen } = sums;
      if (after !== 0) assert.deepEqual(all, seen, 'each page has the sums of all');
      rows.push(...(page.rows as Row[]));
      assert(page.next === null || (page.rows as Row[]).length === PAGE);
      sums = page;
    }
    assert(rows.length > PAGE);
    assert.equal(new Set(rows.map(({ wallet }) => wallet)).size, sums.wallets);
    assert.equal(sum(rows, 'paid'), micro(String(sums.paid)));
    const byOutcome = sums.by_outcome as { outcome: string; shares: string; wallets: number }[];
    for (const { outcome, shares, wallets } of byOutcome) {
      const own = rows.filter((row) => row.outcome === outcome);
      assert.deepEqual([own.length, sum(own, 'shares')], [wallets, micro(shares)]);
    }
    assert(rows.every(({ name, wallet }) => (name === 'Ada') === (wallet === alice.address)));
    const whole = await operator.done('POST /admin/markets/dry-run', { condition, ...pays });
    assert.deepEqual([whole.rows, whole.next], [rows, null]);

    if (i === 0) {
      const args = ['market', 'resolve', '1', '--payout', '1,2', '--dry-run'];
      const { stdout } = await cli(dataDir, [...args, '--url', operator.base]);
      const lines = stdout.split('\n').map((line) => line.split(/ +/).join(' '));
      for (const { name, outcome, paid, shares, wallet } of rows) {
        const who = name === '' ? wallet : `${wallet} ${name}`;
        assert(lines.includes(`${who} ${outcome} ${shares} ${paid}`), stdout);
      }
    }

    const isVoid = 'void' in pays;
    if (isVoid) await operator.done('POST /admin/markets/void', { condition });
    else await operator.done('POST /admin/markets/resolve', { condition, ...pays });
    await until(async () => (await operator.done('GET /admin/ledger')).resolving === 0);
    const after = await balances();
    let released = 0;
    for (const [at, trader] of traders.entries()) {
      const own = rows.filter(({ wallet }) => wallet === trader.address);
      const paid = after[at]!.total - before[at]!.total;
      assert.equal(paid, sum(own, 'paid'), trader.address);
      released += before[at]!.reserved - after[at]!.reserved;
      assert.equal(after[at]!.free - before[at]!.free, paid + before[at]!.reserved);
    }
    assert.equal(released, micro(String(sums.released)));
    assert(released > 0);
  }
  await node.stop();
});
