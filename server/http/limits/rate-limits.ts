/**
 * Table of rate limits: by name, the requests of one caller in a window, and overrides by the operator.
 * Rules: docs/protocol.md#rate-limits
 *
 * Data and its texts; counting is rate-limiter.ts. A route names every row that covers it, and a request has
 * to fit all of them: GET /events counts as `events`, `listing` and `catalog`.
 */

interface RateCap {
  /** Requests of one caller, at least 1, in a window of `seconds`, which starts with its first request. */
  readonly requests: number;
  readonly seconds: number;
}

interface RateLimit extends RateCap {
  readonly covers: string;
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
  replaceBurst: { covers: 'POST /replace', requests: 2400, seconds: BURST_SECONDS },
  replaceSustained: { covers: 'POST /replace', requests: 24_000, seconds: SUSTAINED_SECONDS },
  explain: { covers: 'POST /orders/explain', requests: 30, seconds: BURST_SECONDS },
  preview: { covers: 'POST /orders/preview', requests: 200, seconds: BURST_SECONDS },
  sets: { covers: 'POST /split and POST /merge', requests: 200, seconds: BURST_SECONDS },
  relay: { covers: 'POST /submit', requests: 60, seconds: BURST_SECONDS },
  agents: { covers: 'POST /agents and POST /agents/revoke', requests: 20, seconds: BURST_SECONDS },
  profile: { covers: 'POST /profile', requests: 20, seconds: BURST_SECONDS },
  invites: { covers: 'POST /invites/redeem', requests: 1000, seconds: 3_600 },
  faults: { covers: 'POST /faults and DELETE /faults', requests: 60, seconds: BURST_SECONDS },
  mcp: { covers: 'POST /mcp', requests: 300, seconds: BURST_SECONDS },
  // Counted inside handlers (handler-limits.ts); no route names them.
  keyOrders: {
    covers:
      'orders of POST /order, POST /orders and POST /replace, those of each API key for themselves',
    requests: 24_000,
    seconds: BURST_SECONDS,
  },
  keysIssued: { covers: 'API keys and read-only keys issued', requests: 100, seconds: 3_600 },
} as const satisfies Readonly<Record<string, RateLimit>>;

export type RateClass = keyof typeof RATE_LIMITS;

export const RATE_CLASSES = Object.keys(RATE_LIMITS) as readonly RateClass[];

/** Longest window, a day. Counts above a thousand million requests would be no limit. */
const SECONDS_MAX = 86_400;
export const REQUESTS_MAX = 1e9;

/** Caps in place of rows of the table; `off` = the row limits nobody. */
export type RateOverrides = Readonly<Partial<Record<RateClass, RateCap | 'off'>>>;

/** Effective caps; rows that are off are absent. */
export type RateCaps = Readonly<Partial<Record<RateClass, RateCap>>>;

/** Rows with a setting of their own; overrides win over it. */
export interface OwnCaps {
  readonly ordersPer10s: number;
  readonly keysPerHour: number;
}

const USUAL_CAPS: OwnCaps = {
  ordersPer10s: RATE_LIMITS.keyOrders.requests,
  keysPerHour: RATE_LIMITS.keysIssued.requests,
};

export function effectiveCaps(
  overrides: RateOverrides,
  { keysPerHour, ordersPer10s }: OwnCaps = USUAL_CAPS,
): RateCaps {
  const caps: Partial<Record<RateClass, RateCap>> = {};
  const set: RateOverrides = {
    keyOrders: { ...RATE_LIMITS.keyOrders, requests: ordersPer10s },
    keysIssued: { ...RATE_LIMITS.keysIssued, requests: keysPerHour },
    ...overrides,
  };
  for (const name of RATE_CLASSES) {
    const cap = set[name] ?? RATE_LIMITS[name];
    if (cap !== 'off') caps[name] = { requests: cap.requests, seconds: cap.seconds };
  }
  return caps;
}

/**
 * Reads `book=400/10,health=off`: a row, and requests per seconds. `detail` names the first invalid entry.
 */
export function parseOverrides(
  text: string,
): { ok: true; value: RateOverrides } | { ok: false; detail: string } {
  const overrides: Partial<Record<RateClass, RateCap | 'off'>> = {};
  const entries = text.trim() === '' ? [] : text.split(',').map((entry) => entry.trim());
  for (const entry of entries) {
    const [name = '', value = ''] = entry.split(/=(.*)/s);
    const row = RATE_CLASSES.find((known) => known === name);
    if (row === undefined || row in overrides) {
      const problem = row === undefined ? UNKNOWN_NAME : 'comes twice';
      return { ok: false, detail: `${JSON.stringify(entry)} ${problem}` };
    }
    const cap = parseCap(value);
    if (cap === undefined) {
      const rule = `off or requests/seconds, at most ${REQUESTS_MAX}/${SECONDS_MAX}`;
      return { ok: false, detail: `${JSON.stringify(entry)} is not ${rule}` };
    }
    overrides[row] = cap;
  }
  return { ok: true, value: overrides };
}

const UNKNOWN_NAME = `names no rate limit; there are ${RATE_CLASSES.join(', ')}`;

function parseCap(text: string): RateCap | 'off' | undefined {
  if (text === 'off') return text;
  const match = /^([1-9]\d{0,9})\/([1-9]\d{0,4})$/.exec(text);
  if (match === null) return undefined;
  const requests = Number(match[1]);
  const seconds = Number(match[2]);
  return requests <= REQUESTS_MAX && seconds <= SECONDS_MAX ? { requests, seconds } : undefined;
}

export function overridesText(overrides: RateOverrides): string {
  const entries = Object.entries(overrides).map(([name, cap]) =>
    cap === 'off' ? `${name}=off` : `${name}=${cap.requests}/${cap.seconds}`,
  );
  return entries.join(',');
}
