/**
 * Which markets of a source are mirrored or recorded.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { MarketChoice } from '../common/market-choice.ts';
import type { SourceApi, SourceMarket } from './source-api.ts';

/**
 * The markets that are chosen: those that are named, and behind them those with the largest volumes, the largest
 * first.
 */
export async function chosenMarkets(
  api: SourceApi,
  { conditions, ids, slugs, tags, top }: MarketChoice,
): Promise<{ readonly named: readonly SourceMarket[]; readonly top: readonly SourceMarket[] }> {
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
  return { named, top: top === 0 ? [] : await api.marketsByVolume(top) };
}
