import assert from 'node:assert/strict';
import test from 'node:test';
import { State } from '../../engine/tables/layout.ts';
import { ENGINE_BUSY, INTERNAL_ERROR } from '../../server/common/error-bodies.ts';
import { commandsRequest } from '../../server/orders/exchange-memory/slot-requests.ts';
import { allocateSlots, RequestKind } from '../../server/orders/exchange-memory/slots.ts';
import { Stage, type Task } from './sequencer-stage.ts';

const CANCEL = {
  kind: RequestKind.cancelOrder,
  owner: { apiKeyBytes: new Uint8Array(16), address: new Uint8Array(20) },
  body: Buffer.from('{}'),
  weight: 512,
};

async function answersAround(stage: Stage, name: string, mend: () => void): Promise<string[]> {
  stage.submit(name);
  await new Promise((resolve) => setImmediate(resolve));
  mend();
  stage.submit('next');
  for (const task of [...stage.tasks]) await stage.run(task, false);
  await new Promise((resolve) => setImmediate(resolve));
  return stage.names();
}

test('a batch that cannot be written into its slot is answered, and blocks no turn', async () => {
  const stage = new Stage(1);
  const { closedPersisted } = stage;
  let asked = 0;
  Object.defineProperty(stage, 'closedPersisted', {
    configurable: true,
    get: () => {
      // First the queue asks, whether there are rows for it.
      if (asked++ === 0) return closedPersisted;
      throw new RangeError('offset is out of bounds');
    },
  });
  const mend = (): void =>
    void Object.defineProperty(stage, 'closedPersisted', { value: closedPersisted });
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

test('a request that does not fit a slot is refused before it is taken, and the queue continues', async () => {
  const stage = new Stage(1);
  const { sizes } = allocateSlots(1, 4_096, 8_192);
  // One command that claims all of it.
  const words = sizes.logBytes / 4 + 2;
  const commands = new Int32Array(words);
  commands[0] = words << 8;
  const refused = (): void =>
    stage.sequencer.submit(commandsRequest(commands, () => assert.fail('it has no answer')));
  assert.throws(refused, /a request fits a slot/);
  assert.throws(() => stage.submit('x'.repeat(sizes.inputBytes)), /a request fits a slot/);
  stage.submit('next');
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names(), ['next']);
});

test('a busy worker has one batch ahead, of the requests of one event-loop iteration', async () => {
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

test('orders are answered 503 while the projector is so far behind that rows run short', async () => {
  const stage = new Stage(1);
  const { capacities, state } = stage.tables;
  const rows = capacities.orders + capacities.history;
  // Two rows are nobody's; all others that finished are not on disk.
  state[State.openOrders] = capacities.orders;
  state[State.closed] = 100;
  state[State.firstKeptClosed] = 100 - (rows - capacities.orders - 2);
  stage.closedPersisted = 0;
  const busy = (name: string) => ({ name, status: 503, body: ENGINE_BUSY });
  for (const name of ['a', 'b', 'c']) stage.submit(name);
  assert.deepEqual(stage.answers, [busy('c')], 'those on their way may take the last two');
  // Whoever takes no row is not held up.
  stage.sequencer.submit({ ...CANCEL, answered: () => undefined });
  stage.closedPersisted = 73;
  stage.submit('d');
  stage.submit('e');
  assert.deepEqual(stage.answers, [busy('c'), busy('e')]);
  while (stage.tasks.length > 0) {
    const [task] = stage.tasks as [Task];
    stage.turn(task, { changed: false });
    await stage.end(task);
  }
  stage.submit('f');
  assert.equal(stage.tasks.length, 1, 'what was answered has its rows, or never took any');
  // Nothing is gained by waiting: the engine says of each order that there is no room.
  state[State.openOrders] = rows;
  state[State.firstKeptClosed] = 100;
  stage.submit('g');
  assert.equal(stage.answers.filter(({ status }) => status === 503).length, 2);
});
