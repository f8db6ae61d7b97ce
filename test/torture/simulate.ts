/**
 * The part `simulation`: seeds, one after the other, in a thread with simulated files and timers.
 */
import { once } from 'node:events';
import { startThread } from '../common/forms.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { type Done, Pace, type PartOptions, seedOf, withRoundSeed } from './part.ts';
import type { SimulationReport } from './simulation.ts';
import type { SimulationAnswer } from './simulation-thread.ts';

export class Simulator {
  private readonly thread = startThread('torture/simulation-thread', temporaryDirectory());

  async run(seed: number): Promise<SimulationReport> {
    this.thread.postMessage(seed);
    const [answer] = (await once(this.thread, 'message')) as [SimulationAnswer];
    if ('failure' in answer) throw new Error(answer.failure);
    return answer;
  }

  async close(): Promise<void> {
    const ended = once(this.thread, 'exit');
    this.thread.postMessage('end');
    await ended;
  }
}

export async function simulate(options: PartOptions): Promise<Done> {
  const pace = new Pace(options, 'crashes');
  const sums = { rounds: 0, batches: 0, flips: 0, refused: 0, pauses: 0, earnest: 0 };
  const simulator = new Simulator();
  try {
    for (let more = true; more; sums.rounds += 1) {
      const report = await withRoundSeed('simulation', seedOf(options.seed, sums.rounds), (seed) =>
        simulator.run(seed),
      );
      sums.batches += report.batches;
      sums.flips += report.flips;
      sums.refused += report.refused;
      sums.pauses += report.pauses;
      sums.earnest += report.crashes;
      more = pace.goesOn(report.checks);
    }
  } finally {
    await simulator.close();
  }
  const { batches, earnest, flips, pauses, refused, rounds } = sums;
  return pace.done(
    `${rounds} seeds, ${batches} batches, ${earnest} crashes in earnest, ${pauses} times full, ` +
      `${flips} flipped bits of which ${refused} were refused by name`,
  );
}
