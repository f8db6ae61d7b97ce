/**
 * A thread that takes its sequences in turn and writes each into a shared log, at a place that only
 * its turn makes right. Some sequences fail before their turn, at some the thread dies.
 */
import { parentPort, workerData } from 'node:worker_threads';
import {
  awaitWriterTurn,
  enterWriterTurn,
  leaveWriterTurn,
  passWriterTurn,
} from '../../server/orders/exchange-memory/slots.ts';

export interface TurnsSetup {
  readonly control: SharedArrayBuffer;
  /** Word 0: number of turns; then their sequences in order. */
  readonly log: SharedArrayBuffer;
  readonly sequences: readonly number[];
  /** Sequences that fail before their turn: passed on, not taken. */
  readonly failing: readonly number[];
}

const setup = workerData as TurnsSetup;
const control = new Int32Array(setup.control);
const log = new Int32Array(setup.log);
for (const sequence of setup.sequences) {
  awaitWriterTurn(control, sequence);
  if (setup.failing.includes(sequence)) {
    passWriterTurn(control, sequence);
    continue;
  }
  enterWriterTurn(control, sequence);
  // Plain loads and stores: two threads at once would lose one of them.
  const count = log[0]!;
  log[1 + count] = sequence;
  log[0] = count + 1;
  leaveWriterTurn(control, sequence);
}
parentPort?.postMessage('done');
