import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { GuardedClock } from '../../server/common/guarded-clock.ts';
import { RequestKind } from '../../server/orders/exchange-memory/slots.ts';
import { WriteGate } from '../../server/orders/intake/write-gate.ts';
import { seeded } from '../storage/stored-exchange.ts';
import { Stage, withExpiring } from './sequencer-stage.ts';

const START = 1_700_000_000_000;
const DAY = 86_400_000;
const UNAVAILABLE = '503 {"error":"journal unavailable","code":"JOURNAL_UNAVAILABLE"}';

/** A wall clock and a monotonic one, which advance together unless the wall clock is set. */
class Clocks {
  wallMs = START;
  steadyMs = 5_000;
  readonly told: (string | undefined)[] = [];
  readonly clock = new GuardedClock({ wall: () => this.wallMs, steady: () => this.steadyMs });

  constructor(t: TestContext) {
    this.clock.onProblem = (problem) => this.told.push(problem);
    t.after(() => this.clock.stop());
  }

  /** Advances the clocks with a check every second, like the timer. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 1_000) {
      this.wallMs += Math.min(left, 1_000);
      this.steadyMs += Math.min(left, 1_000);
      this.clock.look();
    }
  }
}

test('the time follows a clock that runs normally, or is corrected a little', (t) =>
  seeded(async (random) => {
    const clocks = new Clocks(t);
    for (let i = 0; i < 2_000; i++) {
      clocks.pass(random.between(1, 9_000));
      if (random.chance(10)) clocks.wallMs += random.between(-4_900, 4_900);
      assert.equal(clocks.clock.now(), clocks.wallMs);
    }
    assert.deepEqual(clocks.told, []);
  }));

test('a jump is noticed at the first reading, and time continues as before it', (t) => {
  for (const jump of [DAY, -DAY, 5_001, -5_001]) {
    const clocks = new Clocks(t);
    clocks.pass(10_000);
    clocks.wallMs += jump;
    assert.equal(clocks.clock.now(), START + 10_000);
    assert.equal(clocks.told.length, 1);
    const seconds = Math.round(Math.abs(jump) / 1_000);
    assert.match(clocks.told[0]!, new RegExp(`jumped ${seconds} s ${jump > 0 ? 'ahead' : 'back'}`));
    clocks.pass(59_000);
    assert.equal(clocks.clock.now(), START + 69_000);
    assert.equal(clocks.clock.jumpMs(), jump);
    clocks.pass(2_000);
    assert.equal(clocks.clock.now(), START + 71_000 + jump, 'after a minute it counts');
    assert.equal(clocks.clock.jumpMs(), 0);
    assert.deepEqual(clocks.told.slice(1), [undefined]);
  }
});

test('a clock that returns is trusted at once, and one that jumps again waits another minute', (t) => {
  const clocks = new Clocks(t);
  clocks.wallMs += DAY;
  clocks.pass(50_000);
  clocks.wallMs += DAY;
  clocks.pass(50_000);
  assert.equal(clocks.clock.now(), START + 100_000);
  assert.equal(clocks.told.length, 2);
  assert.match(clocks.told[1]!, /172800 s ahead/);
  clocks.wallMs -= 2 * DAY;
  assert.equal(clocks.clock.now(), START + 100_000);
  clocks.pass(1_000);
  assert.deepEqual(clocks.told.slice(2), [undefined]);
  assert.equal(clocks.clock.now(), clocks.wallMs);
});

test('an operator accepts a jump at once, and is told where there is none', (t) => {
  const clocks = new Clocks(t);
  assert.equal(clocks.clock.accept(), undefined);
  clocks.wallMs += DAY;
  assert.equal(clocks.clock.accept(), DAY, 'also one that nobody has read yet');
  assert.equal(clocks.clock.now(), clocks.wallMs);
  assert.equal(clocks.clock.accept(), undefined);
});

test('a process that stood still between two readings does not take that for a jump', (t) => {
  const clocks = new Clocks(t);
  let stands = false;
  const steady = (): number => {
    if (stands) clocks.pass(60_000);
    stands = false;
    return clocks.steadyMs;
  };
  const clock = new GuardedClock({ wall: () => clocks.wallMs, steady });
  t.after(() => clock.stop());
  clock.onProblem = () => assert.fail('the clock has not jumped');
  stands = true;
  assert.equal(clock.now(), START + 60_000);
});

function guarded(t: TestContext) {
  const clocks = new Clocks(t);
  const stage = new Stage(1, 1_000, 0, true, clocks.clock.now);
  const lines: string[] = [];
  const room = new WriteGate(stage.sequencer, (_, line) => lines.push(line));
  clocks.clock.onProblem = (problem) => room.report('clock', problem);
  return { clocks, stage, room, lines };
}

test('no batch has the time of a clock that jumped, and orders are refused until the clock is trusted', async (t) => {
  const { clocks, lines, room, stage } = guarded(t);
  stage.submit('before');
  assert.equal(stage.tasks[0]!.time, START);
  await stage.run(stage.tasks[0]!, false);
  clocks.wallMs += DAY;
  stage.submit('after');
  assert.equal(stage.tasks.length, 0, 'the very next one is not');
  assert.deepEqual(stage.names(), ['before', `after: ${UNAVAILABLE}`]);
  assert.deepEqual(
    room.pauses().map(({ reason }) => reason),
    ['clock'],
  );
  clocks.wallMs -= DAY;
  clocks.pass(1_000);
  stage.submit('again');
  assert.equal(stage.tasks[0]!.time, START + 1_000);
  assert.match(lines[0]!, /^clock: .*86400 s ahead.*; reads and cancels only, until then$/);
  assert.equal(lines[1], 'the clock is trusted again: orders are taken');
});

test('cancels continue meanwhile, at the time before the jump', async (t) => {
  const { clocks, room, stage } = guarded(t);
  clocks.wallMs += DAY;
  stage.submit('order');
  clocks.pass(3_000);
  stage.submit('cancel', RequestKind.cancelOrder);
  assert.equal(stage.tasks[0]!.time, START + 3_000);
  stage.submit('waiting', RequestKind.cancelAll);
  stage.submit('refused');
  room.report('log', 'no space');
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names(), [
    `order: ${UNAVAILABLE}`,
    `refused: ${UNAVAILABLE}`,
    `waiting: ${UNAVAILABLE}`,
    'cancel',
  ]);
  room.report('log', undefined);
  stage.submit('cancel', RequestKind.cancelOrder);
  assert.equal(stage.tasks.length, 1, 'the clock alone lets them through');
});

test('a cancel that waits while the clock jumps stays, and orders beside it are refused', async (t) => {
  const { clocks, stage } = guarded(t);
  stage.submit('runs');
  stage.submit('order');
  stage.submit('cancel', RequestKind.cancelOrders);
  clocks.wallMs -= DAY;
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.tasks[0]!.bodies, ['cancel']);
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names(), [`order: ${UNAVAILABLE}`, 'runs', 'cancel']);
});

test('an order does not expire by a clock that jumped', async (t) => {
  const { clocks, stage } = guarded(t);
  withExpiring(stage, START / 1_000 + 1);
  clocks.wallMs += DAY;
  clocks.clock.look();
  stage.submit('cancel', RequestKind.cancelOrder);
  assert.equal(stage.tasks[0]!.time, START);
  await stage.run(stage.tasks[0]!, false);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(stage.tasks.length, 0, 'no batch for what has expired');
  clocks.clock.accept();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(stage.tasks[0]!.time, START + DAY, 'once it counts it does');
});

test('a process without free files is reported as such, by any part that noticed it', (t) => {
  const { lines, room, stage } = guarded(t);
  room.report('log', "the next segment cannot be made: EMFILE: too many open files, open 'x'");
  room.report('follower', 'derived: a write failed: Too many open files');
  assert.deepEqual(
    room.pauses().map(({ reason }) => reason),
    ['files', 'files'],
  );
  stage.submit('cancel', RequestKind.cancelOrder);
  assert.deepEqual(stage.names(), [`cancel: ${UNAVAILABLE}`]);
  room.report('log', undefined);
  room.report('follower', undefined);
  assert.equal(lines.at(-1), 'files can be opened again: orders are taken');
});
