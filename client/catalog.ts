/** Markets and events of the catalog. Their figures are decimal text. */
import type { Calls, RouteRequest } from './calls.ts';
import { rowsOf } from './lists.ts';
import type { TextMoney } from './money.ts';
import type { Routes } from './types.ts';

type MarketsQuery = RouteRequest<'GET /markets/keyset'>['query'];
type EventsQuery = RouteRequest<'GET /events/keyset'>['query'];
type MarketRow = TextMoney<Routes['GET /markets/keyset']['answer']['markets'][number]>;
type EventRow = TextMoney<Routes['GET /events/keyset']['answer']['events'][number]>;

/** Tokens of a market in the order of its outcomes: positions where its `version` is v2. */
export function tokenIdsOf(
  market: Pick<MarketRow, 'clobTokenIds' | 'positionIds' | 'version'>,
): readonly string[] {
  if (market.version === 'v2') return market.positionIds ?? [];
  return JSON.parse(market.clobTokenIds) as string[];
}

export class Catalog {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  markets(query: MarketsQuery = {}): AsyncGenerator<MarketRow, void> {
    return rowsOf(query, 'after_cursor', async (paged) => {
      const page = await this.#calls.callMoney('GET /markets/keyset', { query: paged });
      return { rows: page.markets, next: page.next_cursor };
    });
  }

  events(query: EventsQuery = {}): AsyncGenerator<EventRow, void> {
    return rowsOf(query, 'after_cursor', async (paged) => {
      const page = await this.#calls.callMoney('GET /events/keyset', { query: paged });
      return { rows: page.events, next: page.next_cursor };
    });
  }

  market(id: string): Promise<TextMoney<Routes['GET /markets/:id']['answer']>> {
    return this.#calls.callMoney('GET /markets/:id', { path: { id } });
  }

  search(q: string): Promise<TextMoney<Routes['GET /public-search']['answer']>> {
    return this.#calls.callMoney('GET /public-search', { query: { q } });
  }
}
