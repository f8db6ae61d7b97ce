/**
 * Choice of the markets of a source that are mirrored or recorded.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { MarketChoice } from '../common/market-choice.ts';
import type { SourceApi, SourceMarket } from './source-api.ts';

export interface ChosenMarkets {
  readonly named: readonly SourceMarket[];
  /** Binary markets with the largest volumes, the largest first. */
  readonly top: readonly SourceMarket[];
  /** Markets of the list that are not binary. They do not count for `top`. */
  readonly notBinary: readonly SourceMarket[];
}

export async function chosenMarkets(
  api: SourceApi,
  { conditions, ids, slugs, tags, top }: MarketChoice,
): Promise<ChosenMarkets> {
  const named: SourceMarket[] = [];
  for (const [filter, values] of [
    ['id', ids],
    ['slug', slugs],
    ['condition_ids', conditions],
    // A list takes one tag by its slug.
    ...tags.map((tag) => ['tag_slug', [tag]] as const),
  ] as const) {
    named.push(...(await api.marketsBy(filter, values)));
  }
  const listed = top === 0 ? [] : await api.marketsByVolume(top, isBinary);
  return {
    named,
    top: listed.filter(isBinary),
    notBinary: listed.filter((market) => !isBinary(market)),
  };
}

/** Returns true for two outcomes. Only those markets have a book for source levels. */
export function isBinary({ tokens }: SourceMarket): boolean {
  return tokens.length === 2;
}
