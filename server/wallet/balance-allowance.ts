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
import { type WalletFactories, Wallets } from '../auth/wallet-factory.ts';
import { errorBody } from '../common/error-bodies.ts';
import { bytesToWords } from '../common/uint256.ts';
import type { Handler } from '../http/http.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import type { BalanceQuery } from './ledger-schemas.ts';

export interface BalanceParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly sequenceLock: SequenceLockReader;
  readonly factories: WalletFactories;
  /** Contracts that orders are signed for. All of them may move everything. */
  readonly exchanges: readonly string[];
}

const MOST = String(AMOUNT_MAX);
const NO_TOKEN = errorBody('INVALID_TOKEN_ID');
const UNKNOWN_TOKEN = errorBody('UNKNOWN_BOOK');

export function balanceAllowance(parts: BalanceParts): Handler<BalanceQuery, KeyOwner> {
  const { exchanges, factories, sequenceLock, tables: t, texts } = parts;
  const wallets = new Wallets(factories);
  const allowances = Object.fromEntries(exchanges.map((address) => [address, MOST]));
  const words = new Int32Array(ADDRESS_WORDS);
  const read = (wallet: Uint8Array, token: TokenRow | 0): number => {
    const account = findAccount(t, bytesToWords(wallet, words), 0);
    if (account === 0) return 0;
    if (token === 0) return cashTotal(t, account);
    return sharesTotal(t, findPosition(t, account, token));
  };
  return async (context, query, { address }) => {
    const isOfToken = query.asset_type === 'CONDITIONAL';
    if (isOfToken && (query.token_id ?? '') === '') return context.reply(400, NO_TOKEN);
    const token = isOfToken ? texts.find(query.token_id!) : 0;
    if (isOfToken && token === 0) return context.reply(404, UNKNOWN_TOKEN);
    let balance = MOST;
    if (ledgerIsOn(t)) {
      const wallet = wallets.walletOf(query.signature_type ?? 0, address);
      balance = String(
        wallet === undefined ? 0 : await sequenceLock.read(() => read(wallet, token)),
      );
    }
    context.reply(200, JSON.stringify({ balance, allowances }));
  };
}
