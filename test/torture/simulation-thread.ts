/**
 * A thread that runs the simulations of the seeds it is told, one after the other; it answers with reports.
 * Told `end` it ends by itself: a thread that is inside LMDB must not be terminated.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SimulatedFs } from './simulated-fs.ts';
import { Simulation, type SimulationReport } from './simulation.ts';

export type SimulationAnswer = SimulationReport | { readonly failure: string };

const fs = new SimulatedFs(workerData as string);

parentPort?.on('message', (seed: number | 'end') => {
  if (seed === 'end') {
    parentPort?.close();
    return;
  }
  const answer = (message: SimulationAnswer): void => parentPort?.postMessage(message);
  new Simulation(seed, fs).run().then(answer, (error: Error) => {
    answer({ failure: error.stack ?? String(error) });
  });
});
