/**
 * Opens a recording: own form (members.ts), public form (public-form.ts) or CSV, plain or gzipped, Parquet, or npz. Entries
 * are read while iterated, any number of times, with a member, a piece of a file or a row group in memory.
 *
 * Thread: any.
 */

import { createReadStream, type ReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { isObject, type JsonObject } from '../catalog/catalog-json.ts';
import { beginsZip } from '../columns/npz.ts';
import { beginsParquet } from '../columns/parquet-reader.ts';
import { csvEntries } from './csv-form.ts';
import {
  RECORDING_FORMAT,
  RecordingDamaged,
  type RecordingEntry,
  type RecordingHeader,
} from './entries.ts';
import { linesOf } from './lines.ts';
import { marketNameOf } from './market-name.ts';
import { beginsMember, membersOf } from './members.ts';
import { openNpzRecording } from './open-npz.ts';
import { openParquetRecording } from './open-parquet.ts';
import {
  checkedHeader,
  type OnRead,
  ownRecording,
  type ReadEntry,
  type Recording,
  surveyedRecording,
} from './opened.ts';
import { publicEntries } from './public-form.ts';
import { KnownTexts, QuickLines } from './quick-lines.ts';
import type { Mapping } from './row-columns.ts';

export { cutText, type OnRead, type ReadEntry, type Recording } from './opened.ts';

const PIECE_BYTES = 2 ** 18;
const LINE_END = 0x0a;
const OWN_HEADER = new RegExp(`^\\{.*"format"\\s*:\\s*"${RECORDING_FORMAT}"`);

type Lines = AsyncIterable<readonly string[]>;

/** Entries of a batch: few enough to be garbage before the collector copies them. */
const BATCH = 128;

/**
 * Rejects with a RecordingDamaged if the file is no recording of this version. Reads a file in the public form once
 * for its survey.
 * @param mapping columns of CSV or Parquet that are not named as csv-columns.ts has them
 */
export async function openRecording(
  path: string,
  onRead: OnRead = () => undefined,
  mapping?: Mapping,
): Promise<Recording> {
  if ((await stat(path)).isDirectory())
    throw new RecordingDamaged(
      `${path}: it is a directory; name one file in it, such as an .npz of a token`,
    );
  const first = await firstBytes(path);
  if (beginsParquet(first)) return openParquetRecording(path, onRead, mapping);
  if (!beginsMember(first) && !beginsZip(first))
    return openText(path, isGzip(first), onRead, mapping);
  refuseMapping(mapping, path);
  return beginsZip(first) ? openNpzRecording(path, onRead) : openOwn(path);
}

async function openOwn(path: string): Promise<Recording> {
  const { events, header } = await beginningOf(
    memberLines(path, () => undefined),
    path,
  );
  let cutAt: number | undefined;
  async function* entries(): AsyncGenerator<readonly RecordingEntry[]> {
    const lines = memberLines(path, (offset) => (cutAt = offset));
    yield* entriesBehind(events.length, lines, path);
  }
  async function* readEntries(): AsyncGenerator<readonly ReadEntry[]> {
    let skip = 1 + events.length;
    const known = new KnownTexts();
    for await (const bytes of memberBytes(path, (offset) => (cutAt = offset))) {
      const lines = new QuickLines(bytes, known);
      let batch: ReadEntry[] = [];
      for (let from = 0; from < bytes.length; ) {
        const end = bytes.indexOf(LINE_END, from);
        if (skip > 0) skip -= 1;
        else batch.push(lines.read(from, end) ?? entryOf(bytes.toString('utf8', from, end), path));
        from = end + 1;
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    }
  }
  return ownRecording({ path, header, events, entries, readEntries, cutAt: () => cutAt });
}

/** A recording that other programs have unpacked, or packed again without members. */
async function openRepacked(path: string, lines: () => Lines): Promise<Recording> {
  const { events, header } = await beginningOf(lines(), path);
  const entries = () => entriesBehind(events.length, lines(), path);
  return ownRecording({ path, header, events, entries, cutAt: () => undefined });
}

/** Entries behind the header and the first entries of the catalog. */
async function* entriesBehind(
  events: number,
  batches: Lines,
  path: string,
): AsyncGenerator<readonly RecordingEntry[]> {
  let skip = 1 + events;
  for await (const lines of batches) {
    const skipped = Math.min(skip, lines.length);
    skip -= skipped;
    for (let at = skipped; at < lines.length; at += BATCH) {
      yield lines.slice(at, at + BATCH).map((line) => entryOf(line, path));
    }
  }
}

async function beginningOf(batches: Lines, path: string) {
  const events: JsonObject[] = [];
  let header: RecordingHeader | undefined;
  for await (const lines of batches) {
    const from = header === undefined ? 1 : 0;
    header ??= checkedHeader(objectOf(lines[0] ?? '', path), path);
    for (const line of lines.slice(from)) {
      const entry = entryOf(line, path);
      if (entry.kind !== 'catalog') return { header, events };
      events.push(entry.event);
    }
  }
  if (header === undefined) throw new RecordingDamaged(`${path}: no member of it is whole`);
  return { header, events };
}

/** Opens lines of text, plain or gzipped. */
async function openText(
  path: string,
  isGzipped: boolean,
  onRead: OnRead,
  mapping: Mapping | undefined,
): Promise<Recording> {
  let bytes = 0;
  let cutLine: number | undefined;
  const lines = () => {
    const pieces = piecesOf(path, isGzipped, (read) => {
      bytes = read;
    });
    return linesOf(pieces, path);
  };
  const first = await firstText(lines());
  const isJson = first === '' || first.startsWith('{') || first.startsWith('[');
  if (isJson) refuseMapping(mapping, path);
  if (OWN_HEADER.test(first)) return openRepacked(path, lines);
  const entries = (started?: number): AsyncIterable<readonly RecordingEntry[]> =>
    isJson
      ? publicEntries(lines(), path, started, (line) => (cutLine = line))
      : csvEntries(lines(), path, marketNameOf(path), mapping);
  const onMessages = (messages: number): void => onRead(messages, bytes);
  return surveyedRecording(path, entries, onMessages, () => cutLine);
}

function refuseMapping(mapping: Mapping | undefined, path: string): void {
  if (mapping === undefined) return;
  throw new RecordingDamaged(`${path}: a mapping names columns, and this file has none`);
}

/** Returns the first line that is not blank; '' if there is none. */
async function firstText(batches: Lines): Promise<string> {
  for await (const lines of batches) {
    const line = lines.find((each) => each.trim() !== '');
    if (line !== undefined) return line.trimStart();
  }
  return '';
}

async function* memberLines(
  path: string,
  onCut: (offset: number) => void,
): AsyncGenerator<string[]> {
  for await (const bytes of memberBytes(path, onCut)) {
    const lines = bytes.toString().split('\n');
    lines.pop();
    yield lines;
  }
}

/** Yields bytes of whole lines, each with its end. */
async function* memberBytes(path: string, onCut: (offset: number) => void): AsyncGenerator<Buffer> {
  const file = await open(path);
  try {
    for await (const bytes of membersOf(file, path, onCut)) {
      if (bytes.length > 0 && bytes.at(-1) !== LINE_END)
        throw new RecordingDamaged(`${path}: a member ends within a line`);
      yield bytes;
    }
  } finally {
    await file.close();
  }
}

function entryOf(line: string, path: string): RecordingEntry {
  const entry = objectOf(line, path);
  const { at, event, kind, message } = entry;
  const body = kind === 'catalog' ? event : kind === 'message' ? message : entry;
  // times.ts decides which times a recording can have.
  if (at === undefined || !isObject(body))
    throw new RecordingDamaged(`${path}: a line is no entry`);
  return entry as unknown as RecordingEntry;
}

function objectOf(line: string, path: string): JsonObject {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    // Reported below.
  }
  if (!isObject(json)) throw new RecordingDamaged(`${path}: a line is no object of JSON`);
  return json;
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const bytes = Buffer.alloc(64);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

async function* piecesOf(
  path: string,
  isGzipped: boolean,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const stream = createReadStream(path, { highWaterMark: PIECE_BYTES });
  const plain = isGzipped ? inflated(stream) : stream;
  try {
    for await (const piece of plain) {
      onBytes(stream.bytesRead);
      yield piece as Buffer;
    }
  } catch (error) {
    if (!isGzipped) throw error;
    throw new RecordingDamaged(`${path}: it cannot be inflated`, { cause: error });
  } finally {
    stream.destroy();
  }
}

function inflated(stream: ReadStream): Gunzip {
  const plain = createGunzip();
  stream.on('error', (error) => plain.destroy(error)).pipe(plain);
  return plain;
}
