/**
 * Thread of the projector: steps while there is work, else sleeps in an atomic wait. Its event loop runs between two
 * steps: LMDB sets a timer for each snapshot of the disk, which would otherwise never end. It ends by itself on a
 * message, because a thread with an open LMDB must not be terminated.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { logDirectory } from '../log/file-log.ts';
import { SegmentReader } from '../log/reader.ts';
import { WaitingReader } from '../log/waiting-reader.ts';
import { LogProjector, type LogProjectorOptions, type ProjectorReport } from './log-projector.ts';
import { ProjectorLink } from './projector-link.ts';

export type ProjectorSetup = Omit<LogProjectorOptions, 'read' | 'report'> & {
  readonly link: SharedArrayBuffer;
};

export type ProjectorMessage =
  | ProjectorReport
  | { readonly kind: 'begun' }
  | { readonly kind: 'fatal'; readonly why: string };

const REST_MS = 20;
/** Monotonic milliseconds: a wall clock that is set back would delay all work. */
const now = (): number => performance.now();

const port = parentPort;
assert(port !== null, 'it runs as a thread');

async function run({ link: memory, ...options }: ProjectorSetup, port: MessagePort): Promise<void> {
  const link = new ProjectorLink(memory);
  const warn = (line: string): void =>
    port.postMessage({ kind: 'line', level: 'warn', line } satisfies ProjectorMessage);
  const follower = new LogProjector(
    {
      ...options,
      read: (from) => {
        const reader = new SegmentReader(logDirectory(options.dataDir), from);
        return new WaitingReader(reader, warn);
      },
      report: (report) => port.postMessage(report satisfies ProjectorMessage),
    },
    now(),
  );
  link.publish(follower.written);
  port.postMessage({ kind: 'begun' } satisfies ProjectorMessage);
  while (!link.isStopping()) {
    await nextIteration();
    const seen = link.bell();
    const isBusy = follower.step(link.durable(), now());
    link.publish(follower.written);
    if (isBusy) continue;
    // Batches of this pause are read together: a wake-up for each would delay answers to orders.
    link.rest(REST_MS);
    link.sleep(seen, follower.patience(now()));
  }
  follower.close(link.durable(), now());
  link.publish(follower.written);
}

try {
  await run(workerData as ProjectorSetup, port);
} catch (error) {
  port.postMessage({
    kind: 'fatal',
    why: `follower: ${(error as Error).message}`,
  } satisfies ProjectorMessage);
}
