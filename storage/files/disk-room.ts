/**
 * Checks for free disk space before a transaction begins. When LMDB runs out of space inside a
 * transaction it fails, and sometimes corrupts the memory of the process, which then ends by a
 * signal (observed where LMDB saves its list of free pages). Another process may still use the
 * space in between; the next start recovers from that.
 *
 * Thread: the projector.
 */
import { statfsSync } from 'node:fs';

/** Bytes of a row with its share of an index, and of pages that a transaction copies with the list of free pages. */
const ROW_BYTES = 512;
const PAGES_BYTES = 2 ** 20;

/** Throws an Error when there may not be enough space for a transaction of so many rows. */
export function requireFreeSpace(directory: string, rows: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const room = bavail * bsize;
  const needed = PAGES_BYTES + rows * ROW_BYTES;
  if (room >= needed) return;
  throw new Error(`No space left on device: ${room} bytes, a transaction may take ${needed}`);
}
