/**
 * Live figures for the naive answers of the catalog routes: how they are shown and sorted, and random
 * ones. Amounts and prices are whole micro-units.
 */
import type { Figures } from '../../server/catalog/figures.ts';
import type { Random } from '../common/random.ts';
import type { NaiveCatalog, Raw } from './naive-catalog.ts';

export interface NaiveFigures {
  readonly volume: number;
  readonly volumeDay: number;
  readonly liquidity: number;
  readonly bestBid: number;
  readonly bestAsk: number;
  readonly lastTrade: number;
  readonly prices: readonly number[];
}

/** By market id. */
export type FiguresById = ReadonlyMap<string, NaiveFigures>;

/** The names of figures, in the order in which objects show them. */
export const MARKET_FIGURES = [
  ...['volume', 'volumeNum', 'volume24hr', 'liquidity', 'liquidityNum', 'outcomePrices'],
  ...['bestBid', 'bestAsk', 'spread', 'lastTradePrice'],
];
export const EVENT_FIGURES = ['volume', 'volume24hr', 'liquidity'];

function noFigures(outcomes: number): NaiveFigures {
  const prices = Array.from({ length: outcomes }, () => 500_000);
  const none = { volume: 0, volumeDay: 0, liquidity: 0 };
  return { ...none, bestBid: 0, bestAsk: 1_000_000, lastTrade: 0, prices };
}

export function showMarketFigures(outcomes: number, given?: NaiveFigures): Raw {
  const figures = given ?? noFigures(outcomes);
  const number = (micro: number) => Number(decimal(micro));
  return {
    volume: decimal(figures.volume),
    volumeNum: number(figures.volume),
    volume24hr: number(figures.volumeDay),
    liquidity: decimal(figures.liquidity),
    liquidityNum: number(figures.liquidity),
    outcomePrices: JSON.stringify(figures.prices.map(decimal)),
    bestBid: number(figures.bestBid),
    bestAsk: number(figures.bestAsk),
    spread: number(figures.bestAsk - figures.bestBid),
    lastTradePrice: number(figures.lastTrade),
  };
}

export function showEventFigures(markets: readonly (NaiveFigures | undefined)[]): Raw {
  const sum = (name: 'volume' | 'volumeDay' | 'liquidity') =>
    Number(decimal(markets.reduce((total, figures) => total + (figures?.[name] ?? 0), 0)));
  return { volume: sum('volume'), volume24hr: sum('volumeDay'), liquidity: sum('liquidity') };
}

/** What a figure is sorted by. */
export function figureKey(value: unknown): number {
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

/** New figures for some of the markets, many of them alike; those of the others stay. */
export function drawFigures(
  random: Random,
  catalog: NaiveCatalog,
  before: FiguresById,
): FiguresById {
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

/** Gives figures to a served catalog, whose rows are the markets in order of id. */
export function giveFigures(served: Figures, catalog: NaiveCatalog, figures: FiguresById): void {
  for (const [row, { shown }] of catalog.markets.entries()) {
    const given = figures.get(String(shown.id));
    if (given !== undefined) served.setMarket(row, given);
  }
  served.publish();
}
