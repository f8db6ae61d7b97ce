/**
 * The query of GET /trades (docs/protocol.md#public-trades).
 *
 * Thread: any; pure. Non-goals: whether the wallet or the markets exist.
 */
import {
  amount,
  choice,
  type DataQueryOf,
  dataQuery,
  flag,
  integer,
  list,
  type ParsedQuery,
  wallet,
} from '../common/data-query.ts';

/** The bound of limit and of offset: docs/protocol.md#public-trades. */
export const PAGE_MAX = 10_000;
/** A value that no amount in a query has. */
const ABSENT = -1;

const FIELDS = {
  limit: integer(PAGE_MAX, 100),
  offset: integer(PAGE_MAX, 0),
  takerOnly: flag(true),
  /** What filterAmount is compared with: usdcSize or size; '' = no comparison. */
  filterType: choice(['CASH', 'TOKENS'], ''),
  /** Micro-units; rows with at least this amount pass. */
  filterAmount: amount(ABSENT),
  /** Condition ids, or any other text, which names no market. */
  market: list('condition ids, comma-separated'),
  user: wallet(false),
  side: choice(['BUY', 'SELL'], ''),
};
const QUERY = dataQuery(FIELDS);

export type TradesQuery = DataQueryOf<typeof FIELDS>;

export const TRADES_SCHEMA = QUERY.schema;

/** As DataQuery.parse. */
export function parseTradesQuery(text: string, ignored?: string[]): ParsedQuery<TradesQuery> {
  const parsed = QUERY.parse(text, ignored);
  if (!parsed.ok || parsed.query.filterType === '') return parsed;
  if (parsed.query.filterAmount !== ABSENT) return parsed;
  return { ok: false, error: 'invalid_field: filterAmount' };
}
