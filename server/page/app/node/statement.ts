/** The statement of a wallet as CSV: every change of its cash and shares, in decimals. */
import type { NodeClient, StatementEntry } from '../../../../client/client.ts';
import { type CsvColumns, csvOf, plainColumn, textColumn } from '../../../../storage/texts/csv.ts';

const COLUMNS: CsvColumns<StatementEntry> = {
  entry: plainColumn(({ entry }) => entry),
  timestamp: plainColumn(({ timestamp }) => timestamp),
  cause: plainColumn(({ cause }) => cause),
  condition_id: plainColumn(({ condition_id }) => condition_id),
  token_id: plainColumn(({ token_id }) => token_id),
  outcome: textColumn(({ outcome }) => outcome),
  cash: plainColumn(({ cash }) => cash),
  shares: plainColumn(({ shares }) => shares),
  cash_after: plainColumn(({ cash_after }) => cash_after),
  shares_after: plainColumn(({ shares_after }) => shares_after),
  reference: plainColumn(({ reference }) => reference),
};

export async function statementCsv(client: NodeClient): Promise<string> {
  const rows: StatementEntry[] = [];
  for await (const entry of client.ledger.statement()) rows.push(entry);
  return csvOf(COLUMNS, rows);
}
