/**
 * End of a log whose writer may have been killed, or lost power, at any moment. Torn records of the last write were
 * never acknowledged and are cut. Any other broken record is damage and stops the start: a log that might lack a
 * batch is worse than a node that is down.
 *
 * Thread: any, while nobody writes.
 */
import { constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { withFile } from '../files/with-file.ts';
import { LogDamage } from './log.ts';
import {
  hasOtherFormat,
  linkProblem,
  PREFIX_BYTES,
  RECORD_ALIGN,
  readRecord,
  type StoredRecord,
  storedBytes,
} from './record.ts';
import { listSegments, type Segment } from './segments.ts';

export interface LogEnd {
  /** Segment that is written next, if there is one, and the byte at which its next record begins. */
  readonly segment: Segment | undefined;
  readonly offset: number;
  readonly newest: StoredRecord | undefined;
  /** Sequence of the oldest record; 0 = none. */
  readonly first: number;
  /** Runs that must be overwritten with zeros before anything is appended, and a line about that for the node's log. */
  readonly torn: readonly TornRun[];
  readonly message: string | undefined;
}

const FIRST_SEQUENCE = 1;

interface TornRun {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** Throws an Error that names the sequence of a damaged record. */
export function findEnd(directory: string): LogEnd {
  const segments = listSegments(directory);
  // A segment gets its size before its name: one without bytes has lost its records.
  const empty = segments.find(({ bytes: size }) => size === 0);
  if (empty !== undefined) throw new LogDamage(`${empty.path} has no bytes any more`);
  const paths = segments.map(({ path }) => path);
  let index = segments.length - 1;
  let bytes = Buffer.alloc(0);
  let newest: StoredRecord | undefined;
  // The last segment that begins with a whole record; those behind it are empty, or torn.
  for (; index >= 0; index--) {
    bytes = readFileSync(paths[index]!);
    const record = readRecord(bytes, 0);
    if (typeof record === 'object') {
      newest = record;
      break;
    }
    if (hasOtherFormat(bytes, 0)) throw new LogDamage(`${paths[index]}: ${record}`);
  }
  let offset = newest?.bytes ?? 0;
  let problem: string | undefined;
  while (newest !== undefined) {
    const record: StoredRecord | string = readRecord(bytes, offset);
    problem = typeof record === 'string' ? record : linkProblem(record, newest);
    if (problem !== undefined || typeof record === 'string') break;
    newest = record;
    offset += record.bytes;
  }
  const rest = segments.slice(Math.max(0, index)).map(({ path }, i) => ({
    path,
    bytes: i === 0 && index >= 0 ? bytes : readFileSync(path),
    start: i === 0 ? offset : 0,
  }));
  const torn = rest.flatMap(({ bytes: of, path, start }) => {
    const end = endOfContent(of, start);
    return end > start ? [{ path, start, end }] : [];
  });
  const sequence = (newest?.sequence ?? 0) + 1;
  for (const { bytes: of, path, start } of rest) {
    refuseDamage(of, start, newest, problem);
    if (isBeyond(of, start))
      throw new LogDamage(`batch ${sequence}: ${path} ends in the middle of it`);
  }
  return {
    segment: segments[Math.max(0, index)],
    offset,
    newest,
    first: newest === undefined ? 0 : firstOf(segments),
    torn,
    message: torn.length === 0 ? undefined : messageOf(sequence, problem, torn),
  };
}

/**
 * Sequence of the oldest record. The very first segment may be empty when it was too small for the first record.
 * Any other empty segment at the beginning is damage.
 */
function firstOf(segments: readonly Segment[]): number {
  const [oldest, next] = segments;
  if (oldest!.first > 0) return oldest!.first;
  if (next?.first === FIRST_SEQUENCE) return FIRST_SEQUENCE;
  const batch = next === undefined || next.first === 0 ? '' : `, before batch ${next.first}`;
  throw new LogDamage(`${oldest!.path} does not begin with a whole record${batch}`);
}

/** Overwrites torn records; they are on disk when it returns. */
export function cutTorn(torn: readonly TornRun[]): void {
  for (const { end, path, start } of torn) {
    const file = openSync(path, constants.O_RDWR);
    withFile(file, () => {
      writeSync(file, Buffer.alloc(end - start), 0, end - start, start);
      fsyncSync(file);
    });
  }
}

function messageOf(sequence: number, problem: string | undefined, torn: readonly TornRun[]) {
  const bytes = torn.reduce((sum, { end, start }) => sum + end - start, 0);
  return (
    `log: batch ${sequence} was being written when the process ended ` +
    `(${problem ?? 'it is not whole'}); it was never acknowledged, ${bytes} bytes are cut off`
  );
}

function endOfContent(bytes: Buffer, start: number): number {
  let end = bytes.length;
  // A segment may have any size.
  while (end % 4 !== 0 && end > start && bytes[end - 1] === 0) end -= 1;
  if (end % 4 !== 0) return end;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  while (end - 4 >= start && words[(end >> 2) - 1] === 0) end -= 4;
  return end;
}

/** True when the content goes beyond its file. Writes never do, so the file was longer then. */
function isBeyond(bytes: Buffer, start: number): boolean {
  if (endOfContent(bytes, start) === start) return false;
  return start + PREFIX_BYTES > bytes.length || start + storedBytes(bytes, start) > bytes.length;
}

/** Throws when a whole record shows that the one after `newest` had been acknowledged. */
function refuseDamage(
  bytes: Buffer,
  start: number,
  newest: StoredRecord | undefined,
  problem = 'it is missing',
): void {
  const end = Math.min(endOfContent(bytes, start), bytes.length - PREFIX_BYTES);
  for (let at = start; at < end; at += RECORD_ALIGN) {
    if (bytes.readUInt32LE(at) === 0) continue;
    const record = readRecord(bytes, at);
    if (typeof record === 'string') continue;
    const sequence = newest === undefined ? record.sequence - 1 : newest.sequence + 1;
    if (record.acknowledged < Math.max(1, sequence)) continue;
    throw new LogDamage(
      `batch ${sequence}: ${problem}, and batch ${record.sequence} after it is whole`,
    );
  }
}
