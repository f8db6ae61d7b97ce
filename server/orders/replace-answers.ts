/**
 * The answer of POST /replace: `cancel`, as DELETE /order answers it, and `order`, as POST /order does.
 * Rules: docs/protocol.md#replacing-an-order
 *
 * Thread: the worker in its apply turn.
 */
import type { AnswerWriter } from './answers.ts';
import { writeCancelBody } from './cancel-answers.ts';

const CANCEL = Buffer.from('{"cancel":');
const ORDER = Buffer.from(',"order":');
const NOT_PLACED = Buffer.from('null');
const END = Buffer.from('}');
const NO_MEMBERS = new Uint8Array(0);

/**
 * @param first word of the cancel command
 * @param filled micro-shares that the cancelled order had traded; -1 = it was not cancelled
 * @param writeOrder writes the result of the order; undefined = none was placed
 */
export function writeReplace(
  out: AnswerWriter,
  commands: Int32Array,
  first: number,
  filled: number,
  writeOrder: (() => void) | undefined,
): void {
  out.open();
  out.copy(CANCEL);
  writeCancelBody(out, commands, first, [filled], NO_MEMBERS);
  out.copy(ORDER);
  if (writeOrder === undefined) out.copy(NOT_PLACED);
  else writeOrder();
  out.copy(END);
  out.close(200);
}
