import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import { Board } from '../../storage/projection/ranks.ts';
import {
  type PositionsReader,
  ProjectionUnready,
  type ResultsReader,
  type StatementsReader,
} from '../../storage/projection/reader.ts';
import type { Profiles } from '../auth/profiles.ts';
import { microText } from '../common/decimal.ts';
import { errorBody, NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import type { QuerySpec } from '../common/query.ts';
import type { TSchema } from '../common/schema.ts';
import type { Allowlist } from '../http/address.ts';
import { ignoredHeaders } from '../http/ignored-parameters.ts';
import { rawRoute } from '../http/route.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import {
  accountByAddress,
  marketByCondition,
  marketsByConditions,
  tokensOfMarket,
} from '../market-data/find.ts';
import type { HistoryService } from '../market-data/history-service.ts';
import type { MarketLookup, TokenTexts } from '../market-data/texts.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import { Activity } from './activity.ts';
import { Holdings } from './holdings.ts';
import { Leaderboard, type RankedPlace, type Standing } from './leaderboard.ts';
import { microsText, worth } from './money.ts';
import { interestOf } from './open-interest.ts';
import * as queries from './portfolio-schemas.ts';
import { PositionTexts } from './position-text.ts';

export interface PortfolioParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly infos: MarketLookup;
  readonly positions: PositionsReader;
  readonly statements: StatementsReader;
  readonly results: ResultsReader;
  readonly profiles: Profiles;
  /** Market time, unix milliseconds. */
  readonly now: () => number;
  readonly history: HistoryService;
  readonly index: TradesIndex;
  readonly trades: TradesRenderer;
  readonly allowlist: Allowlist;
  /** Unknown fields are ignored, and named in a header of the answer. */
  readonly isTolerant: boolean;
  /** Condition ids of the markets of a catalog event. */
  readonly eventMarkets: (id: string) => Promise<readonly string[]>;
}

const NO_MARKET = 0;
const PERIOD_NAMES = {
  DAY: 'day',
  WEEK: 'week',
  MONTH: 'month',
  ALL: 'all',
  SEASON: 'season',
} as const;
const GLOBAL = 'GLOBAL';
const POSITIONS_UNREADY = errorBody(
  'BEING_DERIVED',
  'they are made anew from the fills, in the order of seconds; ask again',
);

export class PortfolioReads {
  readonly parts: PortfolioParts;
  readonly tables: Tables;
  readonly holdings: Holdings;
  readonly rows: PositionTexts;
  readonly activity: Activity;
  readonly leaderboard: Leaderboard;
  readonly names: AccountTexts;

  constructor(parts: PortfolioParts) {
    const { infos, positions, tables, texts } = parts;
    this.parts = parts;
    this.tables = tables;
    this.holdings = new Holdings({ tables, positions, infos });
    const names = new AccountTexts(tables, infos);
    this.names = names;
    this.rows = new PositionTexts(names, texts, this.holdings);
    this.activity = new Activity({ ...parts, names });
    this.leaderboard = new Leaderboard(parts);
  }
}

