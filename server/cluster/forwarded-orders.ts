/**
 * Orders that the leader applies. Workers of this node check shape, digest, wallet and signature; the leader gets
 * commands, those of an event-loop iteration in one call.
 *
 *   call     of each request: bytes u32, kind u16, taker delay in seconds u16 | apiKey (16) | address (20) | body, padded to 4
 *   answer   of each request: bytes u32, status u32 | sequence f64 | body, padded to 4
 *
 * Thread: the I/O thread. Cancels and all other requests are forwarded whole (forwarded-requests.ts).
 */
import assert from 'node:assert/strict';
import type { Headers } from '../http/answer-head.ts';
import { sequenceHeaders } from '../http/sequence.ts';
import { type OwnedRequest, weightOf } from '../orders/exchange-memory/slot-requests.ts';
import { RequestKind } from '../orders/exchange-memory/slots.ts';
import { Check, checkedRequest, checkRequest } from '../orders/intake/checked-orders.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import { isLong } from '../orders/intake/order-parts.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import { type Forwarder, NOT_FORWARDED } from './forwarder.ts';
import { PeerCall } from './peers/calls.ts';
import type { PeerServer } from './peers/peer-server.ts';

/** Returns the refusal of a caller whose credentials another node has checked; `undefined` without one. */
export type RefuseCaller = (
  apiKey: Buffer,
) => { readonly status: number; readonly body: string } | undefined;

export interface LeaderIntake {
  readonly intake: OrderIntake;
  readonly together: Sequencer['together'];
}

const CALL_HEAD_BYTES = 8;
const ANSWER_HEAD_BYTES = 16;
const KEY_BYTES = 16;
const ADDRESS_BYTES = 20;
const OWNER_BYTES = KEY_BYTES + ADDRESS_BYTES;
/** Bodies of one call; further ones go with the next. */
const CALL_BYTES_MAX = 2 ** 20;

interface Answer {
  readonly status: number;
  /** Newest durable batch that the answer depends on. */
  readonly sequence: number;
  readonly body: Uint8Array;
}

export class OrderForwarder {
  private readonly forwarder: Forwarder;
  private outgoing: OwnedRequest[] = [];

  constructor(forwarder: Forwarder) {
    this.forwarder = forwarder;
  }

  submit(request: OwnedRequest, intake: OrderIntake, mayCheck: boolean): void {
    // To check hundreds of orders in one go would keep a worker from those of others.
    if (isLong(request) || !mayCheck) this.send(request, intake);
    else
      intake.submit(
        checkRequest(
          request,
          (status, answer) => {
            assert(typeof answer !== 'string', 'a worker answers with bytes');
            if (status === Check.refused) request.answered(status, answer);
            else if (status === Check.atLeader) this.send(request, intake);
            else this.send(checkedRequest(request, answer), intake);
          },
          (failure) => {
            if (failure === 'busy') {
              const { body, status } = NOT_FORWARDED.busy;
              request.answered(status, body);
            } else this.send(request, intake);
          },
        ),
      );
  }

  serve(
    server: Pick<PeerServer, 'answer'>,
    { intake, together }: LeaderIntake,
    sequence: () => number,
    refuse: RefuseCaller,
  ): void {
    this.forwarder.serve(server, PeerCall.orders, async (bytes) => {
      let answers: readonly Promise<Answer>[] = [];
      together(() => {
        answers = take(bytes, intake, sequence, refuse);
      });
      return encodeAnswers(await Promise.all(answers));
    });
  }

  private send(request: OwnedRequest, intake: OrderIntake): void {
    this.outgoing.push(request);
    if (this.outgoing.length === 1) setImmediate(() => this.flush(intake));
  }

  private flush(intake: OrderIntake): void {
    const all = this.outgoing;
    this.outgoing = [];
    for (let first = 0; first < all.length; ) {
      let bytes = 0;
      let end = first;
      while (end < all.length && (end === first || bytes < CALL_BYTES_MAX)) {
        bytes += all[end]!.body.length;
        end += 1;
      }
      void this.call(all.slice(first, end), intake);
      first = end;
    }
  }

