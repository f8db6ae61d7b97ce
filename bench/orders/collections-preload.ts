/**
 * Loaded into a node before its program: appends the spans of garbage collections of its I/O thread to
 * COLLECTIONS_FILE once a second. A line has begin and end, in milliseconds of the machine's monotonic clock.
 *
 * Thread: the node's I/O thread; workers load the file and do nothing.
 */
import { appendFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const WRITE_MS = 1_000;

if (isMainThread) {
  const file = process.env.COLLECTIONS_FILE;
  if (file === undefined) throw new Error('COLLECTIONS_FILE names no file');
  const origin = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  let lines = '';
  new PerformanceObserver((list) => {
    for (const { duration, startTime } of list.getEntries()) {
      lines += `${origin + startTime} ${origin + startTime + duration}\n`;
    }
  }).observe({ entryTypes: ['gc'] });
  setInterval(() => {
    appendFileSync(file, lines);
    lines = '';
  }, WRITE_MS).unref();
}
