/**
 * The routes below /v2 over real sockets, compared with a list of what was traded: pages while trades come in,
 * filters, positions in every order, payouts, refusals.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { Trader } from '../common/traders.ts';
import {
  ACTIVITY,
  DataClient,
  HOLDER,
  HOLDER_WITH_GAINS,
  HOLDERS,
  POINT,
  POSITION,
  type Row,
  type RowForm,
  TRADE,
} from './data-client.ts';

const TRADES = 36;
const SETS = 500;
const seed = freshSeed();
const random = new Random(seed);
process.once('exit', (code) => {
  if (code !== 0) console.error(`replay with: SEED=${seed} npm test`);
});

const dataDir = temporaryDirectory();
const markets = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }, { id: 3 }]);
const [first, second, third] = markets as readonly [CatalogMarket, CatalogMarket, CatalogMarket];
const operator = await OperatorNode.start(dataDir, { LEDGER: 'on', FAUCET: '10000' });
const { node } = operator;
after(() => node.stop());
const client = new DataClient(node);
const wallets: Trader[] = [];
for (const name of ['alice', 'bob', 'carol']) wallets.push(await Trader.join(node, name));
for (const trader of wallets) {
  for (const market of [first, second]) await trader.split(node, market, SETS);
}

interface Side {
  readonly wallet: string;
  readonly token: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
}
interface Traded {
  readonly market: CatalogMarket;
  readonly size: number;
  readonly taker: Side;
  readonly maker: Side;
}
/** Oldest first. */
const traded: Traded[] = [];

/** One order meets another that rests alone: of the other side, or of the other outcome. */
async function trade(market = random.below(2) === 0 ? first : second): Promise<void> {
  const at = random.below(3);
  const [maker, taker] = [wallets[at]!, wallets[(at + 1 + random.below(2)) % 3]!];
  const outcome = random.below(2);
  const ticks = 1 + random.below(98);
  const size = 5 + random.below(20);
  const side = random.below(2) === 0 ? 'BUY' : 'SELL';
  const isMint = side === 'BUY' && random.below(2) === 0;
  const resting = isMint
    ? ({ outcome: 1 - outcome, side: 'BUY', ticks: 100 - ticks } as const)
    : ({ outcome, side: side === 'BUY' ? 'SELL' : 'BUY', ticks } as const);
  await maker.place(node, { market, shares: size, ...resting });
  const { status } = await taker.place(node, { market, outcome, side, ticks, shares: size });
  assert.equal(status, 'matched');
  const of = (wallet: Trader, terms: { outcome: number; side: 'BUY' | 'SELL'; ticks: number }) => ({
    wallet: wallet.address.toLowerCase(),
    token: market.tokenIds[terms.outcome]!,
    side: terms.side,
    price: terms.ticks / 100,
  });
  traded.push({
    market,
    size,
    taker: of(taker, { outcome, side, ticks }),
    maker: of(maker, resting),
  });
}
for (let i = 0; i < TRADES; i++) await trade();

/** Rows of the feed of trades, newest first. */
function expectedRows(of: readonly Traded[], withMakers: boolean): string[] {
  return of
    .toReversed()
    .flatMap(({ maker, size, taker }) =>
      (withMakers ? [taker, maker] : [taker]).map((side) =>
        [side.wallet, side.side, side.token, size, side.price].join(' '),
      ),
    );
}
const shown = (rows: readonly Row[]): string[] =>
  rows.map((row) => [row.proxy_wallet, row.side, row.token_id, row.size, row.price].join(' '));

/** Shares of a wallet in a token: those of its complete sets and of its trades. */
function sharesOf(wallet: string, token: string): number {
  const held = [first, second].some(({ tokenIds }) => tokenIds.includes(token)) ? SETS : 0;
  return traded.reduce((sum, { maker, size, taker }) => {
    const own = [taker, maker].filter((side) => side.wallet === wallet && side.token === token);
    return own.reduce((rest, { side }) => rest + (side === 'BUY' ? size : -size), sum);
  }, held);
}
const addresses = wallets.map(({ address }) => address.toLowerCase());
const [alice = '', bob = ''] = addresses;
const tokens = [...first.tokenIds, ...second.tokenIds];

const open = (user: string, query = {}) =>
  client.all('positions', POSITION, { user, filter_amount: 0, ...query });
