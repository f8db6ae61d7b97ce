/**
 * Rows of wallets, markets and tokens by the texts of requests.
 *
 * Thread: any; each thread has its own instance of this module and its scratch memory.
 */

import { findMarket } from '../../engine/markets/markets.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { marketFirstToken, marketTokens } from '../../engine/reads.ts';
import { ADDRESS_WORDS, ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { bytesToWords, conditionToBytes, hexToBytes } from '../common/uint256.ts';

const conditionBytes = new Uint8Array(4 * ID_WORDS);
const condition = new Int32Array(ID_WORDS);
const addressBytes = new Uint8Array(4 * ADDRESS_WORDS);
const address = new Int32Array(ADDRESS_WORDS);

/** Finds a condition id of either length, `0x` and hex digits in any case; 0 = unknown. */
export function marketByCondition(tables: Tables, text: string): MarketRow | 0 {
  if (!conditionToBytes(text, conditionBytes)) return 0;
  return findMarket(tables, bytesToWords(conditionBytes, condition), 0);
}

export function marketsByConditions(
  tables: Tables,
  texts: readonly string[],
): ReadonlySet<MarketRow> {
  const slots = new Set<MarketRow>();
  for (const text of texts) {
    const market = marketByCondition(tables, text);
    if (market !== 0) slots.add(market);
  }
  return slots;
}

/** Finds a wallet, `0x` and hex digits in any case; 0 = none of its orders was ever accepted. */
export function accountByAddress(tables: Tables, text: string): AccountRow | 0 {
  if (!hexToBytes(text, addressBytes.length, addressBytes, 0)) return 0;
  return findAccount(tables, bytesToWords(addressBytes, address), 0);
}

export function tokensOfMarket(tables: Tables, market: MarketRow): TokenRow[] {
  const first = marketFirstToken(tables, market);
  const length = marketTokens(tables, market);
  return Array.from({ length }, (_, outcome) => (first + outcome) as TokenRow);
}
