/** `ledger`: what an operator pays in and out, what wallets have, and whether all of it adds up. */
import { auditLedger } from '../../engine/audit-ledger.ts';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { type Rebuilt, rebuild } from '../../storage/recovery/rebuild.ts';
import { newRequestId, totalsOf } from '../admin/ledger-operations.ts';
import { aligned } from '../common/terminal.ts';
import { statementCsv } from '../ledger/statement-rows.ts';
import { STATEMENT_MAX, STATEMENT_PAGE, type StatementEntry } from '../ledger/statement-schemas.ts';
import type { Options, Run } from './context.ts';
import { operate } from './operate.ts';
import { command, printLines, walletOf } from './operator-commands.ts';
import { configOf, numberOf, textOf } from './settings.ts';

/** Made here: a command that got no answer can be sent again with it. */
export const idOf = (options: Options): { readonly id: string } => ({
  id: textOf(options, 'id') ?? newRequestId(Date.now()),
});
export const again = (repeated: boolean): string => (repeated ? ' (it was done before)' : '');

export const withdraw = command(
  'POST /admin/ledger/withdraw',
  ([wallet = '', amount = ''], options) => ({
    wallet: walletOf(wallet),
    amount,
    ...idOf(options),
  }),
  ({ amount, cash, id, repeated, wallet }) =>
    `${id}: ${amount} is paid out of ${wallet}, which has ${cash}${again(repeated)}`,
);

export const declare = command(
  'POST /admin/ledger/declare',
  ([wallet = '', signer = ''], options) => ({
    wallet: walletOf(wallet),
    signer: walletOf(signer, 'SIGNER'),
    ...idOf(options),
  }),
  ({ id, repeated, signer, wallet }) => `${id}: ${signer} may sign for ${wallet}${again(repeated)}`,
);

export const payFees = command(
  'POST /admin/ledger/fees/pay',
  ([wallet = '', amount = ''], options) => ({
    wallet: walletOf(wallet),
    amount,
    ...idOf(options),
  }),
  ({ amount, cash, id, repeated, wallet }) =>
    `${id}: ${amount} of the fees is paid to ${wallet}, which has ${cash}${again(repeated)}`,
);

export const drawFees = command(
  'POST /admin/ledger/fees/draw',
  ([amount = ''], options) => ({ amount, ...idOf(options) }),
  ({ amount, fees, id, repeated }) =>
    `${id}: ${amount} of the fees is drawn, ${fees} is left${again(repeated)}`,
);

export const balance = command(
  'GET /admin/ledger/balance',
  ([wallet = '']) => ({ wallet: walletOf(wallet) }),
  ({ cash, positions }) => {
    const lines = positions.map((row) => [
      row.token_id,
      row.total,
      row.reserved,
      row.free,
      row.outcome,
      row.slug,
    ]);
    const of = ['cash', cash.total, cash.reserved, cash.free];
    return aligned([['of', 'total', 'reserved', 'free', 'outcome', 'market'], of, ...lines]);
  },
);

interface Page<Row> {
  readonly entries: readonly Row[];
  readonly more: boolean;
}

/** Entries from the newest on, `--limit` of them. */
async function entriesOf<Row extends { readonly entry: number }>(
  options: Options,
  pageOf: (page: { readonly limit: number; readonly before?: number }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const most = numberOf(textOf(options, 'limit') ?? String(STATEMENT_PAGE), '--limit', 1);
  const rows: Row[] = [];
  for (let more = true; more && rows.length < most; ) {
    const limit = Math.min(STATEMENT_MAX, most - rows.length);
    const last = rows.at(-1);
    const page = await pageOf(last === undefined ? { limit } : { limit, before: last.entry });
    rows.push(...page.entries);
    more = page.more;
  }
  return rows;
}

export const statement: Run = async (context, [wallet = ''], options) => {
  const { stdout } = context;
  const of = { wallet: walletOf(wallet) };
  const rows = await entriesOf<StatementEntry>(options, (page) =>
    operate(context, options, 'GET /admin/ledger/statement', { ...of, ...page }),
  );
  if (options.json === true) return printLines(context, rows);
  if (options.csv === true) {
    stdout.data(statementCsv(rows));
    return 'done';
  }
  const lines = rows.map((row) => [
    String(row.entry),
    new Date(row.timestamp).toISOString(),
    row.cause,
    row.outcome,
    row.cash,
    row.shares,
    row.cash_after,
    row.shares_after,
  ]);
  const head = [
    'entry',
    'time',
    'cause',
    'outcome',
    'cash',
    'shares',
    'cash after',
    'shares after',
  ];
  stdout.lines(aligned([head, ...lines]));
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
  const lines = rows.map((row) => [
    String(row.entry),
    new Date(row.timestamp).toISOString(),
    row.amount,
    row.wallet === '' ? 'drawn' : row.wallet,
    row.fees_after,
  ]);
  stdout.line(`fees ${left}`);
  if (lines.length > 0)
    stdout.lines(aligned([['entry', 'time', 'amount', 'to', 'fees after'], ...lines]));
  return 'done';
};

/** A node may run meanwhile: the log is read as far as it is on disk. */
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
