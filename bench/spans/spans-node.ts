/**
 * The child process of the suite `spans`: a whole node whose I/O thread is watched.
 *
 * Thread: the node's I/O thread. Non-goals: its own configuration; the environment is the node's.
 */
import { answerQuestions } from '../common/child.ts';
import { startWholeNode } from '../common/whole-node.ts';
import { longestSpan, watchTurns } from './turns.ts';

/** Resolves with the port. */
async function start(environment: Readonly<Record<string, string>>): Promise<number> {
  const port = await startWholeNode(environment);
  watchTurns();
  return port;
}

answerQuestions({ start, longestSpan });
