/**
 * The data API by own fills, over more fills than the ring contains: positions of a wallet in every
 * order and page, top holders, activity. No HTTP, no threads.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OrderType } from '../../engine/commands.ts';
import { MARKET_I, Market, State, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import { checksumAddress } from '../../server/auth/checksum.ts';
import { Profiles } from '../../server/auth/profiles.ts';
import { refusalCode } from '../../server/common/error-bodies.ts';
import { handlersOf } from '../../server/http/route.ts';
import { TradesIndex } from '../../server/market-data/trades-index.ts';
import { TradesRenderer } from '../../server/market-data/trades-render.ts';
import { Best } from '../../server/wallet/best.ts';
import { averagePrice, microsText } from '../../server/wallet/money.ts';
import { PORTFOLIO_ROUTES, PortfolioReads } from '../../server/wallet/portfolio-routes.ts';
import { openTable } from '../../storage/kv/lmdb.ts';
import {
  PositionsReader,
  ResultsReader,
  StatementsReader,
} from '../../storage/projection/reader.ts';
import { freshSeed, Random } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { HistoryStage } from '../market-data/history-stage.ts';
import { walletWords, wordsHex } from '../market-data/read-fixture.ts';

const SHARE = 1_000_000;
const RING = 50;
const seed = freshSeed();
const random = new Random(seed);
process.once('exit', (code) => {
  if (code !== 0) console.error(`replay with: SEED=${seed} npm test`);
});

type Row = Readonly<Record<string, unknown>>;
type Route = (typeof PORTFOLIO_ROUTES)[number]['key'];

const stage = new HistoryStage();
const { t } = stage.fixture;
const lone = stage.fixture.market(2, 100, true, {
  question: 'Will it rain?',
  slug: 'rain',
  icon: '/rain.png',
  eventSlug: 'weather',
  outcomes: ['Yes', 'No'],
  endDate: '2027-01-01T00:00:00Z',
});
const { projections } = stage;
const reader = new PositionsReader(projections);
const index = new TradesIndex(t);
const infos = (market: number) => stage.fixture.infos[market];
const service = await stage.open();
const reads = new PortfolioReads({
  tables: t,
  texts: stage.fixture.texts,
  infos,
  positions: reader,
  statements: new StatementsReader(projections),
  results: new ResultsReader(projections),
  profiles: new Profiles(() => Promise.resolve()),
  now: () => stage.fixture.time,
  history: service,
  index,
  trades: new TradesRenderer(index, stage.fixture.texts),
  allowlist: { entries: [], allows: () => true },
  isTolerant: false,
  eventMarkets: async (id) => (id === '7' ? [1, 2].map((market) => condition(market)) : []),
});
const handlers = handlersOf(PORTFOLIO_ROUTES, reads);
/** Trades of two wallets in a market of their own, then of seven in the others. */
const { fixture } = stage;
fixture.order({ token: lone, wallet: 21, ticks: 40, shares: 10 * SHARE });
fixture.order({ token: lone + 1, wallet: 22, ticks: 60, shares: 10 * SHARE, type: OrderType.FAK });
fixture.order({ token: lone, wallet: 22, ticks: 50, shares: 4 * SHARE });
fixture.order({ token: lone, wallet: 21, sell: true, ticks: 50, shares: 4 * SHARE });
await stage.record();
derive();
await stage.trade(random, 1_500);
derive();

function derive(): void {
  const end = stage.fills;
  stage.project();
  index.append(index.end, end);
  service.append(end);
}

function condition(market: number): string {
  return wordsHex(t.marketI.slice(market << MARKET_I, (market << MARKET_I) + 8));
}

const user = (n: number): string => wordsHex(walletWords(n));

async function ask(route: Route, query: string, status = 200): Promise<unknown> {
  let answer: { readonly status: number; readonly text: string } | undefined;
  const reply = (code: number, body: string | Uint8Array): void => {
    answer = { status: code, text: Buffer.from(body as string).toString() };
  };
  const exchange = { query, address: '', aborted: false, reply };
  await handlers[route].run(exchange as unknown as Parameters<(typeof handlers)[Route]['run']>[0]);
  assert(answer !== undefined);
  assert.equal(answer.status, status, answer.text);
  return JSON.parse(answer.text);
}

const rows = (route: Route, query: string) => ask(route, query) as Promise<Row[]>;

