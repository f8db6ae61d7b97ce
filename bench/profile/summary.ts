/**
 * What a CPU profile of V8 says in a few lines: the functions in which a thread spent its time.
 *
 * Thread: any.
 */
import { readFileSync } from 'node:fs';

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes, and the microseconds before each sample. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  /** Microseconds of the machine's monotonic clock. */
  readonly startTime: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
}

/** Microseconds of the machine's monotonic clock. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

const TOP = 20;
const US = 1_000;
/** In the tail of this many places a path is told. */
const PATH_PARTS = 2;

/** What a thread is, by a file of which only its kind runs code. */
const THREADS = [
  ['worker', '/orders/worker.'],
  ['follower', '/follower-thread.'],
  ['I/O thread', '/orders/sequencer.'],
] as const;

/** Where threads sleep: time in it is no work. */
const SLEEPING = new Set([
  '(idle)',
  'serve /orders/lanes',
  'sleep /follower-link',
  'rest /follower-link',
]);

export function readProfile(path: string): CpuProfile {
  return JSON.parse(readFileSync(path, 'utf8')) as CpuProfile;
}

/** Which thread it is of; `other` where none of its functions tells. */
export function threadOf({ nodes }: CpuProfile): string {
  const found = THREADS.find(([, file]) =>
    nodes.some(({ callFrame }) => callFrame.url.includes(file)),
  );
  return found?.[0] ?? 'other';
}

/** The lines of one thread, from the samples of a window. */
export function summaryOf(profile: CpuProfile, { from, to }: Window): string[] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const selfUs = new Map<string, number>();
  let at = profile.startTime;
  let total = 0;
  let asleep = 0;
  for (const [i, id] of profile.samples.entries()) {
    const spent = profile.timeDeltas[i]!;
    at += spent;
    if (at < from || at > to) continue;
    const frame = frames.get(id)!;
    total += spent;
    if (SLEEPING.has(sleepName(frame))) asleep += spent;
    else selfUs.set(nameOf(frame), (selfUs.get(nameOf(frame)) ?? 0) + spent);
  }
  const awake = Math.max(1, total - asleep);
  const rows = [...selfUs].sort(([, a], [, b]) => b - a).slice(0, TOP);
  return [
    `${threadOf(profile)}: awake ${percent(awake, total)} of ${(total / US / US).toFixed(1)} s; self times of that:`,
    ...rows.map(
      ([name, us]) =>
        `  ${percent(us, awake).padStart(7)}  ${(us / US).toFixed(0).padStart(6)} ms  ${name}`,
    ),
  ];
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}

function nameOf({ functionName, lineNumber, url }: ProfileNode['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  return `${name}  ${url.split('/').slice(-PATH_PARTS).join('/')}:${lineNumber + 1}`;
}

function sleepName({ functionName, url }: ProfileNode['callFrame']): string {
  if (url === '') return functionName;
  const path = url
    .split('/')
    .slice(-PATH_PARTS)
    .join('/')
    .replace(/\.[jt]s$/, '');
  const file = path.startsWith('storage/') ? path.slice('storage'.length) : `/${path}`;
  return `${functionName} ${file}`;
}
