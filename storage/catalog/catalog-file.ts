/**
 * Reads a catalog file, `{tags, series, sites, events}` with markets nested in their events. It is
 * tolerant where real data is irregular, and strict where a wrong reading would corrupt the books.
 *
 * Pure; any thread. Non-goals: serving the catalog (which uses the raw objects), and following
 * changes of a catalog.
 */

import {
  Claims,
  LatestById,
  NESTED_COPY,
  OWN_LIST,
  type SkippedGroup,
  Tally,
} from './catalog-collect.ts';
import { isObject, type JsonObject, marketsOf, text } from './catalog-json.ts';
import {
  type CatalogMarket,
  conditionIdOf,
  creatorOf,
  hasEnded,
  readMarket,
} from './catalog-market.ts';
import { readSites, type Site } from './catalog-sites.ts';
import { cleanTexts } from './clean-texts.ts';
import { storedForm } from './market-form.ts';

export type { JsonObject } from './catalog-json.ts';
export type { CatalogMarket } from './catalog-market.ts';

/** One version of every object; raw lists in ascending order of id. Ids are always text. */
export interface Catalog {
  readonly events: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly series: readonly JsonObject[];
  readonly sites: readonly Site[];
  /** Markets that can have books, by event, then in the order of the file. */
  readonly markets: readonly CatalogMarket[];
  /**
   * Condition ids (`0x` and 64 lower-case hex digits) of closed or archived markets that cannot
   * have books. Orders of a book from an earlier catalog must be cancelled.
   */
  readonly endedConditions: readonly string[];
}

export interface CatalogReport {
  readonly events: number;
  readonly markets: number;
  readonly marketsWithBooks: number;
  readonly marketsTradable: number;
  readonly tags: number;
  readonly series: number;
  readonly sites: number;
  readonly creators: number;
  readonly skipped: readonly SkippedGroup[];
}

export type ReadCatalogResult =
  | { readonly ok: true; readonly catalog: Catalog; readonly report: CatalogReport }
  | { readonly ok: false; readonly error: string; readonly isConflict?: true };

/**
 * Reads a parsed catalog file. It fails as a whole only where using a part would corrupt the books:
 * the file has another shape, or two markets claim the same token id or condition id.
 */
export function readCatalog(json: unknown): ReadCatalogResult {
  if (!isObject(json)) return { ok: false, error: 'a catalog file holds one JSON object' };
  if (!Array.isArray(json.events)) return { ok: false, error: '`events` must be an array' };
  for (const name of ['tags', 'series', 'sites'] as const) {
    if (json[name] != null && !Array.isArray(json[name])) {
      return { ok: false, error: `\`${name}\` must be an array` };
    }
  }
  const tally = new Tally();
  const newest = new LatestById('events', tally);
  newest.addAll(cleanTexts('events', json.events, tally), 'events', OWN_LIST);
  const events = withOwnMarkets(newest.list(), tally);
  const tags = readShared('tags', json.tags, events, tally);
  const series = readShared('series', json.series, events, tally);
  const sites = readSites(Array.isArray(json.sites) ? json.sites : [], tally);

  const claims = new Claims();
  const markets: CatalogMarket[] = [];
  const endedConditions: string[] = [];
  for (const event of events) {
    for (const raw of marketsOf(event)) {
      const market = readMarket(raw, event, claims, tally);
      const conditionId = conditionIdOf(raw);
      if (market !== undefined) markets.push(market);
      else if (conditionId !== undefined && hasEnded(raw)) endedConditions.push(conditionId);
    }
  }
  if (claims.conflict !== undefined) {
    return { ok: false, error: claims.conflict, isConflict: true };
  }

  const rawMarkets = events.flatMap(marketsOf);
  const lists = { events, markets: rawMarkets, tags, series };
  for (const [kind, list] of Object.entries(lists)) countSharedSlugs(kind, list, tally);
  const report: CatalogReport = {
    events: events.length,
    markets: rawMarkets.length,
    marketsWithBooks: markets.length,
    marketsTradable: markets.filter((market) => market.tradable).length,
    tags: tags.length,
    series: series.length,
    sites: sites.length,
    creators: countCreators(events, tally),
    skipped: tally.groups(),
  };
  return { ok: true, catalog: { events, tags, series, sites, markets, endedConditions }, report };
}

