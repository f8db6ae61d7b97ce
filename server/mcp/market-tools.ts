/**
 * Tools that read what everybody may read: the catalog, books, prices, trades, boards, resolutions and the time.
 *
 * Thread: any.
 */
import { decimalOf } from '../../client/money.ts';
import type { DataTrade, EventAnswer, LeaderboardRow, MarketAnswer } from '../../client/types.ts';
import { Type } from '../common/schema.ts';
import { CHOICE, LIST, MARKET, NAME, OUTCOME } from './arguments.ts';
import { marketOf, type Outcome, outcomeOf, outcomesOf } from './markets.ts';
import { cut, listed, timeText } from './pages.ts';
import { tool } from './tool.ts';
import { nodeRefusal, toolRefusal } from './tool-refusals.ts';

/** Characters of rules and descriptions of one market or event. */
const TEXT_MAX = 1_500;
const TITLE_MAX = 200;
const SEARCH_ROWS = 20;
const MARKET_ROWS = 50;
const HISTORY_ROWS = 200;
const HISTORY_USUAL = 50;
const TRADE_ROWS = 50;
const BOARD_ROWS = 50;
const DEPTH_MAX = 50;
const DEPTH_USUAL = 10;
/** Price levels of one answer, of all outcomes and both sides. */
const LEVELS_MAX = 400;
const OUTCOMES_MAX = 32;
const TAGS_MAX = 20;

const INTERVALS = ['1h', '6h', '1d', '1w', '1m', 'max'] as const;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Seconds between two prices: some hundred prices an interval. */
const BUCKETS: Readonly<Record<(typeof INTERVALS)[number], number>> = {
  '1h': MINUTE,
  '6h': 5 * MINUTE,
  '1d': 15 * MINUTE,
  '1w': 2 * HOUR,
  '1m': 6 * HOUR,
  max: 24 * HOUR,
};

const NO_PRICES =
  'No trades of this outcome here. Of two outcomes, the price of one is 1 less the price of the other.';

const EVENT = NAME('an event: its number or slug');

const search = tool({
  title: 'Search events',
  does: 'Finds events by words of their titles. Call event with one of them for its markets.',
  routes: ['GET /public-search'],
  args: Type.Object({
    query: NAME('words of a title, the last one may be a beginning'),
    status: Type.Optional(CHOICE(['active', 'closed', 'all'], 'all by default')),
    ...LIST(SEARCH_ROWS),
  }),
  async run({ args, venue }) {
    const { query: q, status = 'all' } = args;
    const list = await listed(
      args,
      async (cursor = '1') => {
        const page = Number(cursor);
        const query = { q, events_status: status, limit_per_type: SEARCH_ROWS, page };
        const { events, pagination } = await venue.call('GET /public-search', { query });
        return { rows: events, next: pagination.hasMore ? String(page + 1) : undefined };
      },
      eventRow,
    );
    return { events: list.rows, next: list.next };
  },
});

const event = tool({
  title: 'Event and its markets',
  does: 'One event with its markets, their outcomes and prices between 0 and 1.',
  routes: ['GET /events', 'GET /markets/keyset'],
  args: Type.Object({ event: EVENT, ...LIST(MARKET_ROWS) }),
  async run({ args, venue }) {
    const isNumber = /^\d{1,15}$/.test(args.event);
    const named = isNumber ? { id: Number(args.event) } : { slug: args.event };
    const [found] = await venue.call('GET /events', { query: { ...named, limit: 1 } });
    if (found === undefined) throw unknownEvent(args.event);
    const list = await listed(
      args,
      async (after_cursor) => {
        const query = { event_id: Number(found.id), limit: MARKET_ROWS, after_cursor };
        const page = await venue.call('GET /markets/keyset', { query });
        return { rows: page.markets, next: page.next_cursor };
      },
      marketRow,
    );
    const { description, tags } = found;
    return {
      ...eventRow(found),
      description: cut(description, TEXT_MAX),
      tags: tags.slice(0, TAGS_MAX).map(({ label }) => cut(label, TITLE_MAX)),
      markets: list.rows,
      next: list.next,
    };
  },
});

