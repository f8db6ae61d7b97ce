/**
 * The files of the log, DATA_DIR/log/<number>.segment: fixed in size, zero-filled and on disk before the
 * first record goes in, so that a write changes data only and can't run out of room. Records lie
 * from the beginning, each behind the one before; the rest is zeros.
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
  /** Size of the file. */
  readonly bytes: number;
  /** Sequence of its first record; 0 = it has none that can be read. */
  readonly first: number;
}

/** Zeros go out in pieces, so that a record never waits behind a large write. */
const PIECE_BYTES = 1 << 18;
const NAME = /^(\d{8})\.segment$/;
const UNFINISHED = /\.segment\.tmp$/;

function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(8, '0')}.segment`);
}

/** All segments by number. Throws an Error that names the one that is missing between two. */
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
  // One that a writer gives up meanwhile is not there any more.
  return numbers.flatMap((number) => lookAt(directory, number) ?? []);
}

/**
 * One segment, or undefined where there is none of this number. Throws LogDamage where it cannot be read, and
 * the system's Error where no file can be opened at all.
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

/** Removes what a process left half prepared. */
export function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (UNFINISHED.test(name)) rmSync(join(directory, name), { force: true });
  }
}

/** A segment with the descriptor by which it is written: to go on in it opens nothing. */
export interface OpenSegment {
  readonly segment: Segment;
  readonly file: promises.FileHandle;
}

/** Where segments are made. */
export interface SegmentPlace {
  readonly directory: string;
  /** Of the directory, so that a name is brought to the disk without another one. */
  readonly names: promises.FileHandle | undefined;
  /** O_DSYNC or 0: how the segment is written. */
  readonly syncs: number;
}

/**
 * Makes an empty segment, on disk when it resolves; rejects, with nothing left behind. It opens one file, before
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

/** Zeros from `start` to `end`, on disk when it resolves. */
export async function fillZeros(
  file: promises.FileHandle,
  start: number,
  end: number,
): Promise<void> {
  const zeros = Buffer.alloc(Math.min(PIECE_BYTES, end - start));
  for (let at = start; at < end; ) {
    const length = Math.min(zeros.length, end - at);
    const { bytesWritten } = await file.write(zeros, 0, length, at);
    await file.datasync();
    at += bytesWritten;
  }
  await file.sync();
}

/** For the names in it; undefined where the system opens no directories. */
export function openDirectory(directory: string): Promise<promises.FileHandle | undefined> {
  if (process.platform === 'win32') return Promise.resolve(undefined);
  return promises.open(directory, constants.O_RDONLY);
}

/** Names that were made or removed are on disk when it resolves. */
export async function syncDirectory(directory: string): Promise<void> {
  const file = await openDirectory(directory);
  try {
    await file?.sync();
  } finally {
    await file?.close();
  }
}
