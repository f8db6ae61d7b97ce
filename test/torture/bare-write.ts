/**
 * Write latency of the machine: a child process that overwrites a page of a file, durably, fifty
 * times a second. Every ten seconds it prints the worst hundredth, from when each write was due. A
 * node's answers are compared with it, because disks and processors are shared.
 *
 *   node bare-write.js FILE        a line of JSON for each stretch: a Point of trend.ts
 *
 * Thread: its only one.
 */
import { constants, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Point } from './trend.ts';

const EACH_MS = 20;
const STRETCH_SECONDS = 10;
const PAGE = Buffer.alloc(4_096, 1);
const PAGES = 256;

const [, , path = ''] = process.argv;
const { O_CREAT, O_DSYNC = 0, O_RDWR } = constants;
const file = openSync(path, O_RDWR | O_CREAT | O_DSYNC);

let taken: number[] = [];
let stretch = 0;
const began = performance.now();
for (let count = 0; ; count++) {
  const due = began + count * EACH_MS;
  const early = due - performance.now();
  if (early > 0) await sleep(early);
  writeSync(file, PAGE, 0, PAGE.length, (count % PAGES) * PAGE.length);
  taken.push(performance.now() - due);
  const seconds = (performance.now() - began) / 1_000;
  if (seconds < (stretch + 1) * STRETCH_SECONDS) continue;
  taken.sort((a, b) => a - b);
  const p99 = taken[Math.floor(0.99 * taken.length)]!;
  const point: Point = { seconds: stretch * STRETCH_SECONDS, p99 };
  process.stdout.write(`${JSON.stringify(point)}\n`);
  taken = [];
  stretch += 1;
}
