/**
 * Operations on wallets as a whole: the list of them with their cash, and names.
 *
 * Thread: I/O, while workers write; names also on a stopped directory.
 */
import { cashReserved, cashTotal, ledgerIsOn, positionCount } from '../../engine/ledger/reads.ts';
import { accountCount, accountOpenOrders, addressAt } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import { bytesToHex, wordsToHex } from '../common/uint256.ts';
import type { Bans } from '../identity/bans.ts';
import { checksumAddress } from '../identity/checksum.ts';
import type { NamedWallet, WalletNames } from '../identity/wallet-names.ts';
import { addressText } from '../market-data/account-texts.ts';
import { accountByAddress } from '../market-data/find.ts';
import type { SeqlockReader } from '../orders/seqlock-reader.ts';
import { addressOf } from './key-operations.ts';
import { sumsOf } from './ledger-operations.ts';
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers, OperationInput, OperationOutput } from './operation-table.ts';

type Filters = OperationInput<'GET /admin/wallets'>;
type Row = OperationOutput<'GET /admin/wallets'>['wallets'][number];

interface WalletListParts {
  readonly t: Tables;
  readonly seqlock: SeqlockReader;
  readonly names: WalletNames;
  readonly bans: Bans;
}

/** Rows of one request: about a millisecond. A page with filters may be short for it. */
const SCANNED_MAX = 4_000;

export function nameOperations(names: WalletNames): OperationHandlers<'POST /admin/wallets/name'> {
  return {
    async 'POST /admin/wallets/name'({ name = '', wallet }) {
      const address = addressOf(wallet);
      const namesake = name === '' ? undefined : names.find(name);
      if (namesake !== undefined && !Buffer.from(namesake).equals(address)) {
        const detail = `it is that of ${checksumAddress(namesake)}`;
        return new OperationRefused(409, 'name is taken', detail);
      }
      if (!names.hasRoom(address)) return new OperationRefused(409, 'too many wallets have names');
      const changed = await names.put(address, name);
      return { wallet: checksumAddress(address), name, changed };
    },
  };
}

/** The place of a page: rows of accounts, then wallets with a name that have no account yet. */
export function walletListOperations(
  parts: WalletListParts,
): OperationHandlers<'GET /admin/wallets'> {
  const { names, seqlock, t } = parts;
  return {
    async 'GET /admin/wallets'(input) {
      const { after = 0, limit = 100 } = input;
      const accounts = accountCount(t);
      const wallets: Row[] = [];
      let at = after;
      const end = Math.min(accounts, after + SCANNED_MAX);
      if (at < accounts) {
        const rows = await seqlock.read(() => {
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
  };
}

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

/** A wallet of which the engine has heard nothing. */
function namedRow({ bans, t }: WalletListParts, { address, name }: NamedWallet): Row {
  const banned = bans.has(bytesToHex(address, 0, address.length));
  const row = { wallet: checksumAddress(address), name, banned, open_orders: 0 };
  return ledgerIsOn(t) ? { ...row, cash: sumsOf(0, 0), positions: 0 } : row;
}

function hasAccount(t: Tables, { address }: NamedWallet): boolean {
  return accountByAddress(t, bytesToHex(address, 0, address.length)) !== 0;
}
