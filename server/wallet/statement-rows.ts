/**
 * Rows of a statement: entries as they are shown, and rows as CSV. The caller chooses the form of amounts. Rules:
 * docs/ledger.md#statements
 *
 * Thread: any that may read the tables.
 */
import type { NumberedEntry } from '../../storage/projection/statements.ts';
import { type CsvColumns, csvOf, plainColumn, textColumn } from '../../storage/texts/csv.ts';
import type { AccountTexts } from '../market-data/account-texts.ts';
import { CAUSES, COLUMNS, type StatementEntry } from './statement-schemas.ts';

const NO_TOKEN = { asset_id: '', market: '', outcome: '' };

export function statementRow(
  names: AccountTexts,
  entry: NumberedEntry,
  amount: (micro: number) => string,
): StatementEntry {
  const { asset_id, market, outcome } = entry.token === 0 ? NO_TOKEN : names.token(entry.token);
  return {
    entry: entry.number,
    timestamp: entry.time,
    cause: CAUSES[entry.cause]!,
    condition_id: market,
    token_id: asset_id,
    outcome,
    cash: amount(entry.cash),
    shares: amount(entry.shares),
    cash_after: amount(entry.cashAfter),
    shares_after: amount(entry.sharesAfter),
    reference: entry.reference,
  };
}

/** Only the outcome is a name. */
export const STATEMENT_COLUMNS: CsvColumns<StatementEntry> = Object.fromEntries(
  COLUMNS.map((name) => {
    const column = name === 'outcome' ? textColumn : plainColumn;
    return [name, column((row: StatementEntry) => row[name])];
  }),
);

export function statementCsv(rows: readonly StatementEntry[]): string {
  return csvOf(STATEMENT_COLUMNS, rows);
}
