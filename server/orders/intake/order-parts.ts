/**
 * Splits a long POST /orders into parts, so that requests of other wallets run between them: signatures of
 * 500 orders keep a worker busy for 65 ms. The first part has the whole body, whose shape a worker checks
 * before any order is placed. The answers of all parts are joined to one.
 *
 * Thread: I/O.
 */

import { objectStarts } from '../../common/json-measure.ts';
import {
  type Answered,
  type OwnedRequest,
  orderRequest,
  type Request,
} from '../exchange-memory/slot-requests.ts';
import { RequestKind } from '../exchange-memory/slots.ts';
import type { Sequencer } from './sequencer.ts';

/** Orders of one part: some 8 ms of a worker. */
const PART_ORDERS = 64;
const PART_BYTES = 48 * 1024;

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const COMMA = Buffer.from(',');
const CLOSE_OBJECT = 0x7d;
const NOT_PLACED = { orderID: '', takingAmount: '', makingAmount: '', status: 'error' };

export function isLong({ body, kind }: Request): boolean {
  return kind === RequestKind.orders && body.length > PART_BYTES;
}

/** Submits a long request; for a long body with few orders the first part is all of it. */
export function submitInParts(
  sequencer: Pick<Sequencer, 'submit' | 'resume'>,
  { answered, body, owner, settlement, takerDelay }: OwnedRequest,
  hasCodes: boolean,
): void {
  let parts: OrderParts | undefined;
  const results: Uint8Array[] = [];
  const takePart: Answered = (status, answer) => {
    if (status !== 200 || typeof answer === 'string') {
      if (parts === undefined) answered(status, answer);
      else answered(200, joined([...results, ...parts.refused(results.length, answer, hasCodes)]));
      return;
    }
    parts ??= new OrderParts(body);
    results.push(answer.subarray(1, -1));
    if (results.length === parts.count) answered(200, joined(results));
    else sequencer.resume(partOf(parts.bodyOf(results.length)));
  };
  const partOf = (bytes: Uint8Array): Request => ({
    ...orderRequest(RequestKind.orders, owner, bytes, takePart),
    isLaterPart: true,
    takerDelay,
    settlement,
  });
  sequencer.submit({
    ...orderRequest(RequestKind.orders, owner, body, takePart),
    ordersMax: PART_ORDERS,
    takerDelay,
    settlement,
  });
}

/** Start of each part of a body that is known to be a list of objects. */
class OrderParts {
  private readonly body: Uint8Array;
  private readonly starts: readonly number[];
  private readonly orders: number;

  constructor(body: Uint8Array) {
    this.body = body;
    const { count, starts } = objectStarts(body, PART_ORDERS);
    this.starts = starts;
    this.orders = count;
  }

  get count(): number {
    return this.starts.length;
  }

  bodyOf(part: number): Uint8Array {
    const { body, starts } = this;
    // An order is followed by blanks, and a comma or the end of the list.
    const end = body.lastIndexOf(CLOSE_OBJECT, (starts[part + 1] ?? body.length) - 1) + 1;
    return Buffer.concat([OPEN, body.subarray(starts[part], end), CLOSE]);
  }

  /** Results of the orders from `part` on, none of which was placed. */
  refused(part: number, answer: Uint8Array | string, hasCodes: boolean): Uint8Array[] {
    const { code, detail, error } = JSON.parse(answer.toString()) as Readonly<
      Record<'code' | 'detail' | 'error', string>
    >;
    const refusal = { success: false, errorMsg: error, ...NOT_PLACED };
    const result = Buffer.from(JSON.stringify(hasCodes ? { ...refusal, detail, code } : refusal));
    return Array.from({ length: this.orders - part * PART_ORDERS }, () => result);
  }
}

function joined(results: readonly Uint8Array[]): Uint8Array {
  const listed = results.flatMap((result, i) => (i === 0 ? [result] : [COMMA, result]));
  return Buffer.concat([OPEN, ...listed, CLOSE]);
}
