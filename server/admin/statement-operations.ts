/**
 * The statement of any wallet for an operator: the entries of the ledger, with decimal amounts.
 *
 * Thread: I/O.
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { ProjectionUnready, type StatementsReader } from '../../storage/projection/reader.ts';
import { checksumAddress } from '../identity/checksum.ts';
import { statementRow } from '../ledger/statement-rows.ts';
import type { AccountTexts } from '../market-data/account-texts.ts';
import { accountByAddress } from '../market-data/find.ts';
import { addressOf } from './key-operations.ts';
import { LEDGER_OFF, NO_WALLET, signedText } from './ledger-operations.ts';
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers } from './operation-table.ts';

interface StatementOperationParts {
  readonly t: Tables;
  readonly names: AccountTexts;
  readonly statements: StatementsReader;
}

const PAGE = 100;
const UNREADY = new OperationRefused(
  503,
  'statements are being derived',
  'they are made anew from the entries of the ledger, in the order of seconds; ask again',
);

export function statementOperations({
  names,
  statements,
  t,
}: StatementOperationParts): OperationHandlers<'GET /admin/ledger/statement'> {
  return {
    'GET /admin/ledger/statement': ({ before, limit = PAGE, wallet }) => {
      if (!ledgerIsOn(t)) return LEDGER_OFF;
      const account = accountByAddress(t, wallet);
      if (account === 0) return NO_WALLET;
      try {
        const found = statements.ofWallet(account, before ?? Number.POSITIVE_INFINITY, limit + 1);
        const entries = found.slice(0, limit);
        return {
          wallet: checksumAddress(addressOf(wallet)),
          entries: entries.map((entry) => statementRow(names, entry, signedText)),
          more: found.length > limit,
        };
      } catch (error) {
        if (error instanceof ProjectionUnready) return UNREADY;
        throw error;
      }
    },
  };
}
