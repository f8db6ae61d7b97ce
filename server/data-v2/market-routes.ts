/**
 * GET /v2/oi, /v2/live-volume and /v2/prices-history: of markets, whoever trades in them.
 *
 * Thread: I/O.
 */
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { tokenMarket } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Pips, TokenRow } from '../../engine/tables/units.ts';
import { STEP_MINUTES } from '../../storage/projection/prices.ts';
import type { PositionsReader } from '../../storage/projection/reader.ts';
import { microText, pipsText } from '../common/decimal.ts';
import { Type } from '../common/schema.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { HistoryService } from '../market-data/history-service.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { Holdings } from '../wallet/holdings.ts';
import { microsText } from '../wallet/money.ts';
import { interestOf } from '../wallet/open-interest.ts';
import { type DataParts, dataRoute, type Listed, listRoute } from './envelope.ts';
import { conditionsOfEvents, type EventMarkets } from './event-markets.ts';
import { between, choice, conditions, eventIds, required, tokenId } from './parameters.ts';
import { brokenWindow, INTERVALS, type PriceWindow, priceWindow, stepOf } from './price-window.ts';
import { rowText } from './row-texts.ts';
import { DataLiveVolume, DataOpenInterest, DataPricePoint } from './schemas.ts';

export interface MarketParts extends DataParts, EventMarkets {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly positions: PositionsReader;
  readonly holdings: Holdings;
  readonly history: HistoryService;
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
}

const GLOBAL = 'GLOBAL';
const NO_MARKET = 0;
const MS = 1_000;
const MINUTE = 60;
const SECONDS_MAX = 2 ** 53 - 1;
const BUCKET_SECONDS_MIN = 60;
const BUCKET_SECONDS_MAX = 86_400;
const POINTS_MAX = 10_000;
/** Width of a point that is exact. */
const EXACT = 0;

/** Unix seconds: the last point, and the end of the window. */
const PointPlace = Type.Tuple([Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 })]);

export const MARKET_ROUTES = [
  dataRoute(
    'GET /v2/oi',
    {
      does: 'complete sets of markets, or of all of them: `condition`',
      parameters: { condition: conditions() },
      data: DataOpenInterest,
    },
    ({ positions, tables }: MarketParts, { condition }) => {
      const row = (condition_id: string, market: number): string =>
        rowText({ value: microsText(interestOf(positions, tables, market)) }, { condition_id });
      if (condition === null) return `[${row(GLOBAL, NO_MARKET)}]`;
      const rows = condition.flatMap((id) => {
        const market = marketByCondition(tables, id);
        return market === NO_MARKET ? [] : [row(id, market)];
      });
      return `[${rows.join(',')}]`;
    },
  ),
  dataRoute(
    'GET /v2/live-volume',
    {
      does: 'traded shares of the markets of events: `event_id`',
      parameters: { event_id: { ...required(eventIds()), aliases: ['id'] } },
      data: DataLiveVolume,
    },
    async (parts: MarketParts, { event_id }) => {
      const { history, tables } = parts;
      const markets = await conditionsOfEvents(parts, event_id!);
      const volumes = markets.map((condition_id) => {
        const market = marketByCondition(tables, condition_id);
        const shares = market === NO_MARKET ? 0 : history.volumes.sharesOf(market);
        return { condition_id, shares };
      });
      const total = volumes.reduce((sum, { shares }) => sum + BigInt(shares), 0n);
      const rows = volumes
        .sort((a, b) => b.shares - a.shares)
        .map(({ condition_id, shares }) =>
          rowText({ taker_volume: microText(shares) }, { condition_id }),
        );
      return `{"taker_volume_total":${microsText(total)},"conditions":[${rows.join(',')}]}`;
    },
  ),
  listRoute(
    'GET /v2/prices-history',
    {
      does: 'prices of a token over time, oldest first: `token_id interval start end as_of bucket_seconds limit cursor`',
      limits: ['pricesHistory', 'trades'],
      parameters: {
        token_id: tokenId(true),
        interval: choice(INTERVALS, ''),
        start: between(1, SECONDS_MAX, 0),
        end: between(1, SECONDS_MAX, 0),
        as_of: between(1, SECONDS_MAX, 0),
        bucket_seconds: between(BUCKET_SECONDS_MIN, BUCKET_SECONDS_MAX, 0),
      },
      item: DataPricePoint,
      position: PointPlace,
      limit: { usual: POINTS_MAX, max: POINTS_MAX },
      check: brokenWindow,
    },
    (parts: MarketParts, query, { after, limit }): Listed => {
      const token = parts.texts.find(query.token_id);
      if (token === 0) return { items: [], next: null };
      const now = Math.floor(parts.now() / MS);
      if (query.as_of !== 0) return latestPoint(parts, token, Math.min(query.as_of, now));
      const [last = 0, end = 0] = (after ?? []) as readonly number[];
      const window = priceWindow(query, now);
      // The end of the first page is that of all pages.
      const to = end === 0 ? window.to : Math.min(end, now + 1);
      const points = pointsOf(parts, token, { ...window, to }, last, limit + 1);
      const payout = payoutPoint(parts, token, { ...window, to }, points.at(-1)?.[0] ?? last);
      const all = payout === undefined || points.length > limit ? points : [...points, payout];
      const page = all.slice(0, limit);
      const items = page.map(([timestamp, pips, width]) =>
        rowText({ price: pipsText(pips) }, { timestamp, resolution_seconds: width }),
      );
      return { items, next: all.length > page.length ? [page.at(-1)![0], to] : null };
    },
  ),
];

