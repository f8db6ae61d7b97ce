/**
 * Rows of a statement: an entry as it is shown, and rows as CSV. Amounts are what the caller makes of micro-units.
 * Rules: docs/ledger.md#statements
 *
 * Thread: any that may read the tables.
 */
import type { NumberedEntry } from '../../storage/projection/statements.ts';
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

/** A line of names, then one for each row. */
export function statementCsv(rows: readonly StatementEntry[]): string {
  const lines = rows.map((row) => COLUMNS.map((name) => csvText(row[name])).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}

function csvText(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