export const PORTFOLIO_ROUTES = [
  portfolioRoute('GET /activity', queries.ACTIVITY_QUERY, queries.ActivityAnswer, {
    does: 'trades of a wallet, taken and made; with a ledger also splits, merges and payouts: `user market eventId type start end side sortBy sortDirection limit offset`',
    readsPositions: false,
    run: async ({ activity, parts, tables }, query) =>
      activity.render(accountByAddress(tables, query.user), await marketsOf(parts, query), query),
  }),
  portfolioRoute('GET /positions', queries.POSITIONS_QUERY, queries.PositionsAnswer, {
    does: 'what a wallet has by its trades here: `user market eventId sizeThreshold redeemable mergeable title sortBy sortDirection limit offset`',
    readsPositions: true,
    run: async ({ holdings, parts, rows, tables }, query) => {
      const markets = await marketsOf(parts, query);
      const account = accountByAddress(tables, query.user);
      return rows.positions(await holdings.open(account, markets, query));
    },
  }),
  portfolioRoute('GET /closed-positions', queries.CLOSED_QUERY, queries.PositionsAnswer, {
    does: 'what it has sold again: `user market eventId title sortBy sortDirection limit offset`',
    readsPositions: true,
    run: async ({ holdings, parts, rows, tables }, query) => {
      const markets = await marketsOf(parts, query);
      const account = accountByAddress(tables, query.user);
      return rows.positions(await holdings.closed(account, markets, query));
    },
  }),
  portfolioRoute('GET /value', queries.VALUE_QUERY, queries.ValueAnswer, {
    does: 'what its positions are worth at the last prices: `user market`',
    readsPositions: true,
    run: async ({ holdings, parts, tables }, { market, user }) => {
      const markets = await marketsOf(parts, { market, eventId: null });
      let value = 0n;
      for await (const piece of holdings.pieces(accountByAddress(tables, user), markets)) {
        for (const { net, token } of piece) value += worth(net, holdings.price(token));
      }
      return `[{"user":${JSON.stringify(user)},"value":${microsText(value)}}]`;
    },
  }),
  portfolioRoute('GET /traded', queries.TRADED_QUERY, queries.TradedAnswer, {
    does: 'in how many markets a wallet has traded: `user`',
    readsPositions: true,
    run: async ({ holdings, tables }, { user }) => {
      const traded = await holdings.marketsTraded(accountByAddress(tables, user));
      return JSON.stringify({ user, traded });
    },
  }),
  portfolioRoute('GET /holders', queries.HOLDERS_QUERY, queries.HoldersAnswer, {
    does: 'who holds most of each token: `market limit minBalance`',
    readsPositions: true,
    run: async ({ holdings, rows, tables }, { limit, market, minBalance }) => {
      const least = BigInt(minBalance);
      const lists: string[] = [];
      for (const marketRow of marketsByConditions(tables, market ?? [])) {
        for (const token of tokensOfMarket(tables, marketRow)) {
          lists.push(await rows.holders(token, await holdings.holders(token, limit, least)));
        }
      }
      return `[${lists.join(',')}]`;
    },
  }),
  portfolioRoute('GET /oi', queries.INTEREST_QUERY, queries.InterestAnswer, {
    does: 'pairs minted less merged, of markets or of all: `market`',
    readsPositions: true,
    run: async ({ parts, tables }, { market }) => {
      const interest = (name: string, slot: number): string =>
        `{"market":${JSON.stringify(name)},"value":${microsText(interestOf(parts.positions, tables, slot))}}`;
      if (market === null) return `[${interest(GLOBAL, NO_MARKET)}]`;
      const listed = market.flatMap((name) => {
        const marketRow = marketByCondition(tables, name);
        return marketRow === NO_MARKET ? [] : [interest(wholeCondition(name), marketRow)];
      });
      return `[${listed.join(',')}]`;
    },
  }),
  portfolioRoute('GET /live-volume', queries.LIVE_VOLUME_QUERY, queries.LiveVolumeAnswer, {
    does: 'traded collateral of the markets of an event: `id`',
    readsPositions: false,
    run: async ({ parts }, { id }) => liveVolume(parts, await parts.eventMarkets(id)),
  }),
  portfolioRoute('GET /v1/leaderboard', queries.LEADERBOARD_QUERY, queries.LeaderboardAnswer, {
    does: 'wallets by profit or volume: `timePeriod orderBy category user limit offset`',
    readsPositions: true,
    run: async ({ leaderboard, parts }, query) => {
      const rows = await rankedRows(leaderboard, parts.tables, query);
      return `[${rows.map((row) => rankedText(leaderboard, row)).join(',')}]`;
    },
  }),
];

interface PortfolioRoute<Query> {
  readonly does: string;
  /** Answered 503 until positions are derived. */
  readonly readsPositions: boolean;
  readonly run: (reads: PortfolioReads, query: Query) => Promise<string | Buffer>;
}

