import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandBuffer, encodeConfigure } from '../../engine/commands.ts';
import {
  BATCH_COMMANDS_MAX,
  UNLOGGED_BATCHES_MAX,
  UNLOGGED_COMMANDS_MAX,
} from '../../engine/tables/capacities.ts';
import {
  ENGINE_BUSY,
  INTERNAL_ERROR,
  JOURNAL_UNAVAILABLE,
} from '../../server/common/error-bodies.ts';
import {
  commandsRequest,
  type Failure,
} from '../../server/orders/exchange-memory/slot-requests.ts';
import {
  Control,
  enterWriterTurn,
  ORDER_BYTES_MIN,
  passWriterTurn,
  SlotState,
} from '../../server/orders/exchange-memory/slots.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { OutcomeUnknown } from '../../storage/log/log.ts';
import { seeded } from '../storage/stored-exchange.ts';
import { Stage, type Task, withExpiring } from './sequencer-stage.ts';

const LATCHED = 'log: a write failed: no space';

/** A stage on which as many single requests run as there are workers: 'a', 'b', ... */
function busyStage(workers: number, queueMax?: number): { stage: Stage; tasks: Task[] } {
  const stage = new Stage(workers, queueMax);
  for (let i = 0; i < workers; i++) stage.submit('abcdefgh'[i]!);
  return { stage, tasks: [...stage.tasks] };
}

test('a request is answered after its batch is flushed, never before', async () => {
  const { stage, tasks } = busyStage(1);
  stage.turn(tasks[0]!, { changed: true });
  await stage.end(tasks[0]!);
  assert.deepEqual(stage.gate.writes, [[1]], 'its batch is on its way');
  assert.deepEqual(stage.names(), []);
  assert.deepEqual([stage.flushed, stage.told], [[], []]);
  await stage.gate.end();
  assert.deepEqual(stage.names(), ['a']);
  assert.deepEqual([stage.flushed, stage.told], [[1], [tasks[0]!.time]]);
});

test('the log and the answers keep the order of dispatch when workers end in any order', async () => {
  const { stage, tasks } = busyStage(3);
  for (const task of tasks) stage.turn(task, { changed: true });
  await stage.end(tasks[2]!);
  await stage.end(tasks[1]!);
  assert.deepEqual(stage.gate.writes, [], 'nothing goes before the first');
  await stage.end(tasks[0]!);
  assert.deepEqual(stage.gate.writes, [[1]]);
  await stage.gate.end();
  assert.deepEqual(stage.gate.writes, [[1], [2, 3]]);
  assert.deepEqual(stage.names(), ['a']);
  await stage.gate.end();
  assert.deepEqual(stage.names(), ['a', 'b', 'c']);
});

test('a batch that changed nothing waits for those before it, whose changes its answers may show', async () => {
  const { stage, tasks } = busyStage(3);
  await stage.run(tasks[0]!, false);
  assert.deepEqual(stage.names(), ['a'], 'nothing is before it');
  await stage.run(tasks[1]!, true);
  await stage.run(tasks[2]!, false);
  assert.deepEqual(stage.names(), ['a']);
  await stage.gate.end();
  assert.deepEqual(stage.names(), ['a', 'b', 'c']);
  assert.deepEqual(stage.flushed, [1], 'and the log does not hold it');
});

test('a full queue answers 503 at once, and takes requests again when it has room', async () => {
  const { stage, tasks } = busyStage(1, 2);
  for (const name of ['q1', 'q2', 'full']) stage.submit(name);
  assert.deepEqual(stage.names(), [`full: 503 ${ENGINE_BUSY}`]);
  await stage.run(tasks[0]!, false);
  stage.submit('q3');
  await stage.run(stage.tasks[0]!, false);
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names().slice(1), ['a', 'q1', 'q2', 'q3']);
});

test('a failing log answers 503 to all waiting, later and running requests', async () => {
  const { stage, tasks } = busyStage(3);
  await stage.run(tasks[0]!);
  await stage.run(tasks[1]!, false);
  for (const name of ['d', 'e', 'queued']) stage.submit(name);
  stage.turn(tasks[2]!, { changed: true });
  await stage.gate.end(new Error('no space'));
  stage.submit('later');
  while (stage.tasks.length > 0) {
    const [task] = stage.tasks;
    if (task!.dispatchSequence === stage.turnIs()) stage.turn(task!, { changed: true });
    await stage.end(task!);
  }
  const refused = (name: string): string => `${name}: 503 ${JOURNAL_UNAVAILABLE}`;
  assert.deepEqual(stage.names().sort(), ['a', 'b', 'c', 'd', 'e', 'later', 'queued'].map(refused));
  assert.deepEqual(stage.fatal, [LATCHED], 'told once');
  assert.deepEqual(stage.flushed, []);
  assert.equal(stage.gate.writes.length, 1, 'nothing more is written');
});

