/**
 * Row of a market that the house quotes or has quoted, as the public route and the operation show it.
 *
 * Thread: I/O.
 */
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { marketFlags } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { checksumAddress } from '../auth/checksum.ts';
import { microText } from '../common/decimal.ts';
import { type Static, Type } from '../common/schema.ts';
import { microsText } from '../wallet/money.ts';
import type { LiquidityRow } from './liquidity.ts';

const CHANCE_DECIMALS = 4;
const Money = (description: string) => Type.String({ description });

export const LiquidityMarket = Type.Object({
  condition: Type.String({ description: 'its condition id' }),
  slug: Type.String({ description: '"" where the catalog does not list the market' }),
  wallet: Type.String({ description: 'address of the account' }),
  state: Type.Union(
    (['quoted', 'halted', 'removed', 'ended', 'resolved'] as const).map((state) =>
      Type.Literal(state),
    ),
  ),
  paid_in: Money('what was paid in'),
  paid_out: Money('what was paid out'),
  cash: Money('cash of the account'),
  orders: Type.Integer({ description: 'open orders' }),
  outcomes: Type.Array(
    Type.Object({
      outcome: Type.String(),
      shares: Money('shares that the account holds'),
      price: Type.Union([Type.String(), Type.Null()], {
        description: 'the price around which it quotes; null: it quotes nothing',
      }),
      result: Money('what the house gains if it wins, or has gained; below 0 is what it costs'),
    }),
  ),
});

export interface LiquidityNames {
  /** Names of the outcomes; undefined where the catalog does not list the market. */
  readonly namesOf: (market: MarketRow) => readonly string[] | undefined;
  readonly slugOf: (market: MarketRow) => string | undefined;
}

export function shownLiquidity(
  tables: Tables,
  { namesOf, slugOf }: LiquidityNames,
  { account, chance, condition, market, orders, terms, wallet }: LiquidityRow,
): Static<typeof LiquidityMarket> {
  const { cash, shares } = account;
  const flags = marketFlags(tables, market);
  const names = namesOf(market);
  return {
    condition,
    slug: slugOf(market) ?? '',
    wallet: checksumAddress(wallet),
    state: stateOf(resolutionOf(tables, market) !== undefined, flags, terms.depth > 0),
    paid_in: microText(terms.paidIn),
    paid_out: microText(terms.paidOut),
    cash: microText(cash),
    orders,
    outcomes: shares.map((held, i) => {
      const price = i === 0 ? chance : 1 - chance!;
      return {
        outcome: names?.[i] ?? '',
        shares: microText(held),
        price: chance === undefined ? null : price!.toFixed(CHANCE_DECIMALS),
        result: microsText(BigInt(cash + held + terms.paidOut - terms.paidIn)),
      };
    }),
  };
}

function stateOf(
  isResolved: boolean,
  flags: number,
  quotes: boolean,
): Static<typeof LiquidityMarket>['state'] {
  if (isResolved) return 'resolved';
  if ((flags & MarketFlag.ended) !== 0) return 'ended';
  if (!quotes) return 'removed';
  return (flags & MarketFlag.tradable) === 0 ? 'halted' : 'quoted';
}
