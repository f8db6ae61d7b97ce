/**
 * GET /v2/positions, /v2/value and /v2/holders. Rules: docs/protocol.md#rows-of-the-data-api-v2
 *
 * Thread: I/O.
 */
import { findAccount } from '../../engine/orders/accounts.ts';
import { tokenOutcome } from '../../engine/reads.ts';
import { SOURCE_ADDRESS } from '../../engine/tables/codes.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import type { WalletPosition } from '../../storage/projection/positions.ts';
import type { PositionsReader } from '../../storage/projection/reader.ts';
import { nextIteration } from '../common/event-loop.ts';
import { Type } from '../common/schema.ts';
import { accountByAddress, marketsByConditions, tokensOfMarket } from '../market-data/find.ts';
import { Best } from '../wallet/best.ts';
import { microsText, worth } from '../wallet/money.ts';
import { type DataParts, dataRoute, type Listed, listRoute } from './envelope.ts';
import { conditionsOf, type EventMarkets } from './event-markets.ts';
import {
  amount,
  choice,
  conditions,
  eventIds,
  flag,
  period,
  required,
  title,
  wallet,
} from './parameters.ts';
import { type PositionRows, SORTS, sortKeyOf } from './position-rows.ts';
import { type RowTexts, rowText, textsOf } from './row-texts.ts';
import { DataHolders, DataPosition, POSITION_STATUSES, PortfolioValue } from './schemas.ts';

export interface PositionParts extends DataParts, EventMarkets {
  readonly positions: PositionsReader;
  readonly positionRows: PositionRows;
  readonly rows: RowTexts;
}

const DIRECTIONS = ['ASC', 'DESC'] as const;
const MEASURES = ['CASH', 'TOKENS'] as const;
/** Micro-shares: smaller holdings are left out, as the other service does. */
const DUST = 100_000;
const HOLDERS_WITH_GAINS_MAX = 100;
/** Positions read without a pause: about a millisecond. */
const ROWS_PER_TURN = 128;
const MS = 1_000;

/** Sort key, token and account. */
const PositionPlace = Type.Tuple([Type.Number(), Type.Integer(), Type.Integer()]);
/** Rank of the first holder of the page, in each token. */
const HolderRank = Type.Tuple([Type.Integer({ minimum: 0 })]);

export const POSITION_ROUTES = [
  listRoute(
    'GET /v2/positions',
    {
      does: 'positions of a wallet, or of all wallets in a market: `user condition status event_id title filter_type filter_amount include_archived start end sort_by sort_direction limit cursor`',
      parameters: {
        user: wallet(false),
        condition: conditions(),
        status: choice(POSITION_STATUSES, 'OPEN'),
        event_id: eventIds(),
        title: title(),
        filter_type: choice(MEASURES, 'TOKENS'),
        filter_amount: amount(DUST),
        include_archived: flag(false),
        ...period(),
        sort_by: choice(SORTS, ''),
        sort_direction: choice(DIRECTIONS, 'DESC'),
      },
      item: DataPosition,
      position: PositionPlace,
      order: ['status', 'sort_by', 'sort_direction'],
      check({ condition, include_archived, status, user }) {
        if (user === '' && condition === null) {
          return { parameter: 'user', rule: 'user or condition is needed' };
        }
        if (user === '' && condition!.length > 1) {
          return {
            parameter: 'condition',
            rule: 'condition must be one id where no user is given',
          };
        }
        if (user === '' && status === 'REDEEMABLE_LOST') {
          return { parameter: 'user', rule: 'status REDEEMABLE_LOST needs a user' };
        }
        return include_archived && status === 'CLOSED'
          ? { parameter: 'include_archived', rule: 'include_archived has no meaning for CLOSED' }
          : undefined;
      },
    },
    async (parts: PositionParts, query, { after, limit }): Promise<Listed> => {
      const { positionRows } = parts;
      const { tables } = parts.rows;
      const { sort_by, sort_direction, user } = query;
      const status = user === '' && query.status === 'MERGEABLE' ? 'OPEN' : query.status;
      const named = await conditionsOf(parts, query);
      const markets = named === null ? null : inOrder(marketsByConditions(tables, named));
      const isDescending = sort_direction === 'DESC';
      const keyOf = sortKeyOf(status, sort_by);
      const best = new Best<WalletPosition>(limit + 1, isDescending);
      const [key = 0, token = 0, account = 0] = (after ?? []) as readonly number[];
      const isBehind = (row: WalletPosition, at: number): boolean => {
        if (at !== key) return at < key === isDescending;
        return row.token === token ? row.account > account : row.token > token;
      };
      const pieces =
        user === ''
          ? ofMarkets(parts, markets ?? [])
          : positionRows.holdings.pieces(
              accountByAddress(tables, user),
              markets && new Set(markets),
            );
      for await (const piece of pieces) {
        for (const row of piece) {
          if (!positionRows.isOf(status, row) || !passes(parts, query, row)) continue;
          const at = keyOf(positionRows.holdings, row);
          if (after === null || isBehind(row, at)) best.add(row, at);
        }
      }
      const found = best.from(0);
      const page = found.slice(0, limit);
      const items = await textsOf(page, (row) => positionRows.text(row));
      const last = page.at(-1);
      if (last === undefined || found.length === page.length) return { items, next: null };
      return { items, next: [keyOf(positionRows.holdings, last), last.token, last.account] };
    },
  ),
  dataRoute(
    'GET /v2/value',
    {
      does: 'value of the positions of a wallet at the last prices: `user condition`',
      parameters: { user: required(wallet(true)), condition: conditions() },
      data: PortfolioValue,
    },
    async ({ positionRows: { holdings }, rows: { tables } }: PositionParts, query) => {
      const { condition, user } = query;
      const markets = condition === null ? null : marketsByConditions(tables, condition);
      let value = 0n;
      for await (const piece of holdings.pieces(accountByAddress(tables, user), markets)) {
        for (const { net, token } of piece) value += worth(net, holdings.price(token));
      }
      return rowText({ value: microsText(value) }, { proxy_wallet: user });
    },
  ),
  listRoute(
    'GET /v2/holders',
    {
      does: 'largest holders of each outcome of markets: `condition min_balance include_pnl limit cursor`',
      parameters: {
        condition: required(conditions()),
        min_balance: amount(0),
        include_pnl: flag(false),
      },
      item: DataHolders,
      position: HolderRank,
      check: ({ condition, include_pnl }, { limit }) => {
        if (!include_pnl) return undefined;
        if (condition!.length > 1) {
          return { parameter: 'condition', rule: 'condition must be one id with include_pnl' };
        }
        return limit > HOLDERS_WITH_GAINS_MAX
          ? {
              parameter: 'limit',
              rule: `limit must be at most ${HOLDERS_WITH_GAINS_MAX} with include_pnl`,
            }
          : undefined;
      },
    },
    async (parts: PositionParts, query, { after, limit }) => {
      const { positionRows, rows } = parts;
      const { condition, include_pnl, min_balance } = query;
      const first = (after?.[0] ?? 0) as number;
      const least = BigInt(min_balance);
      const items: string[] = [];
      let isMore = false;
      for (const market of marketsByConditions(rows.tables, condition!)) {
        for (const token of tokensOfMarket(rows.tables, market)) {
          const most = first + limit + 1;
          const found = (await positionRows.holdings.holders(token, most, least)).slice(first);
          isMore ||= found.length > limit;
          if (found.length === 0) continue;
          const page = found.slice(0, limit);
          const texts = await textsOf(page, (row) => holderText(parts, row, include_pnl));
          items.push(`{"token_id":"${rows.tokenId(token)}","holders":[${texts.join(',')}]}`);
        }
      }
      return { items, next: isMore ? [first + limit] : null };
    },
  ),
];

