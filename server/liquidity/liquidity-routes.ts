/**
 * GET /liquidity: the account from which the house quotes a market, and what it has cost. Rules:
 * docs/protocol.md#liquidity-of-the-house
 *
 * Thread: I/O.
 */
import type { Tables } from '../../engine/tables/tables.ts';
import { CONDITION_SOURCE } from '../../storage/catalog/condition-ids.ts';
import { NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import type { Allowlist } from '../http/address.ts';
import { route } from '../http/route.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { Liquidity } from './liquidity.ts';
import { LiquidityMarket, type LiquidityNames, shownLiquidity } from './liquidity-row.ts';

export interface LiquidityRouteParts extends LiquidityNames {
  readonly tables: Tables;
  readonly allowlist: Allowlist;
  /** Returns `undefined` without a ledger, and before the node has opened it. */
  readonly liquidity: () => Pick<Liquidity, 'find'> | undefined;
}

const LIQUIDITY_QUERY = compileQuery(
  Type.Object({
    condition: Type.String({
      pattern: CONDITION_SOURCE,
      description: 'condition id of the market, 0x and 62 or 64 hexadecimal digits',
    }),
  }),
);

export const LIQUIDITY_ROUTES = [
  route(
    'GET /liquidity',
    {
      query: LIQUIDITY_QUERY,
      answer: Type.Object({
        data: Type.Array(LiquidityMarket, {
          description: 'one row, or none where the house has never quoted the market',
        }),
      }),
      listed: true,
      does: 'the account from which the house quotes a market, and what it has cost: `condition`',
    },
    (parts: LiquidityRouteParts) =>
      async (context, { condition }) => {
        const { allowlist, tables } = parts;
        if (allowlist.entries.length > 0 && !allowlist.allows(context.address)) {
          return context.reply(401, NOT_ALLOWED_ADDRESS);
        }
        const market = marketByCondition(tables, condition);
        const row = market === 0 ? undefined : await parts.liquidity()?.find(market);
        const data = row === undefined ? [] : [shownLiquidity(tables, parts, row)];
        context.reply(200, JSON.stringify({ data }));
      },
  ),
];
