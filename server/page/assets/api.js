// @ts-check
/**
 * Requests of the page to the public API, which listens on another port. Catalog paths have their
 * base path, because MARKET_ROUTES may change what the root serves.
 */

/**
 * @typedef {object} Market
 * @property {string} id
 * @property {string} question
 * @property {string} event title of its event, '' when unknown
 * @property {string} conditionId
 * @property {string} endDate
 * @property {readonly string[]} outcomes
 * @property {readonly string[]} tokens ids, one for each outcome
 * @property {readonly (number | undefined)[]} prices 0 to 1, one for each outcome; undefined without a
 *   trade and without orders on both sides
 * @property {MarketState} state
 * @property {Resolution | undefined} resolution undefined while the market has not resolved
 * @property {number} tick
 * @property {number} volume
 * @property {number} volumeDay
 */

/**
 * `ended`: the end date is past, and orders are taken until the market is closed.
 * @typedef {'open' | 'paused' | 'ended' | 'closed'} MarketState
 */
/** @typedef {'open' | 'paused' | 'ended' | 'closed' | 'all'} Filter */
/**
 * Payout of a market: what a share of each outcome pays, 0 to 1, and the date-time of the decision.
 * A market is void where all outcomes pay the same.
 * @typedef {{ payouts: readonly number[], at: string }} Resolution
 */
/** @typedef {{ at: number, price: number, size: number, isSell: boolean }} Trade by the taker, at unix ms */
/** @typedef {{ t: number, p: number }} Point unix seconds and a price */

const MARKETS_SHOWN = 60;
const EVENTS_SEARCHED = 20;
const TRADES_READ = 200;
/** Most tokens of one request. */
const TOKENS_ASKED = 500;
/** Of the finest tick. */
const PRICE_STEPS = 10_000;
const MINUTE_MS = 60_000;

/** Conditions on columns of the catalog. @type {Readonly<Record<Filter, () => string>>} */
const QUERIES = {
  open: () => 'active=true&closed=false&accepting_orders=true&',
  paused: () => 'closed=false&accepting_orders=false&',
  // By the minute, so that the browser's cache is of use.
  ended: () => {
    const minute = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
    return `closed=false&accepting_orders=true&end_date_max=${minute.toISOString()}&`;
  },
  closed: () => 'closed=true&',
  all: () => '',
};

export class Api {
  /** @param {string} origin of the public API, such as `http://127.0.0.1:3000` */
  constructor(origin) {
    this.origin = origin;
  }

  get marketStream() {
    return `${this.origin.replace(/^http/, 'ws')}/ws/market`;
  }

  /** Markets in a state, busiest first. @param {Filter} filter @returns {Promise<Market[]>} */
  async busiest(filter) {
    const order = 'order=volume24hr,volume&ascending=false';
    const rows = await this.get(
      `/gamma/markets?${QUERIES[filter]()}${order}&limit=${MARKETS_SHOWN}`,
    );
    return this.priced(rows.map(marketOf));
  }

  /** @param {string} id @returns {Promise<Market>} */
  async market(id) {
    const market = marketOf(await this.get(`/gamma/markets/${encodeURIComponent(id)}`));
    const [priced = market] = await this.priced([market]);
    return priced;
  }

  /**
   * The markets with the prices of all outcomes. The catalog says of the first outcome alone whether
   * its price is one, so those of more than two outcomes are read from their books.
   * @param {readonly Market[]} markets @returns {Promise<Market[]>}
   */
  async priced(markets) {
    const isRead = (/** @type {Market} */ { resolution, tokens }) =>
      tokens.length > 2 && resolution === undefined;
    const tokens = markets.filter(isRead).flatMap((market) => market.tokens);
    /** @type {Map<string, number>} */
    const prices = new Map();
    for (let from = 0; from < tokens.length; from += TOKENS_ASKED) {
      const items = tokens.slice(from, from + TOKENS_ASKED).map((token_id) => ({ token_id }));
      const [last, middle] = await Promise.all([
        this.post('/last-trades-prices', items),
        this.post('/midpoints', items),
      ]);
      for (const { price, token_id } of last) prices.set(token_id, Number(price));
      for (const [token, price] of Object.entries(middle)) prices.set(token, Number(price));
    }
    return markets.map((market) =>
      isRead(market)
        ? { ...market, prices: market.tokens.map((token) => prices.get(token)) }
        : market,
    );
  }

  /**
   * Markets in a state of the events that are found, those whose own question has all words first.
   * @param {string} words @param {Filter} filter @returns {Promise<Market[]>}
   */
  async search(words, filter) {
    const path = `/gamma/public-search?q=${encodeURIComponent(words)}&search_tags=false`;
    const limit = `limit_per_type=${EVENTS_SEARCHED}`;
    const status = filter === 'open' ? '&events_status=active' : '';
    let found = await this.get(`${path}&${limit}${status}`);
    // A catalog need not say of its events whether they are active.
    if (found.events.length === 0) found = await this.get(`${path}&${limit}`);
    const ids = found.events.map((/** @type {{ id: string }} */ { id }) => id);
    if (ids.length === 0) return [];
    const { events } = await this.get(
      `/gamma/events/keyset?id=${ids.join(',')}&limit=${EVENTS_SEARCHED}`,
    );
    /** @type {Market[]} */
    const markets = [];
    for (const { markets: rows, title } of events) {
      for (const row of rows) {
        const market = marketOf({ ...row, events: [{ title }] });
        // What has ended takes orders, as the other open ones do.
        const isOpen = filter === 'open' && market.state === 'ended';
        if (filter === 'all' || isOpen || market.state === filter) markets.push(market);
      }
    }
    const wanted = words.toLowerCase().split(/\s+/);
    const has = (/** @type {Market} */ { question }) =>
      Number(wanted.every((word) => question.toLowerCase().includes(word)));
    markets.sort((a, b) => has(b) - has(a) || b.volumeDay - a.volumeDay || b.volume - a.volume);
    return this.priced(markets.slice(0, MARKETS_SHOWN));
  }

