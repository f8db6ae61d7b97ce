/** `ledger statement`, `ledger balance`, `ledger fees` and `ledger audit`. */
import { auditLedger } from '../../engine/audit-ledger.ts';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { type Rebuilt, rebuild } from '../../storage/recovery/rebuild.ts';
import { totalsOf } from '../admin/ledger-operations.ts';
import type { OperationOutput } from '../admin/operation-table.ts';
import { aligned } from '../common/terminal.ts';
import { STATEMENT_COLUMNS, statementCsv } from '../wallet/statement-rows.ts';
import { STATEMENT_MAX, STATEMENT_PAGE, type StatementEntry } from '../wallet/statement-schemas.ts';
import { type Cells, given, printRows, tableLines, walletOf } from './command.ts';
import type { Options, Run } from './context.ts';
import { columnsOf } from './list-command.ts';
import { operate } from './operate.ts';
import { type RowTable, rowChunks } from './row-files.ts';
import { configOf, numberOf, textOf } from './settings.ts';

type Balance = OperationOutput<'GET /admin/ledger/balance'>;
type Holding = Balance['positions'][number];
type FeeEntry = OperationOutput<'GET /admin/ledger/fees'>['entries'][number];

const STATEMENT_CELLS: Cells<StatementEntry> = {
  entry: ({ entry }) => String(entry),
  time: ({ timestamp }) => new Date(timestamp).toISOString(),
  cause: 'cause',
  outcome: 'outcome',
  cash: 'cash',
  shares: 'shares',
  'cash after': 'cash_after',
  'shares after': 'shares_after',
};
const STATEMENT: RowTable<StatementEntry> = {
  columns: STATEMENT_COLUMNS,
  types: {
    entry: 'integer',
    timestamp: 'time',
    cash: 'decimal',
    shares: 'decimal',
    cash_after: 'decimal',
    shares_after: 'decimal',
    reference: 'integer',
  },
};
const HOLDING_CELLS: Cells<Holding> = {
  of: 'token_id',
  total: 'total',
  reserved: 'reserved',
  free: 'free',
  outcome: 'outcome',
  market: 'slug',
};
const HOLDINGS: RowTable<Holding> = {
  columns: columnsOf(
    {
      token_id: 'token_id',
      condition_id: 'condition_id',
      outcome: 'outcome',
      slug: 'slug',
      total: 'total',
      reserved: 'reserved',
      free: 'free',
    },
    ['outcome', 'slug'],
  ),
  types: { total: 'decimal', reserved: 'decimal', free: 'decimal' },
};
const FEE_CELLS: Cells<FeeEntry> = {
  entry: ({ entry }) => String(entry),
  time: ({ timestamp }) => new Date(timestamp).toISOString(),
  amount: 'amount',
  to: ({ wallet }) => (wallet === '' ? 'drawn' : wallet),
  'fees after': 'fees_after',
};

interface Page<Row> {
  readonly entries: readonly Row[];
  readonly more: boolean;
}

async function entriesOf<Row extends { readonly entry: number }>(
  options: Options,
  pageOf: (page: { readonly limit: number; readonly before?: number }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const most = numberOf(textOf(options, 'limit') ?? String(STATEMENT_PAGE), '--limit', 1);
  const rows: Row[] = [];
  for (let more = true; more && rows.length < most; ) {
    const limit = Math.min(STATEMENT_MAX, most - rows.length);
    const page = await pageOf(given({ limit, before: rows.at(-1)?.entry }));
    rows.push(...page.entries);
    more = page.more;
  }
  return rows;
}

export const statement: Run = async (context, [wallet = ''], options) => {
  const of = walletOf(wallet);
  const rows = await entriesOf<StatementEntry>(options, (page) =>
    operate(context, options, 'GET /admin/ledger/statement', { wallet: of, ...page }),
  );
  const parquet = textOf(options, 'parquet');
  if (parquet !== undefined) {
    await writeWhole(parquet, rowChunks('parquet', STATEMENT, rows));
    context.stdout.line(parquet);
    return 'done';
  }
  if (options.csv === true && options.json !== true) {
    context.stdout.data(statementCsv(rows));
    return 'done';
  }
  return printRows(context, options, rows, STATEMENT_CELLS);
};

export const balance: Run = async (context, [wallet = ''], options) => {
  const { stdout } = context;
  const answer = await operate(context, options, 'GET /admin/ledger/balance', {
    wallet: walletOf(wallet),
  });
  const { cash, positions } = answer;
  const ofCash = { token_id: 'cash', condition_id: '', outcome: '', slug: '' };
  const rows: Holding[] = [{ ...cash, ...ofCash }, ...positions];
  const parquet = textOf(options, 'parquet');
  if (parquet !== undefined) {
    await writeWhole(parquet, rowChunks('parquet', HOLDINGS, rows));
    stdout.line(parquet);
  } else if (options.json === true) stdout.json(answer);
  else stdout.lines(tableLines(rows, HOLDING_CELLS));
  return 'done';
};

export const fees: Run = async (context, _, options) => {
  const { stdout } = context;
  let left = '0';
  const rows = await entriesOf(options, async (page) => {
    const answer = await operate(context, options, 'GET /admin/ledger/fees', page);
    left = answer.fees;
    return answer;
  });
  if (options.json === true) {
    stdout.line(JSON.stringify({ fees: left, entries: rows }));
    return 'done';
  }
  stdout.line(`fees ${left}`);
  if (rows.length > 0) stdout.lines(tableLines(rows, FEE_CELLS));
  return 'done';
};

/** Rebuilds the ledger from the part of the log that is on disk, also while a node runs. */
export const audit: Run = async (context, _, options) => {
  const { dataDir, progress, stderr, stdout } = context;
  const { capacities } = configOf(context);
  const onProgress = (done: number, total: number): void => progress.show('replay', done, total);
  const { sequence, t }: Rebuilt = rebuild({ dataDir, capacities, to: undefined, onProgress });
  progress.clear();
  if (!ledgerIsOn(t)) throw new Error(`${dataDir} has no ledger: LEDGER=on makes one`);
  let problem: string | undefined;
  try {
    auditLedger(t);
  } catch (error) {
    problem = (error as Error).message;
  }
  const isSound = problem === undefined;
  const totals = { sequence, sound: isSound, ...totalsOf(t) };
  const lines = Object.entries(totals).map(([name, value]) => [name, String(value)]);
  if (options.json === true) stdout.json(totals);
  else stdout.lines(aligned(lines));
  if (problem !== undefined) stderr.line(`it does not add up: ${problem}`);
  return isSound ? 'done' : 'differs';
};
