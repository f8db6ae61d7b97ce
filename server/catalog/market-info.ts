/**
 * What a prepared catalog says of a market where trades name it: read from the market's own
 * fragment when first asked for, because most markets are never asked for.
 *
 * Thread: the I/O thread.
 */
import { textList } from '../../storage/catalog-json.ts';
import type { MarketInfo, MarketStory } from '../market-data/texts.ts';
import type { PreparedCatalog, PreparedObjects } from './prepared.ts';
import { keyOf, rowsNamed } from './text-index.ts';

/** What is read of a market and of its event; `outcomes` is a JSON array of labels (SPEC 2). */
type CoreJson = Readonly<
  Record<'question' | 'slug' | 'icon' | 'description' | 'outcomes', string>
> & {
  readonly endDate?: string | null;
};
type EventJson = Readonly<Record<'id' | 'ticker' | 'slug' | 'title' | 'description', string>>;

/** Looks markets up by condition id, `0x` + 64 lower-case hex digits. */
export function marketInfoLookup(prepared: PreparedCatalog) {
  return lookup(prepared, ({ endDate, icon, question, slug }, outcomes, event): MarketInfo => {
    return { question, slug, icon, outcomes, eventSlug: event.slug, endDate: endDate ?? '' };
  });
}

/** What is told of a market that is new; as marketInfoLookup. */
export function marketStoryLookup(prepared: PreparedCatalog) {
  return lookup(prepared, ({ description, question, slug }, outcomes, event): MarketStory => {
    const { id, ticker, title } = event;
    const summary = { id, ticker, slug: event.slug, title, description: event.description };
    return { question, slug, description, outcomes, event: summary };
  });
}

/** From the objects of a market and of its event, without what is nested in them. */
function lookup<Told>(
  { bytes: all, events, markets }: PreparedCatalog,
  tell: (market: CoreJson, outcomes: readonly string[], event: EventJson) => Told,
): (conditionId: string) => Told | undefined {
  const bytes = Buffer.from(all.buffer, all.byteOffset, all.byteLength);
  const read = ({ coreEnd, coreStart }: PreparedObjects, row: number): unknown =>
    JSON.parse(`${bytes.toString('utf8', coreStart[row], coreEnd[row])}}`);
  return (conditionId) => {
    const [row] = rowsNamed(markets.keys.conditionId!, keyOf('number', conditionId));
    if (row === undefined) return undefined;
    const market = read(markets, row) as CoreJson;
    const event = read(events, markets.event[row]!) as EventJson;
    return tell(market, textList(market.outcomes) ?? [], event);
  };
}
