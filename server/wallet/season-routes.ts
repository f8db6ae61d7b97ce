/**
 * GET /seasons and GET /seasons/:season: seasons that are over, and their final standings by profit. Rules:
 * docs/ledger.md#seasons
 *
 * Thread: I/O. Reads the projection, which is behind the engine by a fraction of a second.
 */
import type { Accuracy } from '../../storage/projection/forecasts.ts';
import { Board } from '../../storage/projection/ranks.ts';
import { ProjectionUnready, type ResultsReader } from '../../storage/projection/reader.ts';
import type { Season } from '../../storage/projection/results.ts';
import { cursorOf, INVALID_CURSOR, LAST_CURSOR, offsetOf } from '../common/cursor.ts';
import { microText } from '../common/decimal.ts';
import { errorBody, NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import type { Allowlist } from '../http/address.ts';
import type { RequestContext } from '../http/request-context.ts';
import { route } from '../http/route.ts';
import { type Leaderboard, RANKED_MAX, type RankedPlace, type Standing } from './leaderboard.ts';
import { microsText } from './money.ts';

export interface SeasonRouteParts {
  readonly results: ResultsReader;
  readonly leaderboard: Leaderboard;
  /** Names by number of the season. */
  readonly seasonNames: ReadonlyMap<number, string>;
  readonly allowlist: Allowlist;
}

const PAGE = 100;
const PAGE_MAX = 500;
const UNREADY = errorBody(
  'BEING_DERIVED',
  'they are made anew from the entries of the ledger, in the order of seconds; ask again',
  { text: 'standings are being derived' },
);
const UNKNOWN = errorBody('UNKNOWN_SEASON');

const page = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAX,
      description: `rows of a page, ${PAGE} unless said, ${PAGE_MAX} at most`,
    }),
  ),
  next_cursor: Type.Optional(
    Type.String({ error: 'invalid next_cursor', description: 'a cursor of the page before' }),
  ),
};
const SEASONS_QUERY = compileQuery(Type.Object(page));
const STANDINGS_QUERY = compileQuery(
  Type.Object({
    season: Type.Integer({ minimum: 1, description: 'its number, from 1 on' }),
    ...page,
  }),
  ['season'],
);

const Time = Type.Integer({ description: 'unix milliseconds' });
const Money = Type.String({ description: 'collateral, a decimal' });
const seasonMembers = {
  season: Type.Integer({ minimum: 1 }),
  name: Type.String({ description: '"" without one' }),
  started_at: Type.Union([Time, Type.Null()], { description: 'null of the first season' }),
  ended_at: Time,
  start_sum: Type.String({
    description: 'cash of each wallet at the start of the next season; 0 where none changed',
  }),
};
const pageMembers = {
  next_cursor: Type.String(),
  limit: Type.Integer(),
  count: Type.Integer(),
};
const SeasonsAnswer = Type.Object({ data: Type.Array(Type.Object(seasonMembers)), ...pageMembers });
const StandingsAnswer = Type.Object({
  ...seasonMembers,
  data: Type.Array(
    Type.Object({
      rank: Type.Integer({ minimum: 1 }),
      wallet: Type.String(),
      name: Type.String({ description: 'display name now; "" without one' }),
      profit: Money,
      volume: Type.String({ description: 'shares of both sides, a decimal' }),
      brier: Type.Union([Type.String(), Type.Null()], {
        description: 'Brier score, a decimal; null where no market that it traded resolved',
      }),
      resolved_markets: Type.Integer({ description: 'markets that the score is over' }),
    }),
  ),
  ...pageMembers,
});

export const SEASON_ROUTES = [
  route(
    'GET /seasons',
    {
      query: SEASONS_QUERY,
      answer: SeasonsAnswer,
      listed: true,
      does: 'seasons that are over, newest first: `limit next_cursor`',
    },
    (parts: SeasonRouteParts) => (context, query) =>
      answer(parts, context, query, (start, limit) => {
        const all = parts.results.seasons().reverse();
        const rows = all.slice(start, start + limit);
        return {
          ...pageOf(start, rows, limit, start + limit < all.length),
          data: rows.map((season) => seasonRow(parts, season)),
        };
      }),
  ),
  route(
    'GET /seasons/:season',
    {
      query: STANDINGS_QUERY,
      answer: StandingsAnswer,
      listed: true,
      does: 'final standings of a season by profit: `limit next_cursor`',
    },
    (parts: SeasonRouteParts) => (context, query) =>
      answer(parts, context, query, async (start, limit) => {
        const season = parts.results.seasons().find(({ number }) => number === query.season);
        if (season === undefined) return undefined;
        const { hasMore, rows } = await parts.leaderboard.wallets(
          Board.profit,
          'season',
          undefined,
          start + limit,
          season.number,
        );
        const shown = rows.slice(start).map((row) => ({
          ...row,
          ...parts.leaderboard.standing(row.account, 'season', season.number),
          accuracy: parts.leaderboard.accuracy(row.account, 'season', season.number),
        }));
        return {
          ...seasonRow(parts, season),
          data: shown.map((row) => standingRow(parts, row)),
          ...pageOf(start, shown, limit, hasMore),
        };
      }),
  ),
];

/** @param read returns the answer to a page; undefined for an unknown season */
async function answer(
  { allowlist }: SeasonRouteParts,
  context: RequestContext,
  query: { readonly limit?: number; readonly next_cursor?: string },
  read: (start: number, limit: number) => object | undefined | Promise<object | undefined>,
): Promise<void> {
  if (allowlist.entries.length > 0 && !allowlist.allows(context.address)) {
    return context.reply(401, NOT_ALLOWED_ADDRESS);
  }
  const start = offsetOf(query.next_cursor ?? '');
  if (start === -1 || start > RANKED_MAX) return context.reply(400, INVALID_CURSOR);
  try {
    const found = await read(start, query.limit ?? PAGE);
    if (found === undefined) context.reply(404, UNKNOWN);
    else context.reply(200, JSON.stringify(found));
  } catch (error) {
    if (!(error instanceof ProjectionUnready)) throw error;
    context.reply(503, UNREADY);
  }
}

function pageOf(start: number, rows: readonly unknown[], limit: number, hasMore: boolean) {
  const next_cursor = hasMore ? cursorOf(start + rows.length) : LAST_CURSOR;
  return { next_cursor, limit, count: rows.length };
}

function seasonRow({ results, seasonNames }: SeasonRouteParts, { end, number, startSum }: Season) {
  return {
    season: number,
    name: seasonNames.get(number) ?? '',
    started_at: results.seasons().find((before) => before.number === number - 1)?.end ?? null,
    ended_at: end,
    start_sum: microText(startSum),
  };
}

interface SeasonStanding extends RankedPlace, Standing {
  readonly accuracy: Accuracy | undefined;
}

function standingRow({ leaderboard }: SeasonRouteParts, row: SeasonStanding) {
  const { accuracy, account, profit, rank, volume } = row;
  const wallet = leaderboard.address(account);
  return {
    rank,
    wallet,
    name: leaderboard.name(wallet),
    profit: microsText(profit),
    volume: microsText(volume),
    brier: accuracy === undefined ? null : microsText(accuracy.brier),
    resolved_markets: accuracy?.markets ?? 0,
  };
}
