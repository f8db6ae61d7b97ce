/**
 * Answers to cancels as JSON bytes: `canceled`, `not_canceled` with the reason, and
 * `filled`, what each cancelled order had traded before. Runs inside the turn.
 * Rules: docs/protocol.md#cancels
 *
 * Thread: the worker in its apply turn.
 */

import { CancelCommand } from '../../engine/commands.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { closedCount, orderIdAt, orderOriginal, orderRemaining } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { OrderRow } from '../../engine/tables/units.ts';
import { refusalCode } from '../common/error-bodies.ts';
import type { AnswerWriter } from './answers.ts';
import { CANCEL_ALL_HEAD_BYTES, type CancelAllCursor, writeCancelAllHead } from './cancel-all.ts';
import { REJECT_TEXTS } from './reject-texts.ts';
import { detailOfReason } from './result-details.ts';

const CANCELED = Buffer.from('{"canceled":[');
const NOT_CANCELED = Buffer.from('],"not_canceled":{');
const FILLED = Buffer.from('},"filled":{');
const FILLED_END = Buffer.from('}');
/** Of all in `not_canceled`: they have one reason. */
const { orderNotFound } = RejectReason;
const CODE = Buffer.from(
  `,${JSON.stringify({ detail: detailOfReason(orderNotFound), code: refusalCode(REJECT_TEXTS[orderNotFound]) }).slice(1, -1)}`,
);
const END = Buffer.from('}');
const COMMA = Buffer.from(',');
const ID = Buffer.from('"0x');
const ID_END = Buffer.from('"');
const COLON = Buffer.from('":"');
const REASON_TEXT = JSON.stringify(REJECT_TEXTS[RejectReason.orderNotFound]);
const REASON = Buffer.from(`":${REASON_TEXT}`);
/** `"0x` + 64 digits + `"`. */
const ID_BYTES = 68;

/** Members of `not_canceled` for texts that are no order id. */
export function malformedIdBytes(texts: readonly string[]): Uint8Array {
  return Buffer.from(texts.map((text) => `${JSON.stringify(text)}:${REASON_TEXT}`).join(','));
}

/** What the order that ended last had traded, in micro-shares. */
export function lastFilled(t: Tables): number {
  return filledOf(t, closedOrder(t, closedCount(t) - 1));
}

function filledOf(t: Tables, row: OrderRow): number {
  return orderOriginal(t, row) - orderRemaining(t, row);
}

/**
 * The whole answer to cancels by id, whose commands follow one another from word `first` on.
 *
 * @param filled micro-shares for each command; -1 = not cancelled
 */
export function writeCancels(
  out: AnswerWriter,
  commands: Int32Array,
  first: number,
  filled: readonly number[],
  malformedIds: Uint8Array,
): void {
  out.open();
  writeCancelBody(out, commands, first, filled, malformedIds);
  out.close(200);
}

/** The same as a part of an answer. */
export function writeCancelBody(
  out: AnswerWriter,
  commands: Int32Array,
  first: number,
  filled: readonly number[],
  malformedIds: Uint8Array,
): void {
  const idAt = (i: number): number => first + i * CancelCommand.words + CancelCommand.id;
  out.copy(CANCELED);
  let members = 0;
  filled.forEach((size, i) => {
    if (size >= 0) writeId(out, members++, commands, idAt(i), ID_END);
  });
  out.copy(NOT_CANCELED);
  members = 0;
  filled.forEach((size, i) => {
    if (size < 0) writeId(out, members++, commands, idAt(i), REASON);
  });
  if (malformedIds.length > 0) {
    if (members > 0) out.copy(COMMA);
    out.copy(malformedIds);
  }
  const areSome = members > 0 || malformedIds.length > 0;
  out.copy(FILLED);
  members = 0;
  filled.forEach((size, i) => {
    if (size >= 0) writeFilled(out, members++, commands, idAt(i), size);
  });
  out.copy(FILLED_END);
  if (out.hasCodes && areSome) out.copy(CODE);
  out.copy(END);
}

const head = Buffer.alloc(CANCEL_ALL_HEAD_BYTES);

/** One part of a cancel of everything: the orders that ended from sequence `first` on. */
export function writeCancelAllPart(
  out: AnswerWriter,
  t: Tables,
  first: number,
  next: CancelAllCursor,
): void {
  const end = closedCount(t);
  const count = end - first;
  writeCancelAllHead(
    head,
    next,
    count === 0 ? 0 : count * (ID_BYTES + COMMA.length) - COMMA.length,
  );
  out.open();
  out.copy(head);
  for (let n = first; n < end; n++) {
    const place = closedOrder(t, n);
    writeId(out, n - first, t.orderI, orderIdAt(place), ID_END);
  }
  for (let n = first; n < end; n++) {
    const place = closedOrder(t, n);
    const idAt = orderIdAt(place);
    writeFilled(out, n - first, t.orderI, idAt, filledOf(t, place));
  }
  out.close(200);
}

/** A comma behind another member, then the id in quotes, then what ends the member. */
function writeId(
  out: AnswerWriter,
  before: number,
  words: Int32Array,
  at: number,
  tail: Uint8Array,
): void {
  if (before > 0) out.copy(COMMA);
  out.copy(ID);
  out.hex(words, at);
  out.copy(tail);
}

function writeFilled(
  out: AnswerWriter,
  before: number,
  words: Int32Array,
  at: number,
  size: number,
): void {
  writeId(out, before, words, at, COLON);
  out.amount(size);
  out.copy(ID_END);
}
