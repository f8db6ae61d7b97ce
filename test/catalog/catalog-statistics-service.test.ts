/**
 * Sources of live statistics: books of a random exchange, compared with a plain sum over the same
 * books, and volumes. A served catalog follows them.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { foundMarkets } from '../../engine/markets/markets.ts';
import { BOOK_I, Book, MARKET_I, Market, State } from '../../engine/tables/layout.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { prepareCatalog } from '../../server/catalog/build.ts';
import { CatalogStatistics } from '../../server/catalog/market-statistics.ts';
import { BookStatistics, BUSY } from '../../server/catalog/read-statistics.ts';
import { StatisticsService } from '../../server/catalog/statistics-service.ts';
import { until } from '../common/node-harness.ts';
import { rounds, withSeed } from '../common/random.ts';
import { EngineDriver, idWords } from '../engine/engine-driver.ts';
import type { BookView } from '../engine/naive-types.ts';
import { MARKETS, Stream } from '../engine/stream.ts';
import { readWhole } from './catalog-odd.ts';
import { event, market } from './catalog-samples.ts';
import {
  type NaiveStatistics,
  showEventStatistics,
  showMarketStatistics,
} from './naive-statistics.ts';

const UNIT = 1_000_000;
const MICRO_PER_PIP = 100;

const FIRST_TOKENS = MARKETS.map((_, i) =>
  MARKETS.slice(0, i).reduce((token, [outcomes]) => token + outcomes, 1),
);

/** Prices and liquidity of a market from the books of its tokens, by plain sums. */
function statisticsOf(driver: EngineDriver, slot: number): NaiveStatistics {
  const [outcomes] = MARKETS[slot - 1]!;
  const first = FIRST_TOKENS[slot - 1]!;
  const books = Array.from({ length: outcomes }, (_, i) => driver.book(first + i));
  const isPair = outcomes === 2;
  const own = (isPair ? books.slice(0, 1) : books).map((book, i) =>
    bookStatistics(book, isPair ? books[1 - i] : undefined),
  );
  const prices = own.map(({ price }) => price);
  if (isPair) prices.push(UNIT - prices[0]!);
  const resting = own.reduce((sum, { liquidity }) => sum + liquidity, 0n);
  const [{ bid, ask, last }] = own as [ReturnType<typeof bookStatistics>];
  const most = 2n ** 53n - 1n;
  const liquidity = Number(resting > most ? most : resting);
  const volumes = { volume: 0, volumeDay: 0 };
  return { ...volumes, liquidity, bestBid: bid, bestAsk: ask, lastTrade: last, prices };
}

function bookStatistics({ asks, bids, lastPrice }: BookView, other: BookView | undefined) {
  const bid = (bids.at(-1)?.[0] ?? 0) * MICRO_PER_PIP;
  const ask = (asks.at(-1)?.[0] ?? 10_000) * MICRO_PER_PIP;
  const ofOther = other === undefined || other.lastPrice === 0 ? 0 : 10_000 - other.lastPrice;
  const last = (lastPrice || ofOther) * MICRO_PER_PIP;
  const hasBoth = bids.length > 0 && asks.length > 0;
  const price = hasBoth || last === 0 ? (bid + ask) / 2 : last;
  const levels = [...bids, ...asks].map(([pips, size]) => (BigInt(size) * BigInt(pips)) / 10_000n);
  return { bid, ask, last, price, liquidity: levels.reduce((sum, value) => sum + value, 0n) };
}

test('prices and liquidity of every market follow its books', () => {
  withSeed((random) => {
    const driver = new EngineDriver();
    const stream = new Stream(random);
    const reader = new BookStatistics(driver.t);
    const seen = new Map<string, string>();
    for (let i = 0; i < rounds(1_500); i++) {
      driver.run(stream.next());
      if (i > MARKETS.length && i % 10 > 0) continue;
      driver.settle();
      for (let slot = 1; slot <= driver.t.state[State.markets]!; slot++) {
        const [outcomes] = MARKETS[slot - 1]!;
        const version = reader.read(slot as MarketRow, outcomes);
        const expected = statisticsOf(driver, slot);
        assert.deepEqual(reader.statistics, expected, `market ${slot}`);
        assert.equal(version, reader.versionOf(slot as MarketRow));
        const text = JSON.stringify(expected);
        assert.equal(seen.get(`${slot} ${version}`) ?? text, text, 'no change without a version');
        seen.set(`${slot} ${version}`, text);
      }
    }
    assert(seen.size > 2 * MARKETS.length);
  });
});

