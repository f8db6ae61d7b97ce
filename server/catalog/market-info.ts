/**
 * What a prepared catalog says of a market where trades name it: read from the market's own
 * fragment when first asked for, because most markets are never asked for.
 *
 * Thread: the I/O thread.
 */
import { textList } from '../../storage/catalog-json.ts';
import type { MarketInfo, MarketStory } from '../market-data/texts.ts';
import type { PreparedCatalog } from './prepared.ts';
import { findKey, rowsOfKey } from './text-index.ts';

interface CoreJson {
  readonly question: string;
  readonly slug: string;
  readonly icon: string;
  readonly description: string;
  readonly endDate?: string | null;
  /** JSON text of an array of labels (SPEC 2). */
  readonly outcomes: string;
}

interface EventJson {
  readonly id: string;
  readonly ticker: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
}

/** Looks markets up by condition id, `0x` + 64 lower-case hex digits. */
export function marketInfoLookup(
  prepared: PreparedCatalog,
): (conditionId: string) => MarketInfo | undefined {
  const cores = coreLookup(prepared);
  return (conditionId) => {
    const found = cores(conditionId);
    if (found === undefined) return undefined;
    const { event, market } = found;
    return {
      question: market.question,
      slug: market.slug,
      icon: market.icon,
      outcomes: textList(market.outcomes) ?? [],
      eventSlug: event.slug,
      endDate: market.endDate ?? '',
    };
  };
}

/** What is told of a market that is new; as marketInfoLookup. */
export function marketStoryLookup(
  prepared: PreparedCatalog,
): (conditionId: string) => MarketStory | undefined {
  const cores = coreLookup(prepared);
  return (conditionId) => {
    const found = cores(conditionId);
    if (found === undefined) return undefined;
    const { market } = found;
    const { description, id, slug, ticker, title } = found.event;
    return {
      question: market.question,
      slug: market.slug,
      description: market.description,
      outcomes: textList(market.outcomes) ?? [],
      event: { id, ticker, slug, title, description },
    };
  };
}

/** The objects of a market and of its event, without what is nested in them. */
function coreLookup(prepared: PreparedCatalog) {
  const { events, markets } = prepared;
  const { buffer, byteOffset, byteLength } = prepared.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const openObject = (start: number, end: number): unknown =>
    JSON.parse(`${bytes.toString('utf8', start, end)}}`);
  return (conditionId: string) => {
    const key = findKey(markets.conditions, conditionId);
    if (key === -1) return undefined;
    const row = rowsOfKey(markets.conditions, key)[0]!;
    const eventRow = markets.event[row]!;
    return {
      market: openObject(markets.coreStart[row]!, markets.coreEnd[row]!) as CoreJson,
      event: openObject(events.coreStart[eventRow]!, events.coreEnd[eventRow]!) as EventJson,
    };
  };
}
