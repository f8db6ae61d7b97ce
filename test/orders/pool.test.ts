import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { useCompiledNodes } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';
import { seeded } from '../storage/stored-exchange.ts';
import type { LanesSetup } from './lanes-worker.ts';

const compiled = useCompiledNodes();
const { openPool } = (await import(
  join(compiled, 'server/orders/worker/pool.js')
)) as typeof import('../../server/orders/worker/pool.ts');

const Fate = { run: 0, throws: 1, dies: 2, large: 3, pauses: 4 } as const;
const WORKERS = 3;
/** Bound of batches in flight: a worker runs one and has one ahead. */
const SLOTS = 2 * WORKERS;
const BATCHES = SHORT === false ? 200_000 : 10_000;
const ROUNDS = SHORT === false ? 3_000 : 150;
/** Fates after which a worker goes on. */
const MENDING = [Fate.run, Fate.run, Fate.throws, Fate.large];
const PATIENCE_MS = 60_000;

const slots = new Int32Array(new SharedArrayBuffer(8 * SLOTS));
const reported: unknown[] = [];
const ticks = new Int32Array(new SharedArrayBuffer(4));
const setup: LanesSetup = {
  slots: slots.buffer as SharedArrayBuffer,
  ticks: ticks.buffer as SharedArrayBuffer,
  fates: Fate,
};
const file = pathToFileURL(join(compiled, 'test/orders/lanes-worker.js'));
const pool = openPool({ file, workers: WORKERS, setup, report: (error) => reported.push(error) });

type End = { readonly large: Int32Array | undefined } | { readonly error: string };

function run(slot: number, fate: number): Promise<End> {
  slots[2 * slot] = fate;
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error('nothing is heard of it')), PATIENCE_MS);
    let ends = 0;
    const end = (what: End): void => {
      clearTimeout(patience);
      ends += 1;
      assert.equal(ends, 1, 'a batch ends once');
      resolve(what);
    };
    pool.run(
      slot,
      (large) => end({ large }),
      ({ message }) => end({ error: message }),
    );
  });
}

test('no wake-up is lost when workers are quick, slow or simultaneous', () =>
  seeded(async (random) => {
    slots.fill(0);
    let left = BATCHES;
    const expected = new Int32Array(SLOTS);
    const lane = async (slot: number): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await run(slot, random.below(1_000) === 0 ? Fate.pauses : Fate.run);
        expected[slot]! += 1;
        assert.equal(slots[2 * slot + 1], expected[slot], 'it was run once');
        // Sometimes the worker is asleep, sometimes it is still on its way there.
        const draw = random.below(16);
        if (draw === 0) await new Promise((resolve) => setImmediate(resolve));
        if (draw === 1) for (let i = random.below(20_000); i > 0; i--) Atomics.load(slots, 0);
      }
    };
    await Promise.all(Array.from({ length: SLOTS }, (_, slot) => lane(slot)));
    assert.equal(
      expected.reduce((sum, count) => sum + count, 0),
      BATCHES,
    );
    assert(Atomics.load(ticks, 0) > 0, 'timers end, also in a worker that always has a batch');
  }));

/** Fills all slots with batches in order; each must end by its fate. */
async function runAll(fates: readonly number[]): Promise<void> {
  slots.fill(0);
  const ends = await Promise.all(fates.map((fate, slot) => run(slot, fate)));
  for (const [slot, end] of ends.entries()) {
    const fate = fates[slot];
    if (fate === Fate.run) assert.deepEqual(end, { large: undefined });
    else if (fate === Fate.large) assert.deepEqual(end, { large: Int32Array.of(slot) });
    else if (fate === Fate.throws) assert.deepEqual(end, { error: 'told to' });
    else assert('error' in end);
    const runs = fate === Fate.run || fate === Fate.large ? 1 : 0;
    assert.equal(slots[2 * slot + 1], runs, 'once, or not at all');
  }
}

test('a result without room, or a worker that throws, ends its own batch and no other', () =>
  seeded(async (random) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await runAll(Array.from({ length: SLOTS }, () => random.pick(MENDING)));
    }
  }));

test('a worker that dies fails its own batch, and the next one is run', async () => {
  await runAll(Array.from({ length: SLOTS }, (_, slot) => (slot < 2 ? Fate.dies : Fate.run)));
  assert.deepEqual(reported, []);
});

test('a worker that died does not count as loaded', async () => {
  await pool.loaded();
  let isLoaded: boolean | undefined;
  slots.fill(0);
  slots[0] = Fate.dies;
  await new Promise<void>((resolve) => {
    const failed = (): void => {
      isLoaded = false;
      // A thread takes longer to start than this one to hear of what is so already.
      void pool.loaded().then(() => {
        isLoaded = true;
      });
      setImmediate(resolve);
    };
    pool.run(0, () => undefined, failed);
  });
  assert.equal(isLoaded, false);
  await pool.loaded();
});

test('the pool closes after all of these tests', () => pool.close());
