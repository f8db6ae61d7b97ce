/**
 * The child process of a whole node that tells how late its I/O thread's event loop was, for the
 * switch part of the catalog suite.
 *
 * Thread: the node's I/O thread. Non-goals: its own configuration; the environment is the node's.
 */
import { availableParallelism } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readConfig } from '../../server/config.ts';
import { startNode } from '../../server/node.ts';
import { answerQuestions } from '../common/child.ts';

export interface LoopDelay {
  /** Beyond the period of the timer that measures it. */
  readonly p99Ms: number;
  readonly maxMs: number;
}

const PERIOD_MS = 1;
const delay = monitorEventLoopDelay({ resolution: PERIOD_MS });

/** Resolves with the port. */
async function start(environment: Readonly<Record<string, string>>): Promise<number> {
  const read = readConfig(environment, ['--no-demo'], availableParallelism());
  if (!read.ok) throw new Error(read.problems.join('; '));
  const node = await startNode({
    config: read.config,
    log: (level, line) => {
      if (level !== 'info' && level !== 'debug') process.stderr.write(`node: ${line}\n`);
    },
    onFatal: (error) => {
      throw error;
    },
  });
  delay.enable();
  return node.port;
}

function takeDelay(): LoopDelay {
  const beyond = (ns: number): number => Math.max(0, ns / 1e6 - PERIOD_MS);
  const taken = { p99Ms: beyond(delay.percentile(99)), maxMs: beyond(delay.max) };
  delay.reset();
  return taken;
}

answerQuestions({ start, delay: takeDelay });
