/**
 * Shortage behind a refused command of the ledger: cash of the wallet, shares of the outcome with the fewest free
 * ones, or fees of the node. Rules: docs/protocol.md#refusal-codes
 *
 * Thread: any that may read the tables.
 */
import type { FundsFields, FundsKind } from '../../engine/commands.ts';
import { findPosition } from '../../engine/ledger/positions.ts';
import {
  cashReserved,
  cashTotal,
  ledgerTotals,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { marketFirstToken, marketTokens } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { type Explanation, shortage } from '../orders/worker/result-details.ts';

/** Returns the shortage; undefined if funds have arrived since. */
export function shortageOf(
  tables: Tables,
  kind: FundsKind,
  { amount = 0, market = 0, wallet }: FundsFields,
): Explanation | undefined {
  if (kind === 'payFees' || kind === 'drawFees') {
    return shortIf(amount, ledgerTotals(tables).fees, 0, 'collateral');
  }
  const account = wallet === undefined ? 0 : findAccount(tables, wallet, 0);
  if (kind === 'merge') return shortShares(tables, account, market, amount);
  return shortIf(amount, cashTotal(tables, account), cashReserved(tables, account), 'collateral');
}

function shortShares(
  tables: Tables,
  account: AccountRow | 0,
  market: MarketRow | 0,
  amount: number,
): Explanation | undefined {
  if (market === 0) return undefined;
  let total = Number.POSITIVE_INFINITY;
  let reserved = 0;
  for (let i = 0; i < marketTokens(tables, market); i++) {
    const token = (marketFirstToken(tables, market) + i) as TokenRow;
    const row = account === 0 ? 0 : findPosition(tables, account, token);
    const [has, holds] = [sharesTotal(tables, row), sharesReserved(tables, row)];
    if (has - holds >= total - reserved) continue;
    total = has;
    reserved = holds;
  }
  return shortIf(amount, total, reserved, 'shares');
}

function shortIf(
  needed: number,
  total: number,
  reserved: number,
  of: 'collateral' | 'shares',
): Explanation | undefined {
  return total - reserved < needed ? shortage(of, needed, total, reserved) : undefined;
}
