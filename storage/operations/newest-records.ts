/**
 * Newest records of a directory on which no node runs, after its tables were made from snapshot and log and agree
 * with the log. Writes nothing.
 *
 * Thread: a command-line tool, which has the lock of the directory.
 */
import type { Capacities } from '../../engine/tables/capacities.ts';
import { FileLog } from '../log/file-log.ts';
import { entriesOf, type LogEntry } from '../log/log.ts';
import { rebuildNewest } from '../recovery/rebuild.ts';

export interface NewestOptions {
  readonly dataDir: string;
  readonly capacities: Capacities;
  readonly log: (line: string) => void;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface NewestRecords {
  readonly sequence: number;
  readonly digest: number;
  /** Records up to the newest one, oldest first; at least one. */
  readonly records: readonly LogEntry[];
  /** Digest after an older batch; `undefined` when its record is not in the directory. */
  digestAt(sequence: number): number | undefined;
}

/** Records behind which a node needs no copy of another one. */
const RECORDS_MAX = 1_000;
const BYTES_MAX = 2 ** 19;

/** Resolves with `undefined` when there is no record. Rejects with an Error that names the damage. */
export async function newestRecords(options: NewestOptions): Promise<NewestRecords | undefined> {
  const { dataDir } = options;
  const log = await FileLog.open({
    dataDir,
    durability: 'flushed',
    segmentBytes: 0,
    readOnly: true,
    log: options.log,
  });
  const { digest, first, last: sequence } = log;
  if (sequence === 0) return undefined;
  rebuildNewest(options, log);
  const stored = recordsFrom(log, Math.max(first, sequence - RECORDS_MAX + 1), sequence);
  return {
    sequence,
    digest,
    records: stored.slice(fittingFrom(stored)),
    digestAt(other) {
      if (other < first || other > sequence) return undefined;
      return recordsFrom(log, other, other)[0]?.after;
    },
  };
}

function recordsFrom(log: FileLog, from: number, to: number): LogEntry[] {
  return Array.from(entriesOf(log.read(from), to), (entry) => ({
    ...entry,
    payload: Buffer.from(entry.payload),
  }));
}

/** Index of the oldest of the records that fit together; the newest one always fits. */
function fittingFrom(records: readonly LogEntry[]): number {
  let bytes = 0;
  for (let i = records.length - 1; i >= 0; i--) {
    bytes += records[i]!.payload.length;
    if (bytes > BYTES_MAX) return Math.min(i + 1, records.length - 1);
  }
  return 0;
}
