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
 * @property {readonly number[]} prices 0 to 1, one for each outcome
 * @property {number | undefined} price of the first outcome; undefined without a trade and without
 *   orders on both sides
 * @property {MarketState} state
 * @property {number} tick
 * @property {number} volume
 * @property {number} volumeDay
 */

/**
 * `ended`: the end date is past, and orders are taken until the market is closed.
 * @typedef {'open' | 'paused' | 'ended' | 'closed'} MarketState
 */
/** @typedef {'open' | 'paused' | 'ended' | 'closed' | 'all'} Filter */
/** @typedef {{ at: number, price: number, size: number, isSell: boolean }} Trade by the taker, at unix ms */
/** @typedef {{ t: number, p: number }} Point unix seconds and a price */

const MARKETS_SHOWN = 60;
const EVENTS_SEARCHED = 20;
const TRADES_READ = 200;
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
    return rows.map(marketOf);
  }

  /** @param {string} id @returns {Promise<Market>} */
  async market(id) {
    return marketOf(await this.get(`/gamma/markets/${encodeURIComponent(id)}`));
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
    return markets.slice(0, MARKETS_SHOWN);
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
  async get(path) {
    const signal = AbortSignal.timeout(10_000);
    const answer = await fetch(`${this.origin}${path}`, { cache: 'no-cache', signal });
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
    prices: listOf(row.outcomePrices).map(Number),
    price: priceOf(row),
    state: stateOf(row),
    tick: row.orderPriceMinTickSize ?? 0.01,
    volume: row.volumeNum ?? 0,
    volumeDay: row.volume24hr ?? 0,
  };
}

/** @param {Record<string, any>} row @returns {number | undefined} */
function priceOf({ bestAsk, bestBid, lastTradePrice, outcomePrices }) {
  const isTwoSided = bestBid > 0 && bestAsk < 1;
  return isTwoSided || lastTradePrice > 0 ? Number(listOf(outcomePrices)[0]) : undefined;
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
