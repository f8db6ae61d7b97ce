/** `ledger`: what an operator pays in and out, what wallets have, and whether all of it adds up. */
import { auditLedger } from '../../engine/audit-ledger.ts';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { type Rebuilt, rebuild } from '../../storage/recovery/rebuild.ts';
import { newRequestId, totalsOf } from '../admin/ledger-operations.ts';
import { statementCsv } from '../ledger/statement-rows.ts';
import { STATEMENT_MAX, STATEMENT_PAGE, type StatementEntry } from '../ledger/statement-schemas.ts';
import type { Options, Run } from './context.ts';
import { operate } from './operate.ts';
import { command, printLines, walletOf } from './operator-commands.ts';
import { configOf, numberOf, textOf } from './settings.ts';
import { aligned } from './terminal.ts';

/** Made here: a command that got no answer can be sent again with it. */
export const idOf = (options: Options): { readonly id: string } => ({
  id: textOf(options, 'id') ?? newRequestId(Date.now()),
});
export const again = (repeated: boolean): string => (repeated ? ' (it was done before)' : '');

export const deposit = command(
  'POST /admin/ledger/deposit',
  ([wallet = '', amount = ''], options) => {
    const signer = textOf(options, 'signer');
    const signed = signer === undefined ? {} : { signer: walletOf(signer, '--signer') };
    return { wallet: walletOf(wallet), amount, ...signed, ...idOf(options) };
  },
  ({ amount, cash, id, repeated, wallet }) =>
    `${id}: ${amount} is paid in to ${wallet}, which has ${cash}${again(repeated)}`,
);

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

export const balance = command(
  'GET /admin/ledger/balance',
  ([wallet = '']) => ({ wallet: walletOf(wallet) }),
  ({ cash, positions }) => {
    const lines = positions.map((row) => [row.token_id, row.total, row.reserved, row.free]);
    const of = ['cash', cash.total, cash.reserved, cash.free];
    return aligned([['of', 'total', 'reserved', 'free'], of, ...lines]).join('\n');
  },
);

/** Pages of the node until there are enough. */
export const statement: Run = async (context, [wallet = ''], options) => {
  const { stdout } = context;
  const most = numberOf(textOf(options, 'limit') ?? String(STATEMENT_PAGE), '--limit', 1);
  const rows: StatementEntry[] = [];
  for (let more = true; more && rows.length < most; ) {
    const last = rows.at(-1);
    const page = await operate(context, options, 'GET /admin/ledger/statement', {
      wallet: walletOf(wallet),
      limit: Math.min(STATEMENT_MAX, most - rows.length),
      ...(last === undefined ? {} : { before: last.entry }),
    });
    rows.push(...page.entries);
    more = page.more;
  }
  if (options.json === true) return printLines(context, rows);
  if (options.csv === true) {
    stdout.write(statementCsv(rows));
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
  stdout.write(`${aligned([head, ...lines]).join('\n')}\n`);
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
  const text = options.json === true ? JSON.stringify(totals) : aligned(lines).join('\n');
  stdout.write(`${text}\n`);
  if (problem !== undefined) stderr.write(`it does not add up: ${problem}\n`);
  return isSound ? 'done' : 'differs';
};
