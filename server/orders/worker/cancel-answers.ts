/**
 * Answers to cancels as JSON bytes: `canceled`, `not_canceled` with the reason, and `filled`, the shares that
 * each cancelled order had traded before. Rules: docs/protocol.md#cancels
 *
 * Thread: the worker in its writer turn.
 */

import { CancelCommand } from '../../../engine/commands.ts';
import { closedOrder } from '../../../engine/orders/orders.ts';
import { RejectReason } from '../../../engine/orders/reject-reasons.ts';
import { closedCount, orderIdAt, orderOriginal, orderRemaining } from '../../../engine/reads.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import type { OrderRow } from '../../../engine/tables/units.ts';
import { REJECTS } from '../../common/refusals.ts';
import {
  CANCEL_ALL_HEAD_BYTES,
  type CancelAllCursor,
  writeCancelAllHead,
} from '../cancel/cancel-all.ts';
import type { ResultWriter } from './answers.ts';

const CANCELED = Buffer.from('{"canceled":[');
const NOT_CANCELED = Buffer.from('],"not_canceled":{');
const FILLED = Buffer.from('},"filled":{');
const FILLED_END = Buffer.from('}');
/** All members of `not_canceled` have this reason. */
const { code, detail, text: reasonText } = REJECTS[RejectReason.orderNotFound];
const CODE = Buffer.from(`,${JSON.stringify({ detail, code }).slice(1, -1)}`);
const END = Buffer.from('}');
const COMMA = Buffer.from(',');
const ID = Buffer.from('"0x');
const ID_END = Buffer.from('"');
const COLON = Buffer.from('":"');
const REASON_TEXT = JSON.stringify(reasonText);
const REASON = Buffer.from(`":${REASON_TEXT}`);
/** `"0x` + 64 digits + `"`. */
const ID_BYTES = 68;

export function malformedIdBytes(texts: readonly string[]): Uint8Array {
  return Buffer.from(texts.map((text) => `${JSON.stringify(text)}:${REASON_TEXT}`).join(','));
}

/** Micro-shares traded by the order that closed last. */
export function lastFilled(tables: Tables): number {
  return filledOf(tables, closedOrder(tables, closedCount(tables) - 1));
}

function filledOf(tables: Tables, row: OrderRow): number {
  return orderOriginal(tables, row) - orderRemaining(tables, row);
}

/**
 * Writes the answer to cancels by id, with consecutive commands from word `first` on.
 *
 * @param filled micro-shares for each command; -1 = not cancelled
 */
export function writeCancels(
  out: ResultWriter,
  commands: Int32Array,
  first: number,
  filled: readonly number[],
  malformedIds: Uint8Array,
): void {
  out.open();
  writeCancelBody(out, commands, first, filled, malformedIds);
  out.close(200);
}

function writeCancelBody(
  out: ResultWriter,
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

const CANCEL = Buffer.from('{"cancel":');
const ORDER = Buffer.from(',"order":');
const NOT_PLACED = Buffer.from('null');
const NO_MEMBERS = new Uint8Array(0);

/**
 * @param first word of the cancel command
 * @param filled micro-shares that the cancelled order had traded; -1 = it was not cancelled
 * @param writeOrder writes the result of the order; undefined = none was placed
 */
export function writeReplace(
  out: ResultWriter,
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

const head = Buffer.alloc(CANCEL_ALL_HEAD_BYTES);

/** Writes one part of a cancel of everything: the orders closed from closed sequence `first` on. */
export function writeCancelAllPart(
  out: ResultWriter,
  tables: Tables,
  first: number,
  next: CancelAllCursor,
): void {
  const end = closedCount(tables);
  const count = end - first;
  writeCancelAllHead(
    head,
    next,
    count === 0 ? 0 : count * (ID_BYTES + COMMA.length) - COMMA.length,
  );
  out.open();
  out.copy(head);
  for (let n = first; n < end; n++) {
    const place = closedOrder(tables, n);
    writeId(out, n - first, tables.orderI, orderIdAt(place), ID_END);
  }
  for (let n = first; n < end; n++) {
    const place = closedOrder(tables, n);
    const idAt = orderIdAt(place);
    writeFilled(out, n - first, tables.orderI, idAt, filledOf(tables, place));
  }
  out.close(200);
}

function writeId(
  out: ResultWriter,
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
  out: ResultWriter,
  before: number,
  words: Int32Array,
  at: number,
  size: number,
): void {
  writeId(out, before, words, at, COLON);
  out.amount(size);
  out.copy(ID_END);
}
