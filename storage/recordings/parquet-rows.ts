/** Books and trades as rows of Parquet, read as messages of the public form. Thread: any. */
import type { ParquetFile } from '../columns/parquet-reader.ts';
import type { RecordingEntry } from './entries.ts';
import { type Mapping, mappedColumns, namedColumns } from './row-columns.ts';
import { RowReader } from './row-reader.ts';

const BATCH = 128;

/**
 * @param market name of the market of rows that have none
 * @param onRows called with the rows read so far
 */
export async function* parquetRowEntries(
  file: ParquetFile,
  path: string,
  market: string,
  mapping: Mapping | undefined,
  onRows: (rows: number) => void,
): AsyncGenerator<RecordingEntry[]> {
  const columns =
    mapping === undefined
      ? namedColumns(
          file.columns,
          path,
          (column) => `it lacks ${column}, and a mapping may say another name`,
        )
      : mappedColumns(mapping, file.columns, path);
  const reader = new RowReader({ market, nameOf: columns.nameOf });
  let number = 0;
  let entries: RecordingEntry[] = [];
  for await (const group of file.groups(columns.wanted)) {
    for (let i = 0; i < group.length; i++) {
      number += 1;
      const where = `${path}: row ${number}`;
      const read = (column: string): unknown => group.columns.get(column)![i];
      const levels = columns.levels(read);
      const cells = columns.cells(read);
      const ended =
        levels === undefined ? reader.read(cells, where) : reader.readBook(cells, levels, where);
      entries.push(...ended);
      if (entries.length < BATCH) continue;
      onRows(number);
      yield entries;
      entries = [];
    }
  }
  yield [...entries, ...reader.end()];
}
