/**
 * Times at which the requests of one process are due.
 * Thread: any.
 * Non-goals: sending them (sender.ts).
 */
import type { Random } from '../random.ts';
import type { Arrivals } from './measure-options.ts';

export interface Share {
  /** Number of the process, from 0 to `processes` - 1. */
  readonly index: number;
  readonly processes: number;
}

/** Returns the number of things of `total` that one process gets, where they are dealt one after another. */
export function shareOf(total: number, { index, processes }: Share): number {
  return Math.ceil((total - index) / processes);
}

/**
 * Milliseconds from the start at which each of a process's requests is due, ascending. `total` and
 * `perSecond` are of all processes: even arrivals of them interleave, Poisson ones add up.
 */
export function arrivalsOf(
  how: Arrivals,
  total: number,
  perSecond: number,
  share: Share,
  random: Random,
): Float64Array {
  const due = new Float64Array(shareOf(total, share));
  const stepMs = 1000 / perSecond;
  let at = 0;
  for (let i = 0; i < due.length; i += 1) {
    if (how === 'even') {
      due[i] = (i * share.processes + share.index) * stepMs;
    } else {
      const uniform = (random.next() + 1) / 2 ** 32; // above 0, at most 1
      at += -Math.log(uniform) * stepMs * share.processes;
      due[i] = at;
    }
  }
  return due;
}
