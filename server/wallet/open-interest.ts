/** Open interest of markets (docs/protocol.md#outcomes-and-tokens). Thread: I/O. */
import { ledgerIsOn, ledgerTotals, marketCollateral } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { PositionsReader } from '../../storage/projection/reader.ts';

const ALL_MARKETS = 0;

/**
 * Micro-shares of one outcome; with a ledger its complete sets, also those that were split.
 * @param market row; 0 = all of them
 */
export function interestOf(positions: PositionsReader, tables: Tables, market: number): bigint {
  if (!ledgerIsOn(tables)) return positions.interest(market);
  if (market === ALL_MARKETS) return BigInt(ledgerTotals(tables).collateral);
  return BigInt(marketCollateral(tables, market as MarketRow));
}
