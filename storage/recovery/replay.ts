/**
 * Applies one batch of the log with the engine, and compares the result with the recorded one.
 *
 * Thread: the recovering thread, before workers start; the projector, on tables of its own; a worker in its
 * writer turn, where another node leads.
 */

import { COMMAND_KIND_MAX, commandKind, commandWords } from '../../engine/commands.ts';
import type { Engine } from '../../engine/engine.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { closedCount, fillCount, lastBatch, stateDigest } from '../../engine/reads.ts';
import { type BatchRecord, decodeBatch } from '../log/batch-record.ts';
import type { LogEntry } from '../log/log.ts';
import { TablesTooSmall } from '../snapshot/tables-too-small.ts';

const TOO_SMALL =
  'a table is full; MARKETS_MAX, TOKENS_MAX, ACCOUNTS_MAX, ORDERS_MAX, LEVELS_MAX, ' +
  'POSITIONS_MAX, OPERATOR_IDS_MAX and ORDER_HISTORY may grow, but not shrink below what is in use';

export function batchOf({
  payload,
  sequence,
}: Pick<LogEntry, 'payload' | 'sequence'>): BatchRecord {
  const record = decodeBatch(payload);
  if (typeof record === 'string') throw new Error(`recovery: batch ${sequence}: ${record}`);
  return record;
}

/** Applies a batch. Throws an Error that names the batch and the difference. */
export function replay(engine: Engine, entry: LogEntry, record: BatchRecord): void {
  if (record.sequence !== entry.sequence) throw wrong(entry.sequence, 'its own sequence differs');
  if (entry.before !== stateDigest(engine.t))
    throw wrong(entry.sequence, 'its digest before differs');
  replayBatch(engine, record);
}

/** Applies a batch whose caller knows that it follows the state of the tables. */
export function replayBatch(engine: Engine, record: BatchRecord): void {
  const { context, t } = engine;
  const { sequence } = record;
  if (record.firstFill !== fillCount(t)) throw wrong(sequence, 'its first fill differs');
  engine.begin(record.time, record.persistedClosedSequence);
  engine.ahead(record.i32, 0, record.i32.length);
  for (let at = 0; at < record.i32.length; at += commandWords(record.i32, at)) {
    const kind = commandKind(record.i32, at);
    if (kind > COMMAND_KIND_MAX) {
      throw wrong(sequence, `a newer version wrote its command of kind ${kind}`);
    }
    context.events.command = at;
    const reason = engine.apply(record.i32, record.f64, at);
    // There was room when the batch was first applied, so the tables are now smaller than they
    // were.
    if (reason === RejectReason.tableFull || reason === RejectReason.idsFull) {
      throw new TablesTooSmall(`recovery: batch ${sequence}: ${TOO_SMALL}`);
    }
  }
  engine.end();
  if (lastBatch(t) !== sequence) throw wrong(sequence, 'its effect differs');
  if (stateDigest(t) !== record.digest) throw wrong(sequence, 'its digest differs');
  if (fillCount(t) !== record.endFill) throw wrong(sequence, 'its last fill differs');
  if (closedCount(t) !== record.closedEnd) {
    throw wrong(sequence, 'its number of finished orders differs');
  }
}

function wrong(sequence: number, what: string): Error {
  return new Error(`recovery: batch ${sequence}: ${what}`);
}
