/**
 * What stands in the place of the writer while DATA_DIR cannot be written: it refuses every change,
 * and nothing that is read waits for it.
 *
 * Thread: the I/O thread.
 */
import { AppliedSequence } from '../orders/applied-sequence.ts';
import { CallerLines } from '../orders/caller-lines.ts';
import { SeqlockReader } from '../orders/seqlock-reader.ts';
import { refuse } from '../orders/slot-requests.ts';
import type { Writer } from './writer.ts';

/** @param detail why the directory cannot be written @param newest the newest batch that was recovered */
export function refusingWriter(detail: string, newest: number): Writer {
  const done = async (): Promise<void> => undefined;
  return {
    sequencer: undefined,
    ledger: undefined,
    source: () => Promise.resolve('unavailable'),
    lines: new CallerLines({ submit: refuse, goOn: refuse }, 0),
    seqlock: new SeqlockReader(undefined, setImmediate),
    applied: new AppliedSequence(newest),
    meters: undefined,
    waiting: () => 0,
    pauses: () => [{ reason: 'directory', detail }],
    pauseVenue: () => undefined,
    derived: done,
    progress: () => undefined,
    commits: undefined,
    whenBatchesDone() {
      throw new Error('a book is written while nobody may write');
    },
    openHeartbeats: () => ({
      beat: () => Promise.reject(new Error(detail)),
      stop: () => undefined,
    }),
    expireDue: done,
    ready: done,
    follow: () => undefined,
    close: done,
  };
}
