/** The follower's thread, with a timer in it that counts how often it is heard. */
import { workerData } from 'node:worker_threads';
import type { FollowerSetup } from '../../storage/projection/follower-thread.ts';

export interface TickingSetup extends FollowerSetup {
  /** One word. */
  readonly ticks: SharedArrayBuffer;
}

const ticks = new Int32Array((workerData as TickingSetup).ticks);
setInterval(() => Atomics.add(ticks, 0, 1), 1).unref();
await import('../../storage/projection/follower-thread.ts');
