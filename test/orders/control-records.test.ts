import assert from 'node:assert/strict';
import test from 'node:test';
import { writeControlRecord } from '../../server/orders/intake/internal-commands.ts';
import type { ControlRecord } from '../../storage/control-records/control-records.ts';
import { Stage } from './sequencer-stage.ts';

const RECORD: ControlRecord = { about: 'catalog', digest: 'ab'.repeat(32) };

function written(stage: Stage): { state: string } {
  const outcome = { state: 'open' };
  writeControlRecord(stage.sequencer, RECORD).then(
    () => (outcome.state = 'durable'),
    (error: Error) => (outcome.state = error.message),
  );
  return outcome;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a control record passes a full queue, and is answered once it is durable and everybody has it', async () => {
  const stage = new Stage(1, 1);
  for (const name of ['a', 'b', 'c']) stage.submit(name);
  assert.match(stage.names().join(), /^c: 503 /);
  const record = written(stage);
  await stage.run(stage.tasks[0]!);
  await stage.run(stage.tasks[0]!);
  await stage.gate.end();
  assert.equal(record.state, 'open', 'in a write that is under way');
  assert.equal(stage.flushed.length, 1);
  await stage.gate.end();
  assert.equal(record.state, 'durable');
  assert.equal(stage.flushed.length, 2);
});

test('a control record is accepted whenever cancels are, refused at once otherwise, and never confirmed after a failed write', async () => {
  const stage = new Stage(1);
  stage.sequencer.pause('no room');
  const refused = written(stage);
  await turn();
  assert.equal(refused.state, 'nothing is written now: busy');
  stage.sequencer.pause('the clock', true);
  const taken = written(stage);
  await stage.run(stage.tasks[0]!);
  await stage.gate.end();
  assert.equal(taken.state, 'durable');
  const lost = written(stage);
  await stage.run(stage.tasks[0]!);
  await stage.gate.end(new Error('disk gone'));
  assert.equal(lost.state, 'nothing is written now: unavailable');
  assert.equal(stage.flushed.length, 1);
  assert.deepEqual(stage.fatal, ['log: a write failed: disk gone']);
});
