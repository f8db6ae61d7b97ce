/**
 * Operations on wallets as a whole: the list with their cash, and names.
 *
 * Thread: I/O, while workers write; names also on a stopped directory.
 */

import { cashReserved, cashTotal, ledgerIsOn, positionCount } from '../../engine/ledger/reads.ts';
import { accountCount, accountOpenOrders, addressAt } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import type { Bans } from '../auth/bans.ts';
import { checksumAddress } from '../auth/checksum.ts';
import type { NamedWallet, WalletNames } from '../auth/wallet-names.ts';
import type { Static } from '../common/schema.ts';
import { bytesToHex, wordsToHex } from '../common/uint256.ts';
import { addressText } from '../market-data/account-texts.ts';
import { accountByAddress } from '../market-data/find.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { addressOf } from './key-operations.ts';
import { sumsOf } from './ledger-operations.ts';
import { operation, refused } from './operation-row.ts';
import { NamedAnswer, NameInput, WalletsAnswer, WalletsInput } from './operation-schemas.ts';

type Filters = Static<typeof WalletsInput>;
type Row = Static<typeof WalletsAnswer>['wallets'][number];

interface WalletListParts {
  readonly t: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly names: WalletNames;
  readonly bans: Bans;
}

/** Rows scanned in one request: about a millisecond. A filtered page may end short for it. */
const SCANNED_MAX = 4_000;

export const NAME_OPERATIONS = [
  operation(
    'POST /admin/wallets/name',
    {
      does: 'gives a wallet a name, which only operators see and by which they may name it; without `name` takes it away',
      input: NameInput,
      answer: NamedAnswer,
    },
    (names: WalletNames) =>
      async ({ name = '', wallet }) => {
        const address = addressOf(wallet);
        const namesake = name === '' ? undefined : names.find(name);
        if (namesake !== undefined && !Buffer.from(namesake).equals(address)) {
          const detail = `it is that of ${checksumAddress(namesake)}`;
          return refused('NAME_TAKEN', detail);
        }
        if (!names.hasRoom(address)) return refused('TOO_MANY_NAMES');
        const changed = await names.put(address, name);
        return { wallet: checksumAddress(address), name, changed };
      },
  ),
];

export const WALLET_OPERATIONS = [
  operation(
    'GET /admin/wallets',
    {
      does: 'wallets that were paid in or have traded, and those with a name: cash, open orders, bans',
      input: WalletsInput,
      answer: WalletsAnswer,
    },
    (parts: WalletListParts) => async (input) => {
      const { names, sequenceLock, t } = parts;
      const { after = 0, limit = 100 } = input;
      const accounts = accountCount(t);
      const wallets: Row[] = [];
      let at = after;
      const end = Math.min(accounts, after + SCANNED_MAX);
      if (at < accounts) {
        const rows = await sequenceLock.read(() => {
          const found: AccountRow[] = [];
          for (at = after; at < end && found.length < limit; at++) {
            const row = (at + 1) as AccountRow;
            if (accountMatchesFilters(parts, row, input)) found.push(row);
          }
          return found.map((row) => accountRow(parts, row));
        });
        wallets.push(...rows);
      }
      if (at < accounts) return { wallets, next: at };
      const others = names.list().filter((wallet) => !hasAccount(t, wallet));
      for (; at < accounts + others.length && wallets.length < limit; at++) {
        const row = namedRow(parts, others[at - accounts]!);
        if (namedMatchesFilters(row, input)) wallets.push(row);
      }
      return { wallets, next: at < accounts + others.length ? at : null };
    },
  ),
];

function accountMatchesFilters(
  { bans, names, t }: WalletListParts,
  row: AccountRow,
  { banned, funded, search }: Filters,
): boolean {
  if (funded === true && cashTotal(t, row) === 0 && positionCount(t, row) === 0) return false;
  if (banned !== true && search === undefined) return true;
  const address = wordsToHex(t.accountI, addressAt(row), ADDRESS_WORDS);
  if (banned === true && !bans.has(address)) return false;
  return search === undefined || matches(search, address, names.nameOf(address));
}

function namedMatchesFilters(row: Row, { banned, funded, search }: Filters): boolean {
  if (funded === true || (banned === true && !row.banned)) return false;
  return search === undefined || matches(search, row.wallet.toLowerCase(), row.name);
}

function matches(search: string, address: string, name: string): boolean {
  const part = search.toLowerCase();
  return address.includes(part) || name.toLowerCase().includes(part);
}

function accountRow({ bans, names, t }: WalletListParts, account: AccountRow): Row {
  const address = wordsToHex(t.accountI, addressAt(account), ADDRESS_WORDS);
  const row = {
    wallet: addressText(t.accountI, addressAt(account)),
    name: names.nameOf(address),
    banned: bans.has(address),
    open_orders: accountOpenOrders(t, account),
  };
  if (!ledgerIsOn(t)) return row;
  const cash = sumsOf(cashTotal(t, account), cashReserved(t, account));
  return { ...row, cash, positions: positionCount(t, account) };
}

/** Row of a named wallet that the engine does not know. */
function namedRow({ bans, t }: WalletListParts, { address, name }: NamedWallet): Row {
  const banned = bans.has(bytesToHex(address, 0, address.length));
  const row = { wallet: checksumAddress(address), name, banned, open_orders: 0 };
  return ledgerIsOn(t) ? { ...row, cash: sumsOf(0, 0), positions: 0 } : row;
}

function hasAccount(t: Tables, { address }: NamedWallet): boolean {
  return accountByAddress(t, bytesToHex(address, 0, address.length)) !== 0;
}