async function settled(): Promise<void> {
  await until(async () => {
    for (const user of addresses) {
      const rows = await open(user);
      for (const token of tokens) {
        const row = rows.find(({ token_id }) => token_id === token);
        if ((row?.current_size ?? 0) !== sharesOf(user, token)) return false;
      }
    }
    return true;
  }, 60_000);
}
await settled();

test('pages of trades are one list, each trade once, while others come in between them', async () => {
  const before = [...traded];
  const paged = await client.all('trades', TRADE, { limit: 7, taker_only: false }, () => trade());
  assert.deepEqual(shown(paged), expectedRows(before, true));
  assert(traded.length > before.length, 'trades came in');
  const one = await client.page('trades', TRADE, { limit: 1_000, takerOnly: false });
  assert.deepEqual(shown(one.data), expectedRows(traded, true));
  assert.equal(one.pagination.has_more, false);
  await settled();
});

test('trades are filtered by wallet, market, event, side, amount and time', async () => {
  const rows = async (query: Record<string, string | number | boolean>): Promise<string[]> =>
    shown(await client.all('trades', TRADE, { limit: 5, ...query }));
  assert.deepEqual(await rows({}), expectedRows(traded, false));
  const ofSecond = traded.filter(({ market }) => market === second);
  for (const name of ['condition', 'condition_id', 'conditionId']) {
    assert.deepEqual(await rows({ [name]: second.conditionId }), expectedRows(ofSecond, false));
  }
  assert.deepEqual(await rows({ event_id: 2 }), expectedRows(ofSecond, false));
  assert.deepEqual(await rows({ eventId: '2,1' }), expectedRows(traded, false));
  assert.deepEqual(await rows({ event_id: 3 }), []);
  const buys = traded.filter(({ taker }) => taker.side === 'BUY');
  assert.deepEqual(await rows({ side: 'BUY' }), expectedRows(buys, false));
  const large = traded.filter(({ size }) => size >= 12);
  assert.deepEqual(await rows({ filter_amount: 12 }), expectedRows(large, false));
  const dear = traded.filter(({ size, taker }) => size * taker.price >= 6);
  const query = { filter_type: 'CASH', filterAmount: 6 };
  assert.deepEqual(await rows(query), expectedRows(dear, false));
  const own = expectedRows(traded, true).filter((row) => row.startsWith(alice));
  assert.deepEqual(await rows({ user: alice, taker_only: false }), own);
  assert.deepEqual(await rows({ user: alice.toUpperCase().replace('0X', '0x'), end: 1_000 }), []);
  const [newest] = (await client.page('trades', TRADE)).data;
  const time = Number(newest!.timestamp);
  assert.deepEqual(await rows({ start: time + 1 }), []);
  assert.deepEqual(await rows({ start: 1, end: time }), expectedRows(traded, false));
});

test('activity has the trades and complete sets of a wallet in both directions, and no deposits', async () => {
  const newest = await client.all('activity', ACTIVITY, { user: alice, limit: 4 });
  const oldest = await client.all('activity', ACTIVITY, {
    user: alice,
    limit: 5,
    sort_direction: 'ASC',
  });
  assert.deepEqual(oldest.toReversed(), newest);
  const trades = newest.filter(({ type }) => type === 'TRADE');
  const own = expectedRows(traded, true).filter((row) => row.startsWith(alice));
  assert.deepEqual(shown(trades), own);
  for (const { price, size, usdc_size } of trades) {
    assert.equal(Number(usdc_size).toFixed(6), (Number(price) * Number(size)).toFixed(6));
  }
  const others = newest.filter(({ type }) => type !== 'TRADE');
  assert.deepEqual(
    others.map(({ outcome_index, side, size, type }) => [type, side, size, outcome_index]),
    [
      ['SPLIT', '', SETS, 999],
      ['SPLIT', '', SETS, 999],
    ],
  );
  const all = { user: alice, exclude_deposits_withdrawals: false, type: 'SPLIT,DEPOSIT,TIP' };
  assert.deepEqual(await client.all('activity', ACTIVITY, all), others);
  const ofSecond = await client.all('activity', ACTIVITY, { user: alice, event_id: '2', limit: 3 });
  assert.deepEqual(
    ofSecond,
    newest.filter(({ condition_id }) => condition_id === second.conditionId),
  );
  const sales = await client.all('activity', ACTIVITY, { user: alice, side: 'SELL', limit: 3 });
  assert.deepEqual(
    sales,
    newest.filter(({ side }) => side === 'SELL'),
  );
});