/** Checks the caller, then the query, then whether the data is ready; then answers with the result of `run`. */
function portfolioRoute<const Key extends `GET /${string}`, Query>(
  key: Key,
  query: QuerySpec<Query>,
  answer: TSchema,
  { does, readsPositions, run }: PortfolioRoute<Query>,
) {
  return rawRoute(key, { api: 'data', query, answer, does }, (reads: PortfolioReads) => {
    const { allowlist, isTolerant, positions } = reads.parts;
    const isListed = allowlist.entries.length > 0;
    return {
      headers: [],
      query,
      async run(context) {
        if (isListed && !allowlist.allows(context.address)) {
          return context.reply(401, NOT_ALLOWED_ADDRESS);
        }
        const ignored: string[] = [];
        const asked = query.parse(context.query, [], isTolerant ? ignored : undefined);
        if (typeof asked === 'string') return context.reply(400, asked);
        if (readsPositions && !positions.isComplete()) {
          return context.reply(503, POSITIONS_UNREADY);
        }
        try {
          context.reply(200, await run(reads, asked), ignoredHeaders(ignored));
        } catch (error) {
          if (!(error instanceof ProjectionUnready)) throw error;
          context.reply(503, POSITIONS_UNREADY);
        }
      },
    };
  });
}

/** Markets of a query, null = all; with both fields, the markets in both. */
async function marketsOf(
  { eventMarkets, tables }: PortfolioParts,
  query: { readonly market: readonly string[] | null; readonly eventId: readonly string[] | null },
): Promise<ReadonlySet<MarketRow> | null> {
  const { eventId, market } = query;
  const named = market === null ? null : marketsByConditions(tables, market);
  if (eventId === null) return named;
  const ofEvents = new Set<MarketRow>();
  for (const id of eventId) {
    for (const marketRow of marketsByConditions(tables, await eventMarkets(id))) {
      if (named === null || named.has(marketRow)) ofEvents.add(marketRow);
    }
  }
  return ofEvents;
}

function liveVolume({ history, tables }: PortfolioParts, conditions: readonly string[]): string {
  if (conditions.length === 0) return '[]';
  let total = 0n;
  const markets = conditions.map((condition) => {
    const marketRow = marketByCondition(tables, condition);
    const volume = marketRow === NO_MARKET ? 0 : history.volumes.totalOf(marketRow);
    total += BigInt(volume);
    return `{"market":${JSON.stringify(condition)},"value":${microText(volume)}}`;
  });
  return `[{"total":${microsText(total)},"markets":[${markets.join(',')}]}]`;
}

type RankedRow = Pick<RankedPlace, 'account' | 'rank'> & Standing;

/** Rows of a page, or the row of one wallet; none of another category than all. */
async function rankedRows(
  leaderboard: Leaderboard,
  tables: Tables,
  { category, limit, offset, orderBy, timePeriod, user }: queries.LeaderboardQuery,
): Promise<readonly RankedRow[]> {
  if (category !== 'OVERALL') return [];
  const measure = orderBy === 'PNL' ? Board.profit : Board.volume;
  const period = PERIOD_NAMES[timePeriod];
  if (user === '') {
    const { rows } = await leaderboard.wallets(measure, period, undefined, offset + limit);
    return rows
      .slice(offset)
      .map((row) => ({ ...row, ...leaderboard.standing(row.account, period) }));
  }
  const account = accountByAddress(tables, user);
  if (account === 0) return [];
  const rank = await leaderboard.rank(measure, period, account);
  return rank === null ? [] : [{ account, rank, ...leaderboard.standing(account, period) }];
}

function rankedText(
  leaderboard: Leaderboard,
  { account, profit, rank, volume }: RankedRow,
): string {
  const address = leaderboard.address(account);
  return (
    `{"rank":"${rank}","proxyWallet":"${address}","userName":"${leaderboard.name(address)}",` +
    `"vol":${microsText(volume)},"pnl":${microsText(profit)},"profileImage":"","xUsername":"",` +
    `"verifiedBadge":false}`
  );
}
