/**
 * Cursors of paged lists: the offset of the next row as decimal text in base64
 * (docs/protocol.md#cursors).
 *
 * Decided here: of base64 both alphabets are read, with or without padding; a spelling that no
 * encoder writes is no cursor.
 *
 * Thread: any; pure.
 */
import { errorBody } from './contract.ts';

/** base64 of `-1`: there are no further rows. */
export const LAST_CURSOR = 'LTE=';

/** The body of a 400. */
export const INVALID_CURSOR = errorBody('invalid next_cursor');

const DIGITS = /^[0-9]+$/;

/** The cursor that asks for the rows from an offset on. */
export function cursorOf(offset: number): string {
  return Buffer.from(String(offset)).toString('base64');
}

/** The offset that a cursor asks for, '' = 0; it may lie past any end. -1 for what is no cursor. */
export function offsetOf(cursor: string): number {
  if (cursor === '') return 0;
  const bare = cursor
    .replace(/={1,2}$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const isPadded = bare.length < cursor.length;
  if (isPadded && cursor.length % 4 !== 0) return -1;
  const bytes = Buffer.from(bare, 'base64');
  // The decoder skips what it does not know; only what is really base64 comes out the same.
  if (bytes.toString('base64').replace(/=+$/, '') !== bare) return -1;
  const text = bytes.toString('latin1');
  return DIGITS.test(text) ? Number(text) : -1;
}
