/**
 * The child process that the suite `http` loads: a whole node on a data directory and, in the event
 * loop of its I/O thread, a bare handler on a port of its own.
 *
 * Thread: the node's I/O thread. Non-goals: its own configuration; the environment is the node's.
 */
import { type BareCase, type BarePorts, cpuUs, listenBare, makeReady } from '../common/bare.ts';
import { answerQuestions } from '../common/child.ts';
import { startWholeNode } from '../common/whole-node.ts';

let ports: BarePorts | undefined;

async function open(environment: Readonly<Record<string, string>>): Promise<BarePorts> {
  const product = await startWholeNode(environment);
  ports = { product, bare: await listenBare() };
  return ports;
}

answerQuestions({
  open,
  ready: (wanted: BareCase) => makeReady(ports!.product, wanted),
  cpu: cpuUs,
});