test('each worker gets its share of waiting requests, and no request is skipped', async () => {
  const { stage, tasks } = busyStage(4);
  for (let i = 0; i < 40; i++) stage.submit(`q${i}`);
  const sizes: number[] = [];
  for (const task of tasks) {
    await stage.run(task, false);
    sizes.push(stage.tasks.at(-1)!.bodies.length);
  }
  assert.deepEqual(sizes, [10, 8, 6, 4], 'a quarter of what is left each time');
  while (stage.tasks.length > 0) await stage.run(stage.tasks[0]!, false);
  const all = Array.from({ length: 40 }, (_, i) => `q${i}`);
  assert.deepEqual(stage.names(), ['a', 'b', 'c', 'd', ...all]);
});

test('requests that are submitted together leave in one batch, even if one of them is refused', async () => {
  const stage = new Stage(1, 3);
  stage.sequencer.together(() => {
    for (const name of ['a', 'b', 'c', 'd']) stage.submit(name);
    assert.equal(stage.tasks.length, 0, 'nothing is dispatched before all are there');
  });
  assert.deepEqual(stage.tasks[0]!.bodies, ['a', 'b', 'c']);
  await stage.run(stage.tasks[0]!, false);
  assert.throws(() =>
    stage.sequencer.together(() => {
      stage.submit('e');
      throw new Error('a damaged call');
    }),
  );
  assert.deepEqual(stage.tasks[0]!.bodies, ['e'], 'those before a damaged one are not left behind');
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names().sort(), ['a', 'b', 'c', `d: 503 ${ENGINE_BUSY}`, 'e']);
});

test('tiny requests do not make a batch larger than its answers have room for', async () => {
  const { stage, tasks } = busyStage(1, 65_536);
  for (let i = 0; i < 20_000; i++) stage.submit('x');
  await stage.run(tasks[0]!, false);
  const [task] = stage.tasks;
  assert(task!.bodies.length <= BATCH_COMMANDS_MAX);
  assert(task!.bodies.length > BATCH_COMMANDS_MAX / 2, 'but large enough');
  while (stage.tasks.length > 0) await stage.run(stage.tasks[0]!, false);
  assert.equal(stage.answers.length, 20_001);
});

test('batches that wait for the disk hold back further ones', async () => {
  const { stage } = busyStage(1);
  let done = 0;
  while (stage.tasks.length > 0) {
    stage.submit(`${done}`);
    await stage.run(stage.tasks[0]!);
    done += 1;
    assert(done <= UNLOGGED_BATCHES_MAX, 'the memory that they take is bounded');
  }
  assert.equal(done, UNLOGGED_BATCHES_MAX);
  await stage.gate.end();
  assert.equal(stage.tasks.length, 1, 'and go on when it is done');
});

test('commands that wait for the disk hold back further ones', async () => {
  const { stage } = busyStage(1);
  const commands = BATCH_COMMANDS_MAX / 2;
  const body = 'x'.repeat(commands * ORDER_BYTES_MIN);
  let done = 0;
  while (stage.tasks.length > 0) {
    stage.submit(body);
    await stage.run(stage.tasks[0]!);
    done += 1;
    assert((done - 1) * commands <= UNLOGGED_COMMANDS_MAX, 'the ring has room for what they do');
  }
  assert(done * commands > UNLOGGED_COMMANDS_MAX - BATCH_COMMANDS_MAX, 'and no earlier');
  // The first of them was alone with the disk, the others follow together.
  await stage.gate.end();
  await stage.gate.end();
  assert.equal(stage.tasks.length, 1, 'and go on when it is done');
});

test('time never goes back when the clock does', async () => {
  const stage = new Stage(1);
  const times: number[] = [];
  for (const now of [500, 400, 700, 0]) {
    stage.time = now;
    stage.submit('t');
    times.push(stage.tasks[0]!.time);
    await stage.run(stage.tasks[0]!, false);
  }
  assert.deepEqual(times, [500, 500, 700, 700]);
});

