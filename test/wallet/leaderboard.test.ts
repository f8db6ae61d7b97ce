/**
 * Boards, profit over time and profiles of a running node with a ledger: they agree with positions and statements,
 * over a restart.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';

type Row = Readonly<Record<string, unknown>>;

const dataDir = temporaryDirectory();
const [market, other, third] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }, { id: 3 }]);
assert(market !== undefined && other !== undefined && third !== undefined);
const SETTINGS = { LEDGER: 'on', CLIENT_PROFILE: 'spec' };
let operator = await OperatorNode.start(dataDir, SETTINGS);
const names = ['alice', 'bob', 'carol'] as const;
const [alice, bob, carol] = (await Promise.all(
  names.map((name) => Trader.join(operator.node, name)),
)) as [Trader, Trader, Trader];
for (const { address: wallet } of [alice, bob, carol]) {
  await operator.done('POST /admin/ledger/deposit', { wallet, amount: '1000' });
}
const lower = (trader: Trader): string => trader.address.toLowerCase();

async function answer(path: string, status = 200): Promise<Row> {
  const { json, ...reply } = await get(operator.node, path);
  assert.equal(reply.status, status, reply.text);
  return json as Row;
}

async function board(query: string): Promise<Row[]> {
  const { data } = await answer(`/v2/leaderboard?${query}`);
  return data as Row[];
}

/** Rank, wallet, profit and volume of each row. */
const short = (rows: readonly Row[]): unknown[] =>
  rows.map(({ pnl, rank, user_id, volume }) => [rank, user_id, pnl, volume]);

async function profile(trader: Trader, body: object): Promise<Row & { readonly status: number }> {
  const { json, status } = await trader.ask(
    operator.node,
    'POST',
    '/profile',
    JSON.stringify(body),
  );
  return { ...(json as Row), status };
}

// Alice buys 20 Yes at 0.40 from bob, who pays 0.60 for 20 No, and sells 10 of them to carol at 0.70: 3 of profit.
const { node } = operator;
await alice.place(node, { market, side: 'BUY', ticks: 40, shares: 20 });
await bob.place(node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 20 });
await alice.place(node, { market, side: 'SELL', ticks: 70, shares: 10 });
await carol.place(node, { market, side: 'BUY', ticks: 70, shares: 10 });
// In another market bob sells 10 of 20 No for 0.50 that he had for 0.60: a loss of 1.
await alice.place(node, { market: other, side: 'BUY', ticks: 40, shares: 20 });
await bob.place(node, { market: other, outcome: 1, side: 'BUY', ticks: 60, shares: 20 });
await carol.place(node, { market: other, outcome: 1, side: 'BUY', ticks: 50, shares: 10 });
await bob.place(node, { market: other, outcome: 1, side: 'SELL', ticks: 50, shares: 10 });
await until(async () => (await board('sort_by=VOLUME')).length === 3);
await until(async () => (await board('')).length === 2);

const PROFITS = [
  [1, lower(alice), 3, 50],
  [2, lower(bob), -1, 50],
];

test('boards of each period rank wallets by realised profit and by shares of both sides', async () => {
  for (const period of ['day', 'week', 'month', 'all']) {
    assert.deepEqual(short(await board(`time_period=${period}`)), PROFITS, period);
    const volumes = await board(`timePeriod=${period}&sortBy=VOLUME`);
    const ofOne = new Set([lower(alice), lower(bob)]);
    assert.deepEqual(short(volumes.slice(2)), [[3, lower(carol), 0, 20]]);
    assert(
      volumes.slice(0, 2).every(({ rank, user_id }) => rank === 1 && ofOne.has(String(user_id))),
    );
  }
  assert.deepEqual(await board('category=sports'), []);
  await answer('/v2/leaderboard?sort_by=SHARES', 400);
  await answer('/v2/leaderboard?offset=1', 400);
});

test('a cursor walks a board with the ranks of one page, and refuses another board', async () => {
  const whole = await board('sort_by=VOLUME');
  const rows: Row[] = [];
  for (let query = 'sort_by=VOLUME&limit=1'; ; ) {
    const { data, pagination } = await answer(`/v2/leaderboard?${query}`);
    rows.push(...(data as Row[]));
    const { has_more, next_cursor } = pagination as Row;
    assert.equal(has_more, next_cursor !== null);
    if (next_cursor === null) break;
    query = `cursor=${next_cursor}`;
    await answer(`/v2/leaderboard?${query}&sort_by=PNL`, 400);
    await answer(`/v2/leaderboard?${query}&time_period=all`, 400);
  }
  assert.deepEqual(rows, whole);
});

test('the standing of one wallet has both ranks, null without a score', async () => {
  const ranks = async (user: string): Promise<unknown> => {
    const { data } = await answer(`/v2/leaderboard?user=${user}`);
    const row = data as Row | null;
    return row && [row.rank_pnl, row.rank_volume, row.pnl, row.volume];
  };
  assert.deepEqual(await ranks(bob.address), [2, 1, -1, 50]);
  assert.deepEqual(await ranks(carol.address), [null, 3, 0, 20]);
  assert.equal(await ranks(`0x${'12'.repeat(20)}`), null);
});

