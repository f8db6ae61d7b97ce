/** Reads between two writer turns, and what completes them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { SequenceLockReader } from '../../server/orders/exchange-memory/sequence-lock-reader.ts';
import { Control } from '../../server/orders/exchange-memory/slots.ts';

function reader(onWait: (control: Int32Array) => void) {
  const shared = new SharedArrayBuffer(Control.words * 4);
  const control = new Int32Array(shared);
  let waits = 0;
  const lock = new SequenceLockReader(shared, (done) => {
    waits += 1;
    onWait(control);
    done();
  });
  return { control, lock, waits: () => waits };
}

test('a read that a writer disturbs is made again, and only a quiet one is completed', async () => {
  const { control, lock, waits } = reader((words) => {
    words[Control.writer] = 0;
  });
  control[Control.writer] = 1;
  let reads = 0;
  const completed: number[] = [];
  const value = await lock.readWith(
    () => {
      reads += 1;
      // A whole turn passes during the first read.
      if (reads === 1) control[Control.writerTurn]! += 1;
      return reads;
    },
    (read) => {
      completed.push(read);
      return { value: 10 * read };
    },
  );
  assert.deepEqual([value, completed, waits()], [20, [2], 1]);
});

test('a read that is completed to nothing is made again, after some tries with a wait', async () => {
  const { lock, waits } = reader(() => undefined);
  let tries = 0;
  const value = await lock.readWith(
    () => 'read',
    (read) => {
      tries += 1;
      return tries < 6 ? undefined : { value: read };
    },
  );
  assert.deepEqual([value, tries, waits()], ['read', 6, 1]);
});

test('the completed value of a read leaves when its state is committed', async () => {
  let commit = (_isCommitted: boolean): void => undefined;
  const commits = {
    isCommitted: () => false,
    whenCommitted: (callback: (isCommitted: boolean) => void) => {
      commit = callback;
    },
  };
  const shared = new SharedArrayBuffer(Control.words * 4);
  const lock = new SequenceLockReader(shared, (done) => done(), commits);
  const reading = lock.readWith(
    () => 1,
    (read) => ({ value: read + 1 }),
  );
  let isDone = false;
  void reading.then(() => {
    isDone = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isDone, false);
  commit(true);
  assert.equal(await reading, 2);
});
