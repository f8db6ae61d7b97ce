/**
 * Control state at the end of the log: the rows of keys/, then the control records of the batches after their position.
 * A gap between the two is refused, because a revoked key could come back.
 *
 * Thread: the I/O thread before anything writes, or a command-line tool.
 */
import { decodeBatch } from '../log/batch-record.ts';
import { entriesOf, type Log, LogDamage } from '../log/log.ts';
import type { ControlRecordStore } from './control-record-store.ts';
import { type ControlRecord, controlRecordsOf } from './control-records.ts';
import { ADVICE } from './key-rows.ts';
import type { ControlRecordPosition } from './meta-rows.ts';

export type ControlRecordLog = Pick<Log, 'digest' | 'first' | 'last' | 'read'>;

type RecordFilter = (record: ControlRecord) => boolean;

/** Passes every control record to `take`, the later one of a subject last. The filter selects records of the log. */
export function readControlRecords(
  store: ControlRecordStore,
  log: ControlRecordLog,
  take: (record: ControlRecord) => void,
  isWanted?: RecordFilter,
): void {
  for (const record of store.records()) take(record);
  for (const record of recordsBehind(store, log, isWanted)) take(record);
}

/** Applies the log to the rows. Returns a line for the node's log when the rows were new or of an older version. */
export function bringUp(
  store: ControlRecordStore,
  log: ControlRecordLog,
  isWanted?: RecordFilter,
): string | undefined {
  const position = store.position();
  const isOlder = store.isOlder();
  const { digest, first, last } = log;
  if (position?.sequence === last && position.digest === digest) return undefined;
  const records = [...recordsBehind(store, log, isWanted)];
  store.apply(records, { sequence: last, digest });
  if (position !== undefined || last === 0) return undefined;
  if (isOlder) return `keys/ of an older version is taken over at batch ${last}`;
  const made = `keys/ is new: made again from batches ${first} to ${last}`;
  if (first > 1) return `${made}; what is older is gone`;
  // A new directory has none either.
  return records.length === 0 ? undefined : made;
}

function* recordsBehind(
  store: ControlRecordStore,
  log: ControlRecordLog,
  isWanted: RecordFilter = () => true,
): Generator<ControlRecord> {
  const position = store.position();
  // The first start of this version writes a position before any control record.
  if (store.isOlder()) return;
  const from = position === undefined ? Math.max(1, log.first) : position.sequence + 1;
  refuseOther(position, log);
  if (from > log.last) return;
  for (const { before, payload, sequence } of entriesOf(log.read(from), log.last)) {
    if (sequence === from && position !== undefined && before !== position.digest) {
      throw otherLog(position);
    }
    const batch = decodeBatch(payload);
    if (typeof batch === 'string') throw new LogDamage(`batch ${sequence}: ${batch}`);
    for (const record of controlRecordsOf(batch.i32)) if (isWanted(record)) yield record;
  }
}

/** Throws when the rows belong to another log, or batches between them and the log are missing. */
function refuseOther(
  position: ControlRecordPosition | undefined,
  { digest, first, last }: ControlRecordLog,
): void {
  if (position === undefined) return;
  const { sequence } = position;
  if (sequence > last) {
    throw new LogDamage(`it ends with batch ${last}, but keys/ holds batch ${sequence}`);
  }
  if (first > sequence + 1) {
    const what = `keys/ ends with batch ${sequence}, and the log begins with batch ${first}`;
    throw new Error(`${what}: what was revoked between them is not known; ${ADVICE}`);
  }
  if (sequence === last && position.digest !== digest) throw otherLog(position);
}

function otherLog({ sequence }: ControlRecordPosition): Error {
  return new Error(`keys/ holds batch ${sequence} of another log; ${ADVICE}`);
}
