/**
 * Objects that an operator has made or changed, and how they stay when another catalog replaces theirs. Marks
 * in the stored objects name them: they are exported, and not shown.
 *
 * Pure; any thread.
 */
import type { Catalog, JsonObject, ReadCatalogResult } from './catalog-file.ts';
import { isObject, marketsOf } from './catalog-json.ts';
import { conditionIdOf } from './catalog-market.ts';
import { mergeCatalog } from './catalog-merge.ts';
import { CHANGED, isResolved, MADE } from './operator-marks.ts';

/**
 * Returns the read catalog with the operator's own objects and changes of the one before it. A
 * resolved market stays where it is no longer listed: its holders were paid, and it must not open
 * again.
 */
export function keepOperatorObjects(before: Catalog, read: ReadCatalogResult): ReadCatalogResult {
  if (!read.ok) return read;
  const own = before.events.filter((event) => MADE in event);
  const others = before.events.filter((event) => !(MADE in event));
  const changes = new Map<unknown, unknown>();
  for (const event of others) {
    if (CHANGED in event) changes.set(event.id, event[CHANGED]);
    for (const market of marketsOf(event)) {
      if (CHANGED in market) changes.set(conditionIdOf(market), market[CHANGED]);
    }
  }
  if (own.length === 0 && changes.size === 0) return read;
  const again = (object: JsonObject, name: unknown): JsonObject => {
    const changed = changes.get(name);
    return isObject(changed) ? changedBy(object, changed) : object;
  };
  const left = new Map(resolvedNotIn(others, read.catalog).map((event) => [event.id, event]));
  const events = read.catalog.events.map((event) => {
    const markets = marketsOf(event).map((market) => again(market, conditionIdOf(market)));
    const stayed = left.get(event.id);
    left.delete(event.id);
    return {
      ...again(event, event.id),
      markets: [...markets, ...(stayed ? marketsOf(stayed) : [])],
    };
  });
  const all = { ...read.catalog, events: [...events, ...left.values()] };
  const kept = mergeCatalog(all, { events: own });
  if (!kept.ok) return kept;
  return { ...kept, report: { ...kept.report, skipped: read.report.skipped } };
}

function resolvedNotIn(events: readonly JsonObject[], { events: others }: Catalog): JsonObject[] {
  const listed = new Set(others.flatMap(marketsOf).map(conditionIdOf));
  const hasLeft = (market: JsonObject): boolean =>
    isResolved(market) && !listed.has(conditionIdOf(market));
  return events
    .filter((event) => marketsOf(event).some(hasLeft))
    .map((event) => ({ ...event, closed: true, markets: marketsOf(event).filter(hasLeft) }));
}

/**
 * Returns an object with an operator's changes on top of those before. A market that takes orders
 * again does so as imports say.
 */
export function changedBy(object: JsonObject, changes: JsonObject): JsonObject {
  const before = object[CHANGED];
  const { acceptingOrders, ...others } = { ...(isObject(before) ? before : {}), ...changes };
  const lasting = acceptingOrders === false ? { ...others, acceptingOrders } : others;
  return { ...object, ...changes, [CHANGED]: lasting };
}
