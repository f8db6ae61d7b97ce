/**
 * Books and trades as CSV with a header, read as messages of the public form.
 *
 * Thread: any. Non-goals: a line break within quotes.
 */
import { csvCells } from '../texts/csv.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';
import { type Mapping, mappedColumns, namedColumns, type RowColumns } from './row-columns.ts';
import { RowReader } from './row-reader.ts';

const lacks = (column: string): string =>
  `it is no JSON, and as the header of a CSV file it lacks ${column}; columns are separated by commas`;

interface Header {
  readonly columns: RowColumns;
  readonly reader: RowReader;
  /** Place of each column in a line. */
  readonly places: ReadonlyMap<string, number>;
  readonly length: number;
}

/** @param market name of the market of rows that have none */
export async function* csvEntries(
  batches: AsyncIterable<readonly string[]>,
  path: string,
  market: string,
  mapping?: Mapping,
): AsyncGenerator<RecordingEntry[]> {
  let header: Header | undefined;
  let number = 0;
  for await (const lines of batches) {
    const entries: RecordingEntry[] = [];
    for (const line of lines) {
      number += 1;
      const where = `${path}: line ${number}`;
      const text = line.trimEnd();
      if (text === '') continue;
      const cells = csvCells(text);
      if (typeof cells === 'number')
        throw new RecordingDamaged(`${where}, cell ${cells}: its quotes are not closed`);
      if (header === undefined) header = headerOf(cells, where, market, mapping);
      else entries.push(...readLine(header, cells, where));
    }
    yield entries;
  }
  if (header !== undefined) yield header.reader.end();
}

function headerOf(
  names: readonly string[],
  where: string,
  market: string,
  mapping: Mapping | undefined,
): Header {
  const columns =
    mapping === undefined
      ? namedColumns(names, where, lacks)
      : mappedColumns(mapping, names, where);
  const reader = new RowReader({ market, nameOf: columns.nameOf });
  const places = new Map(names.map((name, place) => [name, place]));
  return { columns, reader, places, length: names.length };
}

function readLine(
  { columns, length, places, reader }: Header,
  cells: readonly string[],
  where: string,
): RecordingEntry[] {
  if (cells.length !== length)
    throw new RecordingDamaged(
      `${where}: it has ${cells.length} columns, and the header ${length}`,
    );
  const read = (column: string): unknown => cells[places.get(column)!];
  const levels = columns.levels(read);
  const named = columns.cells(read);
  return levels === undefined ? reader.read(named, where) : reader.readBook(named, levels, where);
}