  /**
   * @param {string} token @param {{ interval: string, fidelity: number }} window
   * @returns {Promise<Point[]>}
   */
  async history(token, { fidelity, interval }) {
    const query = `market=${token}&interval=${interval}&fidelity=${fidelity}`;
    return (await this.get(`/prices-history?${query}`)).history;
  }

  /**
   * The latest trades of one outcome, newest first, as the stream sends them: the fills of one
   * match at one price are one. @param {Market} market @param {number} outcome index @returns
   * {Promise<Trade[]>}
   */
  async trades(market, outcome) {
    const query = `market=${market.conditionId}&takerOnly=false&limit=${TRADES_READ}`;
    const rows = await this.get(`/trades?${query}`);
    /** @type {Map<string, Record<string, any>[]>} */
    const matches = new Map();
    for (const row of rows) {
      const known = matches.get(row.transactionHash);
      if (known === undefined) matches.set(row.transactionHash, [row]);
      else known.push(row);
    }
    return [...matches.values()].flatMap((match) => tradesOf(match, outcome));
  }

  /**
   * A JSON answer, from the browser's cache if its ETag is unchanged. Rejects when there is none, or
   * when it is an error. @param {string} path
   */
  get(path) {
    return this.send(path, { cache: 'no-cache' });
  }

  /**
   * The answer to a JSON body, which is sent as text so that the browser asks for no permission first.
   * @param {string} path @param {object} body
   */
  post(path, body) {
    return this.send(path, { method: 'POST', body: JSON.stringify(body) });
  }

  /** @param {string} path @param {RequestInit} request */
  async send(path, request) {
    const signal = AbortSignal.timeout(10_000);
    const answer = await fetch(`${this.origin}${path}`, { ...request, signal });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    return answer.json();
  }
}

/**
 * The trades of one outcome in a match, the last price first. Only rows of makers count, because
 * the taker's row has an average.
 * @param {readonly Record<string, any>[]} match its rows, the taker's first
 * @param {number} outcome index @returns {Trade[]}
 */
function tradesOf([taker, ...makers], outcome) {
  /** @type {Map<number, Trade>} */
  const trades = new Map();
  for (const { outcomeIndex, price: own, size, timestamp } of makers) {
    // Where a pair was minted or merged, both outcomes were traded, on the same side.
    const isTakers = outcomeIndex !== outcome;
    if (isTakers && taker?.outcomeIndex !== outcome) continue;
    const price = isTakers ? Math.round((1 - own) * PRICE_STEPS) / PRICE_STEPS : own;
    const known = trades.get(price);
    const isSell = taker?.side === 'SELL';
    if (known === undefined) trades.set(price, { at: timestamp * 1_000, price, size, isSell });
    else known.size += size;
  }
  return [...trades.values()].reverse();
}

/** A market of the catalog. @param {Record<string, any>} row @returns {Market} */
function marketOf(row) {
  return {
    id: String(row.id),
    question: row.question,
    event: row.events?.[0]?.title ?? '',
    conditionId: row.conditionId,
    endDate: row.endDate ?? '',
    outcomes: listOf(row.outcomes),
    tokens: listOf(row.clobTokenIds),
    prices: pricesOf(row),
    state: stateOf(row),
    resolution: resolutionOf(row),
    tick: row.orderPriceMinTickSize ?? 0.01,
    volume: row.volumeNum ?? 0,
    volumeDay: row.volume24hr ?? 0,
  };
}

/** Known of a pair, and of a market that has resolved. @param {Record<string, any>} row @returns {(number | undefined)[]} */
function pricesOf({ bestAsk, bestBid, lastTradePrice, outcomePrices, umaResolutionStatus }) {
  const prices = listOf(outcomePrices).map(Number);
  const isTwoSided = bestBid > 0 && bestAsk < 1;
  const isKnown = isTwoSided || lastTradePrice > 0 || umaResolutionStatus === 'resolved';
  return isKnown ? prices : prices.map(() => undefined);
}

/** @param {Record<string, any>} row @returns {Resolution | undefined} */
function resolutionOf({ closedTime, outcomePrices, umaResolutionStatus }) {
  if (umaResolutionStatus !== 'resolved') return undefined;
  return { payouts: listOf(outcomePrices).map(Number), at: closedTime ?? '' };
}

/** @param {Record<string, any>} row @returns {MarketState} */
function stateOf({ acceptingOrders, active, archived, closed, enableOrderBook, endDate }) {
  if (closed || archived) return 'closed';
  if (!active || acceptingOrders === false || enableOrderBook === false) return 'paused';
  return Date.parse(endDate ?? '') < Date.now() ? 'ended' : 'open';
}

/** @param {unknown} value @returns {string[]} */
function listOf(value) {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' && value !== '' ? JSON.parse(value) : [];
}
