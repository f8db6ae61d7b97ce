/**
 * The longest time that this thread was busy between two turns of its event loop.
 *
 * Time is processor time of the thread, so that what else runs on the machine does not count: Linux tells it in
 * /proc, and brings it up to date when the process asks for its own usage. What a virtual machine's host takes
 * of its processors does count, which is why a process that does nothing is looked at beside the node.
 *
 * Thread: the main one of a child process.
 */
import { openSync, readSync } from 'node:fs';

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

/** Begins to look, and goes on for as long as the process lives. */
export function watchTurns(): void {
  last = taken();
  turn();
}

/** The longest span since the last call, in milliseconds. */
export function longestSpan(): number {
  const span = longest;
  longest = 0;
  return span;
}
