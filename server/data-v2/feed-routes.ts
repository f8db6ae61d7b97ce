/**
 * GET /v2/trades and /v2/activity: the newest fills, and the lifecycle of a wallet's holdings.
 *
 * Both show fills as far back as the ring of fills reaches. A page begins behind a row, so new rows move none.
 *
 * Thread: I/O.
 */
import type { StatementsReader } from '../../storage/projection/reader.ts';
import { nextIteration } from '../common/event-loop.ts';
import { Type } from '../common/schema.ts';
import { accountByAddress, marketsByConditions } from '../market-data/find.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import { ROW_DOUBLES, Row, TradesSelector } from '../market-data/trades-select.ts';
import { type DataParts, type Listed, listRoute } from './envelope.ts';
import { conditionsOf, type EventMarkets } from './event-markets.ts';
import { activityText, feedPage, tradeText } from './feed-walk.ts';
import {
  amount,
  choice,
  conditions,
  eventIds,
  flag,
  period,
  required,
  wallet,
  words,
} from './parameters.ts';
import { type RowTexts, textsOf } from './row-texts.ts';
import { ACTIVITY_TYPES, DataActivity, DataTrade, TRADE_SIDES } from './schemas.ts';

export interface FeedParts extends DataParts, EventMarkets {
  readonly index: TradesIndex;
  readonly statements: StatementsReader;
  readonly rows: RowTexts;
}

const MEASURES = ['CASH', 'TOKENS'] as const;
const DIRECTIONS = ['ASC', 'DESC'] as const;
/** Micro-units: smaller trades are left out, as the other service does. */
const TRADE_AMOUNT_USUAL = 10_000;

/** Match and key of a row of trades. */
const TradePosition = Type.Tuple([Type.Integer(), Type.Integer()]);
/** Unix milliseconds, key, and match of a row of activity. */
const ActivityPosition = Type.Tuple([Type.Number(), Type.Integer(), Type.Integer()]);

export const FEED_ROUTES = [
  listRoute(
    'GET /v2/trades',
    {
      does: 'newest trades of all wallets or of one: `user condition event_id side taker_only filter_type filter_amount start end limit cursor`',
      parameters: {
        user: wallet(false),
        condition: conditions(),
        event_id: eventIds(),
        side: choice(TRADE_SIDES, ''),
        taker_only: flag(true),
        filter_type: choice(MEASURES, 'TOKENS'),
        filter_amount: amount(TRADE_AMOUNT_USUAL),
        ...period(),
      },
      item: DataTrade,
      position: TradePosition,
    },
    async (parts: FeedParts, query, { after, limit }) => {
      const selector = new TradesSelector(parts.index, limit + 1);
      const { end, filter_amount, filter_type, side, start, taker_only, user } = query;
      const selection = {
        limit: limit + 1,
        offset: 0,
        takerOnly: taker_only,
        filterType: filter_type,
        filterAmount: filter_amount || TRADE_AMOUNT_USUAL,
        market: await conditionsOf(parts, query),
        user,
        side,
      };
      const [match, key] = (after ?? []) as readonly number[];
      const bounds = {
        start,
        end,
        ...(key === undefined ? {} : { after: { match: match!, key } }),
      };
      const walk = selector.select(selection, bounds);
      while (walk.next().done !== true) await nextIteration();
      const { found, keys } = selector;
      const read = new Float64Array(Math.min(found, limit) * ROW_DOUBLES);
      let count = 0;
      while (
        count < Math.min(found, limit) &&
        selector.read(keys[count]!, read, count * ROW_DOUBLES)
      )
        count += 1;
      const at = Array.from({ length: count }, (_, i) => i * ROW_DOUBLES);
      const items = await textsOf(at, (row) => tradeText(parts.rows, read, row));
      const last = count - 1;
      const isMore = found > limit && count === limit;
      const next = isMore ? [read[last * ROW_DOUBLES + Row.match]!, keys[last]!] : null;
      return { items, next };
    },
  ),
  listRoute(
    'GET /v2/activity',
    {
      does: 'trades, splits, merges and payouts of a wallet: `user type condition event_id side start end sort_direction exclude_deposits_withdrawals limit cursor`',
      parameters: {
        user: required(wallet(true)),
        type: words(ACTIVITY_TYPES),
        condition: conditions(),
        event_id: eventIds(),
        side: choice(TRADE_SIDES, ''),
        ...period(),
        sort_by: choice(['TIMESTAMP'], 'TIMESTAMP'),
        sort_direction: choice(DIRECTIONS, 'DESC'),
        // Deposits and withdrawals are no public data of a wallet.
        exclude_deposits_withdrawals: flag(true),
      },
      item: DataActivity,
      position: ActivityPosition,
      order: ['sort_direction'],
      check: ({ condition, event_id }) =>
        condition === null || event_id === null
          ? undefined
          : { parameter: 'event_id', rule: 'give condition or event_id, not both' },
    },
    async (parts: FeedParts, query, { after, limit }): Promise<Listed> => {
      const { index, rows, statements } = parts;
      const account = accountByAddress(index.tables, query.user);
      if (account === 0) return { items: [], next: null };
      const named = await conditionsOf(parts, query);
      const markets = named === null ? null : marketsByConditions(index.tables, named);
      const [time, key, match] = (after ?? []) as readonly number[];
      const place = key === undefined ? undefined : { time: time!, key, match: match! };
      const feed = { index, statements, account, markets, query };
      const { isMore, keys, read } = await feedPage(feed, limit, place);
      const at = keys.map((_, i) => i * ROW_DOUBLES);
      const items = await textsOf(at, (row) =>
        activityText(rows, read, row, keys[row / ROW_DOUBLES]!),
      );
      const last = at.at(-1);
      if (!isMore || last === undefined) return { items, next: null };
      return { items, next: [read[last + Row.time]!, keys.at(-1)!, read[last + Row.match]!] };
    },
  ),
];