const market = tool({
  title: 'Market',
  does: 'One market: rules, outcomes with prices, tick, smallest order, fees, and whether it takes orders.',
  routes: ['GET /markets/:id', 'GET /markets/slug/:slug'],
  args: Type.Object({ market: MARKET }),
  async run({ args, venue }) {
    const found = await marketOf(venue, args.market);
    const { bestAsk, bestBid, conditionId, description, events, feeSchedule } = found;
    const { lastTradePrice, liquidity, orderMinSize, orderPriceMinTickSize } = found;
    return {
      ...marketRow(found),
      condition_id: conditionId,
      description: cut(description, TEXT_MAX),
      event: events[0]?.slug,
      tick: orderPriceMinTickSize,
      min_size: orderMinSize,
      fee_schedule: feeSchedule,
      first_outcome: { best_bid: bestBid, best_ask: bestAsk, last_trade_price: lastTradePrice },
      liquidity,
      ends: found.endDate,
      resolution: found.umaResolutionStatus,
    };
  },
});

const book = tool({
  title: 'Order book',
  does: 'Bids and asks of an outcome, or of all outcomes of a market: price and size in shares, the best first.',
  routes: ['GET /markets/:id', 'GET /markets/slug/:slug', 'POST /books'],
  args: Type.Object({
    market: MARKET,
    outcome: Type.Optional(OUTCOME),
    depth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: DEPTH_MAX,
        description: `price levels of each side, 1 to ${DEPTH_MAX} (${DEPTH_USUAL})`,
      }),
    ),
  }),
  async run({ args, venue }) {
    const found = await marketOf(venue, args.market);
    const { outcome } = args;
    const all = outcomesOf(found).slice(0, OUTCOMES_MAX);
    const shown = outcome === undefined ? all : [outcomeOf(found, outcome)];
    const depth = Math.min(args.depth ?? DEPTH_USUAL, Math.ceil(LEVELS_MAX / 2 / shown.length));
    const body = shown.map(({ tokenId }) => ({ token_id: tokenId }));
    const books = await venue.call('POST /books', { body });
    return {
      market: found.slug,
      tick: found.orderPriceMinTickSize,
      min_size: found.orderMinSize,
      books: shown.map(({ name, tokenId }) => {
        const read = books.find(({ asset_id }) => asset_id === tokenId);
        const levels = (side: 'asks' | 'bids') =>
          (read?.[side] ?? [])
            .slice(-depth)
            .reverse()
            .map(({ price, size }) => [price, size]);
        const last_trade_price = read?.last_trade_price;
        return { outcome: name, bids: levels('bids'), asks: levels('asks'), last_trade_price };
      }),
    };
  },
});

const priceHistory = tool({
  title: 'Price history',
  does: 'Prices of an outcome over time, oldest first.',
  routes: ['GET /markets/:id', 'GET /markets/slug/:slug', 'GET /v2/prices-history'],
  args: Type.Object({
    market: MARKET,
    outcome: OUTCOME,
    interval: Type.Optional(CHOICE(INTERVALS, 'time that it reaches back, 1d by default')),
    ...LIST(HISTORY_ROWS),
  }),
  async run({ args, venue }) {
    const { interval = '1d', limit = HISTORY_USUAL, next } = args;
    const found = await marketOf(venue, args.market);
    const { name, tokenId } = outcomeOf(found, args.outcome);
    const terms = { interval, bucket_seconds: BUCKETS[interval], limit: HISTORY_ROWS };
    const list = await listed(
      { limit, ...(next === undefined ? {} : { next }) },
      async (cursor) => {
        const query = { token_id: tokenId, ...terms, cursor };
        return dataPage(await venue.call('GET /v2/prices-history', { query }));
      },
      ({ price, timestamp }) => ({ time: timeText(timestamp), price }),
    );
    const note = list.rows.length === 0 ? NO_PRICES : undefined;
    return { market: found.slug, outcome: name, prices: list.rows, note, next: list.next };
  },
});

const trades = tool({
  title: 'Trades',
  does: 'Newest trades of a market, of a wallet, of both or of all.',
  routes: ['GET /markets/:id', 'GET /markets/slug/:slug', 'GET /v2/trades'],
  args: Type.Object({
    market: Type.Optional(MARKET),
    wallet: Type.Optional(NAME('the address of a wallet; own: that of the key, which needs one')),
    ...LIST(TRADE_ROWS),
  }),
  async run({ args, venue }) {
    const found = args.market === undefined ? undefined : await marketOf(venue, args.market);
    const isOwn = args.wallet === 'own';
    if (isOwn && venue.rights === 'none') throw toolRefusal('KEY_NEEDED');
    const user = isOwn ? venue.wallet : args.wallet;
    const list = await listed(
      args,
      async (cursor) => {
        const query = { condition: found?.conditionId, user, limit: TRADE_ROWS, cursor };
        return dataPage(await venue.call('GET /v2/trades', { query }));
      },
      (trade) => tradeRow(trade, found === undefined),
    );
    return { trades: list.rows, next: list.next };
  },
});

