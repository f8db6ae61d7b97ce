/**
 * Markets and outcomes by the names that people and models use.
 *
 * Thread: any.
 */
import { tokenIdsOf } from '../../client/catalog.ts';
import type { MarketAnswer } from '../../client/types.ts';
import type { Venue } from './tool.ts';
import { toolRefusal } from './tool-refusals.ts';

const NUMBER_OR_CONDITION = /^(?:\d{1,15}|0x(?:[0-9a-fA-F]{62}|[0-9a-fA-F]{64}))$/;

export interface Outcome {
  readonly name: string;
  readonly tokenId: string;
  /** Price between 0 and 1 as decimal text; '' where none is known. */
  readonly price: string;
}

/** Finds a market by number, slug or condition id. @throws ApiError where there is none */
export function marketOf({ call }: Venue, market: string): Promise<MarketAnswer> {
  return NUMBER_OR_CONDITION.test(market)
    ? call('GET /markets/:id', { path: { id: market } })
    : call('GET /markets/slug/:slug', { path: { slug: market } });
}

/** Outcomes of a market in its order. */
export function outcomesOf(market: MarketAnswer): readonly Outcome[] {
  const names = JSON.parse(market.outcomes) as string[];
  const prices = JSON.parse(market.outcomePrices || '[]') as string[];
  const tokens = tokenIdsOf(market);
  return names.map((name, i) => ({ name, tokenId: tokens[i] ?? '', price: prices[i] ?? '' }));
}

/** Finds an outcome by its name, in any case where that is clear. */
export function outcomeOf(market: MarketAnswer, name: string): Outcome {
  const outcomes = outcomesOf(market);
  const exact = outcomes.find((outcome) => outcome.name === name);
  if (exact !== undefined) return exact;
  const folded = name.trim().toLowerCase();
  const like = outcomes.filter((outcome) => outcome.name.toLowerCase() === folded);
  if (like.length === 1) return like[0]!;
  const names = outcomes.map((outcome) => JSON.stringify(outcome.name)).join(', ');
  throw toolRefusal('UNKNOWN_OUTCOME', `outcomes of the market: ${names}`);
}