test('GET /v1/leaderboard has the same wallets in the fields of older clients', async () => {
  const rows = (await answer('/v1/leaderboard?timePeriod=ALL&orderBy=PNL')) as unknown as Row[];
  assert.deepEqual(
    rows.map(({ pnl, proxyWallet, rank, vol }) => [Number(rank), proxyWallet, pnl, vol]),
    PROFITS,
  );
  const second = (await answer('/v1/leaderboard?limit=1&offset=1')) as unknown as Row[];
  assert.deepEqual(second, rows.slice(1));
  const own = (await answer(`/v1/leaderboard?user=${bob.address}`)) as unknown as Row[];
  assert.deepEqual(own, rows.slice(1));
});

test('points of profit end with the sums of the wallet, and whole days with its volume', async () => {
  for (const interval of ['max', '1w', '6h']) {
    const { data } = await answer(`/v2/user-pnl?user=${alice.address}&interval=${interval}`);
    const { points } = data as { readonly points: readonly Row[] };
    const last = points.at(-1)!;
    assert.deepEqual(
      [
        last.realized_market_pnl,
        last.realized_pnl,
        last.volume,
        last.volume_usdc,
        last.trade_count,
      ],
      [3, 3, 50, 23, 3],
    );
    assert(Math.abs(Number(last.timestamp) - Date.now() / 1_000) < 60);
    assert.deepEqual([points[0]!.realized_pnl, points[0]!.trade_count], [0, 0]);
  }
  const day = 86_400;
  const now = Math.floor(Date.now() / 1_000);
  const volume = async (query: string): Promise<unknown> => {
    const { data } = await answer(`/v2/user-volume?user=${alice.address}${query}`);
    const { trade_count, volume: shares, volume_usdc } = data as Row;
    return [shares, volume_usdc, trade_count];
  };
  const all = [50, 23, 3];
  assert.deepEqual(await volume(''), all);
  assert.deepEqual(await volume(`&start=${now - day}&end=${now}`), all);
  assert.deepEqual(await volume(`&start=${now + 2 * day}`), [0, 0, 0]);
  assert.deepEqual(await volume(`&start=${now}&end=${now - 2 * day}`), [0, 0, 0]);
  assert.deepEqual(await volume(`&end=${now - 2 * day}`), [0, 0, 0]);
});

test('a payout above its cost is a won position, and profits are those of closed positions', async () => {
  const condition = market.conditionId;
  await operator.done('POST /admin/markets/resolve', { condition, payout: [1, 0] });
  await until(async () => ((await answer('/v2/biggest-winners')).data as Row[]).length === 2);
  const { data } = await answer('/v2/biggest-winners?time_period=all');
  const [first, second] = data as Row[];
  assert.deepEqual(
    [first!.win_rank, first!.user_id, first!.pnl, first!.initial_value, first!.final_value],
    [1, lower(alice), 6, 4, 10],
  );
  assert.deepEqual(
    [first!.condition_id, first!.position_id, first!.event_id, first!.event_slug, first!.kind],
    [condition, market.tokenIds[0], 1, 'event-1', 'market'],
  );
  assert.deepEqual([second!.win_rank, second!.user_id, second!.pnl], [2, lower(carol), 3]);
  const page = await answer('/v2/biggest-winners?limit=1');
  const { next_cursor } = page.pagination as Row;
  assert.deepEqual((await answer(`/v2/biggest-winners?cursor=${next_cursor}`)).data, [second]);
  for (const trader of [alice, bob, carol]) {
    const closed = (await answer(`/closed-positions?user=${trader.address}`)) as unknown as Row[];
    const open = (await answer(`/positions?user=${trader.address}`)) as unknown as Row[];
    const realised = [...closed, ...open].reduce((sum, row) => sum + Number(row.realizedPnl), 0);
    const { data: standing } = await answer(`/v2/leaderboard?user=${trader.address}`);
    assert.equal((standing as Row).pnl, realised);
  }
});

test('user-stats count markets, the best win, the first trade and the newest point', async () => {
  const { data } = await answer(`/v2/user-stats?user=${alice.address}`);
  const { all_time_pnl, join_date, ...rest } = data as Row;
  assert.deepEqual(rest, { proxy_wallet: lower(alice), trades: 2, biggest_win: 6, views: 0 });
  assert.equal((all_time_pnl as Row).realized_pnl, 9);
  assert(Number(join_date) % 3_600 === 0 && Number(join_date) > Date.now() / 1_000 - 7_300);
  assert.equal((await answer(`/v2/user-stats?user=0x${'12'.repeat(20)}`)).data, null);
  await answer('/v2/user-stats?user=0x12', 400);
});

