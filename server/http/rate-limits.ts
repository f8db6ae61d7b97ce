/**
 * The table of request-rate caps (SPEC 8): by name, how many requests of one caller a window takes.
 *
 * Data only; counting is rate-limiter.ts. A route names every row that covers it, and a request has
 * to fit all of them (GAPS 6.4): GET /events counts as `events`, `listing` and `catalog`.
 */

export interface RateLimit {
  /** The requests that count, in words for the people who are limited. */
  readonly covers: string;
  /** Requests of one caller in one window, at least 1. */
  readonly requests: number;
  /** Length of a window, which starts with its first request. */
  readonly seconds: number;
}

const BURST_SECONDS = 10;
const SUSTAINED_SECONDS = 600;

export const RATE_LIMITS = {
  catalog: { covers: 'Catalog API, all requests', requests: 4000, seconds: BURST_SECONDS },
  events: { covers: 'GET /events', requests: 500, seconds: BURST_SECONDS },
  markets: { covers: 'GET /markets', requests: 300, seconds: BURST_SECONDS },
  listing: { covers: 'GET /events and GET /markets', requests: 900, seconds: BURST_SECONDS },
  tags: { covers: 'GET /tags', requests: 200, seconds: BURST_SECONDS },
  search: { covers: 'GET /public-search', requests: 350, seconds: BURST_SECONDS },
  trading: { covers: 'Trading API, all requests', requests: 5000, seconds: BURST_SECONDS },
  health: { covers: 'GET /', requests: 50, seconds: BURST_SECONDS },
  book: { covers: 'GET /book', requests: 200, seconds: BURST_SECONDS },
  books: { covers: 'POST /books', requests: 80, seconds: BURST_SECONDS },
  price: { covers: 'GET /price', requests: 200, seconds: BURST_SECONDS },
  prices: { covers: 'POST /prices', requests: 80, seconds: BURST_SECONDS },
  midpoint: { covers: 'GET /midpoint', requests: 200, seconds: BURST_SECONDS },
  pricesHistory: { covers: 'GET /prices-history', requests: 100, seconds: BURST_SECONDS },
  trades: { covers: 'GET /trades', requests: 150, seconds: BURST_SECONDS },
  ledgerTrades: { covers: 'GET /data/trades', requests: 150, seconds: BURST_SECONDS },
  orderBurst: { covers: 'POST /order', requests: 2400, seconds: BURST_SECONDS },
  orderSustained: { covers: 'POST /order', requests: 24_000, seconds: SUSTAINED_SECONDS },
  cancelBurst: { covers: 'DELETE /order', requests: 2400, seconds: BURST_SECONDS },
  cancelSustained: { covers: 'DELETE /order', requests: 24_000, seconds: SUSTAINED_SECONDS },
} as const satisfies Readonly<Record<string, RateLimit>>;

/** The name of a row. */
export type RateClass = keyof typeof RATE_LIMITS;
