/**
 * A recording as one Parquet file: rows of its entries in their order (entry-rows.ts), and its header as JSON in the
 * metadata of the file.
 *
 * Thread: any. Memory: the rows of a row group.
 */
import type { JsonObject } from '../catalog/catalog-json.ts';
import type { ParquetFile, ParquetGroup } from '../columns/parquet-reader.ts';
import {
  type ParquetColumn,
  type ParquetColumns,
  parquetChunks,
} from '../columns/parquet-writer.ts';
import { RecordingDamaged, type RecordingEntry, type RecordingHeader } from './entries.ts';
import { entryOf, objectIn, type RecordingRow, type RowKind, rowsOf } from './entry-rows.ts';

interface RecordingColumn extends ParquetColumn<RecordingRow> {
  readonly means: string;
}

/** Columns of the file. docs/guides/data.md has this table. @internal A test compares both. */
export const RECORDING_COLUMNS: Readonly<Record<keyof RecordingRow, RecordingColumn>> = {
  entry: {
    type: 'integer',
    read: ({ entry }) => entry,
    means: 'number of the entry, from 0; its rows stand together',
  },
  kind: {
    type: 'text',
    read: ({ kind }) => kind,
    means:
      '`book`: a level of a whole book; `change`: a level has this size from now on; `trade`; `message`: another message; `catalog`, `gap`, `end`',
  },
  at: { type: 'time', read: ({ at }) => at, means: 'arrival, by the clock of the recorder' },
  time: { type: 'time', read: ({ time }) => time, means: 'time of the message' },
  market: {
    type: 'text',
    read: ({ market }) => market,
    means: 'condition id or name of the market',
  },
  token: { type: 'text', read: ({ token }) => token, means: 'token id' },
  outcome: { type: 'text', read: ({ outcome }) => outcome, means: 'name of the outcome, if sent' },
  side: {
    type: 'text',
    read: ({ side }) => side,
    means: '`BUY` or `SELL`: of a level its side, of a trade that of its taker',
  },
  price: { type: 'decimal', read: ({ price }) => price, means: 'as it was sent' },
  size: {
    type: 'decimal',
    read: ({ size }) => size,
    means: 'shares; 0 = a `change` ends the level',
  },
  json: {
    type: 'text',
    read: ({ json }) => json,
    means:
      'JSON. `catalog`: the event with its markets, their fees, ticks, times and results. `gap`: `from` and `to`. `message`: the message. Else, on the first row of an entry, members of the message that have no column',
  },
  more: {
    type: 'text',
    read: ({ more }) => more,
    means: 'JSON: members of the level or change that have no column, such as `best_bid`',
  },
};

const HEADER_KEY = 'recording';
const BATCH = 128;

/** Yields the bytes of the file. @param batches all entries, those of the catalog included */
export function recordingParquet(
  header: RecordingHeader,
  batches: AsyncIterable<readonly RecordingEntry[]>,
): AsyncGenerator<Uint8Array> {
  const metadata = { [HEADER_KEY]: JSON.stringify(header) };
  return parquetChunks(COLUMNS, rowBatches(batches), { metadata });
}

const COLUMNS: ParquetColumns<RecordingRow> = RECORDING_COLUMNS;

async function* rowBatches(
  batches: AsyncIterable<readonly RecordingEntry[]>,
): AsyncGenerator<RecordingRow[]> {
  let number = 0;
  for await (const batch of batches) {
    const rows: RecordingRow[] = [];
    for (const entry of batch) {
      // No file has one that could not be read.
      if (entry.kind === 'damaged') continue;
      rows.push(...rowsOf(entry, number));
      number += 1;
    }
    yield rows;
  }
}

/** Returns the header of a recording; `undefined` for another file. @throws RecordingDamaged if it is no JSON */
export function parquetHeader({ metadata }: ParquetFile, path: string): JsonObject | undefined {
  const text = metadata.get(HEADER_KEY);
  if (text === undefined) return undefined;
  const header = objectIn(text);
  if (header === undefined) throw new RecordingDamaged(`${path}: its header is no JSON`);
  return header;
}

/** Yields the entries of a recording, without checks of their times. */
export async function* parquetEntries(
  file: ParquetFile,
  path: string,
): AsyncGenerator<RecordingEntry[]> {
  const wanted = Object.keys(RECORDING_COLUMNS);
  const missing = wanted.find((name) => !file.columns.includes(name));
  if (missing !== undefined) throw new RecordingDamaged(`${path}: it lacks the column ${missing}`);
  /** Rows of the newest entry, which may go on in the next group. */
  let rows: RecordingRow[] = [];
  let entries: RecordingEntry[] = [];
  for await (const group of file.groups(wanted)) {
    for (let i = 0; i < group.length; i++) {
      const row = rowAt(group, i);
      if (rows.length > 0 && rows[0]!.entry !== row.entry) {
        entries.push(entryOf(rows, path));
        rows = [];
        if (entries.length >= BATCH) {
          yield entries;
          entries = [];
        }
      }
      rows.push(row);
    }
  }
  if (rows.length > 0) entries.push(entryOf(rows, path));
  yield entries;
}

function rowAt({ columns }: ParquetGroup, i: number): RecordingRow {
  const text = (name: keyof RecordingRow): string | undefined => {
    const value = columns.get(name)![i];
    return value == null ? undefined : String(value);
  };
  const time = (name: keyof RecordingRow): number | undefined => {
    const value = columns.get(name)![i];
    return value instanceof Date ? value.getTime() : undefined;
  };
  return {
    entry: Number(text('entry') ?? Number.NaN),
    kind: text('kind') as RowKind,
    at: time('at') ?? Number.NaN,
    time: time('time'),
    market: text('market'),
    token: text('token'),
    outcome: text('outcome'),
    side: text('side'),
    price: text('price'),
    size: text('size'),
    json: text('json'),
    more: text('more'),
  };
}
