/**
 * The node's own worker under an adverse scheduler. Before and after every atomic step (waiting for
 * the turn, taking it, writing a book's version, passing the turn on), and between two orders, the
 * thread may be delayed by some microseconds or milliseconds. Writes the dispatch sequence of each
 * batch that changed something, with its batch sequence.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { Engine } from '../../engine/engine.ts';
import { laneSetup, serveLane } from '../../server/orders/exchange-memory/lanes.ts';
import { Slot, SlotView } from '../../server/orders/exchange-memory/slots.ts';
import { run, type WorkerSetup } from '../../server/orders/worker/worker.ts';
import { Random } from '../common/random.ts';

const STEPS = ['load', 'store', 'add', 'sub', 'exchange', 'compareExchange', 'notify'] as const;
const SPIN_MICROSECONDS_MAX = 60;
const WAIT_MS_MAX = 3;

const { dataDir, slots } = laneSetup() as WorkerSetup;
const views = slots.slots.map((buffer) => new SlotView(buffer, slots.sizes));
const random = new Random(Number(process.env.TEST_SEED) + threadId);
const nobody = new Int32Array(new SharedArrayBuffer(4));
const path = join(dataDir, `turns-${threadId}`);
/** Percent of steps with a delay; drawn for each batch. */
let often = 0;

function holdUp(): void {
  if (!random.chance(often)) return;
  if (random.chance(70)) {
    const until = performance.now() + random.below(SPIN_MICROSECONDS_MAX) / 1_000;
    while (performance.now() < until);
  } else {
    Atomics.wait(nobody, 0, 0, 1 + random.below(WAIT_MS_MAX));
  }
}

for (const step of STEPS) {
  const original = Atomics[step] as (...args: unknown[]) => unknown;
  const heldUp = (...args: unknown[]): unknown => {
    holdUp();
    const result = original(...args);
    holdUp();
    return result;
  };
  Object.assign(Atomics, { [step]: heldUp });
}

// Between two orders of a request, too: a book is half changed there.
const { apply } = Engine.prototype;
Engine.prototype.apply = function (...args) {
  const reason = apply.apply(this, args);
  holdUp();
  return reason;
};

function runHeldUp(index: number): Int32Array | undefined {
  often = random.pick([0, 1, 10, 40]);
  holdUp();
  const large = run(index);
  const view = views[index]!;
  if (view.i32[Slot.changed] === 1) {
    appendFileSync(path, `${view.i32[Slot.dispatchSequence]} ${view.f64[Slot.sequence]}\n`);
  }
  holdUp();
  return large;
}

export default function serve(lane: number): Promise<Int32Array> {
  return serveLane(lane, runHeldUp);
}
