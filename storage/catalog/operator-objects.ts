/**
 * What an operator has made or changed of a catalog, and how it stays when another catalog replaces it. Marks in
 * the stored objects say so: they are exported, and not shown.
 *
 * Pure; any thread.
 */
import type { Catalog, JsonObject, ReadCatalogResult } from './catalog-file.ts';
import { isObject } from './catalog-json.ts';
import { mergeCatalog } from './catalog-merge.ts';

/** The wish from which an operator made an event or a market. */
export const MADE = 'madeByOperator';
/** Members that an operator has given a market or event since. */
const CHANGED = 'changedByOperator';

/** The catalog that was read, with what an operator has made, and changed, of the one before it. */
export function keepOperatorObjects(before: Catalog, read: ReadCatalogResult): ReadCatalogResult {
  if (!read.ok) return read;
  const own = before.events.filter((event) => MADE in event);
  const changes = new Map<unknown, JsonObject>();
  for (const event of before.events) {
    for (const market of marketsOf(event)) {
      if (CHANGED in market) changes.set(market.conditionId, market);
    }
  }
  if (own.length === 0 && changes.size === 0) return read;
  const events = read.catalog.events.map((event) => ({
    ...event,
    markets: marketsOf(event).map((market) => {
      const changed = changes.get(market.conditionId)?.[CHANGED];
      return isObject(changed) ? changedBy(market, changed) : market;
    }),
  }));
  const kept = mergeCatalog({ ...read.catalog, events }, { events: own });
  if (!kept.ok) return kept;
  return { ...kept, report: { ...kept.report, skipped: read.report.skipped } };
}

/**
 * An object with changes of an operator on top of those before. A market that takes orders again does so as
 * imports say.
 */
export function changedBy(object: JsonObject, changes: JsonObject): JsonObject {
  const before = object[CHANGED];
  const { acceptingOrders, ...others } = { ...(isObject(before) ? before : {}), ...changes };
  const lasting = acceptingOrders === false ? { ...others, acceptingOrders } : others;
  return { ...object, ...changes, [CHANGED]: lasting };
}

export function marketsOf(event: JsonObject): readonly JsonObject[] {
  return event.markets as readonly JsonObject[];
}
