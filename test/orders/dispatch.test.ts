/** Handing over to a worker: what goes wrong there costs its batch, and never the turns of the others. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { INTERNAL_ERROR } from '../../server/common/contract.ts';
import { allocateSlots } from '../../server/orders/slots.ts';
import { Stage } from './sequencer-stage.ts';

/** What a request is answered, and one after it. */
async function answersAround(stage: Stage, name: string, mend: () => void): Promise<string[]> {
  stage.submit(name);
  await new Promise((resolve) => setImmediate(resolve));
  mend();
  stage.submit('next');
  for (const task of [...stage.tasks]) await stage.run(task, false);
  await new Promise((resolve) => setImmediate(resolve));
  return stage.names();
}

test('a batch that cannot be written into its slot is answered, and takes no turn with it', async () => {
  const stage = new Stage(1);
  const { time } = stage;
  Object.defineProperty(stage, 'time', {
    configurable: true,
    get: () => {
      throw new RangeError('offset is out of bounds');
    },
  });
  const mend = (): void => void Object.defineProperty(stage, 'time', { value: time });
  const answers = await answersAround(stage, 'unlucky', mend);
  assert.deepEqual(answers, [`unlucky: 500 ${INTERNAL_ERROR}`, 'next']);
  assert.deepEqual(stage.lines, [
    'a batch could not be handed to a worker: offset is out of bounds',
  ]);
  assert.deepEqual(stage.fatal, []);
});

test('a pool that throws costs the batch an error, and its turn is passed on', async () => {
  const stage = new Stage(1);
  stage.failsToRun = true;
  const answers = await answersAround(stage, 'unlucky', () => {
    stage.failsToRun = false;
  });
  assert.deepEqual(answers, [`unlucky: 500 ${INTERNAL_ERROR}`, 'next']);
  assert.deepEqual(stage.fatal, []);
});

test('what does not fit a slot is refused before anything is taken, and the line goes on', async () => {
  const stage = new Stage(1);
  const { sizes } = allocateSlots(1, 4_096, 8_192);
  // One command that claims all of it.
  const words = sizes.journalBytes / 4 + 2;
  const commands = new Int32Array(words);
  commands[0] = words << 8;
  const refused = (): void =>
    stage.sequencer.submitCommands(commands, () => assert.fail('it has no answer'));
  assert.throws(refused, /the commands of a batch fit its slot/);
  assert.throws(() => stage.submit('x'.repeat(sizes.inputBytes)), /a request fits a slot/);
  stage.submit('next');
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names(), ['next']);
});

test('a busy worker has one ticket ahead, of what a turn of the loop brought in', async () => {
  const stage = new Stage(1, 1_000, 1);
  stage.submit('a');
  for (const name of ['b', 'c']) stage.submit(name);
  assert.deepEqual(
    stage.tasks.map(({ bodies }) => bodies),
    [['a']],
  );
  await new Promise((resolve) => setImmediate(resolve));
  for (const name of ['d', 'e']) stage.submit(name);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    stage.tasks.map(({ bodies }) => bodies),
    [['a'], ['b', 'c']],
    'and no more than one',
  );
  while (stage.tasks.length > 0) await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names(), ['a', 'b', 'c', 'd', 'e']);
});
