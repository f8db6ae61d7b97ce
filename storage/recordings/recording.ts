/**
 * Opens a recording: own form (members.ts) or public form (public-form.ts), plain or gzipped. Entries are read while
 * iterated, any number of times, with a member or a piece of a file in memory.
 *
 * Thread: any.
 */

import { createReadStream, type ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { createGunzip, type Gunzip } from 'node:zlib';
import { isObject, type JsonObject, listOf, textList } from '../catalog/catalog-json.ts';
import { tradedTokens } from '../catalog/market-form.ts';
import { csvEntries } from './csv-form.ts';
import {
  RECORDING_FORMAT,
  RECORDING_VERSION,
  RecordingDamaged,
  type RecordingEntry,
  type RecordingHeader,
} from './entries.ts';
import { linesOf } from './lines.ts';
import { beginsMember, membersOf } from './members.ts';
import { publicEntries } from './public-form.ts';
import { KnownTexts, QuickLines, type ReadMessage } from './quick-lines.ts';
import { MarketSurvey } from './survey.ts';
import { type Decreases, EntryOrder, isRecordingTime } from './times.ts';

const PIECE_BYTES = 2 ** 18;
const LINE_END = 0x0a;

/** Entries of a batch: few enough to be garbage before the collector copies them. */
const BATCH = 128;

export interface Recording extends AsyncIterable<RecordingEntry> {
  readonly path: string;
  /** The public form has no header and no end entry. */
  readonly isPublic: boolean;
  readonly header: RecordingHeader;
  /** Catalog events known at the beginning, as a catalog file (catalog-file.ts). */
  readonly catalog: { readonly events: readonly JsonObject[] };
  /** Entries without those of the catalog above, in batches: faster than one at a time. */
  batches(): AsyncIterable<readonly RecordingEntry[]>;
  /** The same entries, with the events of most messages in place of their objects: faster (quick-lines.ts). */
  readBatches(): AsyncIterable<readonly ReadEntry[]>;
  /** Offset in bytes of an incomplete last member, after an iteration. */
  readonly cutAt: number | undefined;
  /** Decreases of the newest iteration so far. */
  readonly decreases: Decreases;
  /** Known markets that are not binary. Nobody trades them. */
  readonly leftOut: number;
  /** Survey of a file in the public form; undefined for a recording with a catalog of its own. */
  readonly survey: MarketSurvey | undefined;
}

/** An entry, or a message whose events are read already. */
export type ReadEntry = RecordingEntry | ReadMessage;

/** Called with the messages and the bytes read so far. */
export type OnRead = (messages: number, bytes: number) => void;

/**
 * Rejects with a RecordingDamaged if the file is no recording of this version. Reads a file in the public form once
 * for its survey.
 */
export async function openRecording(
  path: string,
  onRead: OnRead = () => undefined,
): Promise<Recording> {
  const first = await firstBytes(path);
  return beginsMember(first) ? await openOwn(path) : await openPublic(path, isGzip(first), onRead);
}

async function openOwn(path: string): Promise<Recording> {
  const { events, header } = await beginningOf(path);
  let cutAt: number | undefined;
  let order = new EntryOrder(header.started);
  async function* batches(): AsyncGenerator<readonly RecordingEntry[]> {
    order = new EntryOrder(header.started);
    // The header, and the catalog that was read already.
    let skip = 1 + events.length;
    for await (const lines of memberLines(path, (offset) => (cutAt = offset))) {
      const skipped = Math.min(skip, lines.length);
      skip -= skipped;
      for (let at = skipped; at < lines.length; at += BATCH) {
        yield order.batch(lines.slice(at, at + BATCH).map((line) => entryOf(line, path)));
      }
    }
  }
  async function* readBatches(): AsyncGenerator<readonly ReadEntry[]> {
    order = new EntryOrder(header.started);
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
        yield order.batch(batch);
        batch = [];
      }
      yield order.batch(batch);
    }
  }
  return {
    path,
    isPublic: false,
    header,
    catalog: { events },
    leftOut: events.flatMap(tokenCounts).filter((count) => count !== 2).length,
    survey: undefined,
    batches,
    readBatches,
    [Symbol.asyncIterator]: () => oneByOne(batches()),
    get cutAt() {
      return cutAt;
    },
    get decreases() {
      return order;
    },
  };
}

