/**
 * End of the whole part of a log, also while a node writes it, for backups and tools. Bytes after it are not
 * examined; find-end.ts does that while nobody writes.
 *
 * Thread: any.
 */
import { readFileSync } from 'node:fs';
import { LogDamage } from './log.ts';
import { linkProblem, readRecord, type StoredRecord } from './record.ts';
import { listSegments, type Segment } from './segments.ts';

export interface ReadableEnd {
  /** Segments up to the one with the newest record, and the bytes of records in the last of them. */
  readonly segments: readonly Segment[];
  readonly bytes: number;
  readonly first: number;
  readonly last: number;
  readonly digest: number;
}

/** `undefined` when there is no record. Throws LogDamage when one is missing between two, or unreadable. */
export function wholeEnd(directory: string): ReadableEnd | undefined {
  const segments = listSegments(directory).filter(({ first }) => first > 0);
  const oldest = segments[0];
  if (oldest === undefined) return undefined;
  for (const [i, { number, path }] of segments.entries()) {
    if (number === oldest.number + i) continue;
    throw new LogDamage(`a segment before ${path} begins with no record that can be read`);
  }
  for (let count = segments.length; count > 0; count--) {
    const from = readFileSync(segments[count - 1]!.path);
    let bytes = 0;
    let newest: StoredRecord | undefined;
    for (;;) {
      const record = readRecord(from, bytes);
      if (typeof record === 'string') break;
      if (newest !== undefined && linkProblem(record, newest) !== undefined) break;
      newest = record;
      bytes += record.bytes;
    }
    if (newest === undefined) continue;
    const { after: digest, sequence: last } = newest;
    return { segments: segments.slice(0, count), bytes, first: oldest.first, last, digest };
  }
  return undefined;
}
