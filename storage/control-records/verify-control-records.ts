/**
 * Check of keys/ against the log: every row by its checksum, and every subject of the log by its last control record
 * up to the position.
 *
 * Thread: a command-line tool, while no node runs.
 */
import type { ControlRecordStore } from './control-record-store.ts';
import { type ControlRecord, controlRecordCommand, isEnd, subjectOf } from './control-records.ts';

export interface BatchedRecord {
  readonly sequence: number;
  readonly record: ControlRecord;
}

interface SeenRecords {
  readonly last: number;
  readonly digests: ReadonlyMap<number, number>;
  readonly records: readonly BatchedRecord[];
}

/** Returns a summary. Throws an Error at the first difference. @param seen undefined when the log cannot be read */
export function verifyControlRecords(
  store: ControlRecordStore,
  seen: SeenRecords | undefined,
): string {
  const rows = new Map<string, ControlRecord>();
  let keys = 0;
  for (const record of store.records()) {
    if (record.about === 'key') keys += 1;
    rows.set(subjectOf(record), record);
  }
  const position = store.position();
  if (position === undefined || seen === undefined) return `${keys} API keys`;
  const { digests, last, records } = seen;
  const { digest, sequence } = position;
  if (sequence > last) throw new Error(`it holds batch ${sequence}, the log ends with ${last}`);
  const expected = digests.get(sequence);
  if (expected !== undefined && expected !== digest) {
    throw new Error(`its digest after batch ${sequence} is ${digest}, that of the log ${expected}`);
  }
  const newest = new Map<string, ControlRecord>();
  for (const { record, sequence: of } of records)
    if (of <= sequence) newest.set(subjectOf(record), record);
  for (const [subject, record] of newest) {
    const row = rows.get(subject);
    const isSame = row === undefined ? isEnd(record) : bytesOf(row).equals(bytesOf(record));
    if (!isSame) throw new Error(`its row of ${subject} is another than the log leads to`);
  }
  return `${keys} API keys, up to batch ${sequence} of ${last}`;
}

function bytesOf(record: ControlRecord): Buffer {
  return Buffer.from(controlRecordCommand(record).buffer);
}
