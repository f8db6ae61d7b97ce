/** Thread that makes a backup for a peer: reading and hashing take seconds, for which the I/O thread has no time. */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { backUp } from './backup.ts';

export interface CopySetup {
  readonly dataDir: string;
  readonly into: string;
}

const port = parentPort;
assert(port !== null, 'it runs as a thread');

const { dataDir, into } = workerData as CopySetup;
const options = { derived: true, key: true, audit: false, onProgress: () => undefined };
backUp(dataDir, into, options).then(
  () => port.postMessage(undefined),
  (error: Error) => port.postMessage(error.message),
);
