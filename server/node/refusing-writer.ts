/**
 * The writer while DATA_DIR cannot be written: it refuses every change, and reads do not wait for it.
 *
 * Thread: I/O.
 */
import { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { refuse } from '../orders/exchange-memory/slot-requests.ts';
import { AppliedSequence } from '../orders/intake/applied-sequence.ts';
import { WalletQueue } from '../orders/intake/wallet-queue.ts';
import type { Writer } from './writer.ts';

/** @param detail reason for clients @param newest sequence of the newest recovered batch */
export function refusingWriter(detail: string, newest: number): Writer {
  const done = async (): Promise<void> => undefined;
  return {
    sequencer: undefined,
    ledger: undefined,
    source: () => Promise.resolve('unavailable'),
    intake: new WalletQueue({ submit: refuse, resume: refuse }, 0),
    sequenceLock: new SequenceLockReader(undefined, setImmediate),
    applied: new AppliedSequence(newest),
    metrics: undefined,
    waiting: () => 0,
    pauses: () => [{ reason: 'directory', detail }],
    pauseVenue: () => undefined,
    whenProjected: done,
    progress: () => undefined,
    commits: undefined,
    begin: done,
    whenBatchesDone() {
      throw new Error('a book is written while nobody may write');
    },
    openHeartbeats: () => ({
      take: () => Promise.reject(new Error(detail)),
      stop: () => undefined,
    }),
    expireDue: done,
    ready: done,
    follow: () => undefined,
    close: done,
  };
}
