/**
 * The newest records of a directory on which no node runs, once its tables have been made from image and log and are
 * what the log says. Nothing is written.
 *
 * Thread: a command-line tool, which has the lock of the directory.
 */
import { lastBatch, stateDigest } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { FileLog } from '../log/file-log.ts';
import { LogDamage, type LogEntry } from '../log/log.ts';
import { rebuild } from '../recovery/rebuild.ts';

export interface NewestOptions {
  readonly dataDir: string;
  readonly capacities: Capacities;
  readonly log: (line: string) => void;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface NewestRecords {
  /** Sequence of the newest batch, and the digest of the engine after it. */
  readonly sequence: number;
  readonly digest: number;
  /** Up to the newest one, oldest first; at least one. */
  readonly records: readonly LogEntry[];
  /** Digest after an older batch; undefined where the directory has no record of it. */
  digestAt(sequence: number): number | undefined;
}

/** Nodes that are behind by no more need no copy of another one. */
const RECORDS_MAX = 1_000;
const BYTES_MAX = 2 ** 19;

/** Undefined: it has no record. Rejects with an Error that says what is damaged. */
export async function newestRecords(options: NewestOptions): Promise<NewestRecords | undefined> {
  const { dataDir } = options;
  const log = await FileLog.open({
    ...{ dataDir, durability: 'flushed', segmentBytes: 0, readOnly: true },
    log: options.log,
  });
  const { digest, first, last: sequence } = log;
  if (sequence === 0) return undefined;
  const { t } = rebuild(options);
  if (lastBatch(t) !== sequence || stateDigest(t) !== digest) {
    throw new LogDamage(`its batch ${sequence} is not the one that it leads to`);
  }
  const stored = recordsFrom(log, Math.max(first, sequence - RECORDS_MAX + 1), sequence);
  return {
    ...{ sequence, digest },
    records: stored.slice(fittingFrom(stored)),
    digestAt(other) {
      if (other < first || other > sequence) return undefined;
      return recordsFrom(log, other, other)[0]?.after;
    },
  };
}

function recordsFrom(log: FileLog, from: number, to: number): LogEntry[] {
  const reader = log.read(from);
  const records: LogEntry[] = [];
  try {
    for (let entry = reader.next(to); entry !== undefined; entry = reader.next(to)) {
      records.push({ ...entry, payload: Buffer.from(entry.payload) });
    }
  } finally {
    reader.close();
  }
  return records;
}

/** Index of the oldest record of those that have room together; the newest one has. */
function fittingFrom(records: readonly LogEntry[]): number {
  let bytes = 0;
  for (let i = records.length - 1; i >= 0; i--) {
    bytes += records[i]!.payload.length;
    if (bytes > BYTES_MAX) return Math.min(i + 1, records.length - 1);
  }
  return 0;
}