test('a wallet sets a name once, which no other wallet gets in any case', async () => {
  assert.deepEqual(await profile(alice, { name: 'Alice-1' }), {
    status: 200,
    wallet: lower(alice),
    name: 'Alice-1',
    hidden: false,
  });
  assert.equal((await profile(alice, { name: 'Alice-1' })).status, 200);
  assert.equal((await profile(alice, { name: 'Alice-2' })).code, 'PROFILE_NAME_SET');
  assert.equal((await profile(bob, { name: 'aLICE-1' })).code, 'PROFILE_NAME_TAKEN');
  const both = await Promise.all([
    profile(bob, { name: 'same' }),
    profile(carol, { name: 'Same' }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  for (const name of ['ab', '0xabc', 'a b c', 'Алиса', 'x'.repeat(33), 7]) {
    const refused = await profile(carol, { name });
    assert.deepEqual([refused.status, refused.code], [400, 'INVALID_FIELD'], String(name));
  }
  const foreign = await profile(carol, { wallet: alice.address, hidden: true });
  assert.deepEqual([foreign.status, foreign.code], [403, 'WALLET_FOREIGN']);
  const { status } = await get(operator.node, '/profile');
  assert.equal(status, 405);
});

test('a hidden wallet is on no board and gives its rank to the next, also after a restart', async () => {
  const shown = async (): Promise<unknown[]> =>
    (await board('')).map(({ rank, user_id, user_name }) => [rank, user_id, user_name]);
  const all = await shown();
  assert.deepEqual(all[0], [1, lower(alice), 'Alice-1']);
  assert.equal((await profile(alice, { hidden: true })).hidden, true);
  const without = await shown();
  assert.deepEqual(without[0], [1, lower(carol), (all[1] as unknown[])[2]]);
  const { data: next } = await answer(`/v2/leaderboard?user=${carol.address}`);
  assert.equal((next as Row).rank_pnl, 1);
  const rows = (await answer('/v2/biggest-winners')).data as Row[];
  assert.deepEqual(
    rows.map(({ user_id, win_rank }) => [win_rank, user_id]),
    [[1, lower(carol)]],
  );
  const { data } = await answer(`/v2/leaderboard?user=${alice.address}`);
  assert.deepEqual([(data as Row).rank_pnl, (data as Row).user_name], [null, '']);
  await operator.node.stop();
  operator = await OperatorNode.start(dataDir, SETTINGS);
  await until(async () => (await get(operator.node, '/v2/leaderboard')).status === 200);
  assert.deepEqual(await shown(), without);
  assert.equal((await profile(alice, { hidden: false })).hidden, false);
  assert.deepEqual(await shown(), all);
});

test('the Brier board ranks wallets with three resolved markets by the error of their prices, the lowest first', async () => {
  const score = async (trader: Trader): Promise<unknown> => {
    const { data } = await answer(
      `/v2/leaderboard/brier?time_period=all&user=${trader.address.toLowerCase()}`,
    );
    const row = data as Row | null;
    return row && [row.rank, row.brier, row.markets, row.shares];
  };
  const rows = async (query = ''): Promise<unknown[]> => {
    const { data } = await answer(`/v2/leaderboard/brier?time_period=all${query}`);
    return (data as Row[]).map((row) => [row.rank, row.user_id, row.brier, row.markets]);
  };
  // 20 at 0.40 and 10 at 0.70 in a market that paid 1: (20 * 0.36 + 10 * 0.09) / 30.
  assert.deepEqual(await score(alice), [null, 0.27, 1, 30]);
  const { node: own } = operator;
  await alice.place(own, { market: third, side: 'BUY', ticks: 20, shares: 10 });
  await bob.place(own, { market: third, outcome: 1, side: 'BUY', ticks: 80, shares: 10 });
  for (const [condition, payout] of [
    [other.conditionId, [1, 1]],
    [third.conditionId, [0, 1]],
  ] as const)
    await operator.done('POST /admin/markets/resolve', { condition, payout });
  await until(async () => (await rows()).length === 2);
  const expected = [
    [1, lower(bob), 0.13, 3],
    [2, lower(alice), 0.145, 3],
  ];
  assert.deepEqual(await rows(), expected);
  assert.deepEqual(await score(alice), [2, 0.145, 3, 60]);
  assert.deepEqual(await score(carol), [null, 0.045, 2, 20]);
  const { pagination } = await answer('/v2/leaderboard/brier?time_period=all&limit=1');
  assert.deepEqual(await rows(`&cursor=${(pagination as Row).next_cursor}`), [expected[1]]);
  await profile(bob, { hidden: true });
  assert.deepEqual(await score(alice), [1, 0.145, 3, 60]);
  assert.deepEqual(await rows(), [[1, ...expected[1]!.slice(1)]]);
  assert.deepEqual(
    (await answer('/v2/leaderboard/brier?user=0x1212121212121212121212121212121212121212')).data,
    null,
  );
});
