/** A thread that trades on shared tables while a test reads them. Sends one message when done. */
import { parentPort, workerData } from 'node:worker_threads';
import type { EngineMemory } from '../../engine/tables/tables.ts';
import { Random } from '../common/random.ts';
import { Fixture } from './read-fixture.ts';

const { memory, tokens, orders, seed } = workerData as {
  readonly memory: EngineMemory;
  readonly tokens: readonly number[];
  readonly orders: number;
  readonly seed: number;
};
new Fixture(memory).trade(new Random(seed), tokens, orders, 5);
parentPort?.postMessage('done');