const SORTS = {
  CURRENT_VALUE: 'current_value',
  PRICE: 'current_price',
  TOKENS: 'current_size',
  UNREALIZED_PNL: 'unrealized_pnl',
  REALIZED_PNL: 'realized_pnl',
  TOTAL_PNL: 'total_pnl',
  TIMESTAMP: 'last_event_at',
} as const;

test('positions come in each order, page by page, and their numbers are consistent', async () => {
  const rows = await open(bob);
  const splits = await client.all('activity', ACTIVITY, { user: bob, type: 'SPLIT' });
  assert.deepEqual(
    rows.map(({ token_id }) => token_id).sort(),
    tokens.filter((token) => sharesOf(bob, token) !== 0).sort(),
  );
  for (const row of rows) {
    const number = (name: string): number => Number(row[name]);
    assert.equal(number('current_size'), sharesOf(bob, String(row.token_id)));
    const sums = [
      ['total_pnl', number('realized_pnl') + number('unrealized_pnl')],
      ['total_cost_usdc', number('entry_cost_usdc') + number('entry_fees_usdc')],
      ['unrealized_pnl', number('current_value') - number('entry_cost_usdc')],
      ['current_value', number('current_size') * number('current_price')],
    ] as const;
    for (const [name, sum] of sums) assert(Math.abs(number(name) - sum) < 2e-6, name);
    assert.deepEqual([row.status, row.redeemable], ['OPEN', false]);
    const market = markets.find(({ conditionId }) => conditionId === row.condition_id)!;
    assert.equal(row.opposite_token_id, market.tokenIds[1 - number('outcome_index')]);
    assert.equal(row.event_id, market.id);
    const entry = splits.find(({ condition_id }) => condition_id === row.condition_id)!;
    assert.equal(row.first_entry_at, entry.timestamp);
  }
  for (const [sort_by, member] of Object.entries(SORTS)) {
    const order = { sort_by, limit: 1 };
    const down = await open(bob, order);
    const up = await open(bob, { ...order, sort_direction: 'ASC' });
    const values = (of: readonly Row[]): number[] => of.map((row) => Number(row[member]));
    assert.deepEqual(
      values(down),
      values(rows).sort((a, b) => b - a),
      sort_by,
    );
    assert.deepEqual(
      values(up),
      values(rows).sort((a, b) => a - b),
      sort_by,
    );
    const ids = (of: readonly Row[]) => of.map(({ token_id }) => token_id).sort();
    assert.deepEqual([ids(down), ids(up)], [ids(rows), ids(rows)], sort_by);
  }
});

test('positions are filtered by market, event, title and size', async () => {
  const rows = await open(alice);
  const ids = async (query: object): Promise<unknown[]> =>
    (await open(alice, query)).map(({ token_id }) => token_id).sort();
  const expected = (passes: (row: Row) => boolean): unknown[] =>
    rows
      .filter(passes)
      .map(({ token_id }) => token_id)
      .sort();
  const ofFirst = expected(({ condition_id }) => condition_id === first.conditionId);
  assert.deepEqual(await ids({ condition: first.conditionId }), ofFirst);
  assert.deepEqual(await ids({ event_id: '1' }), ofFirst);
  assert.deepEqual(await ids({ title: 'QUESTION 1' }), ofFirst);
  assert.deepEqual(await ids({ title: 'no such market' }), []);
  const large = expected(({ current_size }) => Number(current_size) >= SETS);
  assert.deepEqual(await ids({ filter_amount: SETS }), large);
  const dear = expected(({ current_value }) => Number(current_value) >= 200);
  assert.deepEqual(await ids({ filter_type: 'CASH', filter_amount: 200 }), dear);
  assert.deepEqual(
    await ids({ status: 'MERGEABLE' }),
    expected(({ mergeable }) => mergeable === true),
  );
  assert.deepEqual(await ids({ status: 'REDEEMABLE' }), []);
  assert.deepEqual(await ids({ status: 'CLOSED' }), []);
});

