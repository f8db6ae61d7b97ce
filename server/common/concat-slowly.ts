/**
 * Joins the pieces of a long answer, with pauses.
 *
 * Thread: any.
 */
import { nextIteration } from './event-loop.ts';

/** Bytes that are copied without a pause: about a millisecond. */
const COPIED_PER_TURN = 2 ** 20;

export function concatSlowly(pieces: readonly Uint8Array[]): Buffer | Promise<Buffer> {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return bytes <= COPIED_PER_TURN ? Buffer.concat(pieces, bytes) : copySlowly(pieces, bytes);
}

async function copySlowly(pieces: readonly Uint8Array[], bytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  let copied = 0;
  for (const piece of pieces) {
    if (copied >= COPIED_PER_TURN) {
      copied = 0;
      await nextIteration();
    }
    whole.set(piece, at);
    at += piece.length;
    copied += piece.length;
  }
  return whole;
}
