/**
 * Up to where a log is whole, also while a node writes it: how far a backup copies it, and how far a tool
 * reads. Bytes after that are not examined; find-end.ts does that, while nobody writes.
 *
 * Thread: any.
 */
import { readFileSync } from 'node:fs';
import { LogDamage } from './log.ts';
import { linkProblem, readRecord, type StoredRecord } from './record.ts';
import { listSegments, type Segment } from './segments.ts';

export interface WholeEnd {
  /** All segments up to the one that holds the newest record. */
  readonly segments: readonly Segment[];
  /** Bytes of the last of them that hold records. */
  readonly bytes: number;
  /** Sequence of the oldest record, and of the newest. */
  readonly first: number;
  readonly last: number;
  /** Digest of the engine after the newest. */
  readonly digest: number;
}

/** Undefined = there is no record. Throws LogDamage where one is missing between two, or cannot be read. */
export function wholeEnd(directory: string): WholeEnd | undefined {
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
