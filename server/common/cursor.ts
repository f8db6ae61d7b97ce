/**
 * Cursors of paged lists: the offset of the next row as decimal text in base64
 * (docs/protocol.md#cursors). Decided here: both alphabets of base64 are read, with or without
 * padding; a text that no encoder writes is not a cursor.
 *
 * Thread: any; pure.
 */
import { errorBody } from './error-bodies.ts';

/** base64 of `-1`: there are no further rows. */
export const LAST_CURSOR = 'LTE=';

export const INVALID_CURSOR = errorBody('INVALID_CURSOR');

const DIGITS = /^[0-9]+$/;

export function cursorOf(offset: number): string {
  return Buffer.from(String(offset)).toString('base64');
}

export interface OffsetPage {
  readonly start: number;
  readonly end: number;
  readonly next: string;
}

/** Returns the rows of the page at a cursor, and the cursor behind it; `undefined` for what is not a cursor. */
export function offsetPage(cursor: string, total: number, rows: number): OffsetPage | undefined {
  const start = offsetOf(cursor);
  if (start === -1) return undefined;
  const end = Math.min(start + rows, total);
  return { start, end, next: end < total ? cursorOf(end) : LAST_CURSOR };
}

/** The offset of a cursor, which may lie behind the end; '' = 0; -1 for what is not a cursor. */
export function offsetOf(cursor: string): number {
  if (cursor === '') return 0;
  const bare = cursor
    .replace(/={1,2}$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const isPadded = bare.length < cursor.length;
  if (isPadded && cursor.length % 4 !== 0) return -1;
  const bytes = Buffer.from(bare, 'base64');
  // The decoder skips unknown characters. Only valid base64 is the same after it is encoded again.
  if (bytes.toString('base64').replace(/=+$/, '') !== bare) return -1;
  const text = bytes.toString('latin1');
  return DIGITS.test(text) ? Number(text) : -1;
}