test('a position shows bought and sold shares, and their cost', async () => {
  const name = checksumAddress(Buffer.from(user(21).slice(2), 'hex'));
  // 21 made a pair with 22, then sold 4 of its 10 to it at 0.5 as the taker: the fee is 1 % of 2.
  const [position, ...others] = await rows(
    'GET /positions',
    `user=${user(21).toUpperCase().replace('0X', '0x')}`,
  );
  assert.deepEqual(others, []);
  const market = t.tokenI[(lone << TOKEN_I) + Token.market]!;
  assert.deepEqual(position, {
    proxyWallet: name,
    asset: `${condition(market)}:0`,
    token_id: stage.fixture.texts.tokenId(lone),
    conditionId: condition(market),
    size: 6,
    avgPrice: 0.4,
    initialValue: 2.4,
    currentValue: 3,
    cashPnl: 0.6,
    percentPnl: 25,
    totalBought: 10,
    realizedPnl: 0.38,
    percentRealizedPnl: 9.5,
    curPrice: 0.5,
    redeemable: false,
    mergeable: false,
    timestamp: Math.floor(reader.ofWallet(1, 0, 1)[0]!.time / 1_000),
    title: 'Will it rain?',
    slug: 'rain',
    icon: '/rain.png',
    eventSlug: 'weather',
    outcome: 'Yes',
    outcomeIndex: 0,
    oppositeOutcome: 'No',
    oppositeAsset: `${condition(market)}:1`,
    endDate: '2027-01-01T00:00:00Z',
    negativeRisk: true,
  });
  const both = await rows('GET /positions', `user=${user(22)}&sortBy=TOKENS&sortDirection=ASC`);
  assert.deepEqual(
    both.map(({ mergeable, outcome, size }) => [outcome, size, mergeable]),
    [
      ['Yes', 4, true],
      ['No', 9.933334, true],
    ],
  );
  assert.deepEqual(await rows('GET /positions', `user=${user(22)}&mergeable=false`), []);
  assert.equal((await rows('GET /positions', `user=${user(22)}&title=RAIN`)).length, 2);
  assert.deepEqual(await rows('GET /positions', `user=${user(22)}&title=snow`), []);
  assert.deepEqual(await rows('GET /positions', `user=${user(22)}&redeemable=true`), []);
  assert.equal((await rows('GET /positions', `user=${user(22)}&sizeThreshold=5`)).length, 1);
  const value = await ask('GET /value', `user=${user(22)}`);
  assert.deepEqual(value, [{ user: user(22), value: 7.96 }]);
  assert.deepEqual(await ask('GET /oi', `market=${condition(market)}`), [
    { market: condition(market), value: 10 },
  ]);
});

test('positions of all fills add up, in every order and page', async () => {
  assert(stage.fills > t.capacities.trades / 10 && stage.fills > 4 * RING, `${stage.fills} fills`);
  const keys = {
    CURRENT: 'currentValue',
    INITIAL: 'initialValue',
    TOKENS: 'size',
    CASHPNL: 'cashPnl',
    PERCENTPNL: 'percentPnl',
    TITLE: 'title',
    RESOLVING: 'endDate',
    PRICE: 'curPrice',
    AVGPRICE: 'avgPrice',
  };
  let total = 0;
  for (let wallet = 1; wallet <= 5; wallet++) {
    const who = `user=${user(wallet)}&sizeThreshold=0`;
    const all = await rows('GET /positions', who);
    const positions = reader.ofWallet(account(wallet), 0, 1_000);
    assert.deepEqual(
      all.map(({ size }) => size).sort(),
      positions.flatMap(({ net }) => (net === 0n ? [] : [Number(microsText(net))])).sort(),
    );
    const traded = new Set(
      positions.map(({ token }) => t.tokenI[(token << TOKEN_I) + Token.market]),
    );
    const answer = await ask('GET /traded', `user=${user(wallet)}`);
    assert.deepEqual(answer, { user: user(wallet), traded: traded.size });
    for (const [sortBy, member] of Object.entries(keys)) {
      for (const sortDirection of ['ASC', 'DESC']) {
        const query = `${who}&sortBy=${sortBy}&sortDirection=${sortDirection}`;
        const sorted = await rows('GET /positions', query);
        const values = sorted.map((row) => row[member] as number);
        const sign = sortDirection === 'ASC' ? 1 : -1;
        for (let i = 1; i < values.length; i++) {
          assert(sign * (values[i]! - values[i - 1]!) >= 0 || values[i] === values[i - 1], query);
        }
        const offset = random.below(3);
        const page = await rows('GET /positions', `${query}&limit=2&offset=${offset}`);
        assert.deepEqual(page, sorted.slice(offset, offset + 2));
      }
    }
    const market = random.between(1, 3);
    assert.deepEqual(
      await rows('GET /positions', `${who}&market=${condition(market)},0x7`),
      all.filter(({ conditionId }) => conditionId === condition(market)),
    );
    assert.deepEqual(
      await rows('GET /positions', `${who}&eventId=7&market=${condition(2)},${condition(3)}`),
      all.filter(({ conditionId }) => conditionId === condition(2)),
    );
    const [{ value }] = (await rows('GET /value', `user=${user(wallet)}`)) as [{ value: number }];
    const sum = all.reduce((worth, row) => worth + (row.currentValue as number), 0);
    assert(Math.abs(value - sum) < 1e-6);
    total += all.length;
  }
  assert(total > 10);
  assert.deepEqual(await rows('GET /positions', `user=${user(99)}`), []);
});

