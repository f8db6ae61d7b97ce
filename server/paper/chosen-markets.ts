/**
 * Which markets of a source are mirrored or recorded.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { MarketChoice } from '../common/market-choice.ts';
import type { SourceApi, SourceMarket } from './source-api.ts';

export interface ChosenMarkets {
  readonly named: readonly SourceMarket[];
  /** Those of two outcomes with the largest volumes, the largest first. */
  readonly top: readonly SourceMarket[];
  /** Those between them in the list that do not have two outcomes: they take no place of `top`. */
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

/** Only markets of two outcomes have a book that levels of a source can stand in. */
export function isBinary({ tokens }: SourceMarket): boolean {
  return tokens.length === 2;
}
