/** Lists by pages: as a table, as lines of JSON, or as CSV; `--limit` rows from the place of `--after` on. */
import { type CsvColumns, csvFormat } from '../common/csv.ts';
import { aligned } from '../common/terminal.ts';
import type { Context, Options, Run } from './context.ts';
import { numberOf, textOf } from './settings.ts';

/** Cells of a table by its headings. */
export type Cells<Row> = Readonly<Record<string, (row: Row) => string>>;

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Value of `--after` for the next page; undefined at the end. */
  readonly next: string | undefined;
}

export interface List<Row extends object> {
  /** One request; a page may be short, or empty, and have further ones. */
  readonly page: (
    context: Context,
    options: Options,
    from: { readonly limit: number; readonly after: string | undefined },
  ) => Promise<ListPage<Row>>;
  /** Columns of the CSV. */
  readonly columns: CsvColumns<Row>;
  /** Columns of the table for people. */
  readonly shown: (options: Options) => Cells<Row>;
  /** Headings whose cells are numbers. */
  readonly numbers?: readonly string[];
  /** Rows that are shown dimmed. */
  readonly isDim?: (row: Row) => boolean;
  /** Lines of the table for one row, where there are several. */
  readonly split?: (row: Row, options: Options) => readonly Row[];
}

const LIMIT = 100;
/** The most that a request asks for. */
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
    const { head, line } = csvFormat(columns);
    stdout.data(head + rows.map(line).join(''));
    return;
  }
  const lines = rows.flatMap((row) => split?.(row, options) ?? [row]);
  const table = shown(options);
  const headings = Object.keys(table);
  const cells = lines.map((row) => Object.values(table).map((read) => read(row)));
  const [head = '', ...others] = aligned([headings, ...cells], (i) =>
    numbers.includes(headings[i]!),
  );
  stdout.line(stdout.paint.bold(head));
  stdout.lines(
    others.map((line, i) => (isDim?.(lines[i]!) === true ? stdout.paint.dim(line) : line)),
  );
}
