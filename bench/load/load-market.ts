/**
 * The markets and tokens that a load run trades, chosen from a catalog.
 * Thread: the tool's only one.
 * Non-goals: reading the catalog file (storage does), and what the catalog says beyond trading.
 */
import { isPosition } from '../../server/common/position-ids.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import type { Random } from '../random.ts';
import { MICRO } from './load-amounts.ts';
import { NaiveBook } from './load-book.ts';

export interface LoadToken {
  readonly index: number;
  readonly tokenId: string;
  readonly outcome: number;
  readonly market: LoadMarket;
  /** The book that the token trades in, and its place there (a binary pair shares one). */
  readonly book: NaiveBook;
  readonly slot: number;
}

export interface LoadMarket {
  readonly index: number;
  readonly conditionId: string;
  readonly negRisk: boolean;
  readonly ticksPerUnit: number;
  readonly minSizeMicro: number;
  readonly tokens: readonly LoadToken[];
}

type Tradable = Pick<
  CatalogMarket,
  'conditionId' | 'tokenIds' | 'ticksPerUnit' | 'minSizeMicro' | 'negRisk' | 'tradable'
>;

/** Sizes of an order reach this far above the minimum; a larger minimum leaves its market out. */
const MIN_SIZE_MICRO_MAX = 1_000_000 * MICRO;

/**
 * Up to `count` tradable markets, one of every kind (outcomes, tick, neg-risk) in turn, so that a
 * small choice still meets every rule.
 */
export function chooseMarkets(
  catalog: readonly Tradable[],
  count: number,
  random: Random,
): LoadMarket[] {
  const kinds = new Map<string, Tradable[]>();
  for (const market of catalog) {
    if (!market.tradable || market.minSizeMicro > MIN_SIZE_MICRO_MAX) continue;
    // Orders of positions have a signing domain of their own, which no load signs for; older nodes have no positions.
    if (market.tokenIds.some(isPosition)) continue;
    const kind = `${market.tokenIds.length}/${market.ticksPerUnit}/${market.negRisk}`;
    const group = kinds.get(kind) ?? [];
    group.push(market);
    kinds.set(kind, group);
  }
  const groups = [...kinds.values()];
  const chosen: LoadMarket[] = [];
  for (let turn = 0; chosen.length < count && groups.some((group) => group.length > 0); turn += 1) {
    const group = groups[turn % groups.length] ?? [];
    const [market] = group.splice(random.below(Math.max(1, group.length)), 1);
    if (market !== undefined) chosen.push(loadMarket(market, chosen));
  }
  return chosen;
}

function loadMarket(source: Tradable, before: readonly LoadMarket[]): LoadMarket {
  const { conditionId, negRisk, ticksPerUnit, minSizeMicro, tokenIds } = source;
  const paired = tokenIds.length === 2;
  const shared = new NaiveBook(ticksPerUnit);
  const tokens: LoadToken[] = [];
  const market = {
    index: before.length,
    conditionId,
    negRisk,
    ticksPerUnit,
    minSizeMicro,
    tokens,
  };
  const first = before.reduce((sum, other) => sum + other.tokens.length, 0);
  for (const [outcome, tokenId] of tokenIds.entries()) {
    const book = paired ? shared : new NaiveBook(ticksPerUnit);
    const slot = paired ? outcome : 0;
    tokens.push({ index: first + outcome, tokenId, outcome, market, book, slot });
  }
  return market;
}
