/**
 * The thread of the follower: steps while there is something to do, sleeps in an atomic wait when there is
 * not. Between two steps its event loop has a turn: LMDB sets a timer for each state of the disk that it looks
 * at, which would otherwise never end.
 * It ends by itself when it is told to: a thread that has LMDB open is never terminated.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Follower, type FollowerOptions, type FollowerReport } from './follower.ts';
import { FollowerLink } from './follower-link.ts';
import { logDirectory } from './log/file-log.ts';
import { SegmentReader } from './log/reader.ts';

/** What the thread is started with. */
export type FollowerSetup = Omit<FollowerOptions, 'read' | 'report'> & {
  readonly link: SharedArrayBuffer;
};

/** What it says: a report, or why it cannot go on. */
export type FollowerMessage = FollowerReport | { readonly kind: 'fatal'; readonly why: string };

const REST_MS = 20;

const port = parentPort;
assert(port !== null, 'it runs as a thread');

async function run({ link: memory, ...options }: FollowerSetup, port: MessagePort): Promise<void> {
  const link = new FollowerLink(memory);
  const follower = new Follower(
    {
      ...options,
      read: (from) => new SegmentReader(logDirectory(options.dataDir), from),
      report: (report) => port.postMessage(report satisfies FollowerMessage),
    },
    Date.now(),
  );
  link.publish(follower.written);
  while (!link.isStopping()) {
    await nextTurn();
    const heard = link.bell();
    const isBusy = follower.step(link.durable(), Date.now());
    link.publish(follower.written);
    if (isBusy) continue;
    // What comes meanwhile is read together: waking up for each batch takes from who waits for answers.
    link.rest(REST_MS);
    link.sleep(heard, follower.patience(Date.now()));
  }
  follower.close(link.durable(), Date.now());
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
