/**
 * GET /balance-allowance: total collateral or shares of a wallet, as clients of the other service read it; they
 * subtract their open orders themselves. Without a ledger it is the largest amount of an order. Rules:
 * docs/protocol.md#balances
 *
 * Thread: I/O.
 */

import { findPosition } from '../../engine/ledger/positions.ts';
import { cashTotal, ledgerIsOn, sharesTotal } from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { AMOUNT_MAX } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { KeyOwner } from '../auth/auth.ts';
import { DEPOSIT_WALLET, type WalletFactories, Wallets } from '../auth/wallet-factory.ts';
import { errorBody } from '../common/error-bodies.ts';
import { bytesToWords } from '../common/uint256.ts';
import type { Handler } from '../http/http.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import type { BalanceQuery } from './ledger-schemas.ts';
import { refuseForeign, type WalletAccess } from './wallet-access.ts';

export interface BalanceParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly sequenceLock: SequenceLockReader;
  readonly factories: WalletFactories;
  readonly access: WalletAccess;
  /** Contracts that orders are signed for. All of them may move everything. */
  readonly exchanges: readonly string[];
}

const PLAIN = 0;
const MOST = String(AMOUNT_MAX);
const NO_TOKEN = errorBody('INVALID_TOKEN_ID');
const UNKNOWN_TOKEN = errorBody('UNKNOWN_BOOK');

/**
 * Returns the wallets that a signature type means for a caller's address, the usual one first; the first of them that
 * has an account counts (docs/protocol.md#balances).
 */
export function callerWallets(
  factories: WalletFactories,
): (type: number, address: Uint8Array) => readonly Uint8Array[] {
  const wallets = new Wallets(factories);
  return (type, address) => {
    const isCaller = type === PLAIN || (type === DEPOSIT_WALLET && !wallets.derives(type));
    return isCaller ? [address] : wallets.walletsOf(type, address);
  };
}

export function balanceAllowance(parts: BalanceParts): Handler<BalanceQuery, KeyOwner> {
  const { access, exchanges, factories, sequenceLock, tables: t, texts } = parts;
  const walletsOf = callerWallets(factories);
  const allowances = Object.fromEntries(exchanges.map((address) => [address, MOST]));
  const words = new Int32Array(ADDRESS_WORDS);
  /** Returns the amount of the first wallet that has an account. */
  const read = (owned: readonly Uint8Array[], token: TokenRow | 0): number => {
    for (const wallet of owned) {
      const account = findAccount(t, bytesToWords(wallet, words), 0);
      if (account === 0) continue;
      if (token === 0) return cashTotal(t, account);
      return sharesTotal(t, findPosition(t, account, token));
    }
    return 0;
  };
  return async (context, query, { address }) => {
    const isOfToken = query.asset_type !== 'COLLATERAL';
    if (isOfToken && (query.token_id ?? '') === '') return context.reply(400, NO_TOKEN);
    const token = isOfToken ? texts.find(query.token_id!) : 0;
    if (isOfToken && token === 0) return context.reply(404, UNKNOWN_TOKEN);
    let balance = MOST;
    if (ledgerIsOn(t)) {
      const { signature_type: type = PLAIN, wallet: named } = query;
      const wallet = await access.readable(named, address);
      if (wallet === undefined) return refuseForeign(context);
      const owned = named === undefined ? walletsOf(type, address) : [wallet];
      balance = String(await sequenceLock.read(() => read(owned, token)));
    }
    context.reply(200, JSON.stringify({ balance, allowances }));
  };
}
