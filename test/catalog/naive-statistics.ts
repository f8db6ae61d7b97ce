/**
 * Live statistics of the naive answers: shown forms, sort keys, and random ones. Amounts and prices
 * are whole micro-units.
 */
import type { CatalogStatistics } from '../../server/catalog/market-statistics.ts';
import type { Random } from '../common/random.ts';
import type { NaiveCatalog, Raw } from './naive-catalog.ts';

export interface NaiveStatistics {
  readonly volume: number;
  readonly volumeDay: number;
  readonly liquidity: number;
  readonly bestBid: number;
  readonly bestAsk: number;
  readonly lastTrade: number;
  readonly prices: readonly number[];
}

export type StatisticsById = ReadonlyMap<string, NaiveStatistics>;

/** Names of statistics in the order of served objects. */
export const MARKET_STATISTICS = [
  ...['volume', 'volumeNum', 'volume24hr', 'liquidity', 'liquidityNum', 'outcomePrices'],
  ...['bestBid', 'bestAsk', 'spread', 'lastTradePrice'],
];
export const EVENT_STATISTICS = ['volume', 'volume24hr', 'liquidity'];

function noStatistics(outcomes: number): NaiveStatistics {
  const prices = Array.from({ length: outcomes }, () => 500_000);
  const none = { volume: 0, volumeDay: 0, liquidity: 0 };
  return { ...none, bestBid: 0, bestAsk: 1_000_000, lastTrade: 0, prices };
}

export function showMarketStatistics(outcomes: number, given?: NaiveStatistics): Raw {
  const statistics = given ?? noStatistics(outcomes);
  const number = (micro: number) => Number(decimal(micro));
  return {
    volume: decimal(statistics.volume),
    volumeNum: number(statistics.volume),
    volume24hr: number(statistics.volumeDay),
    liquidity: decimal(statistics.liquidity),
    liquidityNum: number(statistics.liquidity),
    outcomePrices: JSON.stringify(statistics.prices.map(decimal)),
    bestBid: number(statistics.bestBid),
    bestAsk: number(statistics.bestAsk),
    spread: number(statistics.bestAsk - statistics.bestBid),
    lastTradePrice: number(statistics.lastTrade),
  };
}

export function showEventStatistics(markets: readonly (NaiveStatistics | undefined)[]): Raw {
  const sum = (name: 'volume' | 'volumeDay' | 'liquidity') =>
    Number(decimal(markets.reduce((total, statistics) => total + (statistics?.[name] ?? 0), 0)));
  return { volume: sum('volume'), volume24hr: sum('volumeDay'), liquidity: sum('liquidity') };
}

export function statisticKey(value: unknown): number {
  if (typeof value === 'string' && value.startsWith('[')) {
    const [first = '0.5'] = JSON.parse(value) as string[];
    return Number(first);
  }
  return Number(value);
}

function decimal(micro: number): string {
  const digits = String(micro).padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
}

export function drawStatistics(
  random: Random,
  catalog: NaiveCatalog,
  before: StatisticsById,
): StatisticsById {
  const drawn = new Map(before);
  const amount = () =>
    random.pick([
      0,
      1_000_000,
      random.below(50),
      random.below(2 ** 31),
      random.below(2 ** 31) * 2 ** 14,
    ]);
  for (const { shown, outcomes } of catalog.markets) {
    if (!random.chance(40)) continue;
    const prices = outcomes.map(() => random.pick([50, 500_000, 30_000, 250 * random.below(4000)]));
    const volume = amount();
    drawn.set(String(shown.id), {
      volume,
      volumeDay: random.pick([0, volume, Math.floor(volume / 3)]),
      liquidity: amount(),
      bestBid: 10_000 * random.below(50),
      bestAsk: 10_000 * random.between(50, 100),
      lastTrade: 100 * random.below(10_000),
      prices,
    });
  }
  return drawn;
}

export function giveStatistics(
  served: CatalogStatistics,
  catalog: NaiveCatalog,
  statistics: StatisticsById,
): void {
  for (const [row, { shown }] of catalog.markets.entries()) {
    const given = statistics.get(String(shown.id));
    if (given !== undefined) served.setMarket(row, given);
  }
  served.publish();
}
