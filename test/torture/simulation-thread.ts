/**
 * A thread that runs the simulations of given seeds, one after the other, and answers with reports.
 * It ends by itself at `end`: a thread inside LMDB must not be terminated.
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