  private async call(requests: readonly OwnedRequest[], intake: OrderIntake): Promise<void> {
    const kinds = requests.map(({ kind }) =>
      kind === RequestKind.checked ? 'checked_orders' : 'unchecked_orders',
    );
    const outcome = await this.forwarder.send(PeerCall.orders, encodeCall(requests), kinds);
    if (outcome === 'here') {
      for (const request of requests) intake.submit(request);
    } else if (!Buffer.isBuffer(outcome)) {
      const { body, headers, status } = outcome;
      for (const { answered } of requests) answered(status, body, headers);
    } else {
      let at = 0;
      let newest = -1;
      let headers: Headers = [];
      for (const { answered } of requests) {
        const bodyAt = at + ANSWER_HEAD_BYTES;
        const bytes = outcome.readUInt32LE(at);
        const sequence = outcome.readDoubleLE(at + 8);
        // Answers of a batch share their headers: they are encoded once.
        if (sequence !== newest) headers = sequenceHeaders(sequence);
        newest = sequence;
        answered(outcome.readUInt32LE(at + 4), outcome.subarray(bodyAt, bodyAt + bytes), headers);
        at = bodyAt + padded(bytes);
      }
    }
  }
}

function encodeCall(requests: readonly OwnedRequest[]): Buffer {
  let length = 0;
  for (const { body } of requests) length += CALL_HEAD_BYTES + OWNER_BYTES + padded(body.length);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { body, kind, owner, takerDelay = 0 } of requests) {
    bytes.writeUInt32LE(body.length, at);
    bytes.writeUInt16LE(kind, at + 4);
    bytes.writeUInt16LE(takerDelay, at + 6);
    bytes.set(owner.apiKeyBytes, at + CALL_HEAD_BYTES);
    bytes.set(owner.address, at + CALL_HEAD_BYTES + KEY_BYTES);
    const bodyAt = at + CALL_HEAD_BYTES + OWNER_BYTES;
    bytes.set(body, bodyAt);
    at = bodyAt + padded(body.length);
  }
  return bytes;
}

const FORWARDED: ReadonlySet<number> = new Set([
  RequestKind.order,
  RequestKind.orders,
  RequestKind.replace,
  RequestKind.checked,
]);

/** The answers to the requests of a call, in their order. */
function take(
  bytes: Buffer,
  intake: OrderIntake,
  sequence: () => number,
  refuse: RefuseCaller,
): Promise<Answer>[] {
  const answers: Promise<Answer>[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    const kind = bytes.readUInt16LE(at + 4);
    const takerDelay = bytes.readUInt16LE(at + 6);
    const keyAt = at + CALL_HEAD_BYTES;
    const addressAt = keyAt + KEY_BYTES;
    const bodyAt = keyAt + OWNER_BYTES;
    const apiKeyBytes = bytes.subarray(keyAt, addressAt);
    const address = bytes.subarray(addressAt, bodyAt);
    const body = bytes.subarray(bodyAt, bodyAt + length);
    assert(FORWARDED.has(kind) && body.length === length, 'a request that places orders');
    at = bodyAt + padded(length);
    const refused = refuse(apiKeyBytes);
    if (refused !== undefined) {
      const { body: text, status } = refused;
      answers.push(Promise.resolve({ status, sequence: sequence(), body: Buffer.from(text) }));
      continue;
    }
    answers.push(
      new Promise((resolve) => {
        const answered: OwnedRequest['answered'] = (status, answer) =>
          resolve({
            status,
            sequence: sequence(),
            body: typeof answer === 'string' ? Buffer.from(answer) : answer,
          });
        const owner = { apiKeyBytes, address };
        const weight = weightOf(kind, body);
        const request = { kind, owner, body, answered, weight, takerDelay };
        intake.submit(kind === RequestKind.checked ? checkedRequest(request, body) : request);
      }),
    );
  }
  return answers;
}

function encodeAnswers(answers: readonly Answer[]): Buffer {
  let length = 0;
  for (const { body } of answers) length += ANSWER_HEAD_BYTES + padded(body.length);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { body, sequence, status } of answers) {
    bytes.writeUInt32LE(body.length, at);
    bytes.writeUInt32LE(status, at + 4);
    bytes.writeDoubleLE(sequence, at + 8);
    bytes.set(body, at + ANSWER_HEAD_BYTES);
    at += ANSWER_HEAD_BYTES + padded(body.length);
  }
  return bytes;
}

function padded(bytes: number): number {
  return (bytes + 3) & ~3;
}