test('a worker that throws before its turn fails its batch with an error, and no other', async () => {
  const { stage, tasks } = busyStage(3);
  // As worker.ts does it: it waits for its turn to pass it on.
  await stage.run(tasks[0]!);
  tasks[1]!.view.setState(SlotState.failed);
  passWriterTurn(stage.control, tasks[1]!.dispatchSequence);
  await stage.end(tasks[1]!, 'cannot parse');
  await stage.run(tasks[2]!);
  assert.deepEqual(stage.names(), [], 'in order too');
  await stage.gate.end();
  await stage.gate.end();
  assert.deepEqual(stage.names(), ['a', `b: 500 ${INTERNAL_ERROR}`, 'c']);
  assert.deepEqual(stage.lines, ['a worker failed on batch 1: cannot parse']);
  assert.deepEqual(stage.fatal, []);
});

test('the turn of a worker that died before it is passed on once it is reached', async () => {
  const { stage, tasks } = busyStage(3);
  await stage.end(tasks[1]!, 'out of memory');
  assert.equal(stage.turnIs(), 0, 'not before its turn');
  await stage.run(tasks[0]!, false);
  await sleep(5);
  assert.equal(stage.turnIs(), 2);
  await stage.run(tasks[2]!, false);
  assert.deepEqual(stage.names(), ['a', `b: 500 ${INTERNAL_ERROR}`, 'c']);
});

test('a worker that dies inside its turn stops the node, and its changes are not acknowledged', async () => {
  for (const isSaid of [true, false]) {
    const { stage, tasks } = busyStage(2);
    stage.submit('queued');
    stage.turn(tasks[0]!, { changed: true });
    enterWriterTurn(stage.control, tasks[1]!.dispatchSequence);
    if (isSaid) tasks[1]!.view.setState(SlotState.applying);
    await stage.end(tasks[1]!, 'killed');
    assert.equal(stage.fatal.length, 1);
    assert.match(stage.fatal[0]!, /^a worker died inside its turn/);
    assert.equal(stage.turnIs(), 1, 'nobody else gets the turn');
    stage.submit('later');
    await stage.end(tasks[0]!);
    await stage.gate.end();
    assert.deepEqual(
      stage.names(),
      [`queued: 503 ${JOURNAL_UNAVAILABLE}`, `later: 503 ${ENGINE_BUSY}`, 'a'],
      'what was applied before it is whole, and is acknowledged when it is flushed',
    );
    assert.equal(stage.tasks.length, 0, 'and nothing is dispatched any more');
  }
});

test('poisoned memory stops the node, whichever worker reports first', async () => {
  const { stage, tasks } = busyStage(2);
  Atomics.store(stage.control, Control.poisoned, 1);
  await stage.end(tasks[1]!, 'interrupted');
  assert.deepEqual(stage.fatal, ['a worker died inside its turn: interrupted']);
});

test('a worker that dies after its turn loses nothing, even if it could not pass it on', async () => {
  for (const hasLeft of [true, false]) {
    const { stage, tasks } = busyStage(2);
    stage.turn(tasks[0]!, { changed: true });
    if (!hasLeft) {
      Atomics.store(stage.control, Control.writerTurn, 0);
      Atomics.store(stage.control, Control.writer, tasks[0]!.dispatchSequence + 1);
    }
    await stage.end(tasks[0]!, 'killed');
    assert.equal(stage.turnIs(), 1);
    await stage.run(tasks[1]!, false);
    await stage.gate.end();
    assert.deepEqual(stage.names(), ['a', 'b']);
    assert.deepEqual(stage.fatal, []);
  }
});

test('no request is taken while there is no room, and dispatched ones are finished', async () => {
  const { stage, tasks } = busyStage(1);
  stage.submit('queued');
  const commands = new CommandBuffer(64);
  encodeConfigure(commands, 0, 10, 0, 0);
  const own: string[] = [];
  const submitOwn = (): void => {
    const words = commands.i32.slice(0, commands.words);
    stage.sequencer.submit(commandsRequest(words, (outcome) => own.push(String(outcome))));
  };
  submitOwn();
  stage.sequencer.pause('no space');
  const refused = (name: string): string => `${name}: 503 ${JOURNAL_UNAVAILABLE}`;
  assert.deepEqual(stage.names(), [refused('queued')], 'what waits is refused at once');
  assert.deepEqual(own, ['busy'], 'internal commands are to be sent again');
  stage.submit('late');
  submitOwn();
  assert.deepEqual(stage.names().slice(1), [refused('late')]);
  assert.equal(own.length, 2);
  await stage.run(tasks[0]!);
  await stage.gate.end();
  assert.deepEqual(stage.names().slice(2), ['a'], 'it was taken, and is durable');
  assert.equal(stage.tasks.length, 0);
  assert(stage.sequencer.isPaused());
  stage.sequencer.pause(undefined);
  stage.submit('b');
  await stage.run(stage.tasks[0]!);
  await stage.gate.end();
  assert.deepEqual(stage.names().slice(3), ['b']);
  assert.deepEqual(stage.fatal, []);
});