test('outcomes without a book count as unknown, and those of a book are bounded', () => {
  const { driver, reader } = exchange();
  const three = 4 as MarketRow;
  reader.read(three, 5);
  assert.deepEqual(
    reader.statistics.prices,
    [0.5, 0.5, 0.5, 0.5, 0.5].map((price) => price * UNIT),
  );
  reader.read(three, 1);
  assert.deepEqual(reader.statistics.prices, [UNIT / 2]);
  driver.close();
});

test('a market with a writer inside one of its books is not read', () => {
  const { driver, reader } = exchange();
  const { t } = driver;
  const three = 4 as MarketRow;
  const lastBook = t.marketI[(three << MARKET_I) + Market.firstBook]! + 2;
  const before = reader.read(three, 3);
  t.bookI[(lastBook << BOOK_I) + Book.version]! += 1;
  assert.deepEqual([reader.read(three, 3), reader.versionOf(three)], [BUSY, BUSY]);
  t.bookI[(lastBook << BOOK_I) + Book.version]! += 1;
  const after = reader.read(three, 3);
  assert(after !== BUSY && after !== before);
});

function exchange() {
  const driver = new EngineDriver();
  driver.run({ kind: 'at', time: 1_000_000 });
  for (const [i, [outcomes, partial]] of MARKETS.entries()) {
    const terms = { grid: 100, baseFeeBps: 0, minSize: 0n, negRisk: false, ...partial };
    const command = { kind: 'market', condition: i + 1, outcomes, tradable: true } as const;
    driver.run({ ...command, ...terms, ended: false });
  }
  driver.settle();
  return { driver, reader: new BookStatistics(driver.t) };
}

function conditionText(n: number): string {
  const words = [...idWords(n)].map((word) => (word >>> 0).toString(16).padStart(8, '0'));
  return `0x${words.join('')}`;
}

function followed(context: TestContext) {
  const { driver } = exchange();
  const volumes = { total: new Map<number, number>(), day: new Map<number, number>() };
  let now = 0;
  const service = new StatisticsService({
    tables: driver.t,
    volumes: {
      totalOf: (marketRow) => volumes.total.get(marketRow) ?? 0,
      dayOf: (marketRow, at) => (at < 86_400_000 ? (volumes.day.get(marketRow) ?? 0) : 0),
    },
    now: () => now,
  });
  context.after(() => service.close());
  const markets = Array.from({ length: 8 }, (_, i) => {
    const outcomes = (MARKETS[i]?.[0] ?? 2) as number;
    const labels = Array.from({ length: outcomes }, (_, label) => `outcome ${label}`);
    return market(i + 1, {
      conditionId: conditionText(i + 1)
        .toUpperCase()
        .replace('X', 'x'),
      outcomes: labels,
    });
  });
  const events = [0, 1, 2, 3].map((i) =>
    event(i + 1, { markets: markets.slice(2 * i, 2 * i + 2) }),
  );
  const load = () => {
    const prepared = prepareCatalog(readWhole({ events }));
    return { prepared, statistics: new CatalogStatistics(prepared) };
  };
  const setTime = (ms: number): void => {
    now = ms;
  };
  return { driver, service, volumes, load, setTime };
}

type Target = ReturnType<ReturnType<typeof followed>['load']>;

function shown({ prepared }: Target, kind: 'markets' | 'events', row: number, names: object) {
  const { coreStart, coreEnd } = prepared[kind];
  const text = Buffer.from(prepared.bytes).toString('utf8', coreStart[row]!, coreEnd[row]!);
  const object = JSON.parse(`${text}}`);
  return Object.fromEntries(Object.keys(names).map((name) => [name, object[name]]));
}

function assertShown(target: Target, row: number, expected: NaiveStatistics): void {
  const wanted = showMarketStatistics(expected.prices.length, expected);
  assert.deepEqual(shown(target, 'markets', row, wanted), wanted, `market ${row}`);
}