function tokenCounts({ markets }: JsonObject): number[] {
  const listed = (listOf(markets) ?? []).filter(isObject);
  return listed.map((market) => textList(tradedTokens(market))?.length ?? 0);
}

async function beginningOf(path: string) {
  const events: JsonObject[] = [];
  let header: RecordingHeader | undefined;
  for await (const lines of memberLines(path, () => undefined)) {
    const from = header === undefined ? 1 : 0;
    header ??= headerOf(lines[0] ?? '', path);
    for (const line of lines.slice(from)) {
      const entry = entryOf(line, path);
      if (entry.kind !== 'catalog') return { header, events };
      events.push(entry.event);
    }
  }
  if (header === undefined) throw new RecordingDamaged(`${path}: no member of it is whole`);
  return { header, events };
}

async function openPublic(path: string, isGzipped: boolean, onRead: OnRead): Promise<Recording> {
  const isJson = await beginsJson(path, isGzipped);
  let bytes = 0;
  const entries = (started?: number): AsyncIterable<readonly RecordingEntry[]> => {
    const pieces = piecesOf(path, isGzipped, (read) => {
      bytes = read;
    });
    const lines = linesOf(pieces, path);
    return isJson ? publicEntries(lines, path, started) : csvEntries(lines, path);
  };
  const survey = new MarketSurvey();
  let read = 0;
  for await (const batch of entries()) {
    for (const entry of batch) survey.add(entry);
    read += batch.length;
    onRead(read, bytes);
  }
  const { events, inferred, leftOut, markets, started } = survey.result();
  if (events.length === 0 && leftOut.length === 0)
    throw new RecordingDamaged(`${path}: no message of a market is in it`);
  let order = new EntryOrder(started);
  async function* batches(): AsyncGenerator<readonly RecordingEntry[]> {
    order = new EntryOrder(started);
    for await (const batch of entries(started)) yield order.batch(batch);
  }
  const format = { format: RECORDING_FORMAT, version: RECORDING_VERSION } as const;
  return {
    path,
    isPublic: true,
    header: { ...format, venue: basename(path), started, markets, inferred },
    catalog: { events },
    leftOut: leftOut.length,
    survey,
    batches,
    readBatches: batches,
    [Symbol.asyncIterator]: () => oneByOne(batches()),
    cutAt: undefined,
    get decreases() {
      return order;
    },
  };
}

/** Returns false if the text begins as CSV does. */
async function beginsJson(path: string, isGzipped: boolean): Promise<boolean> {
  for await (const piece of piecesOf(path, isGzipped, () => undefined)) {
    const text = piece.toString().trimStart();
    if (text !== '') return text.startsWith('{') || text.startsWith('[');
  }
  return true;
}

async function* oneByOne(
  batches: AsyncIterable<readonly RecordingEntry[]>,
): AsyncGenerator<RecordingEntry> {
  for await (const batch of batches) yield* batch;
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

function headerOf(line: string, path: string): RecordingHeader {
  const header = objectOf(line, path) as unknown as RecordingHeader;
  if (header.format !== RECORDING_FORMAT) throw new RecordingDamaged(`${path}: it is no recording`);
  if (header.version !== RECORDING_VERSION) {
    throw new RecordingDamaged(
      `${path}: it has version ${header.version}, and this program reads ${RECORDING_VERSION}`,
    );
  }
  const { inferred, markets, started, venue } = header;
  const isWhole = typeof venue === 'string' && isTextList(markets) && isTextList(inferred);
  if (!isWhole || !isRecordingTime(started))
    throw new RecordingDamaged(`${path}: a member of its header is missing, or wrong`);
  return header;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
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
