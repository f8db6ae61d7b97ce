/**
 * Append of a control record to the log of a directory on which no node runs. The tables are made from snapshot and
 * log as in a start, apply the record as one more batch, and it is appended. Time does not pass in it.
 *
 * Thread: a command-line tool, which has the lock of the directory.
 */
import { Engine } from '../../engine/engine.ts';
import { closedCount, engineTime, fillCount, lastBatch, stateDigest } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { withControlRecords } from '../control-records/control-record-store.ts';
import { type ControlRecord, controlRecordCommand } from '../control-records/control-records.ts';
import { bringUp } from '../control-records/read-control-records.ts';
import { encodeBatch } from '../log/batch-record.ts';
import { FileLog } from '../log/file-log.ts';
import { rebuildNewest } from '../recovery/rebuild.ts';

export interface AppendOptions {
  readonly dataDir: string;
  readonly durability: 'flushed' | 'committed';
  readonly segmentBytes: number;
  readonly capacities: Capacities;
  readonly log: (line: string) => void;
}

/** Resolves once it is durable. Rejects with an Error that says why it cannot be written. */
export async function appendControlRecord(
  options: AppendOptions,
  record: ControlRecord,
): Promise<void> {
  const { dataDir, durability } = options;
  await withControlRecords(dataDir, { durability, readOnly: false }, async (store) => {
    const seen = { sequence: store.position()?.sequence ?? 0, by: 'keys/' };
    const log = await FileLog.open({ ...options, seen });
    try {
      // Rows of an older version are taken over before the log has a control record.
      bringUp(store, log);
      await append(options, log, record);
    } finally {
      await log.close();
    }
  });
}

async function append(options: AppendOptions, log: FileLog, record: ControlRecord): Promise<void> {
  const t = rebuildNewest(options, log);
  const sequence = lastBatch(t);
  if (sequence === 0) throw new Error('its log is empty: start the node once');
  const commands = controlRecordCommand(record);
  const time = engineTime(t);
  const fills = fillCount(t);
  const engine = new Engine(t.memory);
  engine.begin(time, 0);
  engine.apply(commands, new Float64Array(commands.buffer), 0);
  engine.end();
  const facts = {
    sequence: lastBatch(t),
    time,
    persistedClosedSequence: 0,
    digest: stateDigest(t),
    firstFill: fills,
    endFill: fillCount(t),
    closedEnd: closedCount(t),
  };
  const payload = encodeBatch(facts, commands);
  const entry = { sequence: facts.sequence, time, after: facts.digest, payload };
  await log.append([entry], sequence);
}
