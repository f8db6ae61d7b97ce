/**
 * Statements for an operator: of any wallet, and of payouts from the venue's fees. They are the entries of
 * the ledger, with decimal amounts.
 *
 * Thread: I/O.
 */

import { ledgerIsOn, ledgerTotals } from '../../engine/ledger/reads.ts';
import { addressAt } from '../../engine/reads.ts';
import { EntryCause } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type Entry, entryOf } from '../../storage/projection/entries.ts';
import { ProjectionUnready, type StatementsReader } from '../../storage/projection/reader.ts';
import type { NumberedEntry } from '../../storage/projection/statements.ts';
import { microText } from '../common/decimal.ts';
import { type AccountTexts, addressText } from '../market-data/account-texts.ts';
import { accountByAddress } from '../market-data/find.ts';
import { statementRow } from '../wallet/statement-rows.ts';
import { checksumText } from './key-operations.ts';
import { LEDGER_OFF, NO_WALLET, signedText } from './ledger-operations.ts';
import { OperationRefused, operation, refused } from './operation-row.ts';
import { FeesAnswer, FeesInput, StatementAnswer, StatementInput } from './venue-schemas.ts';

interface StatementOperationParts {
  readonly t: Tables;
  readonly names: AccountTexts;
  readonly statements: StatementsReader;
  /** Row of an entry of derived/ by its number. */
  readonly entryAt: (number: number) => Buffer | undefined;
}

interface Page {
  readonly before?: number;
  readonly limit?: number;
}

const PAGE = 100;
const UNREADY = refused(
  'BEING_DERIVED',
  'they are made anew from the entries of the ledger, in the order of seconds; ask again',
  'statements are being derived',
);

export const STATEMENT_OPERATIONS = [
  operation(
    'GET /admin/ledger/statement',
    {
      does: 'entries of a wallet with their running balance, newest first',
      input: StatementInput,
      answer: StatementAnswer,
    },
    ({ names, statements, t }: StatementOperationParts) =>
      ({ wallet, ...page }) => {
        if (!ledgerIsOn(t)) return LEDGER_OFF;
        const account = accountByAddress(t, wallet);
        if (account === 0) return NO_WALLET;
        const found = pageOf(page, (before, limit) => statements.ofWallet(account, before, limit));
        if (found instanceof OperationRefused) return found;
        return {
          wallet: checksumText(wallet),
          entries: found.entries.map((entry) => statementRow(names, entry, signedText)),
          more: found.more,
        };
      },
  ),
  operation(
    'GET /admin/ledger/fees',
    {
      does: 'fees of the venue, and what was paid out of them, newest first',
      input: FeesInput,
      answer: FeesAnswer,
    },
    ({ entryAt, statements, t }: StatementOperationParts) =>
      (page) => {
        if (!ledgerIsOn(t)) return LEDGER_OFF;
        const found = pageOf(page, (before, limit) => statements.ofVenue(before, limit));
        if (found instanceof OperationRefused) return found;
        return {
          fees: microText(ledgerTotals(t).fees),
          // The end of a season has an entry that moves nothing.
          entries: found.entries
            .filter(({ cash }) => cash !== 0)
            .map((entry) => paymentOf(t, entry, entryAt)),
          more: found.more,
        };
      },
  ),
];

function pageOf(
  { before = Number.POSITIVE_INFINITY, limit = PAGE }: Page,
  read: (before: number, limit: number) => readonly NumberedEntry[],
): { readonly entries: readonly NumberedEntry[]; readonly more: boolean } | OperationRefused {
  try {
    const found = read(before, limit + 1);
    return { entries: found.slice(0, limit), more: found.length > limit };
  } catch (error) {
    if (error instanceof ProjectionUnready) return UNREADY;
    throw error;
  }
}

function paymentOf(
  t: Tables,
  { cash, cashAfter, cause, number, time }: NumberedEntry,
  entryAt: StatementOperationParts['entryAt'],
) {
  // The entry of the wallet follows that of the venue.
  const isPaid = cause === EntryCause.fees || cause === EntryCause.rebate;
  const row = isPaid ? entryAt(number + 1) : undefined;
  const to: Entry['account'] = row === undefined ? 0 : entryOf(row).account;
  return {
    entry: number,
    timestamp: time,
    wallet: to === 0 ? '' : addressText(t.accountI, addressAt(to)),
    amount: microText(-cash),
    fees_after: microText(cashAfter),
  };
}