test('a closed position is listed among closed ones, with its profit', async () => {
  const [buyer, seller] = [31, 32];
  const yes = stage.tokens[0]!;
  const price = Math.round(t.tokenI[(yes << TOKEN_I) + Token.lastPrice]! / 100);
  stage.fixture.changeMarket(1, 1_000, 10_000);
  const grid = 10;
  for (const [wallet, sell, ticks] of [
    [seller, true, price * grid + 1],
    [buyer, false, price * grid + 1],
    [seller, false, price * grid + 2],
    [buyer, true, price * grid + 2],
  ] as const) {
    stage.fixture.order({ token: yes, wallet, sell, ticks, shares: SHARE });
  }
  await stage.record();
  derive();
  const closed = await rows('GET /closed-positions', `user=${user(buyer)}`);
  const open = await rows('GET /positions', `user=${user(buyer)}&sizeThreshold=0`);
  assert.equal(closed.length + open.length, 1);
  for (const row of closed) {
    assert.deepEqual([row.size, row.initialValue, row.cashPnl], [0, 0, 0]);
    assert.equal(typeof row.realizedPnl, 'number');
  }
});

test('holders are listed largest first, and open interest is the minted size', async () => {
  for (let market = 1; market <= t.state[State.markets]!; market++) {
    const first = t.marketI[(market << MARKET_I) + Market.firstToken]!;
    const count = t.marketI[(market << MARKET_I) + Market.tokenCount]!;
    const query = `market=${condition(market)}&limit=3&minBalance=0`;
    const lists = await rows('GET /holders', query);
    assert.equal(lists.length, count);
    for (const [outcome, list] of lists.entries()) {
      const token = first + outcome;
      const nets = Array.from({ length: t.state[State.accounts]! }, (_, i) =>
        reader.of(i + 1, token),
      ).flatMap((row) => (row !== undefined && row.net > 0n ? [row.net] : []));
      nets.sort((a, b) => Number(b - a));
      const amounts = (list.holders as readonly Row[]).map((holder) => holder.amount);
      assert.deepEqual(
        amounts,
        nets.slice(0, 3).map((net) => Number(microsText(net))),
      );
      assert.equal(
        list.token,
        stage.fixture.texts.known.ids[stage.fixture.texts.known.of(token as never)],
      );
    }
  }
  const [all] = (await rows('GET /oi', '')) as [Row];
  const each = await rows(
    'GET /oi',
    [1, 2, 3, 4].map((market) => `market=${condition(market)}`).join('&'),
  );
  const sum = each.reduce((total, row) => total + (row.value as number), 0);
  assert.equal(all.market, 'GLOBAL');
  assert(Math.abs((all.value as number) - sum) < 1e-6);
  const [volume] = (await rows('GET /live-volume', 'id=7')) as [Row];
  assert.deepEqual(
    (volume.markets as readonly Row[]).map(({ market }) => market),
    [condition(1), condition(2)],
  );
  assert.deepEqual(await rows('GET /live-volume', 'id=8'), []);
});

test('activity is the rows of a wallet, by time, size or money', async () => {
  const who = `user=${user(2)}`;
  const all = await rows('GET /activity', `${who}&limit=500`);
  assert(all.length > 100 && all.every(({ type }) => type === 'TRADE'));
  const seconds = all.map(({ timestamp }) => timestamp as number);
  assert.deepEqual(
    seconds,
    seconds.toSorted((a, b) => b - a),
  );
  assert.deepEqual(await rows('GET /activity', `${who}&limit=5&offset=7`), all.slice(7, 12));
  if (all.length < 500) {
    const oldest = await rows('GET /activity', `${who}&limit=500&sortDirection=ASC`);
    assert.deepEqual(oldest, all.toReversed());
  }
  const [start, end] = [seconds[40]!, seconds[10]!];
  assert.deepEqual(
    await rows('GET /activity', `${who}&start=${start}&end=${end}&side=BUY&limit=500`),
    all.filter(({ side, timestamp }) => {
      return side === 'BUY' && (timestamp as number) >= start && (timestamp as number) <= end;
    }),
  );
  for (const [sortBy, member] of [
    ['TOKENS', 'size'],
    ['CASH', 'usdcSize'],
  ] as const) {
    const sorted = await rows('GET /activity', `${who}&sortBy=${sortBy}&limit=20`);
    const values = sorted.map((row) => row[member] as number);
    assert.deepEqual(
      values,
      values.toSorted((a, b) => b - a),
    );
    assert(values[0]! >= Math.max(...all.map((row) => row[member] as number)));
  }
  assert.deepEqual(await rows('GET /activity', `${who}&type=REDEEM,SPLIT`), []);
  assert.equal((await rows('GET /activity', `${who}&type=TRADE&limit=1`)).length, 1);
});