test('internal commands wait in the same queue, and are answered by their rules', async () => {
  const { stage, tasks } = busyStage(1);
  const out = new CommandBuffer(64);
  for (let i = 0; i < 3; i++) encodeConfigure(out, i, 10, 0, 0);
  const outcomes: (Uint8Array | Failure)[] = [];
  const words = out.i32.slice(0, out.words);
  stage.sequencer.submit(commandsRequest(words, (outcome) => outcomes.push(outcome)));
  await stage.run(tasks[0]!, false);
  const [task] = stage.tasks;
  assert.equal(task!.bodies.length, 1);
  await stage.run(task!);
  assert.deepEqual(outcomes, []);
  await stage.gate.end();
  assert.equal(typeof outcomes[0], 'object');
});

test('nothing is dispatched before tables may be written, not even expired orders', async () => {
  const stage = new Stage(1, 1_000, 0, false);
  withExpiring(stage);
  stage.time = 2_000;
  stage.submit('early');
  stage.sequencer.pause('a disk is full');
  stage.sequencer.pause(undefined);
  stage.submit('a');
  await sleep(5);
  assert.equal(stage.tasks.length, 0);
  stage.sequencer.begin();
  await stage.run(stage.tasks[0]!, false);
  for (let i = 0; i < 10_000 && stage.tasks.length === 0; i++) await sleep(2);
  assert.deepEqual(stage.tasks[0]?.bodies, [], 'then it leaves');
});

test('orders expire on time without any trade', async () => {
  const { stage, tasks } = busyStage(1);
  const engine = withExpiring(stage);
  // Far enough ahead that a busy machine gets there first.
  stage.time = 1_800;
  await stage.run(tasks[0]!, false);
  assert.equal(stage.tasks.length, 0);
  stage.time = 2_000;
  for (let i = 0; i < 10_000 && stage.tasks.length === 0; i++) await sleep(2);
  const [tick] = stage.tasks;
  assert(tick !== undefined, 'a batch comes');
  assert.deepEqual([tick.bodies, tick.time], [[], 2_000], 'and it is empty');
  engine.begin(tick.time, 0);
  engine.end();
  await stage.run(tick);
  await stage.gate.end();
  await sleep(20);
  assert.equal(stage.tasks.length, 0, 'and no other, once nothing expires');
});

test('no request is taken after draining, and everything taken before is answered', async () => {
  const { stage, tasks } = busyStage(1);
  stage.submit('b');
  const drained = stage.sequencer.drain();
  await stage.run(tasks[0]!, false);
  await stage.run(stage.tasks[0]!, false);
  await drained;
  stage.submit('late');
  assert.deepEqual(stage.names(), ['a', 'b', `late: 503 ${ENGINE_BUSY}`]);
});

test('readers are called back once the running batches are done', async () => {
  const { stage, tasks } = busyStage(2);
  const calls: string[] = [];
  stage.sequencer.whenBatchesDone(() => calls.push('settled'));
  await sleep(5);
  assert.equal(calls.length, 0);
  await stage.run(tasks[0]!, false);
  assert.deepEqual(calls, ['settled']);
  await stage.run(tasks[1]!, false);
  stage.sequencer.whenBatchesDone(() => calls.push('at once'));
  for (let i = 0; i < 10_000 && calls.length < 2; i++) await sleep(2);
  assert.deepEqual(calls, ['settled', 'at once']);
});

