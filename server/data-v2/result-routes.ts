/**
 * Boards, profit and volume of wallets below /v2. Rules: docs/protocol.md#profit-and-volume and #brier-score
 *
 * Thread: I/O.
 */
import type { TokenRow } from '../../engine/tables/units.ts';
import type { Accuracy } from '../../storage/projection/forecasts.ts';
import { HOUR_MS, PERIODS } from '../../storage/projection/periods.ts';
import { Board } from '../../storage/projection/ranks.ts';
import type { ResultsReader } from '../../storage/projection/reader.ts';
import type { EventSummary } from '../catalog/market-info.ts';
import { text } from '../common/data-query.ts';
import type { AccountTexts } from '../market-data/account-texts.ts';
import { accountByAddress } from '../market-data/find.ts';
import type { Holdings } from '../wallet/holdings.ts';
import type { Leaderboard, RankedPlace, RankedWin, Standing } from '../wallet/leaderboard.ts';
import { microsText } from '../wallet/money.ts';
import type { ProfitPoint, ProfitPoints, VolumeSums } from '../wallet/profit-points.ts';
import { type DataParts, dataRoute, listRoute } from './envelope.ts';
import { choice, period, wallet } from './parameters.ts';
import * as schemas from './result-schemas.ts';
import { textsOf } from './row-texts.ts';

export interface ResultRouteParts extends DataParts {
  readonly leaderboard: Leaderboard;
  readonly points: ProfitPoints;
  readonly results: ResultsReader;
  readonly holdings: Holdings;
  readonly names: AccountTexts;
  /** Event of a market by its condition id; undefined where the catalog does not list it. */
  readonly eventOf: (condition: string) => EventSummary | undefined;
}

const MS = 1_000;
const DAY_HOURS = 24;
const HOUR_STEPS = { '1h': 1, '3h': 3, '12h': 12, '18h': 18, '1d': DAY_HOURS } as const;
const INTERVAL_HOURS = {
  '6h': 6,
  '12h': 12,
  '1d': DAY_HOURS,
  '1w': 7 * DAY_HOURS,
  '1m': 30 * DAY_HOURS,
  all: Number.POSITIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
} as const;
type Step = keyof typeof HOUR_STEPS;
type Interval = keyof typeof INTERVAL_HOURS;
const STEPS = Object.keys(HOUR_STEPS) as Step[];
const INTERVALS = Object.keys(INTERVAL_HOURS) as Interval[];
/** Hours are what the projection stores. */
const SOURCE_STEP: Step = '1h';

/** The only category: boards of others have no rows. */
const OVERALL = 'overall';
const CATEGORY_MAX = 100;
const boardParameters = {
  time_period: choice(PERIODS, 'day'),
  category: { ...text(CATEGORY_MAX), unset: OVERALL },
};