test('a bad query is named, and incomplete positions are not shown', async () => {
  const refused: readonly (readonly [Route, string, string])[] = [
    ['GET /positions', '', 'invalid_field: user'],
    ['GET /positions', 'user=0x12', 'invalid_field: user'],
    ['GET /positions', `user=${user(1)}&limit=501`, 'invalid_field: limit'],
    ['GET /positions', `user=${user(1)}&sortBy=tokens`, 'invalid_field: sortBy'],
    ['GET /closed-positions', `user=${user(1)}&foo=1`, 'unknown_field: foo'],
    ['GET /activity', `user=${user(1)}&start=x`, 'invalid_field: start'],
    ['GET /holders', 'limit=5', 'invalid_field: market'],
    ['GET /live-volume', '', 'invalid_field: id'],
    ['GET /value', `user=${user(1)}&user=${user(1)}`, 'invalid_field: user'],
  ];
  for (const [route, query, error] of refused) {
    assert.deepEqual(
      plainRefusal(await ask(route, query, 400)),
      { error, code: refusalCode(error) },
      `${route}?${query}`,
    );
  }
  await openTable(projections.root, 'meta').remove(Buffer.from('position'));
  const { error } = (await ask('GET /positions', `user=${user(21)}`, 503)) as Row;
  assert.equal(error, 'positions are being derived');
  derive();
  assert.equal((await rows('GET /positions', `user=${user(21)}`)).length, 1);
});

test('positions that are rejected while a long answer reads them are not shown in part', async () => {
  const markets = [1, 2, 3].map(condition).join(',');
  const answer = ask('GET /holders', `market=${markets}&minBalance=0`, 503);
  // It has read of one token, and gives others a turn.
  projections.empty(false);
  assert.equal(((await answer) as Row).error, 'positions are being derived');
  derive();
  assert.equal((await rows('GET /holders', `market=${markets}&minBalance=0`)).length, 7);
});

test('quotients are rounded to the nearest', () => {
  const average = (cost: bigint, net: bigint): bigint =>
    averagePrice({ bought: 0n, cost, fees: 0n, net, realised: 0n, spent: 5n, time: 0, opened: 0 });
  assert.deepEqual(
    [average(1n, 3n), average(-2n, 3n), average(1n, -2n), average(9n, 0n)],
    [333_333n, -666_667n, -500_000n, 0n],
  );
  assert.deepEqual([-1_500_000n, 0n, 2n ** 80n].map(microsText), [
    '-1.5',
    '0',
    '1208925819614629174.706176',
  ]);
});

test('the first rows of a stream are in order, equal ones as they came, at any offset of the page', () => {
  for (const [length, count] of [
    [0, 3],
    [5, 0],
    [5, 10],
    [2_000, 40],
  ] as const) {
    const items = Array.from({ length }, (_, place) => ({ key: random.below(500), place }));
    for (const sign of [1, -1]) {
      const selected = new Set(items.toSorted((a, b) => sign * (a.key - b.key)).slice(0, count));
      for (const offset of [0, 4, count]) {
        const best = new Best<(typeof items)[number]>(count, sign === -1);
        const dropped = new Set(items.flatMap((item) => best.add(item, item.key) ?? []));
        assert.deepEqual(dropped, new Set(items.filter((item) => !selected.has(item))));
        assert.deepEqual(best.from(offset), [...selected].slice(offset));
      }
    }
  }
});

test('all services are closed', async () => {
  service.close();
  await stage.close();
});

function account(wallet: number): number {
  const words = walletWords(wallet);
  for (let slot = 1; slot <= t.state[State.accounts]!; slot++) {
    if (words.every((word, w) => t.accountI[(slot << 3) + w] === word)) return slot;
  }
  return 0;
}
