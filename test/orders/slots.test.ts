/**
 * Turns over real threads: one writer at a time, in sequence order, through failures and
 * wrap-around.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import {
  align,
  allocateSlots,
  awaitWriterTurn,
  Control,
  enterWriterTurn,
  leaveWriterTurn,
  passWriterTurn,
  SlotState,
  SlotView,
} from '../../server/orders/exchange-memory/slots.ts';
import { startThread } from '../common/forms.ts';
import type { Random } from '../common/random.ts';
import { seeded } from '../storage/stored-exchange.ts';
import type { TurnsSetup } from './slots-worker.ts';

interface Turns {
  readonly control: Int32Array;
  readonly log: Int32Array;
  readonly done: Promise<unknown>;
}

/** Threads that share the sequences [first, first + count), which wrap at 32 bits. */
function startTurns(
  t: TestContext,
  threads: number,
  first: number,
  count: number,
  skip: { readonly dead?: readonly number[]; readonly failing?: readonly number[] },
  random: Random,
): Turns {
  const control = new SharedArrayBuffer(Control.words * 4);
  const log = new SharedArrayBuffer(4 * (1 + count));
  new Int32Array(control)[Control.writerTurn] = first;
  const shares: number[][] = Array.from({ length: threads }, () => []);
  for (let i = 0; i < count; i++) {
    const sequence = (first + i) | 0;
    if (skip.dead?.includes(sequence) !== true) random.pick(shares).push(sequence);
  }
  const workers = shares.map((sequences) => {
    const setup: TurnsSetup = { control, log, sequences, failing: skip.failing ?? [] };
    const worker = startThread('orders/slots-worker', setup);
    t.after(async () => void (await worker.terminate()));
    return once(worker, 'message');
  });
  return {
    control: new Int32Array(control),
    log: new Int32Array(log),
    done: Promise.all(workers),
  };
}

function takenOf(log: Int32Array): number[] {
  return [...log.subarray(1, 1 + log[0]!)];
}

function sequencesOf(first: number, count: number, without: readonly number[] = []): number[] {
  return Array.from({ length: count }, (_, i) => (first + i) | 0).filter(
    (sequence) => !without.includes(sequence),
  );
}

const COUNT = 1_500;
for (const [name, first] of [
  ['from the first sequence', 0],
  ['over the wrap from 2^31 - 1 to -2^31', 2 ** 31 - COUNT / 2],
  ['over the wrap from -1 to 0', -COUNT / 2],
] as const) {
  test(`threads take their turns in sequence order, one at a time, ${name}`, (t) =>
    seeded(async (random) => {
      const { control, log, done } = startTurns(t, 3, first, COUNT, {}, random);
      await done;
      assert.deepEqual(takenOf(log), sequencesOf(first, COUNT));
      assert.equal(control[Control.writerTurn], (first + COUNT) | 0);
      assert.equal(control[Control.writer], 0);
    }));
}

test('a sequence that fails before its turn passes it on, and no other is lost', (t) =>
  seeded(async (random) => {
    const first = 2 ** 31 - 100;
    const failing = sequencesOf(first, COUNT).filter(() => random.chance(20));
    const { log, done } = startTurns(t, 3, first, COUNT, { failing }, random);
    await done;
    assert.deepEqual(takenOf(log), sequencesOf(first, COUNT, failing));
  }));

test('the turn of a dead sequence is passed on once it is reached, never earlier', (t) =>
  seeded(async (random) => {
    const dead = sequencesOf(0, COUNT).filter(() => random.chance(3));
    const { control, log, done } = startTurns(t, 2, 0, COUNT, { dead }, random);
    const waiting = new Set(dead);
    while (waiting.size > 0) {
      for (const sequence of waiting) {
        const isDue = Atomics.load(control, Control.writerTurn) === sequence;
        const isPassed = passWriterTurn(control, sequence);
        if (isDue) assert(isPassed, 'nobody else can pass it on');
        if (isPassed) waiting.delete(sequence);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    assert.deepEqual(takenOf(log), sequencesOf(0, COUNT, dead));
  }));

test('a turn is passed on by its own sequence only, and once', () => {
  const control = new Int32Array(new SharedArrayBuffer(Control.words * 4));
  assert.equal(passWriterTurn(control, 1), false);
  assert.equal(passWriterTurn(control, -1), false);
  assert.equal(passWriterTurn(control, 0), true);
  assert.equal(passWriterTurn(control, 0), false);
  assert.equal(control[Control.writerTurn], 1);
  awaitWriterTurn(control, 1);
});

test('a second writer is stopped before it writes anything', () => {
  const control = new Int32Array(new SharedArrayBuffer(Control.words * 4));
  enterWriterTurn(control, 0);
  assert.throws(() => enterWriterTurn(control, 1), /the engine has one writer/);
  leaveWriterTurn(control, 0);
  enterWriterTurn(control, 1);
  assert.equal(control[Control.writerTurn], 1);
});

test('slots have their allocated sizes, with adjacent parts', () => {
  for (const [body, commands] of [
    [1_000, 3],
    [1_001, 100],
    [50_003, 8],
  ] as const) {
    const memory = allocateSlots(3, body, commands);
    assert.equal(memory.slots.length, 3);
    const view = new SlotView(memory.slots[1]!, memory.sizes);
    assert(view.input.length >= body + 48, 'the largest request and its head');
    assert(view.answers.length >= commands * 300);
    assert(view.log.byteLength >= body);
    const parts: readonly [Int32Array | Uint8Array, number][] = [
      [view.i32, 1],
      [view.input, 2],
      [view.answers, 3],
      [view.log, 4],
    ];
    for (const [part, value] of parts) part.fill(value);
    for (const [part, value] of parts) assert(part.every((found) => found === value));
    assert.equal(view.inputWords.length, view.input.length / 4);
    assert.equal(view.answerWords.length, view.answers.length / 4);
    view.setState(SlotState.done);
    assert.equal(view.state(), SlotState.done);
    assert(
      new Uint8Array(memory.slots[0]!).every((byte) => byte === 0),
      'and apart from others',
    );
  }
  assert.deepEqual([0, 1, 8, 9].map(align), [0, 8, 8, 16]);
});