interface PositionFilters {
  readonly title: string;
  readonly status: string;
  readonly filter_type: (typeof MEASURES)[number];
  readonly filter_amount: number;
  readonly include_archived: boolean;
  /** Unix seconds, both inclusive. */
  readonly start: number;
  readonly end: number;
}

function passes({ positionRows }: PositionParts, query: PositionFilters, row: WalletPosition) {
  const { end, filter_amount, filter_type, include_archived, start, status } = query;
  const { holdings } = positionRows;
  const seconds = Math.floor(row.time / MS);
  if (seconds < start || seconds > end) return false;
  if (status !== 'CLOSED') {
    const size = row.net < 0n ? -row.net : row.net;
    const least = BigInt(filter_amount);
    if (filter_type === 'TOKENS' && size < least) return false;
    const isDust = size < BigInt(DUST);
    if (filter_type === 'CASH' && (isDust || worth(size, holdings.price(row.token)) < least)) {
      return false;
    }
    if (!include_archived && holdings.info(row.token)?.archived === true) return false;
  }
  const wanted = query.title.trim().toLowerCase();
  return (
    wanted === '' || (holdings.info(row.token)?.question.toLowerCase().includes(wanted) ?? false)
  );
}

/** Markets by their rows: positions are then read in the order of tokens. */
function inOrder(markets: ReadonlySet<MarketRow>): MarketRow[] {
  return [...markets].sort((a, b) => a - b);
}

/** Positions of all wallets but the source of a paper node, by token and account. */
async function* ofMarkets(
  { positions, rows: { tables } }: PositionParts,
  markets: readonly MarketRow[],
): AsyncGenerator<readonly WalletPosition[], void> {
  const source = findAccount(tables, SOURCE_ADDRESS, 0);
  for (const market of markets) {
    for (const token of tokensOfMarket(tables, market)) {
      for (let account = 0; ; ) {
        const piece = positions.inToken(token, account, ROWS_PER_TURN);
        yield piece.filter((row) => row.account !== source);
        await nextIteration();
        if (piece.length < ROWS_PER_TURN) break;
        account = piece.at(-1)!.account + 1;
      }
    }
  }
}

function holderText(
  { positionRows, rows }: PositionParts,
  row: WalletPosition,
  hasGains: boolean,
): string {
  const token = row.token as TokenRow;
  return rowText(
    { amount: microsText(row.net), ...(hasGains ? positionRows.gains(row) : {}) },
    {
      proxy_wallet: rows.wallet(row.account as AccountRow),
      token_id: rows.tokenId(token),
      outcome_index: tokenOutcome(rows.tables, token),
      ...rows.profile(row.account as AccountRow),
      display_username_public: rows.name(row.account as AccountRow) !== '',
      verified: false,
    },
  );
}
