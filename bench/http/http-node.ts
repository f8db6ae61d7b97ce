/**
 * The child process that the suite `http` loads: a whole node on a data directory and, in the event
 * loop of its I/O thread, a bare handler on a port of its own.
 *
 * Thread: the node's I/O thread. Non-goals: its own configuration; the environment is the node's.
 */
import { availableParallelism } from 'node:os';
import { readConfig } from '../../server/config.ts';
import { startNode } from '../../server/node.ts';
import { type BareCase, type BarePorts, cpuUs, listenBare, makeReady } from '../common/bare.ts';
import { answerQuestions } from '../common/child.ts';

let ports: BarePorts | undefined;

async function open(environment: Readonly<Record<string, string>>): Promise<BarePorts> {
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
  ports = { product: node.port, bare: await listenBare() };
  return ports;
}

answerQuestions({
  open,
  ready: (wanted: BareCase) => makeReady(ports!.product, wanted),
  cpu: cpuUs,
});
