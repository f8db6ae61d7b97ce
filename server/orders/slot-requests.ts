/**
 * Requests into a ticket's slot, and answers out of it (the layout is drawn in slots.ts).
 *
 * Thread: the I/O thread, while no worker has the slot.
 */
import assert from 'node:assert/strict';
import { commandWords } from '../../engine/commands.ts';
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import { ENGINE_BUSY, INTERNAL_ERROR, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import {
  AnswerHead,
  align,
  ORDER_BYTES_MIN,
  Proof,
  RequestHead,
  RequestKind,
  Slot,
  type SlotView,
} from './slots.ts';

/** What the level-2 check found out about the caller of a request. */
export interface RequestOwner {
  /** The UUID's 16 bytes. */
  readonly apiKeyBytes: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
}

/** What is left to be checked before anything is done for a caller: why it is refused, or undefined. */
export type Prove = () =>
  | { readonly status: number; readonly body: string; readonly headers?: AnswerHeaders }
  | undefined;

type AnswerHeaders = readonly (readonly [string, string])[];

export type Answered = (status: number, body: Uint8Array | string, headers?: AnswerHeaders) => void;

/**
 * Why a request has no result. busy: it was not taken, and may come again; unavailable: nothing is taken for the time
 * being, or the log failed; undone: its batch failed before it was applied.
 */
export type Failure = 'busy' | 'unavailable' | 'undone';

const FAILURES: Readonly<Record<Failure, readonly [status: number, body: string]>> = {
  busy: [503, ENGINE_BUSY],
  unavailable: [503, JOURNAL_UNAVAILABLE],
  undone: [500, INTERNAL_ERROR],
};

/** A request on its way through the sequencer. */
export interface Request {
  readonly kind: number;
  readonly owner: RequestOwner | undefined;
  readonly body: Uint8Array;
  /** Bytes that count against a batch: at least ORDER_BYTES_MIN a command. */
  readonly weight: number;
  readonly answered: Answered;
  /** Called in place of `answered` for a failure; undefined = the failure is answered as HTTP. */
  readonly failed?: (failure: Failure) => void;
  /** To be called before anything is done for the owner; undefined = has been, or need not be. */
  prove?: Prove | undefined;
}

/** The body of POST /orders or POST /order. */
export function orderRequest(
  kind: typeof RequestKind.orders | typeof RequestKind.order,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
  prove?: Prove,
): Request {
  // A refused request has an answer too, however short it was.
  const weight = Math.max(body.length, ORDER_BYTES_MIN);
  return { kind, owner, body, weight, answered, prove };
}

/** Encoded commands of the node's own; `settled` gets 32 bits for each, its rule code, or why there are none. */
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

/** Commands that a request holds at most, those aside that only cancel. */
export function commandsMax({ weight }: Request): number {
  return Math.ceil(weight / ORDER_BYTES_MIN);
}

/** Whether the caller is who it says, and may have so much; if not, that is the answer. */
export function isProven(request: Request): boolean {
  const refused = request.prove?.();
  request.prove = undefined;
  if (refused !== undefined) {
    request.answered(refused.status, refused.body, refused.headers);
  }
  return refused === undefined;
}

/** Whether it places orders, where others cancel them or are the node's own. */
export function placesOrders({ kind }: Request): boolean {
  return kind === RequestKind.orders || kind === RequestKind.order;
}

/** A ticket as its slot says it, but for its state. */
export interface SlotHead {
  readonly ticket: number;
  readonly time: number;
  readonly persistedClosedSequence: number;
}

/** Writes a ticket and its requests into its slot. */
export function fillSlot(view: SlotView, head: SlotHead, requests: readonly Request[]): void {
  view.i32[Slot.ticket] = head.ticket;
  view.i32[Slot.requests] = requests.length;
  // The only one then: it has not waited in the queue.
  view.i32[Slot.proof] = requests[0]?.prove === undefined ? Proof.given : Proof.awaited;
  view.f64[Slot.time] = head.time;
  view.f64[Slot.persistedClosedSequence] = head.persistedClosedSequence;
  let at = 0;
  for (const request of requests) at = writeRequest(view, at, request);
  view.i32[Slot.inputBytes] = at;
}

/** Writes a request at byte `at` of the slot's input; returns where the next one begins. */
function writeRequest(view: SlotView, at: number, request: Request): number {
  const head = at / 4;
  const { input, inputWords } = view;
  inputWords[head + RequestHead.kind] = request.kind;
  inputWords[head + RequestHead.bytes] = request.body.length;
  if (request.owner !== undefined) {
    writeWords(request.owner.apiKeyBytes, inputWords, head + RequestHead.apiKey);
    writeWords(request.owner.address, inputWords, head + RequestHead.address);
  }
  const bodyAt = at + 4 * RequestHead.words;
  input.set(request.body, bodyAt);
  return bodyAt + align(request.body.length);
}

/** Big-endian words of a key. */
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
  else request.answered(...FAILURES[failure]);
}

/** These requests failed before they were applied; the client may send them again. */
export function failAll(requests: readonly Request[]): void {
  for (const request of requests) fail(request, 'undone');
}

/** While nothing is taken, clients are told so; the node's own commands come again. */
export function refuse(request: Request): void {
  fail(request, request.owner === undefined ? 'busy' : 'unavailable');
}