/** Unix seconds, pips, and seconds of the bucket. */
type Point = readonly [timestamp: number, pips: Pips, width: number];

function latestPoint({ history }: MarketParts, token: TokenRow, until: number): Listed {
  const found = history.prices.latest(token, Math.floor(until / MINUTE));
  if (found === undefined) return { items: [], next: null };
  const rest = { timestamp: found.minute * MINUTE, resolution_seconds: MINUTE };
  return { items: [rowText({ price: pipsText(found.pips as Pips) }, rest)], next: null };
}

/**
 * Buckets of a window with a price in them or before them.
 * @param after unix seconds of the last bucket of the page before; 0 = the first page
 */
function pointsOf(
  { history }: MarketParts,
  token: TokenRow,
  { bucket, from, to }: PriceWindow,
  after: number,
  most: number,
): Point[] {
  const firstMinute = history.prices.firstMinute(token);
  if (firstMinute === undefined) return [];
  const begin = Math.max(Math.floor(Math.max(from, firstMinute * MINUTE) / bucket), 0);
  const first = after === 0 ? begin : Math.floor(after / bucket) + 1;
  const last = Math.min(Math.floor((to - 1) / bucket), first + most - 1);
  if (first > last) return [];
  const step = stepOf(bucket);
  const seconds = STEP_MINUTES[step] * MINUTE;
  const start = Math.floor((first * bucket) / seconds);
  const end = Math.floor((to - 1) / seconds);
  const lastOf = (at: number): number =>
    Math.min(Math.ceil(((at + 1) * bucket) / seconds) - 1, end);
  const prices = history.prices.series(token, step, start, Math.max(start, lastOf(last)));
  const points: Point[] = [];
  for (let at = first; at <= last; at++) {
    const pips = prices[lastOf(at) - start]! as Pips;
    if (pips !== 0) points.push([at * bucket, pips, bucket]);
  }
  return points;
}

/** The payout of a resolved market, one bucket behind the last point. */
function payoutPoint(
  { holdings, tables }: MarketParts,
  token: TokenRow,
  { bucket, to }: PriceWindow,
  last: number,
): Point | undefined {
  if (last === 0 || resolutionOf(tables, tokenMarket(tables, token))?.isDone !== true) {
    return undefined;
  }
  const timestamp = Math.min(last + bucket, to - 1);
  return timestamp > last ? [timestamp, holdings.price(token) as Pips, EXACT] : undefined;
}
