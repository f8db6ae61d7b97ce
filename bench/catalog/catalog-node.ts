/**
 * The child process of a whole node that reports the delay of its I/O thread's event loop, for the
 * switch part of the catalog suite.
 *
 * Thread: the node's I/O thread. Non-goals: its own configuration; the environment is the node's.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { answerQuestions } from '../common/child.ts';
import { startWholeNode } from '../common/whole-node.ts';

export interface LoopDelay {
  /** Beyond the period of the timer that measures it. */
  readonly p99Ms: number;
  readonly maxMs: number;
}

const PERIOD_MS = 1;
const delay = monitorEventLoopDelay({ resolution: PERIOD_MS });

/** Resolves with the port. */
async function start(environment: Readonly<Record<string, string>>): Promise<number> {
  const port = await startWholeNode(environment);
  delay.enable();
  return port;
}

function takeDelay(): LoopDelay {
  const beyond = (ns: number): number => Math.max(0, ns / 1e6 - PERIOD_MS);
  const taken = { p99Ms: beyond(delay.percentile(99)), maxMs: beyond(delay.max) };
  delay.reset();
  return taken;
}

answerQuestions({ start, delay: takeDelay });