test('positions of a market are those of all its wallets', async () => {
  const query = { condition: first.conditionId, filter_amount: 0, limit: 2, sort_by: 'TOKENS' };
  const rows = await client.all('positions', POSITION, query);
  const each = (await Promise.all(addresses.map((user) => open(user)))).flat();
  const ofFirst = each.filter(({ condition_id }) => condition_id === first.conditionId);
  const key = ({ proxy_wallet, token_id }: Row): string => `${proxy_wallet} ${token_id}`;
  assert.deepEqual(rows.map(key).sort(), ofFirst.map(key).sort());
});

test('the value of a wallet is that of its positions', async () => {
  for (const user of addresses) {
    const sum = (await open(user)).reduce((rest, row) => rest + Number(row.current_value), 0);
    const { proxy_wallet, value } = await client.one<Row>('value', { user });
    assert.equal(proxy_wallet, user);
    assert(Math.abs(Number(value) - sum) < 1e-5);
  }
});

test('holders of each outcome come by their shares, in pages for each token', async () => {
  const condition = `${first.conditionId},${second.conditionId}`;
  const groups = await client.all('holders', HOLDERS, { condition, limit: 2 });
  for (const token of tokens) {
    const holders = groups
      .filter(({ token_id }) => token_id === token)
      .flatMap(({ holders: rows }) => rows as Row[]);
    for (const row of holders) checkNames(row, HOLDER);
    const expected = addresses.map((wallet) => sharesOf(wallet, token)).filter((net) => net > 0);
    assert.deepEqual(
      holders.map(({ amount }) => amount),
      expected.sort((a, b) => b - a),
    );
    for (const { amount, proxy_wallet } of holders) {
      assert.equal(amount, sharesOf(String(proxy_wallet), token));
    }
  }
  const query = { condition: first.conditionId, include_pnl: true, min_balance: SETS };
  for (const { holders } of await client.all('holders', HOLDERS, query)) {
    for (const row of holders as Row[]) {
      checkNames(row, HOLDER_WITH_GAINS);
      assert(Number(row.amount) >= SETS);
    }
  }
});

function checkNames(row: Row, form: RowForm): void {
  assert.deepEqual(Object.keys(row).sort(), Object.keys(form).sort());
}

test('open interest and live volume are those of the trades', async () => {
  const minted = (market: CatalogMarket): number =>
    traded
      .filter((row) => row.market === market && row.maker.token !== row.taker.token)
      .reduce((sum, { size }) => sum + size, SETS * wallets.length);
  const unknown = `0x${'9'.repeat(62)}`;
  const condition = `${first.conditionId},${unknown},${second.conditionId}`;
  assert.deepEqual(await client.one('oi', { condition }), [
    { value: minted(first), condition_id: first.conditionId },
    { value: minted(second), condition_id: second.conditionId },
  ]);
  assert.deepEqual(await client.one('oi'), [
    { value: minted(first) + minted(second), condition_id: 'GLOBAL' },
  ]);
  const volume = (market: CatalogMarket): number =>
    traded.filter((row) => row.market === market).reduce((sum, { size }) => sum + size, 0);
  const conditions = [first, second]
    .map((market) => ({ taker_volume: volume(market), condition_id: market.conditionId }))
    .sort((a, b) => b.taker_volume - a.taker_volume);
  assert.deepEqual(await client.one('live-volume', { event_id: '1,2' }), {
    taker_volume_total: volume(first) + volume(second),
    conditions,
  });
  assert.deepEqual(await client.one('live-volume', { id: '77' }), {
    taker_volume_total: 0,
    conditions: [],
  });
});

