/**
 * The child process of the suite `spans`: a whole node, and the longest time that its I/O thread was held
 * between two turns of the event loop.
 *
 * Time is processor time of this thread, so that what else runs on the machine does not count: Linux tells
 * it in /proc, and brings it up to date when the process asks for its own usage.
 *
 * Thread: the node's I/O thread. Non-goals: its own configuration; the environment is the node's.
 */
import { openSync, readSync } from 'node:fs';
import { answerQuestions } from '../common/child.ts';
import { startWholeNode } from '../common/whole-node.ts';

const NS_PER_MS = 1e6;
const SPACE = 0x20;

const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const text = Buffer.alloc(64);

/** Milliseconds that this thread has had a processor. */
function taken(): number {
  process.cpuUsage();
  readSync(schedule, text, 0, text.length, 0);
  return Number(text.toString('latin1', 0, text.indexOf(SPACE))) / NS_PER_MS;
}

let longest = 0;
let last = 0;

/** Once in every turn of the event loop. */
function turn(): void {
  const now = taken();
  longest = Math.max(longest, now - last);
  last = now;
  setImmediate(turn);
}

/** Resolves with the port. */
async function start(environment: Readonly<Record<string, string>>): Promise<number> {
  const port = await startWholeNode(environment);
  last = taken();
  turn();
  return port;
}

/** The longest span since the last question, in milliseconds. */
function longestSpan(): number {
  const span = longest;
  longest = 0;
  return span;
}

answerQuestions({ start, longestSpan });
