/**
 * Writes the requests of a batch into its slot, and takes answers out of it (the layout is drawn in
 * slots.ts).
 *
 * Thread: I/O, while no worker has the slot.
 */
import assert from 'node:assert/strict';
import { commandWords, OrderCommand, type SettlementTerms } from '../../../engine/commands.ts';
import { BATCH_COMMANDS_MAX } from '../../../engine/tables/capacities.ts';
import {
  ENGINE_BUSY,
  INTERNAL_ERROR,
  JOURNAL_UNAVAILABLE,
  OUTCOME_UNKNOWN,
  TRADING_PAUSED,
} from '../../common/error-bodies.ts';
import {
  AnswerHead,
  align,
  ORDER_BYTES_MIN,
  RequestHead,
  RequestKind,
  Slot,
  type SlotView,
} from './slots.ts';

export interface RequestOwner {
  /** 16 bytes of the UUID; the address has 20. */
  readonly apiKeyBytes: Uint8Array;
  readonly address: Uint8Array;
}

export type Answered = (
  status: number,
  body: Uint8Array | string,
  headers?: readonly (readonly [string, string])[],
) => void;

/**
 * Reasons for a request without a result. busy: not taken, may be sent again. paused: orders are not taken
 * now. unavailable: nothing is taken now, or the log failed. undone: its batch failed before it was applied.
 * unknown: the node lost its lead before it was certain that the batch is in the log.
 */
export type Failure = 'busy' | 'paused' | 'unavailable' | 'undone' | 'unknown';

const FAILURES: Readonly<Record<Failure, readonly [status: number, body: string]>> = {
  busy: [503, ENGINE_BUSY],
  paused: [503, TRADING_PAUSED],
  unavailable: [503, JOURNAL_UNAVAILABLE],
  undone: [500, INTERNAL_ERROR],
  unknown: [503, OUTCOME_UNKNOWN],
};

export function failureAnswer(failure: Failure): readonly [status: number, body: string] {
  return FAILURES[failure];
}

export interface Request {
  readonly kind: number;
  readonly owner: RequestOwner | undefined;
  readonly body: Uint8Array;
  /** Bytes that count against a batch: at least ORDER_BYTES_MIN a command. */
  readonly weight: number;
  readonly answered: Answered;
  /** Number of orders of the body that are placed, from the first; `undefined` = all. */
  readonly ordersMax?: number;
  readonly isLaterPart?: true;
  /** Seconds for which orders that would match wait at least; `undefined` = as their market says. */
  readonly takerDelay?: number | undefined;
  /** Terms of immediate fills of its orders; `undefined` = they are settled at once. */
  readonly settlement?: SettlementTerms | undefined;
  /** Called in place of `answered` for a failure; undefined = the failure is answered as HTTP. */
  readonly failed?: (failure: Failure) => void;
}

/** Request of a client; a request without an owner is internal. */
export type OwnedRequest = Request & { readonly owner: RequestOwner };

export function orderRequest(
  kind: typeof RequestKind.orders | typeof RequestKind.order,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
): OwnedRequest {
  return { kind, owner, body, weight: weightOf(kind, body), answered };
}

/** Weight of a body that places orders; even a short refused one has an answer. */
export function weightOf(kind: number, { length }: Uint8Array): number {
  return Math.max(length, (kind === RequestKind.replace ? 2 : 1) * ORDER_BYTES_MIN);
}

export function replaceRequest(
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
): OwnedRequest {
  const { replace: kind } = RequestKind;
  return { kind, owner, body, weight: weightOf(kind, body), answered };
}

/** Longest explanation of an order, as a number of usual answers. */
const EXPLANATION_ANSWERS = 16;

export function explainRequest(
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
): OwnedRequest {
  const weight = Math.max(body.length, EXPLANATION_ANSWERS * ORDER_BYTES_MIN);
  return { kind: RequestKind.explain, owner, body, weight, answered };
}

/** Internal commands; `settled` gets a 32-bit reject reason for each, or the failure. */
export function commandsRequest(
  words: Int32Array,
  settled: (outcome: Uint8Array | Failure) => void,
): Request {
  const body = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  let commands = 0;
  for (let at = 0; at < words.length; at += commandWords(words, at)) commands += 1;
  assert(commands <= BATCH_COMMANDS_MAX, 'a batch has a bounded number of commands');
  const weight = Math.max(body.length, commands * ORDER_BYTES_MIN);
  const answered: Answered = (_, rules) => {
    assert(typeof rules !== 'string', 'a worker answers commands by their rules');
    settled(rules);
  };
  return { kind: RequestKind.commands, owner: undefined, body, weight, answered, failed: settled };
}

