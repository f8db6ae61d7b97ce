/**
 * Changes of markets between one catalog and the next, and the confirmation that many removals need.
 *
 * Pure; any thread. Non-goals: the resting orders, which only the engine knows.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Catalog, CatalogMarket, JsonObject } from './catalog-file.ts';
import { marketsOf } from './catalog-json.ts';

/**
 * Ids of markets by what happens to them; each is in one list at most. An opened market is new or took no orders
 * before. A closed one has ended or is paused since. A removed one had not ended, and has no book in the new catalog.
 */
export interface CatalogChanges {
  readonly opened: readonly string[];
  readonly changed: readonly string[];
  readonly closed: readonly string[];
  readonly removed: readonly string[];
  readonly refusal: string | undefined;
}

/** Markets that may be removed at once: this number, or this share of those that have not ended. */
const REMOVED_MAX = 10;
const REMOVED_SHARE = 1 / 10;

/** @param own condition ids of markets of the node's own (the demo), which do not count */
export function catalogChanges(
  before: Catalog,
  after: Catalog,
  own: ReadonlySet<string>,
): CatalogChanges {
  const old = byCondition(before);
  const fresh = byCondition(after);
  const ended = new Set(after.endedConditions);
  const rawBefore = rawMarkets(before);
  const rawAfter = rawMarkets(after);
  const changes = {
    opened: [] as string[],
    changed: [] as string[],
    closed: [] as string[],
    removed: [] as string[],
  };
  for (const [condition, market] of fresh) {
    const was = old.get(condition);
    const { id, tradable } = market;
    if (was === undefined ? !market.ended : tradable && !was.tradable) changes.opened.push(id);
    else if (was === undefined) continue;
    else if ((was.tradable && !tradable) || (market.ended && !was.ended)) changes.closed.push(id);
    else if (!isDeepStrictEqual([was, rawBefore.get(was.id)], [market, rawAfter.get(id)])) {
      changes.changed.push(id);
    }
  }
  let counted = 0;
  let removedOfOthers = 0;
  for (const [condition, { ended: hadEnded, id }] of old) {
    if (hadEnded) continue;
    const isOwn = own.has(condition);
    if (!isOwn) counted++;
    if (fresh.has(condition)) continue;
    if (ended.has(condition)) changes.closed.push(id);
    else {
      changes.removed.push(id);
      if (!isOwn) removedOfOthers++;
    }
  }
  const most = Math.max(REMOVED_MAX, Math.floor(counted * REMOVED_SHARE));
  const refusal =
    removedOfOthers <= most
      ? undefined
      : `it would remove ${removedOfOthers} of ${counted} markets, and at most ${most} go at once`;
  return { ...changes, refusal };
}

function byCondition({ markets }: Catalog): ReadonlyMap<string, CatalogMarket> {
  return new Map(markets.map((market) => [market.conditionId, market]));
}

function rawMarkets({ events }: Catalog): ReadonlyMap<string, JsonObject> {
  const raw = events.flatMap(marketsOf);
  return new Map(raw.map((market) => [String(market.id), market]));
}
