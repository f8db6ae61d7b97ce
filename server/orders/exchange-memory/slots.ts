/**
 * Memory shared by the I/O thread and the workers beside the engine: the control words of the writer turn,
 * and a slot for each running batch with its requests, answers and words for the log.
 *
 *   control  writerTurn | writer | poisoned
 *   slot     state dispatchSequence requests inputBytes answerBytes logWords changed digest
 *            eventWords eventsLost, place in the log that is lent                         (i32)
 *            time persistedClosedSequence firstFill endFill closedEnd sequence
 *            parseMs verifyMs turnWaitMs matchMs recoveries, place in the log, writeMs    (f64)
 *   results  by rule: number of orders with this result (i32)
 *   input    per request: 16 words (kind, bytes, apiKey (4), address (5), ordersMax, isLaterPart, takerDelay,
 *            settleMs, settleTerms), body, padded to 8
 *   answers  per request: 2 words (status, bytes), body, padded to 8
 *   log      the commands that changed the engine, as engine/commands.ts encodes them
 *   events   their effects, as engine/events.ts records them; events without room are passed with the result
 *
 * Writers: the I/O thread while a slot is free, then the worker that runs its batch until it marks the slot
 * as done or failed, and has put down what became of a lent place; the end of its batch in the lane hands it back to
 * the I/O thread.
 */
import assert from 'node:assert/strict';
import { batchRecordBytes } from '../../../storage/log/batch-record.ts';

export const Control = { writerTurn: 0, writer: 1, poisoned: 2, words: 16 } as const;
export const SlotState = { free: 0, verifying: 1, applying: 2, done: 3, failed: 4 } as const;
export const RequestKind = {
  orders: 0,
  order: 1,
  cancelOrder: 2,
  cancelOrders: 3,
  /** DELETE /cancel-all and DELETE /cancel-market-orders, in parts (cancel-all.ts). */
  cancelAll: 4,
  cancelMarket: 5,
  commands: 6,
  /** The body of POST /replace: a cancel and, where it succeeds, an order. */
  replace: 7,
  /** Record of another node: alone in its batch. */
  record: 8,
  /**
   * Bodies that place orders, pre-validated for the leader (checked-orders.ts); answered with the encoded
   * result.
   */
  check: 9,
  checked: 10,
  /** The body of POST /order, which is checked and not placed (order-explanation.ts). */
  explain: 11,
} as const;

export const Slot = {
  state: 0,
  dispatchSequence: 1,
  requests: 2,
  inputBytes: 3,
  answerBytes: 4,
  logWords: 5,
  changed: 6,
  digest: 7,
  eventWords: 8,
  eventsLost: 9,
  /** Place in the log that is lent to the worker (lent-place.ts): a descriptor plus one, 0 = none. */
  lentFile: 10,
  lentLink: 11,
  lentBefore: 12,
  /** LentState, and the checksum of a record that was written, or the number of the system's error. */
  lentState: 13,
  lentResult: 14,
  // Float64
  time: 8,
  persistedClosedSequence: 9,
  firstFill: 10,
  endFill: 11,
  closedEnd: 12,
  sequence: 13,
  /** Times of the stages in the worker; 0 where metrics are off. */
  parseMs: 14,
  verifyMs: 15,
  turnWaitMs: 16,
  matchMs: 17,
  /** Recoveries for diagnoses of wrong signatures, without the check itself. */
  recoveries: 18,
  lentOffset: 19,
  lentRoom: 20,
  lentAcknowledged: 21,
  lentBytes: 22,
  /** Milliseconds of the write; 0 where metrics are off. */
  writeMs: 23,
  words: 48,
} as const;

export const LentState = { unused: 0, written: 1, failed: 2 } as const;

/** More than there are reject reasons. */
export const RESULTS = 64;

export const RequestHead = {
  kind: 0,
  bytes: 1,
  apiKey: 2,
  address: 6,
  /** Number of orders of the body that are placed, from the first; 0 = all. */
  ordersMax: 11,
  isLaterPart: 12,
  /** Seconds for which orders that would match wait at least; 0 = none. */
  takerDelay: 13,
  /** Settlement of its immediate fills: milliseconds, 0 = at once; then 1 = they fail, and above it the fault's number. */
  settleMs: 14,
  settleTerms: 15,
  words: 16,
} as const;
export const AnswerHead = { status: 0, bytes: 1, words: 2 } as const;

/** Lower bound of a JSON order: its keys and three addresses alone are longer. */
export const ORDER_BYTES_MIN = 256;
/** Longest answer to one order: the longest text of a reject, or an id and two amounts. */
const ANSWER_BYTES_MAX = 320;
/** Longest answer with RESULT_CODES=on: detail, facts and code. */
const EXPLAINED_BYTES_MAX = 1_024;
/** Room for a batch of a thousand orders; larger ones are rare enough to be copied once more. */
const EVENT_BYTES = 2 ** 18;