export function recordRequest(
  payload: Uint8Array,
  applied: () => void,
  failed: (failure: Failure) => void,
): Request {
  const weight = (payload.length / (4 * OrderCommand.words)) * ORDER_BYTES_MIN;
  return {
    kind: RequestKind.record,
    owner: undefined,
    body: payload,
    weight,
    answered: applied,
    failed,
  };
}

/** Bound of the commands in a request; those that only cancel do not count. */
export function commandsMax({ weight }: Request): number {
  return Math.ceil(weight / ORDER_BYTES_MIN);
}

const PLACING: ReadonlySet<number> = new Set([
  RequestKind.orders,
  RequestKind.order,
  RequestKind.replace,
  RequestKind.checked,
]);

export function placesOrders({ kind }: Request): boolean {
  return PLACING.has(kind);
}

export interface SlotHead {
  readonly dispatchSequence: number;
  readonly time: number;
  readonly persistedClosedSequence: number;
}

export function fillSlot(view: SlotView, head: SlotHead, requests: readonly Request[]): void {
  view.i32[Slot.dispatchSequence] = head.dispatchSequence;
  view.i32[Slot.requests] = requests.length;
  view.f64[Slot.time] = head.time;
  view.f64[Slot.persistedClosedSequence] = head.persistedClosedSequence;
  let at = 0;
  for (const request of requests) at = writeRequest(view, at, request);
  view.i32[Slot.inputBytes] = at;
}

function writeRequest(view: SlotView, at: number, request: Request): number {
  const head = at / 4;
  const { input, inputWords } = view;
  inputWords[head + RequestHead.kind] = request.kind;
  inputWords[head + RequestHead.bytes] = request.body.length;
  inputWords[head + RequestHead.ordersMax] = request.ordersMax ?? 0;
  inputWords[head + RequestHead.takerDelay] = request.takerDelay ?? 0;
  const { settlement } = request;
  inputWords[head + RequestHead.settleMs] = settlement?.ms ?? 0;
  inputWords[head + RequestHead.settleTerms] =
    settlement === undefined ? 0 : settlement.fault * 2 + (settlement.fails ? 1 : 0);
  inputWords[head + RequestHead.isLaterPart] = request.isLaterPart === true ? 1 : 0;
  if (request.owner !== undefined) {
    writeWords(request.owner.apiKeyBytes, inputWords, head + RequestHead.apiKey);
    writeWords(request.owner.address, inputWords, head + RequestHead.address);
  }
  const bodyAt = at + 4 * RequestHead.words;
  input.set(request.body, bodyAt);
  return bodyAt + align(request.body.length);
}

function writeWords(bytes: Uint8Array, out: Int32Array, at: number): void {
  for (let i = 0; i < bytes.length; i += 4) {
    const word = (bytes[i]! << 24) | (bytes[i + 1]! << 16) | (bytes[i + 2]! << 8) | bytes[i + 3]!;
    out[at + i / 4] = word;
  }
}

/** Copies the answers out of the slot; the result delivers them once they may leave. */
export function takeAnswers(view: SlotView, requests: readonly Request[]): () => void {
  const bytes = Buffer.from(view.answers.subarray(0, view.i32[Slot.answerBytes]!));
  let at = 0;
  const answers = requests.map((request) => {
    const head = at / 4;
    const status = view.answerWords[head + AnswerHead.status]!;
    const length = view.answerWords[head + AnswerHead.bytes]!;
    const bodyAt = at + 4 * AnswerHead.words;
    at = bodyAt + align(length);
    return { request, status, body: bytes.subarray(bodyAt, bodyAt + length) };
  });
  return () => {
    for (const { request, status, body } of answers) request.answered(status, body);
  };
}

export function fail(request: Request, failure: Failure): void {
  if (request.failed !== undefined) request.failed(failure);
  else request.answered(...failureAnswer(failure));
}

export function failAll(requests: readonly Request[]): void {
  for (const request of requests) fail(request, 'undone');
}

/** Refuses a request during a pause; internal commands are sent again by their sender. */
export function refuse(request: Request, failure: Failure = 'unavailable'): void {
  fail(request, request.owner === undefined ? 'busy' : failure);
}