export const RESULT_ROUTES = [
  listRoute(
    'GET /v2/leaderboard',
    {
      does: 'wallets by profit or volume of a day, week, month, season or all time: `time_period category sort_by limit cursor`; with `user` the ranks of one wallet',
      parameters: {
        ...boardParameters,
        sort_by: choice(['PNL', 'VOLUME'], 'PNL'),
        user: wallet(false),
      },
      order: ['time_period', 'category', 'sort_by'],
      item: schemas.LeaderboardRow,
      single: schemas.LeaderboardStanding,
      position: schemas.LeaderboardPosition,
    },
    async (parts: ResultRouteParts, query, { after, limit }) => {
      const { category, sort_by, time_period, user } = query;
      const { leaderboard, names } = parts;
      if (user !== '') {
        const account = category === OVERALL ? accountByAddress(names.tables, user) : 0;
        if (account === 0) return { data: 'null' };
        const [rank_pnl, rank_volume] = [
          await leaderboard.rank(Board.profit, time_period, account),
          await leaderboard.rank(Board.volume, time_period, account),
        ];
        const ranks = `"rank_pnl":${rank_pnl},"rank_volume":${rank_volume}`;
        return {
          data: walletText(parts, ranks, account, leaderboard.standing(account, time_period)),
        };
      }
      if (category !== OVERALL) return { items: [], next: null };
      const measure = sort_by === 'PNL' ? Board.profit : Board.volume;
      const place = after === null ? undefined : placeOf(after as schemas.LeaderboardCursor);
      const { hasMore, rows } = await leaderboard.wallets(measure, time_period, place, limit);
      const items = rows.map(({ account, rank }) =>
        walletText(parts, `"rank":${rank}`, account, leaderboard.standing(account, time_period)),
      );
      const last = rows.at(-1);
      const next = hasMore && last !== undefined ? cursorOf(last) : null;
      return { items, next };
    },
  ),
  listRoute(
    'GET /v2/leaderboard/brier',
    {
      does: 'wallets by Brier score, the best first, in markets that resolved in a day, week, month, season or ever: `time_period limit cursor`; with `user` the score of one wallet',
      parameters: { time_period: choice(PERIODS, 'day'), user: wallet(false) },
      order: ['time_period'],
      item: schemas.BrierRow,
      single: schemas.BrierStanding,
      position: schemas.LeaderboardPosition,
    },
    async (parts: ResultRouteParts, { time_period, user }, { after, limit }) => {
      const { leaderboard, names } = parts;
      if (user !== '') {
        const account = accountByAddress(names.tables, user);
        const own = leaderboard.accuracy(account, time_period);
        if (own === undefined) return { data: 'null' };
        const rank = await leaderboard.rank(Board.brier, time_period, account);
        return { data: accuracyText(parts, rank, account, own) };
      }
      const place = after === null ? undefined : placeOf(after as schemas.LeaderboardCursor);
      const { hasMore, rows } = await leaderboard.wallets(Board.brier, time_period, place, limit);
      const items = rows.flatMap(({ account, rank }) => {
        const own = leaderboard.accuracy(account, time_period);
        return own === undefined ? [] : [accuracyText(parts, rank, account, own)];
      });
      const last = rows.at(-1);
      return { items, next: hasMore && last !== undefined ? cursorOf(last) : null };
    },
  ),
  dataRoute(
    'GET /v2/user-stats',
    {
      does: 'traded markets, best won position, first trade and profit of a wallet: `user`',
      parameters: { user: wallet(true) },
      data: schemas.UserStats,
    },
    async ({ holdings, names, points, results }: ResultRouteParts, { user }) => {
      const account = accountByAddress(names.tables, user);
      if (account === 0) return 'null';
      const trades = await holdings.marketsTraded(account);
      const first = points.firstTrade(account);
      const newest = points.newest(account);
      const joined = first === undefined ? null : Math.floor(first / MS);
      return (
        `{"proxy_wallet":"${user}","trades":${trades},` +
        `"biggest_win":${microsText(results.bestWin(account))},"views":0,"join_date":${joined},` +
        `"all_time_pnl":${newest === undefined ? null : pointText(newest)}}`
      );
    },
  ),
  dataRoute(
    'GET /v2/user-pnl',
    {
      does: 'profit and volume of a wallet over time: `user interval fidelity`',
      parameters: {
        user: wallet(true),
        interval: choice(INTERVALS, '1d'),
        fidelity: choice(STEPS, '1h'),
      },
      data: schemas.UserPnl,
    },
    async ({ names, points }: ResultRouteParts, { fidelity, interval, user }) => {
      const account = accountByAddress(names.tables, user);
      const length = INTERVAL_HOURS[interval] * HOUR_MS;
      const found = await points.series(account, length, HOUR_STEPS[fidelity] * HOUR_MS);
      const head = { proxy_wallet: user, interval, fidelity, source_fidelity: SOURCE_STEP };
      return `${JSON.stringify(head).slice(0, -1)},"points":[${found.map(pointText).join(',')}]}`;
    },
  ),
  dataRoute(
    'GET /v2/user-volume',
    {
      does: 'volume and trades of a wallet by whole days: `user start end`',
      parameters: { user: wallet(true), start: period().start, end: period().start },
      data: schemas.UserVolume,
    },
    ({ names, points }: ResultRouteParts, { end, start, user }) => {
      const account = accountByAddress(names.tables, user);
      return `{${volumeText(points.volume(account, start * MS, end * MS))}}`;
    },
  ),
  listRoute(
    'GET /v2/biggest-winners',
    {
      does: 'positions that a payout won most with, of a day, week, month, season or all time: `time_period category limit cursor`',
      parameters: boardParameters,
      order: ['time_period', 'category'],
      item: schemas.BiggestWinner,
      position: schemas.WinnerPosition,
    },
    async (parts: ResultRouteParts, { category, time_period }, { after, limit }) => {
      if (category !== OVERALL) return { items: [], next: null };
      const place = after === null ? undefined : winOf(after as schemas.WinnerCursor);
      const { hasMore, rows } = await parts.leaderboard.wins(time_period, place, limit);
      const last = rows.at(-1);
      return {
        items: await textsOf(rows, (row) => winText(parts, row)),
        next:
          hasMore && last !== undefined
            ? [String(last.profit), last.account, last.token, last.ordinal]
            : null,
      };
    },
  ),
];

