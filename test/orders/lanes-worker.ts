/**
 * A worker of the pool that counts its batches in a word of each slot, and obeys that word: throw,
 * die, or return a result without room in the slot. A timer from its first batch counts too.
 */
import { laneSetup, serveLane } from '../../server/orders/exchange-memory/lanes.ts';

export interface LanesSetup {
  /** Two words a slot: the command, and the number of its runs. */
  readonly slots: SharedArrayBuffer;
  /** One word: number of timer ticks of all workers. */
  readonly ticks: SharedArrayBuffer;
  readonly fates: Readonly<Record<'throws' | 'dies' | 'large' | 'pauses', number>>;
}

const setup = laneSetup() as LanesSetup;
const { fates } = setup;
const slots = new Int32Array(setup.slots);
const ticks = new Int32Array(setup.ticks);
const PAUSE_MS = 2;
let isTimed = false;

function run(slot: number): Int32Array | undefined {
  const fate = slots[2 * slot];
  if (!isTimed) setInterval(() => Atomics.add(ticks, 0, 1), 1);
  isTimed = true;
  if (fate === fates.throws) throw new Error('told to');
  if (fate === fates.dies) process.exit(1);
  if (fate === fates.pauses) Atomics.wait(slots, 2 * slot, fate, PAUSE_MS);
  slots[2 * slot + 1]! += 1;
  return fate === fates.large ? Int32Array.of(slot) : undefined;
}

export default function serve(lane: number): Promise<Int32Array> {
  return serveLane(lane, run);
}
