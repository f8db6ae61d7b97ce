import { ledgerIsOn, ledgerTotals, marketCollateral } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import {
  type PositionsReader,
  ProjectionUnready,
  type StatementsReader,
} from '../../storage/projection/reader.ts';
import { microText } from '../common/decimal.ts';
import { errorBody, NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import type { QuerySpec } from '../common/query.ts';
import type { Allowlist } from '../http/address.ts';
import type { RequestContext } from '../http/http.ts';
import { ignoredHeaders } from '../http/ignored.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import {
  accountByAddress,
  marketByCondition,
  marketsByConditions,
  tokensOfMarket,
} from '../market-data/find.ts';
import type { HistoryKeeper } from '../market-data/history-keeper.ts';
import type { MarketLookup, TokenTexts } from '../market-data/texts.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import { Activity } from './activity.ts';
import { Holdings } from './holdings.ts';
import { microsText, worth } from './money.ts';
import * as queries from './portfolio-schemas.ts';
import { PositionTexts } from './position-text.ts';

export interface PortfolioParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly infos: MarketLookup;
  readonly positions: PositionsReader;
  readonly statements: StatementsReader;
  readonly history: HistoryKeeper;
  readonly index: TradesIndex;
  readonly trades: TradesRenderer;
  /** Which callers may use the routes. */
  readonly allowlist: Allowlist;
  /** Unknown fields are ignored, and named in a header of the answer. */
  readonly isTolerant: boolean;
  /** Condition ids of the markets of an event. */
  readonly eventMarkets: (id: string) => Promise<readonly string[]>;
}

/** A handler that checks its query itself. */
interface DataHandler {
  readonly headers: readonly string[];
  readonly query: QuerySpec<unknown>;
  readonly run: (context: RequestContext) => Promise<void>;
}

const NO_MARKET = 0;
/** The name that stands for all markets. */
const GLOBAL = 'GLOBAL';
const POSITIONS_UNREADY = errorBody(
  'positions are being derived',
  'they are made anew from the fills, in the order of seconds; ask again',
);

export function portfolioHandlers(parts: PortfolioParts) {
  const { infos, positions, tables, texts } = parts;
  const holdings = new Holdings({ tables, positions, infos });
  const names = new AccountTexts(tables, infos);
  const rows = new PositionTexts(names, texts, holdings);
  const activity = new Activity({ ...parts, names });
  const ofFills = handlerOf(parts, () => true);
  const ofPositions = handlerOf(parts, () => positions.isComplete());
  const account = (user: string): number => accountByAddress(tables, user);

  return {
    'GET /activity': ofFills(queries.ACTIVITY_QUERY, async (query) =>
      activity.render(account(query.user), await marketsOf(parts, query), query),
    ),
    'GET /positions': ofPositions(queries.POSITIONS_QUERY, async (query) => {
      const markets = await marketsOf(parts, query);
      return rows.positions(await holdings.open(account(query.user), markets, query));
    }),
    'GET /closed-positions': ofPositions(queries.CLOSED_QUERY, async (query) => {
      const markets = await marketsOf(parts, query);
      return rows.positions(await holdings.closed(account(query.user), markets, query));
    }),
    'GET /value': ofPositions(queries.VALUE_QUERY, async ({ market, user }) => {
      const markets = await marketsOf(parts, { market, eventId: null });
      let value = 0n;
      for await (const piece of holdings.pieces(account(user), markets)) {
        for (const { net, token } of piece) value += worth(net, holdings.price(token));
      }
      return `[{"user":${JSON.stringify(user)},"value":${microsText(value)}}]`;
    }),
    'GET /traded': ofPositions(queries.TRADED_QUERY, async ({ user }) =>
      JSON.stringify({ user, traded: await holdings.marketsTraded(account(user)) }),
    ),
    'GET /holders': ofPositions(queries.HOLDERS_QUERY, async ({ limit, market, minBalance }) => {
      const least = BigInt(minBalance);
      const lists: string[] = [];
      for (const marketRow of marketsByConditions(tables, market ?? [])) {
        for (const token of tokensOfMarket(tables, marketRow)) {
          lists.push(await rows.holders(token, await holdings.holders(token, limit, least)));
        }
      }
      return `[${lists.join(',')}]`;
    }),
    'GET /oi': ofPositions(queries.INTEREST_QUERY, async ({ market }) => {
      const interest = (name: string, slot: number): string =>
        `{"market":${JSON.stringify(name)},"value":${microsText(interestOf(parts, slot))}}`;
      if (market === null) return `[${interest(GLOBAL, NO_MARKET)}]`;
      const listed = market.flatMap((name) => {
        const marketRow = marketByCondition(tables, name);
        return marketRow === NO_MARKET ? [] : [interest(name, marketRow)];
      });
      return `[${listed.join(',')}]`;
    }),
    'GET /live-volume': ofFills(queries.LIVE_VOLUME_QUERY, async ({ id }) =>
      liveVolume(parts, await parts.eventMarkets(id)),
    ),
  };
}

/**
 * Checks the caller, then the query, then whether the data is ready; then answers with the result
 * of `run`.
 */
function handlerOf({ allowlist, isTolerant }: PortfolioParts, isReady: () => boolean) {
  const isListed = allowlist.entries.length > 0;
  return <Query>(
    spec: QuerySpec<Query>,
    run: (query: Query) => Promise<string | Buffer>,
  ): DataHandler => ({
    headers: [],
    query: spec,
    async run(context) {
      if (isListed && !allowlist.allows(context.address)) {
        return context.reply(401, NOT_ALLOWED_ADDRESS);
      }
      const ignored: string[] = [];
      const query = spec.parse(context.query, [], isTolerant ? ignored : undefined);
      if (typeof query === 'string') return context.reply(400, query);
      if (!isReady()) return context.reply(503, POSITIONS_UNREADY);
      try {
        context.reply(200, await run(query), ignoredHeaders(ignored));
      } catch (error) {
        if (!(error instanceof ProjectionUnready)) throw error;
        context.reply(503, POSITIONS_UNREADY);
      }
    },
  });
}

/** The markets that a query selects, null = all; with both fields, the markets that are in both. */
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

/** Micro-shares of one outcome; with a ledger its complete sets, also those that were split. */
function interestOf({ positions, tables }: PortfolioParts, slot: number): bigint {
  if (!ledgerIsOn(tables)) return positions.interest(slot);
  if (slot === NO_MARKET) return BigInt(ledgerTotals(tables).collateral);
  return BigInt(marketCollateral(tables, slot as MarketRow));
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