function walletText(
  { leaderboard }: ResultRouteParts,
  ranks: string,
  account: number,
  { profit, volume }: Standing,
): string {
  const address = leaderboard.address(account);
  return (
    `{${ranks},"user_id":"${address}","pnl":${microsText(profit)},"volume":${microsText(volume)},` +
    `"user_name":"${leaderboard.name(address)}","profile_image":"","x_username":"","verified":false}`
  );
}

function accuracyText(
  { leaderboard }: ResultRouteParts,
  rank: number | null,
  account: number,
  { brier, markets, shares }: Accuracy,
): string {
  const address = leaderboard.address(account);
  return (
    `{"rank":${rank},"user_id":"${address}","brier":${microsText(brier)},"markets":${markets},` +
    `"shares":${microsText(shares)},"user_name":"${leaderboard.name(address)}"}`
  );
}

function winText({ eventOf, leaderboard, names }: ResultRouteParts, win: RankedWin) {
  const token = win.token as TokenRow;
  const address = leaderboard.address(win.account);
  const { asset_id, market } = names.token(token);
  const event = eventOf(market);
  return (
    `{"win_rank":${win.ordinal},"kind":"market","user_id":"${address}",` +
    `"pnl":${microsText(win.profit)},"initial_value":${microsText(win.payout - win.profit)},` +
    `"final_value":${microsText(win.payout)},"resolved_at":${Math.floor(win.time / MS)},` +
    `"condition_id":"${market}","position_id":"${asset_id}",` +
    `"event_id":${eventNumber(event?.id)},"event_slug":${JSON.stringify(event?.slug ?? '')},` +
    `"event_title":${JSON.stringify(event?.title ?? '')},` +
    `"user_name":"${leaderboard.name(address)}","profile_image":""}`
  );
}

function pointText({ profit, time, volume }: ProfitPoint): string {
  const pnl = microsText(profit);
  return (
    `{"timestamp":${Math.floor(time / MS)},"source_block":0,"realized_market_pnl":${pnl},` +
    `"realized_lp_pnl":0,"realized_combo_pnl":0,"realized_pnl":${pnl},${volumeText(volume)}}`
  );
}

function volumeText({ collateral, shares, trades }: VolumeSums): string {
  return `"volume":${microsText(shares)},"volume_usdc":${microsText(collateral)},"trade_count":${trades}`;
}

/** Ids of events are decimal digits; 0 = unknown. */
function eventNumber(id: string | undefined): number {
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : 0;
}

function cursorOf({ account, ordinal, rank, score }: RankedPlace): schemas.LeaderboardCursor {
  return [String(score), account, rank, ordinal];
}

function placeOf([score, account, rank, ordinal]: schemas.LeaderboardCursor) {
  return { score: BigInt(score), account, rank, ordinal };
}

function winOf([profit, account, token, ordinal]: schemas.WinnerCursor): RankedWin {
  return { profit: BigInt(profit), account, token, ordinal, payout: 0n, time: 0 };
}
