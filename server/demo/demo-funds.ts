/**
 * Funds of a wallet of the demo on a node with a ledger: cash, and complete sets of each market. Repeated commands have
 * the same ids, so each takes effect once.
 *
 * Pure; thread: the I/O thread.
 */
import type { FundsFields, FundsKind } from '../../engine/commands.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import { type MarketRow, MICRO } from '../../engine/tables/units.ts';
import { bytesToHex, bytesToWords } from '../common/uint256.ts';
import { operatorRequestId } from '../wallet/request-id.ts';

/** Whole units. */
const CASH = 1_000_000;
const SETS = 20_000;
/** Before every request of an operator. */
const TIME = '1000000000000';

export function demoFunds(
  address: Uint8Array,
  markets: readonly MarketRow[],
): (readonly [FundsKind, FundsFields])[] {
  const name = bytesToHex(address, 0, address.length);
  const wallet = bytesToWords(address, new Int32Array(ADDRESS_WORDS));
  const fields = (amount: number, market: MarketRow | 0): FundsFields => {
    const id = operatorRequestId(`${TIME}-demo-${name}-${market}`)!;
    return { id, wallet, market, amount: amount * MICRO };
  };
  const cash = CASH + SETS * markets.length;
  return [
    ['deposit', fields(cash, 0)],
    ...markets.map((market) => ['split', fields(SETS, market)] as const),
  ];
}