const leaderboard = tool({
  title: 'Leaderboard',
  does: 'Wallets by profit or volume of a day, week, month, season or all time.',
  routes: ['GET /v2/leaderboard'],
  args: Type.Object({
    period: Type.Optional(CHOICE(['day', 'week', 'month', 'season', 'all'], 'day by default')),
    by: Type.Optional(CHOICE(['profit', 'volume'], 'profit by default')),
    ...LIST(BOARD_ROWS),
  }),
  async run({ args, venue }) {
    const { by = 'profit', period = 'day' } = args;
    const sort_by = by === 'profit' ? 'PNL' : 'VOLUME';
    const list = await listed(
      args,
      async (cursor) => {
        const query = { time_period: period, sort_by, limit: BOARD_ROWS, cursor } as const;
        const answer = await venue.call('GET /v2/leaderboard', { query });
        return 'pagination' in answer ? dataPage(answer) : { rows: [] };
      },
      boardRow,
    );
    return { period, by, wallets: list.rows, next: list.next };
  },
});

const resolveStatus = tool({
  title: 'Resolution of a market',
  does: 'State of a market: open, with a proposed payout, or resolved, and what each outcome pays.',
  routes: ['GET /markets/:id', 'GET /markets/slug/:slug', 'GET /v2/resolutions'],
  args: Type.Object({ market: MARKET }),
  async run({ args, venue }) {
    const found = await marketOf(venue, args.market);
    const query = { condition: found.conditionId };
    const { data } = await venue.call('GET /v2/resolutions', { query });
    const [state] = data;
    return {
      ...marketRow(found),
      ends: found.endDate,
      status: STATES[state?.status ?? 'posed'],
      payouts: state?.payouts && payoutsOf(outcomesOf(found), state.payouts),
      resolved_at: state?.resolved_at,
      note: state?.resolution_note,
    };
  },
});

const time = tool({
  title: 'Time and state of the venue',
  does: 'The time of the venue, and whether it takes orders now.',
  routes: ['GET /status', 'GET /time'],
  args: Type.Object({}),
  async run({ venue }) {
    const seconds = await venue.call('GET /time', {});
    const { paused, status } = await venue.call('GET /status', {});
    return { unix: seconds, time: timeText(seconds), status, paused };
  },
});

/** States of a resolution by those of the data API. */
const STATES = { posed: 'open', proposed: 'proposed', resolved: 'resolved' } as const;

export const MARKET_TOOLS = {
  search,
  event,
  market,
  book,
  price_history: priceHistory,
  trades,
  leaderboard,
  resolve_status: resolveStatus,
  time,
};

function unknownEvent(name: string): Error {
  return nodeRefusal('slug not found', 'UNKNOWN_SLUG', `no event has the number or slug ${name}`);
}

function eventRow({ closed, endDate, id, slug, title, volume }: EventAnswer) {
  return { event: slug, id, title: cut(title, TITLE_MAX), closed, ends: endDate, volume };
}

function marketRow(found: MarketAnswer) {
  const { acceptingOrders, closed, id, question, slug, volume } = found;
  return {
    market: slug,
    id,
    question: cut(question, TITLE_MAX),
    outcomes: outcomesOf(found)
      .slice(0, OUTCOMES_MAX)
      .map(({ name, price }) => ({ name: cut(name, TITLE_MAX), price })),
    accepting_orders: acceptingOrders,
    closed,
    volume,
  };
}

function tradeRow(trade: DataTrade, isNamed: boolean) {
  const { outcome, price, proxy_wallet, side, size, slug, timestamp } = trade;
  const own = { time: timeText(timestamp), side, outcome, price, size, wallet: proxy_wallet };
  return isNamed ? { market: slug, ...own } : own;
}

function boardRow({ pnl, rank, user_id, user_name, volume }: LeaderboardRow) {
  return { rank, wallet: user_id, name: user_name, profit: pnl, volume };
}

/** @param payouts millionths of a share's full worth, by outcome */
function payoutsOf(outcomes: readonly Outcome[], payouts: readonly number[]) {
  return outcomes.map(({ name }, i) => ({
    outcome: name,
    pays: decimalOf(String(payouts[i] ?? 0)),
  }));
}

interface DataPage<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly next_cursor: string | null };
}

/** Page of a list of the data API. */
export function dataPage<Row>({ data, pagination }: DataPage<Row>) {
  return { rows: data, next: pagination.next_cursor };
}
