/**
 * Temporary directories of `npm test` lie in memory, where the system has a tmpfs with enough room:
 * storage tests mostly wait for a disk that other tests write to as well.
 *
 * A kill of a process loses the same on a tmpfs and on a disk: the page cache outlives the process
 * in both. Losses of a power cut are tested on a simulated disk (test/torture). Files that run by
 * themselves, `npm run test:long`, `npm run torture` and `npm run load` use the disk, and TMPDIR
 * has precedence.
 */
import { accessSync, constants, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
/** Several times the need of all test files at a time. */
const FREE_BYTES_MIN = 4 * 2 ** 30;

export function useMemoryForTemporaryFiles(): void {
  if (process.env.TMPDIR === undefined && hasRoom()) process.env.TMPDIR = MEMORY;
}

function hasRoom(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize, type } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    return false;
  }
}
