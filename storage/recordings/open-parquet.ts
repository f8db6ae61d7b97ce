/** Opens Parquet: a recording (parquet-form.ts), or rows of books and trades (parquet-rows.ts). Thread: any. */
import { statSync } from 'node:fs';
import { openParquet, type ParquetFile } from '../columns/parquet-reader.ts';
import type { RecordingEntry } from './entries.ts';
import { marketNameOf } from './market-name.ts';
import {
  checkedHeader,
  damageOf,
  namingDamage,
  type OnRead,
  ownRecording,
  type Recording,
  surveyedRecording,
} from './opened.ts';
import { parquetEntries, parquetHeader } from './parquet-form.ts';
import { parquetRowEntries } from './parquet-rows.ts';
import type { Mapping } from './row-columns.ts';

export async function openParquetRecording(
  path: string,
  onRead: OnRead,
  mapping: Mapping | undefined,
): Promise<Recording> {
  const file = await openParquet(path).catch((error: unknown) => {
    throw damageOf(path, error);
  });
  const header = parquetHeader(file, path);
  if (header === undefined) return openRows(file, path, onRead, mapping);
  const entries = () => namingDamage(path, parquetEntries(file, path));
  const events = await eventsOf(entries());
  return ownRecording({
    path,
    header: checkedHeader(header, path),
    events,
    entries: () => behind(events.length, entries()),
    cutAt: () => undefined,
  });
}

async function eventsOf(batches: AsyncIterable<readonly RecordingEntry[]>) {
  const events = [];
  for await (const batch of batches) {
    for (const entry of batch) {
      if (entry.kind !== 'catalog') return events;
      events.push(entry.event);
    }
  }
  return events;
}

/** Entries behind the first ones. */
async function* behind(
  count: number,
  batches: AsyncIterable<readonly RecordingEntry[]>,
): AsyncGenerator<readonly RecordingEntry[]> {
  let skip = count;
  for await (const batch of batches) {
    const skipped = Math.min(skip, batch.length);
    skip -= skipped;
    yield skipped === 0 ? batch : batch.slice(skipped);
  }
}

function openRows(
  file: ParquetFile,
  path: string,
  onRead: OnRead,
  mapping: Mapping | undefined,
): Promise<Recording> {
  const { size } = statSync(path);
  let bytes = 0;
  const onRows = (rows: number): void => {
    bytes = Math.round((size * rows) / file.rows);
  };
  return surveyedRecording(
    path,
    () => namingDamage(path, parquetRowEntries(file, path, marketNameOf(path), mapping, onRows)),
    (messages) => onRead(messages, bytes),
  );
}
