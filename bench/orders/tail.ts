/**
 * The slowest answers of an open loop, beside what happened on the machine meanwhile: bare durable writes on the same
 * disk, garbage collections of the node's I/O thread, snapshots, and requests that the load tool sent late.
 *
 * Thread: the suite's only one. Not here: a reason inside the node for each request.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { latencies, percentile, print, type Ratio } from '../common/figures.ts';
import type { Sample } from '../measure/samples.ts';

/** Milliseconds of the machine's monotonic clock. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Spans of one open loop. */
export interface Meanwhile {
  readonly writes: readonly Span[];
  readonly collections: readonly Span[];
  readonly snapshots: readonly Span[];
}

type Timed = Pick<Sample, 'dueMs' | 'latencyMs' | 'toolLateMs'>;

const SLOW = 0.99;
const SLOWEST = 0.999;
/** A p99 of fewer answers is one answer. */
const SNAPSHOT_ANSWERS_MIN = 100;

/** Prints the causes of the slowest answers; returns p99 to p50, each without what the disk alone adds. */
export function tailRatios(name: string, sent: readonly Timed[], meanwhile: Meanwhile): Ratio[] {
  const disk = diskMs(sent, meanwhile.writes);
  latencies(name, sent.map(latencyOf));
  latencies('  to the end of a bare durable write', disk);
  printCauses(sent, meanwhile);
  const p50 = percentile(sent.map(latencyOf), 0.5);
  const tailMs = percentile(disk, SLOW) - percentile(disk, 0.5);
  const p99 = (part: readonly Timed[]): number =>
    Math.max(p50, percentile(part.map(latencyOf), SLOW) - tailMs);
  const ratios: Ratio[] = [
    {
      name: '  p99 to p50, without the tail of the disk',
      ratio: p99(sent) / p50,
      bound: 'at most',
      aim: 5,
    },
  ];
  const during = sent.filter((one) => meets(one, meanwhile.snapshots));
  if (during.length < SNAPSHOT_ANSWERS_MIN) return ratios;
  const outside = sent.filter((one) => !meets(one, meanwhile.snapshots));
  const ratio = p99(during) / p99(outside);
  const line = `  p99 during snapshots to p99 at other times (${during.length})`;
  return [...ratios, { name: line, ratio, bound: 'at most', aim: 1.1 }];
}

/**
 * Duration of a bare write that began when each request was due. A long write counts for all requests that were due
 * during it, as it does in their latency.
 */
function diskMs(sent: readonly Timed[], writes: readonly Span[]): number[] {
  const due = sent.map(({ dueMs }) => dueMs).sort((a, b) => a - b);
  const durations: number[] = [];
  let next = 0;
  for (const time of due) {
    while (next < writes.length && writes[next]!.end <= time) next += 1;
    const write = writes[next];
    if (write !== undefined) durations.push(write.end - Math.max(time, write.begin));
  }
  return durations;
}

/** Number of the slowest answers that met each cause; one answer may have met several. */
function printCauses(sent: readonly Timed[], meanwhile: Meanwhile): void {
  const limit = percentile(sent.map(latencyOf), SLOWEST);
  const slowest = sent.filter(({ latencyMs }) => latencyMs >= limit);
  const slowWriteMs = percentile(meanwhile.writes.map(lengthOf), SLOW);
  const slowWrites = meanwhile.writes.filter((write) => lengthOf(write) >= slowWriteMs);
  const causes: Readonly<Record<string, (one: Timed) => boolean>> = {
    'slow write of the disk': (one) => meets(one, slowWrites),
    snapshot: (one) => meets(one, meanwhile.snapshots),
    'collection of garbage': (one) => meets(one, meanwhile.collections),
    'sent late by the load tool': ({ latencyMs, toolLateMs }) => 2 * toolLateMs >= latencyMs,
  };
  const isUnknown = (one: Timed): boolean => !Object.values(causes).some((cause) => cause(one));
  const counts = Object.entries({ ...causes, 'none of these': isUnknown }).map(
    ([cause, isCause]) => `${cause} ${slowest.filter(isCause).length}`,
  );
  print(`  causes of the slowest ${slowest.length}`, counts.join(', '));
  // A cause that is met by chance as often explains nothing.
  const usual = Object.entries(causes).map(
    ([cause, isCause]) => `${cause} ${share(sent.filter(isCause).length, sent.length)}`,
  );
  print('  of all answers', usual.join(', '));
}

function share(part: number, all: number): string {
  return `${((100 * part) / all).toFixed(1)} %`;
}

function latencyOf({ latencyMs }: Timed): number {
  return latencyMs;
}

function lengthOf({ begin, end }: Span): number {
  return end - begin;
}

function meets({ dueMs, latencyMs }: Timed, spans: readonly Span[]): boolean {
  return spans.some(({ begin, end }) => begin < dueMs + latencyMs && end > dueMs);
}

/** Spans that collections-preload.ts has written. */
export function readCollections(file: string): Span[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [begin, end] = line.split(' ').map(Number);
    return { begin: begin!, end: end! };
  });
}

/**
 * Spans in which the snapshots of a data directory were written.
 * @param offsetMs monotonic clock less the clock of files
 */
export function snapshotSpans(dataDir: string, offsetMs: number): Span[] {
  const directory = join(dataDir, 'images');
  return readdirSync(directory).map((name) => {
    const { birthtimeMs, mtimeMs } = statSync(join(directory, name));
    return { begin: birthtimeMs + offsetMs, end: mtimeMs + offsetMs };
  });
}
