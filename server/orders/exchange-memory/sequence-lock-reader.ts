/**
 * Consistent reads of engine memory without a version of its own: rows of open orders, which are reused after
 * their order closes, and the indexes of those rows. The control words of the writer turn are the version of
 * the sequence lock: a read is valid when no writer was active before and after it, and the turn is the same.
 *
 * Thread: I/O. It reads applied state, which may be some milliseconds ahead of the log. In a cluster a result
 * is returned once it is committed.
 */
import assert from 'node:assert/strict';
import type { Commits } from '../../common/commits.ts';
import { leadLost } from '../../common/unavailable.ts';
import { Control } from './slots.ts';

/** A writer turn takes less than a few reads; a longer one is worth waiting for the batch. */
const TRIES = 4;

export class SequenceLockReader {
  private readonly control: Int32Array | undefined;
  private readonly whenBatchesDone: (callback: () => void) => void;
  private readonly commits: Commits | undefined;

  /**
   * @param control `undefined` where no thread may write
   * @param whenBatchesDone calls back once the batches that now run are done (Sequencer)
   */
  constructor(
    control: SharedArrayBuffer | undefined,
    whenBatchesDone: (callback: () => void) => void,
    commits?: Commits,
  ) {
    this.commits = commits;
    this.control = control === undefined ? undefined : new Int32Array(control);
    this.whenBatchesDone = whenBatchesDone;
  }

  /**
   * Returns the result of `read` for one consistent state. `read` may run several times over memory that
   * changes meanwhile: it must terminate on any data, and change nothing. Rejects with Unavailable where the
   * state may never be committed.
   */
  read<T>(read: () => T): Promise<T> {
    return this.readWith(read, (value) => ({ value }));
  }

  /**
   * Returns what `complete` makes of the result of `read`, right after it was found consistent. For a long walk, which
   * another writer would always disturb: it has a version of its own, and returns undefined where that has changed; then
   * both are tried again.
   */
  async readWith<T, R>(
    read: () => T,
    complete: (value: T) => { readonly value: R } | undefined,
  ): Promise<R> {
    const { commits, control } = this;
    if (control === undefined) {
      const completed = complete(read());
      assert(completed !== undefined, 'nobody writes');
      return completed.value;
    }
    for (;;) {
      for (let tries = 0; tries < TRIES; tries++) {
        const turn = Atomics.load(control, Control.writerTurn);
        if (Atomics.load(control, Control.writer) !== 0) continue;
        const value = read();
        const isQuiet =
          Atomics.load(control, Control.writer) === 0 &&
          Atomics.load(control, Control.writerTurn) === turn;
        const completed = isQuiet ? complete(value) : undefined;
        if (completed === undefined) continue;
        return commits?.isCommitted() === false
          ? committed(commits, completed.value)
          : completed.value;
      }
      await new Promise<void>((resolve) => this.whenBatchesDone(resolve));
    }
  }
}

function committed<T>(commits: Commits, value: T): Promise<T> {
  return new Promise((resolve, reject) => {
    commits.whenCommitted((isCommitted) => {
      if (isCommitted) resolve(value);
      else reject(leadLost());
    });
  });
}