test('a catalog shows books and volumes from its first use, and their changes soon after', async (t) => {
  const { driver, service, volumes, load, setTime } = followed(t);
  const order = { kind: 'order', type: 'GTC', postOnly: false, expiration: 0 } as const;
  const more = { feeRateBps: 1_000, signatureType: 0, faults: [] } as const;
  const rest = (id: number, side: 'BUY' | 'SELL', shares: bigint, collateral: bigint): void => {
    const who = { maker: 1, signer: 1 };
    driver.run({ ...order, ...more, ...who, id, token: 1, side, shares, collateral });
    driver.settle();
  };
  rest(1, 'BUY', 10_000_000n, 4_000_000n);
  volumes.total.set(1, 12_500_000).set(2, 3_000_000).set(3, 1);
  volumes.day.set(1, 2_500_000).set(2, 3_000_000);
  const target = load();
  await service.follow(target);
  const sums = { volumeDay: 2_500_000, volume: 12_500_000 };
  const first = { ...statisticsOf(driver, 1), ...sums };
  assert.equal(first.liquidity, 4_000_000);
  assert.equal(first.prices[0], 700_000, 'between the bid and the bound of the empty side');
  assertShown(target, 0, first);
  const second = { ...statisticsOf(driver, 2), volume: 3_000_000, volumeDay: 3_000_000 };
  assertShown(target, 1, second);
  const unknown = showMarketStatistics(2);
  assert.deepEqual(shown(target, 'markets', 7, unknown), unknown, 'one that is not registered');
  const ofEvent = showEventStatistics([first, second]);
  assert.deepEqual(shown(target, 'events', 0, ofEvent), ofEvent);
  assert.deepEqual(
    [...target.statistics.column('markets', 'volume').order().rows].slice(-3),
    [2, 1, 0],
  );

  const { etag } = target.statistics;
  rest(2, 'SELL', 10_000_000n, 6_000_000n);
  volumes.total.set(6, 99_000_000);
  // Markets follow one another, with pauses.
  const valuesOf = (name: string) => target.statistics.column('markets', name).values;
  await until(() => valuesOf('liquidity')[0] !== 4_000_000 && valuesOf('volume')[5] === 99_000_000);
  assert.notEqual(target.statistics.etag, etag);
  assertShown(target, 0, { ...statisticsOf(driver, 1), ...sums });
  assertShown(target, 5, { ...statisticsOf(driver, 6), volume: 99_000_000 });
  assert.deepEqual(
    [...target.statistics.column('markets', 'volume').order().rows].slice(-2),
    [0, 5],
  );

  setTime(86_400_000);
  await until(() => {
    const day = valuesOf('volume24hr');
    return day[0] === 0 && day[1] === 0;
  });
  assertShown(target, 0, { ...statisticsOf(driver, 1), ...sums, volumeDay: 0 });
  assertShown(target, 1, { ...second, volumeDay: 0 });

  const next = load();
  await service.follow(next);
  assertShown(next, 5, { ...statisticsOf(driver, 6), volume: 99_000_000 });
  const replaced = target.statistics.etag;
  volumes.total.set(6, 100_000_000);
  await until(() => next.statistics.column('markets', 'volume').values[5] === 100_000_000);
  assert.equal(target.statistics.etag, replaced, 'what is no longer served stays as it was');
});

test('a market that is registered after its catalog was loaded is followed from then on', async (t) => {
  const { driver, service, load } = followed(t);
  const target = load();
  await service.follow(target);
  const unknown = showMarketStatistics(2);
  assert.deepEqual(shown(target, 'markets', 6, unknown), unknown);
  const condition = 7;
  assert.equal(foundMarkets(driver.t), condition - 1);
  const terms = { grid: 100, baseFeeBps: 0, minSize: 0n, negRisk: false, ended: false } as const;
  driver.run({ kind: 'market', condition, outcomes: 2, tradable: true, ...terms });
  assert.equal(foundMarkets(driver.t), condition);
  // As it is while the next one is being registered.
  driver.t.state[State.markets]! += 1;
  assert.equal(foundMarkets(driver.t), condition);
  driver.t.state[State.markets]! -= 1;
  const token = driver.t.state[State.tokens]! - 1;
  const order = { kind: 'order', type: 'GTC', postOnly: false, expiration: 0 } as const;
  const rest = { maker: 1, signer: 1, feeRateBps: 0, signatureType: 0, faults: [] } as const;
  const amounts = { side: 'BUY', shares: 10_000_000n, collateral: 4_000_000n } as const;
  driver.run({ ...order, ...rest, ...amounts, id: 1, token });
  driver.settle();
  await until(() => target.statistics.column('markets', 'liquidity').values[6] === 4_000_000);
});
