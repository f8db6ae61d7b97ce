/**
 * A thread that trades on shared tables until the test has read enough of them. Sends one message
 * when done.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { EngineMemory } from '../../engine/tables/tables.ts';
import { Random } from '../common/random.ts';
import { Fixture } from './read-fixture.ts';

const { memory, tokens, orders, seed, enough } = workerData as {
  readonly memory: EngineMemory;
  readonly tokens: readonly number[];
  readonly orders: number;
  readonly seed: number;
  /** Not 0: the test has read enough. */
  readonly enough: Int32Array;
};
const fixture = new Fixture(memory);
const random = new Random(seed);
do fixture.trade(random, tokens, orders, 5);
while (Atomics.load(enough, 0) === 0);
parentPort?.postMessage('done');