test('prices of a token end with its last price, in pages that are one series', async () => {
  const token_id = first.tokenIds[0]!;
  // A mint is a trade of both outcomes.
  const sides = traded.flatMap(({ maker, taker }) => [taker, maker]);
  const last = sides.findLast(({ token }) => token === token_id);
  assert(last !== undefined);
  const query = { token_id, interval: '1h' };
  const whole = await client.all('prices-history', POINT, query);
  assert.deepEqual(await client.all('prices-history', POINT, { ...query, limit: 1 }), whole);
  assert.deepEqual([whole.at(-1)!.price, whole.at(-1)!.resolution_seconds], [last.price, 60]);
  const times = whole.map(({ timestamp }) => Number(timestamp));
  assert(times.every((time, i) => time % 60 === 0 && time > (times[i - 1] ?? 0)));
  const now = Math.floor(Date.now() / 1_000);
  const [asOf] = await client.all('prices-history', POINT, { token_id, as_of: now + 100 });
  assert.equal(asOf!.price, last.price);
  assert.deepEqual(await client.all('prices-history', POINT, { token_id, as_of: 1_000 }), []);
  const days = { token_id, start: now - 3_600, end: now + 3_600, bucket_seconds: 86_400 };
  for (const { resolution_seconds, timestamp } of await client.all('prices-history', POINT, days)) {
    assert.deepEqual([resolution_seconds, Number(timestamp) % 86_400], [86_400, 0]);
  }
  for (const interval of ['max', 'all', '1m', '1w', '1d', '6h']) {
    const rows = await client.all('prices-history', POINT, { token_id, interval });
    assert.equal(rows.at(-1)!.price, last.price, interval);
  }
  const hex = `0x${BigInt(token_id).toString(16)}`;
  const other = await client.all('prices-history', POINT, { token_id: hex, interval: '1h' });
  assert.deepEqual(other.at(-1), whole.at(-1));
});

test('a resolved market pays, closes its positions and shows the payout', async () => {
  const { conditionId: condition, tokenIds } = second;
  const [before] = await client.one<Row[]>('resolutions', { condition });
  assert.deepEqual([before!.status, before!.payouts], ['posed', undefined]);
  const held = await open(bob, { condition });
  await operator.done('POST /admin/markets/resolve', { condition, payout: [1, 0] });
  await until(async () => (await open(bob, { condition })).length === 0, 60_000);
  const closed = await client.all('positions', POSITION, {
    user: bob,
    status: 'CLOSED',
    limit: 1,
  });
  assert.deepEqual(
    closed.map(({ token_id }) => token_id).sort(),
    held.map(({ token_id }) => token_id).sort(),
  );
  for (const row of closed) {
    assert.deepEqual([row.status, row.current_size, row.unrealized_pnl], ['CLOSED', 0, 0]);
    assert.equal(row.current_price, row.token_id === tokenIds[0] ? 1 : 0);
    const was = held.find(({ token_id }) => token_id === row.token_id)!;
    const paid = row.token_id === tokenIds[0] ? Number(was.current_size) : 0;
    const gain = Number(was.realized_pnl) + paid - Number(was.entry_cost_usdc);
    assert(Math.abs(Number(row.realized_pnl) - gain) < 2e-6);
  }
  const [resolution] = await client.one<Row[]>('resolutions', { event_id: '2' });
  assert.deepEqual(
    [resolution!.condition_id, resolution!.status, resolution!.payouts, resolution!.log_index],
    [condition, 'resolved', [1_000_000, 0], ''],
  );
  const [payout] = await client.all('activity', ACTIVITY, { user: bob, limit: 1, type: 'REDEEM' });
  assert.equal(payout!.usdc_size, sharesOf(bob, tokenIds[0]!));
  const query = { token_id: tokenIds[0]!, interval: '1h', limit: 1 };
  const points = await client.all('prices-history', POINT, query);
  assert.deepEqual([points.at(-1)!.price, points.at(-1)!.resolution_seconds], [1, 0]);
  assert.equal(points.filter(({ resolution_seconds }) => resolution_seconds === 0).length, 1);
});

