/** Lists by pages: as a table, as lines of JSON, or as CSV; `--limit` rows after the cursor of `--after`. */
import { type CsvColumns, csvOf, plainColumn, textColumn } from '../../storage/texts/csv.ts';
import type { Output } from '../common/terminal.ts';
import { type Cells, cellOf, tableLines } from './command.ts';
import type { Context, Options, Run } from './context.ts';
import { numberOf, textOf } from './settings.ts';

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Value of `--after` for the next page; `undefined` at the end. */
  readonly next: string | undefined;
}

export interface List<Row extends object> {
  /** Requests a page, which may be short or empty although further ones follow. */
  readonly page: (
    context: Context,
    options: Options,
    from: { readonly limit: number; readonly after: string | undefined },
  ) => Promise<ListPage<Row>>;
  readonly columns: CsvColumns<Row>;
  readonly shown: (options: Options) => Cells<Row>;
  readonly numbers?: readonly string[];
  readonly isDim?: (row: Row) => boolean;
  readonly split?: (row: Row, options: Options) => readonly Row[];
}

const LIMIT = 100;
const PAGE = 500;

export function listCommand<Row extends object>(list: List<Row>): Run {
  return async (context, _, options) => {
    const text = textOf(options, 'limit') ?? String(LIMIT);
    const most = text === 'all' ? Number.POSITIVE_INFINITY : numberOf(text, '--limit', 1);
    const rows: Row[] = [];
    let after = textOf(options, 'after');
    do {
      const limit = Math.min(PAGE, most - rows.length);
      const { next, rows: more } = await list.page(context, options, { limit, after });
      rows.push(...more);
      after = next;
      context.progress.show('rows', rows.length, 0);
    } while (after !== undefined && rows.length < most);
    context.progress.clear();
    write(context, options, list, rows);
    if (after !== undefined) context.stderr.line(`there are further ones: --after ${after}`);
    return 'done';
  };
}

function write<Row extends object>(
  { stdout }: Context,
  options: Options,
  { columns, isDim, numbers = [], shown, split }: List<Row>,
  rows: readonly Row[],
): void {
  if (options.json === true) {
    for (const row of rows) stdout.json(row);
    return;
  }
  if (options.csv === true) {
    stdout.data(csvOf(columns, rows));
    return;
  }
  const lines = rows.flatMap((row) => split?.(row, options) ?? [row]);
  printTable(stdout, lines, { cells: shown(options), numbers, isDim });
}

/** Columns with the members of a row, or with functions; those of `texts` hold free text. */
export function columnsOf<Row>(cells: Cells<Row>, texts: readonly string[]): CsvColumns<Row> {
  return Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => {
      const column = texts.includes(name) ? textColumn<Row> : plainColumn<Row>;
      return [name, column((row) => cellOf(row, cell))];
    }),
  );
}

export function printTable<Row>(
  stdout: Output,
  rows: readonly Row[],
  table: {
    readonly cells: Cells<Row>;
    readonly numbers?: readonly string[];
    readonly isDim?: ((row: Row) => boolean) | undefined;
  },
): void {
  const { cells, isDim, numbers } = table;
  const [head = '', ...lines] = tableLines(rows, cells, numbers);
  const { paint } = stdout;
  stdout.line(paint.bold(head));
  stdout.lines(lines.map((line, i) => (isDim?.(rows[i]!) === true ? paint.dim(line) : line)));
}
