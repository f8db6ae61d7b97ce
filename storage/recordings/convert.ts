/**
 * Writes a recording in another form. The end of the name says the form. A file has its name once it is whole.
 *
 * Thread: any. Memory: a member, a row group, or pieces of as many arrays as are written at a time.
 */
import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CsvColumns, csvFormat, plainColumn, textColumn } from '../texts/csv.ts';
import { type ConvertOptions, Parts } from './convert-parts.ts';
import { type Cells, rowOf } from './csv-columns.ts';
import type { RecordingEntry } from './entries.ts';
import { type RecordingRow, rowsOf } from './entry-rows.ts';
import type { Recording } from './opened.ts';
import { recordingParquet } from './parquet-form.ts';
import { writeArrays } from './write-arrays.ts';
import { RecordingWriter } from './writer.ts';

export interface Form {
  /** Ends of names. */
  readonly ends: readonly string[];
  readonly does: string;
  /** Parts of a recording that the form has no place for. */
  readonly lacks: string | undefined;
  readonly write: (recording: Recording, path: string, parts: Parts) => Promise<void>;
}

export interface Converted {
  /** Messages written. */
  readonly messages: number;
  /** Messages and entries without a place in the form, or damaged. */
  readonly leftOut: number;
  /** Messages with a time that was raised, so that none decreases. */
  readonly raised: number;
  /** Bytes of the file, or of all files of a directory. */
  readonly bytes: number;
}

/** Every form by its name. docs/guides/data.md has this table. */
export const FORMS: Readonly<Record<string, Form>> = {
  recording: {
    ends: ['.rec', '.rec.gz'],
    does: 'a recording of this project: gzipped JSON lines',
    lacks: undefined,
    write: writeOwn,
  },
  parquet: {
    ends: ['.parquet'],
    does: 'a recording as one Parquet file',
    lacks: undefined,
    write: async (recording, path, parts) =>
      writeChunks(path, recordingParquet(recording.header, allEntries(recording, parts)), parts),
  },
  npz: {
    ends: ['.npz'],
    does: 'an array of hftbacktest 2 for one token; without `--token` a directory with one for each',
    lacks: 'gaps, later catalogs, other messages, digits of prices beyond the fourth',
    write: writeArrays,
  },
  lines: {
    ends: ['.jsonl'],
    does: 'messages in the public form, one a line',
    lacks: 'the catalog, gaps, the end, times of arrival',
    write: async (recording, path, parts) =>
      writeChunks(path, messageLines(recording, parts), parts),
  },
  csv: {
    ends: ['.csv'],
    does: 'books and trades as CSV',
    lacks: 'the catalog, gaps, the end, other messages',
    write: async (recording, path, parts) => writeChunks(path, csvLines(recording, parts), parts),
  },
};

export function formOf(path: string): Form | undefined {
  return Object.values(FORMS).find(({ ends }) => ends.some((end) => path.endsWith(end)));
}

/** Rejects if there is something at the path. */
export async function convertRecording(
  recording: Recording,
  form: Form,
  path: string,
  options: ConvertOptions = {},
): Promise<Converted> {
  if (existsSync(path)) throw new Error(`${path} is there`);
  const parts = new Parts(options);
  const draft = `${path}.${process.pid}.part`;
  try {
    await form.write(recording, draft, parts);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  const { leftOut, messages, raised } = parts;
  return { leftOut, messages, raised, bytes: await bytesOf(path) };
}

async function bytesOf(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.size;
  const sizes = await Promise.all((await readdir(path)).map((name) => bytesOf(join(path, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function* allEntries(
  recording: Recording,
  parts: Parts,
): AsyncGenerator<readonly RecordingEntry[]> {
  const { catalog, header } = recording;
  yield catalog.events.map((event) => ({ at: header.started, kind: 'catalog', event }));
  for await (const batch of recording.batches()) {
    yield batch;
    parts.written(batch);
  }
}

async function writeOwn(recording: Recording, path: string, parts: Parts): Promise<void> {
  const writer = await RecordingWriter.create(path, recording.header);
  let end: number | undefined;
  try {
    for await (const batch of allEntries(recording, parts)) {
      for (const entry of batch) {
        if (entry.kind === 'end') end = entry.at;
        else if (entry.kind !== 'damaged') await writer.write(entry);
      }
      parts.bytes = writer.bytes;
    }
  } finally {
    await writer.close(end);
  }
}

async function writeChunks(
  path: string,
  chunks: AsyncIterable<string | Uint8Array>,
  parts: Parts,
): Promise<void> {
  async function* counted() {
    for await (const chunk of chunks) {
      parts.bytes += chunk.length;
      yield chunk;
    }
  }
  await writeFile(path, counted(), { flush: true, flag: 'wx' });
}

async function* messageLines(recording: Recording, parts: Parts): AsyncGenerator<string> {
  for await (const batch of recording.batches()) {
    let text = '';
    for (const entry of batch) {
      if (entry.kind === 'message') text += `${JSON.stringify(entry.message)}\n`;
    }
    yield text;
    parts.written(batch);
  }
}

const CSV_FORMAT_COLUMNS: CsvColumns<RecordingRow> = {
  time: plainColumn(({ time }) => isoOf(time)),
  at: plainColumn(({ at }) => isoOf(at)),
  type: plainColumn(({ kind }) => kind),
  market: textColumn(({ market }) => market),
  token: plainColumn(({ token }) => token),
  outcome: textColumn(({ outcome }) => outcome),
  side: plainColumn(({ side }) => side),
  price: plainColumn(({ price }) => price),
  size: plainColumn(({ size }) => size),
};
/** Level of a book without levels. */
const NO_LEVEL = { side: 'BUY', price: '0.5', size: '0' };

async function* csvLines(recording: Recording, parts: Parts): AsyncGenerator<string> {
  const { head, line } = csvFormat(CSV_FORMAT_COLUMNS, '\n');
  yield head;
  for await (const batch of recording.batches()) {
    let text = '';
    for (const entry of batch) {
      if (entry.kind !== 'message') continue;
      const rows = csvRows(rowsOf(entry, 0));
      if (rows.every(isReadable)) text += rows.map(line).join('');
      else parts.leftOut += 1;
    }
    yield text;
    parts.written(batch);
  }
}

/** Rows of a message, which for a book are at least one, and one for each price: the last one counts. */
function csvRows(rows: readonly RecordingRow[]): readonly RecordingRow[] {
  const [first] = rows;
  if (first?.kind !== 'book') return rows;
  if (first.price === undefined) return [{ ...first, ...NO_LEVEL }];
  return [...new Map(rows.map((row) => [`${row.side} ${Number(row.price)}`, row])).values()];
}

/** Returns true for a row that the reader of CSV takes. */
function isReadable(row: RecordingRow): boolean {
  const { kind, market = '', outcome = '', price = '', side = '', size = '', token = '' } = row;
  if (kind !== 'book' && kind !== 'change' && kind !== 'trade') return false;
  const [time, at] = [isoOf(row.time) ?? '', isoOf(row.at) ?? ''];
  const cells: Cells = { time, at, type: kind, market, token, outcome, side, price, size };
  return market !== '' && /^\d+$/.test(token) && typeof rowOf(cells, '') === 'object';
}

function isoOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}
