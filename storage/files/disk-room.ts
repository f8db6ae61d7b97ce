/**
 * Room on the disk, asked for before a transaction begins. LMDB that finds none in the middle of one fails, and
 * now and then spoils the memory of the process on its way out, which a signal ends then (seen where it
 * saves its list of free pages). Another process may still take the room meanwhile: a start after that recovers.
 *
 * Thread: the follower.
 */
import { statfsSync } from 'node:fs';

/** Of a row, with its part of an index. */
const ROW_BYTES = 512;
/** Of pages that are copied beside what is written, and of the list of free ones. */
const PAGES_BYTES = 2 ** 20;

/** Throws an Error where there may be no room for a transaction of so many rows. */
export function requireFreeSpace(directory: string, rows: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const room = bavail * bsize;
  const needed = PAGES_BYTES + rows * ROW_BYTES;
  if (room >= needed) return;
  throw new Error(`No space left on device: ${room} bytes, a transaction may take ${needed}`);
}