test('in any interleaving each request is answered once, in order, after all before it is flushed', () =>
  seeded(async (random) => {
    const workers = random.between(1, 4);
    const stage = new Stage(workers, 1_000, random.chance(50) ? workers : 0);
    /** Batch sequence that must be on disk before answers leave, by dispatch sequence. */
    const sequences: number[] = [];
    const sequenceOf = new Map<string, number>();
    const turned = new Set<Task>();
    let submitted = 0;
    let seen = 0;
    const check = (): void => {
      for (; seen < stage.answers.length; seen++) {
        const { name } = stage.answers[seen]!;
        assert.equal(stage.names()[seen], `r${seen}`, 'in the order of their coming');
        const dispatched = sequenceOf.get(name)!;
        for (const sequence of sequences.slice(0, dispatched + 1)) {
          assert(sequence === 0 || stage.gate.flushed.has(sequence), `${name} came too early`);
        }
      }
    };
    const step = async (): Promise<void> => {
      const draw = random.below(10);
      const due = stage.tasks.find((task) => task.dispatchSequence === stage.turnIs());
      const ended = [...turned];
      if (draw < 3 && submitted < 400) stage.submit(`r${submitted++}`);
      else if (draw < 6 && due !== undefined) {
        for (const name of due.bodies) sequenceOf.set(name, due.dispatchSequence);
        sequences[due.dispatchSequence] = stage.turn(due, { changed: random.chance(60) }) ?? 0;
        turned.add(due);
      } else if (draw < 8 && ended.length > 0) {
        const task = random.pick(ended);
        turned.delete(task);
        await stage.end(task);
      } else if (draw >= 8 && stage.gate.inFlight > 0) await stage.gate.end();
      check();
    };
    for (let i = 0; i < 60_000 && (submitted < 400 || seen < submitted); i++) await step();
    assert.equal(seen, 400, 'and nobody is forgotten');
    assert.deepEqual(stage.fatal, []);
  }));

test('a waiter for a commit is called once everything applied before is in the log', async () => {
  const stage = new Stage(1);
  const calls: string[] = [];
  const wait = (name: string): void =>
    stage.sequencer.whenCommitted((isCommitted) => calls.push(`${name} ${isCommitted}`));
  wait('nothing is applied:');
  assert.deepEqual(calls, ['nothing is applied: true']);
  stage.submit('a');
  await stage.run(stage.tasks[0]!);
  wait('a:');
  stage.submit('b');
  await stage.run(stage.tasks[0]!);
  wait('b:');
  assert.equal(calls.length, 1);
  await stage.gate.end();
  assert.deepEqual(calls.slice(1), ['a: true']);
  await stage.gate.end(new Error('the disk is gone'));
  assert.deepEqual(calls.slice(1), ['a: true', 'b: false']);
  wait('b, whose outcome nobody knows:');
  assert.equal(calls.at(-1), 'b, whose outcome nobody knows: false');
});

test('a record of another node is committed before the log of this one has it', async () => {
  const stage = new Stage(1);
  const calls: string[] = [];
  const wait = (name: string): void =>
    stage.sequencer.whenCommitted((isCommitted) => calls.push(`${name} ${isCommitted}`));
  const facts = { sequence: 1, time: 1_000, persistedClosedSequence: 0, digest: 0 };
  const fills = { firstFill: 0, endFill: 0, closedEnd: 0 };
  stage.sequencer.follow(true);
  let applied = 0;
  stage.sequencer.apply(encodeBatch({ ...facts, ...fills }, new Int32Array(0)), () => applied++);
  await stage.run(stage.tasks[0]!);
  wait('the record:');
  assert.deepEqual([applied, calls], [0, ['the record: true']]);
  stage.sequencer.follow(false);
  stage.submit('a');
  await stage.run(stage.tasks[0]!);
  wait('an own batch:');
  await stage.gate.end();
  assert.deepEqual([applied, calls.length], [1, 1], 'the record alone is in the log');
  await stage.gate.end();
  assert.deepEqual(calls.slice(1), ['an own batch: true']);
});

test('a batch with an unknown outcome is answered so, and none of its requests is refused', async () => {
  const stage = new Stage(1);
  stage.submit('a');
  await stage.run(stage.tasks[0]!);
  await stage.gate.end(new OutcomeUnknown('another node leads'));
  assert.deepEqual(stage.names(), [
    'a: 503 {"error":"outcome unknown, ask by id","code":"OUTCOME_UNKNOWN"}',
  ]);
  assert.equal(stage.fatal.length, 1);
});

test('a sequencer that follows takes no request, not even internal commands', async () => {
  const stage = new Stage(1);
  stage.sequencer.follow(true);
  stage.submit('a');
  assert.equal(stage.tasks.length, 0);
  assert.equal(stage.answers[0]?.status, 503);
  stage.sequencer.follow(false);
  stage.submit('b');
  await stage.run(stage.tasks[0]!);
  await stage.gate.end();
  assert.deepEqual(stage.names().slice(1), ['b']);
});
