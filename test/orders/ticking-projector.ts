/** The projector's thread, with a timer in it that counts its ticks. */
import { workerData } from 'node:worker_threads';
import type { ProjectorSetup } from '../../storage/projection/projector-thread.ts';

export interface TickingSetup extends ProjectorSetup {
  /** One word. */
  readonly ticks: SharedArrayBuffer;
}

const ticks = new Int32Array((workerData as TickingSetup).ticks);
setInterval(() => Atomics.add(ticks, 0, 1), 1).unref();
await import('../../storage/projection/projector-thread.ts');
