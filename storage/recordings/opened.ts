/** A recording that is open for reading, and parts of opening one that all forms share. Thread: any. */
import { basename } from 'node:path';
import { isObject, type JsonObject, listOf, textList } from '../catalog/catalog-json.ts';
import { tradedTokens } from '../catalog/market-form.ts';
import { ColumnsDamaged } from '../columns/columns-damaged.ts';
import {
  RECORDING_FORMAT,
  RECORDING_VERSION,
  RecordingDamaged,
  type RecordingEntry,
  type RecordingHeader,
} from './entries.ts';
import type { ReadMessage } from './quick-lines.ts';
import { MarketSurvey } from './survey.ts';
import { type Decreases, EntryOrder, isRecordingTime } from './times.ts';

export interface Recording extends AsyncIterable<RecordingEntry> {
  readonly path: string;
  /** The public form has no header and no end entry. */
  readonly isPublic: boolean;
  readonly header: RecordingHeader;
  /** Catalog events known at the beginning, as a catalog file (catalog-file.ts). */
  readonly catalog: { readonly events: readonly JsonObject[] };
  /** Entries without those of the catalog above, in batches: faster than one at a time. */
  batches(): AsyncIterable<readonly RecordingEntry[]>;
  /** Entries of `batches`, with the events of most messages in place of their objects: faster (quick-lines.ts). */
  readBatches(): AsyncIterable<readonly ReadEntry[]>;
  /** Offset in bytes of an incomplete last member, after an iteration. */
  readonly cutAt: number | undefined;
  /** Number of an incomplete last line in the public form, after an iteration. */
  readonly cutLine: number | undefined;
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

type Entries = AsyncIterable<readonly RecordingEntry[]>;

interface OwnParts {
  readonly path: string;
  readonly header: RecordingHeader;
  readonly events: readonly JsonObject[];
  /** Returns the entries behind the catalog, whose times are not checked yet. */
  readonly entries: () => Entries;
  /** Returns them with the events of most messages; `entries` if absent. */
  readonly readEntries?: () => AsyncIterable<readonly ReadEntry[]>;
  readonly cutAt: () => number | undefined;
}

/** Yields what is read from a file of columns, whose damage is a RecordingDamaged that names the file. */
export async function* namingDamage<T>(path: string, read: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* read;
  } catch (error) {
    throw damageOf(path, error);
  }
}

export function damageOf(path: string, error: unknown): unknown {
  return error instanceof ColumnsDamaged
    ? new RecordingDamaged(`${path}: ${error.message}`)
    : error;
}

/** Text about the cut end of a recording, after an iteration. */
export function cutText({ cutAt, cutLine }: Pick<Recording, 'cutAt' | 'cutLine'>) {
  if (cutAt !== undefined) return `it ends in a member that is not whole, at byte ${cutAt}`;
  if (cutLine !== undefined) return `its last line, ${cutLine}, is no JSON and is left out`;
  return undefined;
}

/** A recording with header and catalog of its own. */
export function ownRecording(parts: OwnParts): Recording {
  const { cutAt, entries, events, header, path, readEntries = entries } = parts;
  const known = {
    path,
    isPublic: false,
    header,
    catalog: { events },
    leftOut: events.flatMap(tokenCounts).filter((count) => count !== 2).length,
    survey: undefined,
  };
  return iterable(known, entries, readEntries, { cutAt });
}

/**
 * Messages without header and catalog, which are read once for their survey.
 * @param entries returns them; messages before the first one with a time have that of `started`
 */
export async function surveyedRecording(
  path: string,
  entries: (started?: number) => Entries,
  onRead: (messages: number) => void,
  cutLine: () => number | undefined = () => undefined,
): Promise<Recording> {
  const survey = new MarketSurvey();
  let read = 0;
  for await (const batch of entries()) {
    for (const entry of batch) survey.add(entry);
    read += batch.length;
    onRead(read);
  }
  const { events, inferred, leftOut, markets, started } = survey.result();
  if (events.length === 0 && leftOut.length === 0)
    throw new RecordingDamaged(`${path}: no message of a market is in it`);
  const format = { format: RECORDING_FORMAT, version: RECORDING_VERSION } as const;
  const known = {
    path,
    isPublic: true,
    header: { ...format, venue: basename(path), started, markets, inferred },
    catalog: { events },
    leftOut: leftOut.length,
    survey,
  };
  const begun = (): Entries => entries(started);
  return iterable(known, begun, begun, { cutLine });
}

/** Returns the header of a recording. @throws RecordingDamaged for another format, another version or a wrong member */
export function checkedHeader(json: JsonObject, path: string): RecordingHeader {
  const header = json as unknown as RecordingHeader;
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

type Iterated =
  | 'batches'
  | 'readBatches'
  | 'cutAt'
  | 'cutLine'
  | 'decreases'
  | typeof Symbol.asyncIterator;

function iterable(
  known: Omit<Recording, Iterated>,
  entries: () => Entries,
  readEntries: () => AsyncIterable<readonly ReadEntry[]>,
  cut: { readonly [Name in 'cutAt' | 'cutLine']?: () => number | undefined },
): Recording {
  const { started } = known.header;
  let order = new EntryOrder(started);
  async function* inOrder<Entry extends RecordingEntry | ReadMessage>(
    read: AsyncIterable<readonly Entry[]>,
  ) {
    order = new EntryOrder(started);
    for await (const batch of read) yield order.batch(batch);
  }
  const batches = () => inOrder(entries());
  return {
    ...known,
    batches,
    readBatches: () => inOrder(readEntries()),
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches()) yield* batch;
    },
    get cutAt() {
      return cut.cutAt?.();
    },
    get cutLine() {
      return cut.cutLine?.();
    },
    get decreases() {
      return order;
    },
  };
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function tokenCounts({ markets }: JsonObject): number[] {
  const listed = (listOf(markets) ?? []).filter(isObject);
  return listed.map((market) => textList(tradedTokens(market))?.length ?? 0);
}
