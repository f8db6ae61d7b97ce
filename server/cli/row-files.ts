/** Files of rows: CSV, JSON lines and Parquet of the same columns, for `--format`. */
import {
  type ColumnType,
  parquetChunks,
  parquetColumns,
} from '../../storage/columns/parquet-writer.ts';
import { type CsvColumns, csvFormat, type RowFormat } from '../../storage/texts/csv.ts';
import { type Options, Refused } from './context.ts';
import { textOf } from './settings.ts';

export interface RowTable<Row> {
  readonly columns: CsvColumns<Row>;
  /** Columns that are no texts in Parquet. */
  readonly types: Readonly<Record<string, ColumnType>>;
  /** End of a line of CSV. */
  readonly lineEnd?: string;
}

type Chunks = Iterable<string> | AsyncIterable<Uint8Array>;

const FORMATS = {
  csv: <Row>({ columns, lineEnd }: RowTable<Row>, rows: Iterable<Row>): Chunks =>
    chunksOf(csvFormat(columns, lineEnd), rows),
  jsonl: <Row>({ columns }: RowTable<Row>, rows: Iterable<Row>): Chunks =>
    chunksOf(jsonFormat(columns), rows),
  parquet: <Row>({ columns, types }: RowTable<Row>, rows: Iterable<Row>): Chunks =>
    parquetChunks(parquetColumns(columns, types), rows),
};
export type RowFormatName = keyof typeof FORMATS;

const CHUNK_LENGTH = 1 << 16;

/** Texts or bytes of a file with these rows, which are taken one at a time. */
export function rowChunks<Row>(
  format: RowFormatName,
  table: RowTable<Row>,
  rows: Iterable<Row>,
): Chunks {
  return FORMATS[format](table, rows);
}

/** `--format`, else the format that the end of the name says, else CSV. Throws Refused for a name that is none. */
export function formatOf(
  options: Options,
  file: string,
  names: readonly RowFormatName[],
): RowFormatName {
  const text = textOf(options, 'format') ?? (file.endsWith('.parquet') ? 'parquet' : 'csv');
  const name = names.find((each) => each === text);
  if (name !== undefined) return name;
  const list = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new Refused(`--format must be ${list}, not "${text}"`);
}

function jsonFormat<Row>(columns: CsvColumns<Row>): RowFormat<Row> {
  const cells = Object.entries(columns);
  return {
    head: '',
    line: (row) =>
      `${JSON.stringify(Object.fromEntries(cells.map(([name, { read }]) => [name, read(row)])))}\n`,
  };
}

function* chunksOf<Row>({ head, line }: RowFormat<Row>, rows: Iterable<Row>): Generator<string> {
  let chunk = head;
  for (const row of rows) {
    chunk += line(row);
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
