/**
 * What a prepared catalog says of a market where trades name it: read from the market's own
 * fragment when first asked for, because most markets are never asked for.
 *
 * Thread: the I/O thread.
 */
import { textList } from '../../storage/catalog-json.ts';
import type { MarketInfo } from '../market-data/texts.ts';
import type { PreparedCatalog } from './prepared.ts';
import { findKey, rowsOfKey } from './text-index.ts';

interface CoreJson {
  readonly question: string;
  readonly slug: string;
  readonly icon: string;
  /** JSON text of an array of labels (SPEC 2). */
  readonly outcomes: string;
}

/** Looks markets up by condition id, `0x` + 64 lower-case hex digits. */
export function marketInfoLookup(
  prepared: PreparedCatalog,
): (conditionId: string) => MarketInfo | undefined {
  const { events, markets } = prepared;
  const { buffer, byteOffset, byteLength } = prepared.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const openObject = (start: number, end: number): unknown =>
    JSON.parse(`${bytes.toString('utf8', start, end)}}`);
  return (conditionId) => {
    const key = findKey(markets.conditions, conditionId);
    if (key === -1) return undefined;
    const market = rowsOfKey(markets.conditions, key)[0]!;
    const event = markets.event[market]!;
    const core = openObject(markets.coreStart[market]!, markets.coreEnd[market]!) as CoreJson;
    const eventCore = openObject(events.coreStart[event]!, events.coreEnd[event]!);
    return {
      question: core.question,
      slug: core.slug,
      icon: core.icon,
      outcomes: textList(core.outcomes) ?? [],
      eventSlug: (eventCore as { readonly slug: string }).slug,
    };
  };
}
