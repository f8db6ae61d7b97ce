/**
 * The thread of the follower: steps while there is something to do, sleeps in an atomic wait when there is
 * not. Between two steps its event loop has a turn: LMDB sets a timer for each state of the disk that it looks
 * at, which would otherwise never end.
 * It ends by itself on a message: a thread that has LMDB open is never terminated.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { logDirectory } from '../log/file-log.ts';
import { PatientReader } from '../log/patient-reader.ts';
import { SegmentReader } from '../log/reader.ts';
import { Follower, type FollowerOptions, type FollowerReport } from './follower.ts';
import { FollowerLink } from './follower-link.ts';

/** What the thread is started with. */
export type FollowerSetup = Omit<FollowerOptions, 'read' | 'report'> & {
  readonly link: SharedArrayBuffer;
};

/** What it says: that it has opened its files, a report, or why it cannot go on. */
export type FollowerMessage =
  | FollowerReport
  | { readonly kind: 'begun' }
  | { readonly kind: 'fatal'; readonly why: string };

const REST_MS = 20;
/** Steady milliseconds: a wall clock that is set back would let nothing be due for as long. */
const now = (): number => performance.now();

const port = parentPort;
assert(port !== null, 'it runs as a thread');

async function run({ link: memory, ...options }: FollowerSetup, port: MessagePort): Promise<void> {
  const link = new FollowerLink(memory);
  const warn = (line: string): void =>
    port.postMessage({ kind: 'line', level: 'warn', line } satisfies FollowerMessage);
  const follower = new Follower(
    {
      ...options,
      read: (from) => {
        const reader = new SegmentReader(logDirectory(options.dataDir), from);
        return new PatientReader(reader, warn);
      },
      report: (report) => port.postMessage(report satisfies FollowerMessage),
    },
    now(),
  );
  link.publish(follower.written);
  port.postMessage({ kind: 'begun' } satisfies FollowerMessage);
  while (!link.isStopping()) {
    await nextTurn();
    const seen = link.bell();
    const isBusy = follower.step(link.durable(), now());
    link.publish(follower.written);
    if (isBusy) continue;
    // What comes meanwhile is read together: waking up for each batch takes from who waits for answers.
    link.rest(REST_MS);
    link.sleep(seen, follower.patience(now()));
  }
  follower.close(link.durable(), now());
  link.publish(follower.written);
}

try {
  await run(workerData as FollowerSetup, port);
} catch (error) {
  port.postMessage({
    kind: 'fatal',
    why: `follower: ${(error as Error).message}`,
  } satisfies FollowerMessage);
}
