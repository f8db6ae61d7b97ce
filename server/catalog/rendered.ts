/**
 * Catalog answers that are made in steps: a short one within the call, in the buffer of the writer
 * that all share; a long one piece by piece, with turns of the event loop between, in a buffer of
 * its own.
 *
 * A piece shows the figures of its moment. Thread: the I/O thread.
 */
import { concatSlowly } from '../common/concat-slowly.ts';
import { nextTurn } from '../common/next-turn.ts';
import type { AnswerWriter } from './answer-writer.ts';

/** A step ends after so many bytes: less than a millisecond, even when the memory is not cached. */
export const BYTES_PER_STEP = 2 ** 18;

/**
 * Bytes that are valid until the writer's next begin(); or a promise of bytes that stay valid,
 * undefined = the client has disconnected.
 */
export type Rendered = Uint8Array | Promise<Buffer | undefined>;

/** Writes an answer, and yields where a piece may end. */
export type Steps = Generator<void, void>;

/** @param source of the fragments that are written; the writer was begun with it */
export function rendered(
  writer: AnswerWriter,
  source: Uint8Array,
  steps: Steps,
  isGone: () => boolean,
): Rendered {
  if (steps.next().done === true) return writer.done();
  return renderOn(writer, source, steps, isGone);
}

async function renderOn(
  writer: AnswerWriter,
  source: Uint8Array,
  steps: Steps,
  isGone: () => boolean,
): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let isOver = false;
  while (!isOver) {
    // Other answers use the writer before this one continues.
    pieces.push(Buffer.from(writer.done()));
    await nextTurn();
    if (isGone()) return undefined;
    writer.begin(source);
    isOver = steps.next().done === true;
  }
  pieces.push(Buffer.from(writer.done()));
  return concatSlowly(pieces);
}
