/**
 * Request and answer of GET /ledger/statement. Amounts are whole micro-units as text, with a sign if they are
 * changes. Rules: docs/ledger.md#statements
 */
import { compileQuery } from '../common/query.ts';
import { type Static, Type } from '../common/schema.ts';
import { OWN_WALLET } from './agent-schemas.ts';

export const STATEMENT_MAX = 1_000;
export const STATEMENT_PAGE = 100;

const StatementQueryShape = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: STATEMENT_MAX,
      description: `entries of a page, ${STATEMENT_PAGE} unless said, ${STATEMENT_MAX} at most`,
    }),
  ),
  wallet: OWN_WALLET,
  next_cursor: Type.Optional(
    Type.String({ error: 'invalid next_cursor', description: 'a cursor of the page before' }),
  ),
});
export const STATEMENT_QUERY = compileQuery(StatementQueryShape);

const Total = Type.String({ pattern: '^\\d+$', description: 'micro-units' });
const Change = Type.String({ pattern: '^-?\\d+$', description: 'micro-units' });
const Count = Type.Integer({ minimum: 0 });

/** Indexed by EntryCause. */
export const CAUSES = [
  '',
  'DEPOSIT',
  'WITHDRAW',
  'SPLIT',
  'MERGE',
  'TRADE',
  'REDEEM',
  'FEES',
  'REBATE',
  'TRADE_FAILED',
  'SEASON',
] as const;

/** Members of an entry and columns of the CSV, in this order. */
export const StatementEntryRow = {
  entry: Type.Integer({ minimum: 0, description: 'its number in the ledger' }),
  timestamp: Type.Integer({ description: 'unix milliseconds' }),
  cause: Type.Union(CAUSES.slice(1).map((cause) => Type.Literal(cause))),
  condition_id: Type.String({ description: '"" where only cash moves' }),
  token_id: Type.String({ description: '"" where only cash moves' }),
  outcome: Type.String(),
  cash: Change,
  shares: Change,
  cash_after: Total,
  shares_after: Total,
  reference: Type.Integer({ minimum: 0, description: 'what belongs together has the same' }),
};
const EntryShape = Type.Object(StatementEntryRow);
export type StatementEntry = Static<typeof EntryShape>;
export const COLUMNS = Object.keys(StatementEntryRow) as readonly (keyof StatementEntry)[];

export const StatementAnswer = Type.Object({
  data: Type.Array(EntryShape),
  next_cursor: Type.String(),
  limit: Count,
  count: Count,
});
