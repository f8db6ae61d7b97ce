/**
 * Replay: records of the log to tables, as a start does it: decoded, checked, applied, and the
 * digest of each compared with what was recorded. Reading them from a disk is not part of it.
 */

import { type CommandBuffer, commandWords } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { closedCount, fillCount, lastBatch, stateDigest } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import { decodeBatch, encodeBatch } from '../../storage/log/batch-record.ts';

/** Commands of one record. */
const BATCH = 64;

export interface Recording {
  readonly capacities: Capacities;
  readonly records: readonly Buffer[];
  readonly commands: number;
}

/** Records of streams that are applied one after the other to an engine of these capacities. */
export function recordStreams(
  capacities: Capacities,
  streams: readonly CommandBuffer[],
): Recording {
  const engine = new Engine(allocateEngine(capacities));
  const { t } = engine;
  const records: Buffer[] = [];
  let commands = 0;
  for (const { f64, i32, words } of streams) {
    for (let at = 0; at < words; ) {
      const start = at;
      const facts = {
        time: records.length + 1,
        persistedClosedSequence: closedCount(t),
        firstFill: fillCount(t),
      };
      engine.begin(facts.time, facts.persistedClosedSequence);
      for (let i = 0; i < BATCH && at < words; i++, commands++) {
        engine.apply(i32, f64, at);
        at += commandWords(i32, at);
      }
      if (!engine.end()) continue;
      const ends = { endFill: fillCount(t), closedEnd: closedCount(t) };
      const sequence = lastBatch(t);
      const digest = stateDigest(t);
      records.push(encodeBatch({ ...facts, ...ends, sequence, digest }, i32.slice(start, at)));
    }
  }
  return { capacities, records, commands };
}

/** Applies a recording to fresh tables. Throws where the outcome is another than the recorded one. */
export function replay({ capacities, records }: Recording): void {
  const engine = new Engine(allocateEngine(capacities));
  const { t } = engine;
  for (const bytes of records) {
    const record = decodeBatch(bytes);
    if (typeof record === 'string') throw new Error(record);
    engine.begin(record.time, record.persistedClosedSequence);
    engine.ahead(record.i32, 0, record.i32.length);
    for (let at = 0; at < record.i32.length; at += commandWords(record.i32, at)) {
      engine.apply(record.i32, record.f64, at);
    }
    engine.end();
    if (stateDigest(t) !== record.digest) throw new Error('the replay differs');
  }
}
