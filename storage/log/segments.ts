/**
 * Files of the log, DATA_DIR/log/<number>.segment: fixed in size, zero-filled and on disk before the first record
 * is written, so that a write changes data only and cannot run out of room. Records follow one another from the
 * beginning; the rest is zeros.
 *
 * Thread: the writer prepares and removes; any thread may look.
 */
import assert from 'node:assert/strict';
import {
  constants,
  existsSync,
  fstatSync,
  openSync,
  promises,
  readdirSync,
  readSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { isOutOfFiles } from '../files/out-of-files.ts';
import { withFile } from '../files/with-file.ts';
import { LogDamage } from './log.ts';
import { PREFIX_BYTES, storedBytes } from './record.ts';

export interface Segment {
  readonly number: number;
  readonly path: string;
  readonly bytes: number;
  /** Sequence of its first record; 0 = none is readable. */
  readonly first: number;
}

/** Zeros are written in pieces, so that a record never waits behind a large write. */
const PIECE_BYTES = 1 << 18;
/** Bytes of one write of zeros. Later each record dirties a folio of the page cache, which is as large as that write was. */
const WRITE_BYTES = 1 << 14;
const NAME = /^(\d{8})\.segment$/;
const UNFINISHED = /\.segment\.tmp$/;

function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(8, '0')}.segment`);
}

/** Segments by number. Throws an Error that names one missing between two. */
export function listSegments(directory: string): Segment[] {
  const numbers = readdirSync(directory)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  for (const [i, number] of numbers.entries()) {
    if (number !== numbers[0]! + i) {
      throw new LogDamage(`${segmentPath(directory, numbers[0]! + i)} is missing`);
    }
  }
  // The writer may have removed a segment meanwhile.
  return numbers.flatMap((number) => lookAt(directory, number) ?? []);
}

/**
 * One segment, or `undefined`. Throws LogDamage when it is unreadable, and the system's Error when no file can be
 * opened at all.
 */
export function lookAt(directory: string, number: number): Segment | undefined {
  const path = segmentPath(directory, number);
  try {
    const file = openSync(path, 'r');
    return withFile(file, () => {
      const prefix = Buffer.alloc(PREFIX_BYTES);
      readSync(file, prefix, 0, PREFIX_BYTES, 0);
      const first = storedBytes(prefix, 0) === 0 ? 0 : prefix.readDoubleLE(16);
      return { number, path, bytes: fstatSync(file).size, first };
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (isOutOfFiles(error)) throw error;
    throw new LogDamage(`${path} cannot be read: ${message}`);
  }
}

export function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (UNFINISHED.test(name)) rmSync(join(directory, name), { force: true });
  }
}

/** Segment with its open descriptor: switching to it opens no file. */
export interface OpenSegment {
  readonly segment: Segment;
  readonly file: promises.FileHandle;
}

export interface SegmentPlace {
  readonly directory: string;
  /** Open directory, with which a name is flushed without opening another file. */
  readonly names: promises.FileHandle | undefined;
  /** O_DSYNC or 0. */
  readonly syncs: number;
}

/**
 * Makes an empty segment, on disk when it resolves. Rejects with nothing left behind. Opens one file, before
 * anything else.
 */
export async function prepareSegment(
  { directory, names, syncs }: SegmentPlace,
  number: number,
  bytes: number,
): Promise<OpenSegment> {
  const path = segmentPath(directory, number);
  const unfinished = `${path}.tmp`;
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | syncs;
  const file = await promises.open(unfinished, flags);
  try {
    await fillZeros(file, 0, bytes);
    assert(!existsSync(path), `${path} is there already`);
    await promises.rename(unfinished, path);
    await names?.sync();
    return { segment: { number, path, bytes, first: 0 }, file };
  } catch (error) {
    await file.close().catch(() => undefined);
    await promises.rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Writes zeros from `start` to `end`, on disk when it resolves. */
export async function fillZeros(
  file: promises.FileHandle,
  start: number,
  end: number,
): Promise<void> {
  const zeros = Buffer.alloc(Math.min(WRITE_BYTES, end - start));
  for (let at = start, synced = start; at < end; ) {
    const length = Math.min(zeros.length, end - at);
    const { bytesWritten } = await file.write(zeros, 0, length, at);
    at += bytesWritten;
    if (at - synced < PIECE_BYTES && at < end) continue;
    await file.datasync();
    synced = at;
  }
  await file.sync();
}

/** Opens a directory to flush its names; `undefined` where the system opens none. */
export function openDirectory(directory: string): Promise<promises.FileHandle | undefined> {
  if (process.platform === 'win32') return Promise.resolve(undefined);
  return promises.open(directory, constants.O_RDONLY);
}

export async function syncDirectory(directory: string): Promise<void> {
  const file = await openDirectory(directory);
  try {
    await file?.sync();
  } finally {
    await file?.close();
  }
}
