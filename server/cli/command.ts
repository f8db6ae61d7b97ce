/** Parts that commands share: one that is an operation of the admin listener, ids of requests, tables of rows. */
import { newRequestId } from '../admin/ledger-operations.ts';
import type { OperationInput, OperationKey, OperationOutput } from '../admin/operation-table.ts';
import { checksumAddress } from '../auth/checksum.ts';
import { aligned } from '../common/terminal.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { operate } from './operate.ts';
import { addressOf, textOf } from './settings.ts';

/** Cells of a table by their headings: a member with a text, or a function. */
export type Cells<Row> = Readonly<Record<string, (keyof Row & string) | ((row: Row) => string)>>;

type Given<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** Builds a command that is one operation. `shown` returns one line, or several. */
export function command<K extends OperationKey>(
  key: K,
  inputOf: (args: readonly string[], options: Options) => OperationInput<K>,
  shown: (answer: OperationOutput<K>) => string | readonly string[],
): Run {
  return async (context, args, options) => {
    const answer = await operate(context, options, key, inputOf(args, options));
    if (options.json === true) context.stdout.json(answer);
    else context.stdout.lines([shown(answer)].flat());
    return 'done';
  };
}

/** Drops the fields that are `undefined`: an operation tells them from absent ones. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<T>;
}

/** Returns an address with its checksum, or a name that the node looks up. */
export function walletOf(text: string, what = 'WALLET'): string {
  if (text === '') throw new Refused(`${what} is empty`);
  return /^0x/i.test(text) ? checksumAddress(addressOf(text, what)) : text;
}

/** Returns `--id`, or a new one with which a command that got no answer can be repeated. */
export function idOf(options: Options): string {
  return textOf(options, 'id') ?? newRequestId(Date.now());
}

export function again(repeated: boolean): string {
  return repeated ? ' (it was done before)' : '';
}

/** Lines of a table. The cells of `numbers` are aligned to the right. */
export function tableLines<Row>(
  rows: readonly Row[],
  cells: Cells<Row>,
  numbers: readonly string[] = [],
): string[] {
  const headings = Object.keys(cells);
  const columns = Object.values(cells);
  const lines = rows.map((row) => columns.map((cell) => cellOf(row, cell)));
  return aligned([headings, ...lines], (column) => numbers.includes(headings[column]!));
}

export function cellOf<Row>(row: Row, cell: Cells<Row>[string]): string {
  return typeof cell === 'function' ? cell(row) : String(row[cell] ?? '');
}

export function printRows<Row extends object>(
  { stdout }: Context,
  { json }: Options,
  rows: readonly Row[],
  cells: Cells<Row>,
): 'done' {
  if (json === true) for (const row of rows) stdout.json(row);
  else stdout.lines(tableLines(rows, cells));
  return 'done';
}
