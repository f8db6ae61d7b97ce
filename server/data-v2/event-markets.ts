/** Markets that the filters of a query name. Thread: I/O. */

export interface EventMarkets {
  /** Condition ids of the markets of a catalog event. */
  readonly eventMarkets: (id: string) => Promise<readonly string[]>;
}

interface MarketFilters {
  readonly condition: readonly string[] | null;
  readonly event_id: readonly string[] | null;
}

/** Condition ids that both filters name; null = all. */
export async function conditionsOf(
  parts: EventMarkets,
  { condition, event_id }: MarketFilters,
): Promise<readonly string[] | null> {
  if (event_id === null) return condition;
  const ofEvents = await conditionsOfEvents(parts, event_id);
  return condition === null ? ofEvents : ofEvents.filter((id) => condition.includes(id));
}

export async function conditionsOfEvents(
  { eventMarkets }: EventMarkets,
  events: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const id of events) found.push(...(await eventMarkets(id)));
  return found;
}
