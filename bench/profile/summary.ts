/**
 * Summary of a CPU profile of V8: the functions in which a thread spent its time.
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
/** Paths are printed with this many of their last parts. */
const PATH_PARTS = 2;

interface Thread {
  readonly name: string;
  /** In the name of a file of which only this one runs code. */
  readonly file: string;
  /** Functions in which it sleeps: time in them is no work. */
  readonly sleeping: readonly string[];
}

const THREADS: readonly Thread[] = [
  { name: 'worker', file: '/worker.', sleeping: ['serve'] },
  { name: 'follower', file: '/follower-thread.', sleeping: ['sleep', 'rest'] },
  { name: 'I/O thread', file: '/server/node/main.', sleeping: [] },
];
const OTHER: Thread = { name: 'other', file: '', sleeping: [] };

export function readProfile(path: string): CpuProfile {
  return JSON.parse(readFileSync(path, 'utf8')) as CpuProfile;
}

/** Which thread it is of; `other` where none of its functions tells. */
export function threadOf(profile: CpuProfile): string {
  return threadBehind(profile).name;
}

function threadBehind({ nodes }: CpuProfile): Thread {
  const isOf = ({ file }: Thread): boolean =>
    nodes.some(({ callFrame }) => callFrame.url.includes(file));
  return THREADS.find(isOf) ?? OTHER;
}

/** The lines of one thread, from the samples of a window. */
export function summaryOf(profile: CpuProfile, { from, to }: Window): string[] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const { name: thread, sleeping } = threadBehind(profile);
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
    const { functionName } = frame;
    if (functionName === '(idle)' || sleeping.includes(functionName)) asleep += spent;
    else selfUs.set(nameOf(frame), (selfUs.get(nameOf(frame)) ?? 0) + spent);
  }
  const awake = Math.max(1, total - asleep);
  const rows = [...selfUs].sort(([, a], [, b]) => b - a).slice(0, TOP);
  return [
    `${thread}: awake ${percent(awake, total)} of ${(total / US / US).toFixed(1)} s; self times of that:`,
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