export interface SlotSizes {
  readonly inputBytes: number;
  readonly answerBytes: number;
  readonly logBytes: number;
}

export interface SlotMemory {
  readonly control: SharedArrayBuffer;
  readonly slots: readonly SharedArrayBuffer[];
  readonly sizes: SlotSizes;
}

export function allocateSlots(
  count: number,
  bodyBytesMax: number,
  commandsMax: number,
  isExplained = false,
): SlotMemory {
  const answerBytesMax = isExplained ? EXPLAINED_BYTES_MAX : ANSWER_BYTES_MAX;
  const logBytes = align(Math.max(bodyBytesMax, commandsMax * ORDER_BYTES_MIN));
  const sizes = {
    // A record of another leader enters as input; it has at most the log words of a batch.
    inputBytes: align(batchRecordBytes(logBytes / 4) + 4 * RequestHead.words),
    answerBytes: align(commandsMax * answerBytesMax),
    logBytes,
  };
  const bytes =
    (Slot.words + RESULTS) * 4 +
    sizes.inputBytes +
    sizes.answerBytes +
    sizes.logBytes +
    EVENT_BYTES;
  return {
    control: new SharedArrayBuffer(Control.words * 4),
    slots: Array.from({ length: count }, () => new SharedArrayBuffer(bytes)),
    sizes,
  };
}

export function align(bytes: number): number {
  return (bytes + 7) & ~7;
}

export class SlotView {
  readonly i32: Int32Array;
  readonly f64: Float64Array;
  readonly results: Int32Array;
  readonly input: Uint8Array;
  readonly inputWords: Int32Array;
  readonly answers: Uint8Array;
  readonly answerWords: Int32Array;
  readonly log: Int32Array;
  readonly events: Int32Array;

  constructor(buffer: SharedArrayBuffer, sizes: SlotSizes) {
    let at = 0;
    this.i32 = new Int32Array(buffer, at, Slot.words);
    this.f64 = new Float64Array(buffer, at, Slot.words / 2);
    at += Slot.words * 4;
    this.results = new Int32Array(buffer, at, RESULTS);
    at += RESULTS * 4;
    this.input = new Uint8Array(buffer, at, sizes.inputBytes);
    this.inputWords = new Int32Array(buffer, at, sizes.inputBytes / 4);
    at += sizes.inputBytes;
    this.answers = new Uint8Array(buffer, at, sizes.answerBytes);
    this.answerWords = new Int32Array(buffer, at, sizes.answerBytes / 4);
    at += sizes.answerBytes;
    this.log = new Int32Array(buffer, at, sizes.logBytes / 4);
    at += sizes.logBytes;
    this.events = new Int32Array(buffer, at, EVENT_BYTES / 4);
  }

  state(): number {
    return Atomics.load(this.i32, Slot.state);
  }

  /**
   * Returns true when the first request is of `kind`. A batch of deadlines has no request, and the slot still
   * holds the bytes of an earlier batch.
   */
  beginsWith(kind: number): boolean {
    return this.i32[Slot.requests]! > 0 && this.inputWords[RequestHead.kind] === kind;
  }

  setState(state: number): void {
    Atomics.store(this.i32, Slot.state, state);
  }
}

/**
 * Blocks until the writer turn of this batch. Dispatch sequences wrap at 32 bits and are compared for
 * equality.
 */
export function awaitWriterTurn(control: Int32Array, sequence: number): void {
  for (;;) {
    const turn = Atomics.load(control, Control.writerTurn);
    if (turn === sequence) return;
    Atomics.wait(control, Control.writerTurn, turn);
  }
}

/** Enters the writer turn: until it is passed on, this batch is the only writer of the engine. */
export function enterWriterTurn(control: Int32Array, sequence: number): void {
  const owner = Atomics.compareExchange(control, Control.writer, 0, sequence + 1);
  assert(owner === 0, 'the engine has one writer');
}

export function leaveWriterTurn(control: Int32Array, sequence: number): void {
  Atomics.store(control, Control.writer, 0);
  passWriterTurn(control, sequence);
}

/** Passes the writer turn on; false when it was not the turn of this batch. */
export function passWriterTurn(control: Int32Array, sequence: number): boolean {
  const before = Atomics.compareExchange(control, Control.writerTurn, sequence, (sequence + 1) | 0);
  if (before !== sequence) return false;
  Atomics.notify(control, Control.writerTurn);
  return true;
}