/** Gives each event its `markets` array. Every market is in only one event. */
function withOwnMarkets(events: readonly JsonObject[], tally: Tally): JsonObject[] {
  const newest = new LatestById('markets', tally);
  const listed = events.map((event) => {
    const place = `event ${event.id}, markets`;
    const markets = nestedList(event, 'markets', tally).map((raw) =>
      isObject(raw) ? storedForm(raw, event) : raw,
    );
    return newest.addAll(markets, place, OWN_LIST);
  });
  const kept = new Set(newest.list());
  return events.map((event, index) => ({
    ...event,
    markets: listed[index]?.filter((market) => kept.has(market)) ?? [],
  }));
}

/** Reads tags or series: events add the objects that the top-level list lacks. */
function readShared(
  kind: 'tags' | 'series',
  topLevel: unknown,
  events: readonly JsonObject[],
  tally: Tally,
): readonly JsonObject[] {
  const newest = new LatestById(kind, tally);
  // Copies inside events are of many days and languages, so a repetition is not reported.
  for (const event of events) {
    newest.addAll(nestedList(event, kind, tally), `event ${event.id}, ${kind}`, NESTED_COPY);
  }
  const own = cleanTexts(kind, Array.isArray(topLevel) ? topLevel : [], tally);
  newest.addAll(own, kind, OWN_LIST);
  return newest.list();
}

function nestedList(
  event: JsonObject,
  kind: 'markets' | 'tags' | 'series',
  tally: Tally,
): readonly unknown[] {
  const list = event[kind];
  if (Array.isArray(list)) return list;
  if (list != null) tally.add(`events whose ${kind} are no list: kept without`, String(event.id));
  return [];
}

/** Counts shared slugs: a lookup by slug finds only one of the objects. */
function countSharedSlugs(kind: string, list: readonly JsonObject[], tally: Tally): void {
  const seen = new Set(['']);
  for (const object of list) {
    const slug = text(object.slug);
    if (slug !== '' && seen.has(slug))
      tally.add(`${kind} with a slug used twice: kept`, String(object.id));
    seen.add(slug);
  }
}

function countCreators(events: readonly JsonObject[], tally: Tally): number {
  const creators = new Set<string>();
  for (const event of events) {
    for (const raw of marketsOf(event)) {
      const creator = creatorOf(raw, event);
      if (creator !== '') creators.add(creator);
      else if ([raw, event].some((one) => text(one.creator) + text(one.submitted_by) !== '')) {
        tally.add('markets whose creator is no wallet: kept without', String(raw.id));
      }
    }
  }
  return creators.size;
}

/**
 * Returns the content of a catalog, then a line for each reason for which objects were skipped or
 * are wrong.
 * @param namesAll true: every object that is left out is named, not the first few
 */
export function describeReport(report: CatalogReport, namesAll = false): readonly string[] {
  const { events, markets, marketsWithBooks, marketsTradable, tags, series } = report;
  return [
    `${events} events, ${markets} markets (${marketsWithBooks} with order books, ` +
      `${marketsTradable} open for trading), ${tags} tags, ${series} series, ` +
      `${report.creators} creators, ${report.sites} sites`,
    ...report.skipped.map(({ reason, count, field, first, names }) => {
      const named = namesAll ? (names ?? first) : first;
      const more = count > named.length ? ', ...' : '';
      const missing = field === undefined ? '' : `; the field is \`${field}\``;
      return `${count} ${reason} (${named.join(', ')}${more})${missing}`;
    }),
  ];
}