test('approvals count as given, and the state of the node is told', async () => {
  const { address, chain_id, contracts } = await client.one<Row>('approvals', { user: alice });
  assert.deepEqual([address, chain_id], [alice, 137]);
  const rows = contracts as readonly Row[];
  const pairs = rows.map(({ spender, token }) => `${token} ${spender}`);
  assert.equal(new Set(pairs).size, pairs.length, 'one row for each token and spender');
  for (const { amount, approved, standard } of rows) {
    assert.deepEqual([approved, amount], [true, standard === 'ERC20' ? 'max' : undefined]);
  }
  const status = await client.one<Row>('status');
  assert.match(String(status.computed_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('programs that the node does not run are empty lists', async () => {
  for (const path of ['activity/combos', 'positions/combos']) {
    assert.deepEqual(await client.all(path, {}, { user: alice }), []);
  }
  assert.deepEqual(await client.all('builders/leaderboard', {}, { time_period: 'week' }), []);
  assert.deepEqual(await client.one('builders/volume', { timePeriod: 'all' }), []);
});

test('unknown ids find nothing', async () => {
  const user = `0x${'7'.repeat(40)}`;
  const condition = `0x${'7'.repeat(64)}`;
  const lists: readonly (readonly [string, RowForm, object])[] = [
    ['trades', TRADE, { user }],
    ['trades', TRADE, { condition }],
    ['activity', ACTIVITY, { user }],
    ['positions', POSITION, { user }],
    ['positions', POSITION, { condition }],
    ['holders', HOLDERS, { condition }],
    ['prices-history', POINT, { token_id: '7', interval: 'max' }],
  ];
  for (const [path, form, query] of lists) {
    assert.deepEqual(await client.all(path, form, query as never), [], path);
  }
  assert.deepEqual(await client.one('value', { user }), { value: 0, proxy_wallet: user });
  assert.deepEqual(await client.one('resolutions', { condition }), []);
  assert.deepEqual(await client.one('oi', { condition }), []);
});

const user = alice;
const many = Array.from({ length: 21 }, (_, i) => i + 1).join(',');
const REFUSED: readonly (readonly [string, object, string])[] = [
  ['trades', { offset: 0 }, 'offset'],
  ['trades', { limit: 1_001 }, 'limit'],
  ['trades', { limit: 0 }, 'limit'],
  ['trades', { limit: '1e2' }, 'limit'],
  ['trades', { user: '0x12' }, 'user'],
  ['trades', { side: 'buy' }, 'side'],
  ['trades', { condition: '0x12' }, 'condition'],
  ['trades', { conditionId: `0x${'z'.repeat(64)}` }, 'conditionId'],
  ['trades', { event_id: 'x' }, 'event_id'],
  ['trades', { event_id: many }, 'event_id'],
  ['trades', { filter_type: 'SHARES' }, 'filter_type'],
  ['trades', { filter_amount: -1 }, 'filter_amount'],
  ['trades', { takerOnly: 'maybe' }, 'takerOnly'],
  ['trades', { start: 'yesterday' }, 'start'],
  ['trades', { cursor: 'x' }, 'cursor'],
  ['trades', { cursor: Buffer.from('[]').toString('base64url') }, 'cursor'],
  ['activity', {}, 'user'],
  ['activity', { user, type: 'GIFT' }, 'type'],
  ['activity', { user, sort_by: 'CASH' }, 'sort_by'],
  ['activity', { user, event_id: 1, condition: first.conditionId }, 'event_id'],
  ['positions', {}, 'user'],
  ['positions', { condition: `${first.conditionId},${second.conditionId}` }, 'condition'],
  ['positions', { user, status: 'WON' }, 'status'],
  ['positions', { user, sort_by: 'TITLE' }, 'sort_by'],
  ['positions', { user, status: 'CLOSED', include_archived: true }, 'include_archived'],
  ['positions', { condition: first.conditionId, status: 'REDEEMABLE_LOST' }, 'user'],
  ['positions', { user, title: 'x'.repeat(201) }, 'title'],
  ['value', {}, 'user'],
  ['holders', {}, 'condition'],
  ['holders', { condition: first.conditionId, include_pnl: true, limit: 101 }, 'limit'],
  ['live-volume', {}, 'event_id'],
  ['prices-history', { interval: '1d' }, 'token_id'],
  ['prices-history', { token_id: 'x', interval: '1d' }, 'token_id'],
  ['prices-history', { token_id: '1' }, 'start'],
  ['prices-history', { token_id: '1', interval: '2d' }, 'interval'],
  ['prices-history', { token_id: '1', interval: '1d', start: 5 }, 'start'],
  ['prices-history', { token_id: '1', end: 5 }, 'end'],
  ['prices-history', { token_id: '1', start: 0 }, 'start'],
  ['prices-history', { token_id: '1', start: 5, end: 5 }, 'end'],
  ['prices-history', { token_id: '1', start: 5, end: 2_000_000 }, 'end'],
  ['prices-history', { token_id: '1', interval: '1d', bucket_seconds: 59 }, 'bucket_seconds'],
  ['resolutions', {}, 'condition'],
  ['resolutions', { condition: first.conditionId, event_id: 1 }, 'condition'],
  ['resolutions', { question_id: '0x1' }, 'question_id'],
  ['approvals', { user: '0x1' }, 'user'],
  ['builders/leaderboard', { time_period: 'year' }, 'time_period'],
  ['builders/volume', { limit: 91 }, 'limit'],
  ['positions/combos', {}, 'user'],
];

test('a bad request is refused with a code, a trace and the parameter, as it was sent', async () => {
  for (const [path, query, parameter] of REFUSED) {
    const { headers, json, status, text } = await client.ask(path, query as never);
    const { code, error, parameter: named, retryable, trace_id, ...rest } = json as Row;
    assert.deepEqual([status, code, retryable], [400, 'invalid_request', false], `${path} ${text}`);
    assert.equal(named, parameter, `${path} ${JSON.stringify(query)} ${text}`);
    assert.deepEqual(rest, {});
    assert.equal(typeof error, 'string');
    assert.equal(headers['x-trace-id'], trace_id);
  }
});

test('a cursor keeps limit, order and status, and refuses what contradicts them', async () => {
  const query = { user: alice, sort_by: 'TOKENS', sort_direction: 'ASC', filter_amount: 0 };
  const { pagination } = await client.page('positions', POSITION, { ...query, limit: 1 });
  const cursor = pagination.next_cursor!;
  const same = await client.page('positions', POSITION, { user: alice, filter_amount: 0, cursor });
  const again = await client.page('positions', POSITION, { ...query, limit: 50, cursor });
  assert.deepEqual(same, again);
  assert.equal(same.pagination.limit, 1);
  const contradictions = [
    { sort_by: 'PRICE' },
    { sort_direction: 'DESC' },
    { status: 'MERGEABLE' },
  ];
  for (const change of contradictions) {
    const { json, status } = await client.ask('positions', { user: alice, cursor, ...change });
    assert.deepEqual([status, (json as Row).parameter], [400, Object.keys(change)[0]]);
  }
  const other = await client.ask('trades', { cursor });
  assert.equal(other.status, 400, 'a cursor of another route');
});

test('the server answers its own refusals below /v2 in the same form', async () => {
  const { port } = node;
  const posted = await fetch(`http://127.0.0.1:${port}/v2/trades`, { method: 'POST' });
  const body = (await posted.json()) as Row;
  assert.deepEqual([posted.status, body.code], [405, 'method_not_allowed']);
  assert.equal(posted.headers.get('x-trace-id'), body.trace_id);
  for (const path of ['/v2/nothing', '/data/v2/nothing', '/v2/builders/nothing']) {
    const missing = await fetch(`http://127.0.0.1:${port}${path}`);
    const { code, trace_id } = (await missing.json()) as Row;
    assert.deepEqual([missing.status, code], [404, 'not_found'], path);
    assert.equal(missing.headers.get('x-trace-id'), trace_id);
  }
  const headers = { 'X-Min-Sequence': 'x' };
  const behind = await fetch(`http://127.0.0.1:${port}/data/v2/trades`, { headers });
  assert.deepEqual([behind.status, ((await behind.json()) as Row).code], [400, 'invalid_request']);
  const unknown = await client.ask('trades', { limit: 1, colour: 'red' });
  assert.equal(unknown.headers['x-ignored-parameters'], 'colour');
});

test('comments are empty, and a wallet that traded has a public profile', async () => {
  const read = async (path: string): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`http://127.0.0.1:${node.port}${path}`);
    return [answer.status, await answer.json()];
  };
  const parent = 'parent_entity_type=Event&parent_entity_id=1';
  assert.deepEqual(await read(`/comments?${parent}&limit=20&offset=0`), [200, []]);
  assert.deepEqual(await read(`/gamma/comments/keyset?${parent}`), [200, { comments: [] }]);
  assert.deepEqual(await read('/comments/5'), [200, []]);
  assert.deepEqual(await read(`/comments/user_address/${alice}`), [200, []]);
  const [broken, refusal] = await read(`/comments/user_address/${alice}%`);
  assert.deepEqual([broken, (refusal as Row).type], [400, 'bad request']);
  const [status, profile] = await read(`/public-profile?address=${alice}`);
  assert.deepEqual([status, (profile as Row).proxyWallet], [200, wallets[0]!.address]);
  assert.equal((await read(`/public-profile?address=0x${'7'.repeat(40)}`))[0], 404);
  assert.equal((await read('/public-profile'))[0], 400);
  assert.equal((await read(`/v2/live-volume?event_id=${third.id}`))[0], 200);
});
