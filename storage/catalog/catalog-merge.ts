/**
 * Adds the objects of a catalog file to a catalog: an object of the file replaces the one with the
 * same id, and the rest stays.
 *
 * Pure; any thread.
 */
import { type Catalog, type ReadCatalogResult, readCatalog } from './catalog-file.ts';
import { marketsOf } from './catalog-json.ts';

/**
 * Merges a file into a catalog. The report has the counts of the whole, and the faults of the file.
 * Fails where the file alone would, and where a market claims an id of another market.
 */
export function mergeCatalog(into: Catalog, file: unknown): ReadCatalogResult {
  const read = readCatalog(file);
  if (!read.ok) return read;
  const { events } = read.catalog;
  // Copies of tags and series inside events do not replace what the catalog lists itself.
  const listed = readCatalog({ ...(file as object), events: [] });
  if (!listed.ok) return listed;
  const { series, sites, tags } = listed.catalog;
  const replaced = idsOf(events.flatMap(marketsOf));
  const kept = without(into.events, events).map((event) => ({
    ...event,
    markets: marketsOf(event).filter(({ id }) => !replaced.has(id)),
  }));
  const merged = readCatalog({
    events: [...kept, ...events],
    tags: [...without(into.tags, tags), ...tags],
    series: [...without(into.series, series), ...series],
    sites: [...without(into.sites, sites), ...sites],
  });
  if (!merged.ok) return merged;
  return { ...merged, report: { ...merged.report, skipped: read.report.skipped } };
}

function without<T extends { readonly id?: unknown }>(list: readonly T[], others: readonly T[]) {
  const ids = idsOf(others);
  return list.filter(({ id }) => !ids.has(id));
}

function idsOf(list: readonly { readonly id?: unknown }[]): ReadonlySet<unknown> {
  return new Set(list.map(({ id }) => id));
}
