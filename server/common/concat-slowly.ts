/**
 * Long answers put together from their pieces, with pauses.
 *
 * Thread: any.
 */
import { nextTurn } from './next-turn.ts';

/** Copied without a pause: about a millisecond. */
const COPIED_PER_TURN = 2 ** 20;

export async function concatSlowly(pieces: readonly Uint8Array[]): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let copied = 0;
  for (const piece of pieces) {
    if (copied >= COPIED_PER_TURN) {
      copied = 0;
      await nextTurn();
    }
    whole.set(piece, at);
    at += piece.length;
    copied += piece.length;
  }
  return whole;
}
