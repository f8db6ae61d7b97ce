/**
 * Writes a note to the log of a directory on which no node runs: the tables are made from image and log as a
 * start makes them, take the note as one more batch, and its record is appended. Time does not pass in it.
 *
 * Thread: a command-line tool, which has the lock of the directory.
 */
import { Engine } from '../../engine/engine.ts';
import { closedCount, engineTime, fillCount, lastBatch, stateDigest } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { encodeBatch } from '../log/batch-record.ts';
import { FileLog } from '../log/file-log.ts';
import { LogDamage } from '../log/log.ts';
import { KeptNotes } from '../notes/kept-notes.ts';
import { type Note, noteCommand } from '../notes/notes.ts';
import { bringUp } from '../notes/read-notes.ts';
import { rebuild } from '../recovery/rebuild.ts';

export interface AppendOptions {
  readonly dataDir: string;
  readonly durability: 'flushed' | 'committed';
  readonly segmentBytes: number;
  readonly capacities: Capacities;
  readonly log: (line: string) => void;
}

/** Resolves once it is durable; rejects with an Error that says why it cannot be written. */
export async function appendNote(options: AppendOptions, note: Note): Promise<void> {
  const { dataDir, durability } = options;
  const kept = new KeptNotes(dataDir, { durability, readOnly: false });
  try {
    const seen = { sequence: kept.position()?.sequence ?? 0, by: 'keys/' };
    const log = await FileLog.open({ ...options, seen });
    try {
      // First: what an older version wrote is taken over before there is a note in the log.
      bringUp(kept, log);
      await append(options, log, note);
    } finally {
      await log.close();
    }
  } finally {
    await kept.close();
  }
}

async function append(options: AppendOptions, log: FileLog, note: Note): Promise<void> {
  const { t } = rebuild(options);
  const sequence = lastBatch(t);
  if (sequence === 0) throw new Error('its log is empty: start the node once');
  if (sequence !== log.last || stateDigest(t) !== log.digest) {
    throw new LogDamage(`its batch ${log.last} is not the one that it leads to`);
  }
  const commands = noteCommand(note);
  const time = engineTime(t);
  const fills = fillCount(t);
  const engine = new Engine(t.memory);
  engine.begin(time, 0);
  engine.apply(commands, new Float64Array(commands.buffer), 0);
  engine.end();
  const facts = {
    ...{ sequence: lastBatch(t), time, persistedClosedSequence: 0, digest: stateDigest(t) },
    ...{ firstFill: fills, endFill: fillCount(t), closedEnd: closedCount(t) },
  };
  const payload = encodeBatch(facts, commands);
  const entry = { sequence: facts.sequence, time, after: facts.digest, payload };
  await log.append([entry], sequence);
}
