/**
 * Submits cancels. A cancel by id takes one writer turn; a cancel of everything continues, part after part,
 * until no order is left, and its parts are joined to one answer.
 *
 * Thread: I/O. Not here: the messages of a part (cancel-all.ts), the cancel itself (worker/batch-apply.ts).
 */

import { CANCEL_ORDERS_MAX } from '../../../engine/tables/capacities.ts';
import { CANCEL_IDS_MAX } from '../../common/cancel-ids.ts';
import { concatSlowly } from '../../common/concat-slowly.ts';
import type { Answered, RequestOwner } from '../exchange-memory/slot-requests.ts';
import { ORDER_BYTES_MIN, RequestKind } from '../exchange-memory/slots.ts';
import type { OrderIntake } from '../intake/order-intake.ts';
import type { Sequencer } from '../intake/sequencer.ts';
import {
  CANCEL_ALL_HEAD_BYTES,
  CANCEL_ALL_START,
  encodeCancelAll,
  readCancelAllHead,
} from './cancel-all.ts';

/** An id in a body: 0x, 64 digits, quotes and comma, not counting the comma. */
const ID_BYTES = 68;
/** Shortest text that is no id: with its reason, its answer is the longest for its size. */
const STRANGER_BYTES = 4;
const STRANGER_ANSWER_BYTES = 64;

const CANCELED = Buffer.from('{"canceled":[');
const FILLED = Buffer.from('],"not_canceled":{},"filled":{');
const END = Buffer.from('}}');
const COMMA = Buffer.from(',');
const NO_BODY = new Uint8Array(0);
const NO_KEY = new Uint8Array(16);

type CancelKind = typeof RequestKind.cancelOrder | typeof RequestKind.cancelOrders;
type CancelAllKind = typeof RequestKind.cancelAll | typeof RequestKind.cancelMarket;

export function submitCancels(
  intake: Pick<OrderIntake, 'submit'>,
  kind: CancelKind,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
): void {
  const ids = Math.ceil(body.length / ID_BYTES);
  const malformedIds = Math.min(CANCEL_IDS_MAX, Math.ceil(body.length / STRANGER_BYTES));
  const weight = ids * ORDER_BYTES_MIN + malformedIds * STRANGER_ANSWER_BYTES;
  intake.submit({ kind, owner, body, weight, answered });
}

/** Submits DELETE /cancel-all, whose body is ignored, or /cancel-market-orders. */
export function submitCancelAll(
  sequencer: Pick<Sequencer, 'submit' | 'resume'>,
  kind: CancelAllKind,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
): void {
  const canceled: Uint8Array[] = [];
  const filled: Uint8Array[] = [];
  const takePart: Answered = (status, part) => {
    if (status !== 200 || typeof part === 'string') {
      answered(status, part);
      return;
    }
    const next = readCancelAllHead(part);
    const middle = CANCEL_ALL_HEAD_BYTES + next.canceledBytes;
    if (next.canceledBytes > 0) {
      canceled.push(part.subarray(CANCEL_ALL_HEAD_BYTES, middle));
      filled.push(part.subarray(middle));
    }
    if (next.from !== 0) sequencer.resume(request(encodeCancelAll(next, body)));
    else join(canceled, filled, (body) => answered(200, body));
  };
  const request = (bytes: Uint8Array) => ({
    kind,
    owner,
    body: bytes,
    // The body may be longer than the answer.
    weight: Math.max(bytes.length, CANCEL_ORDERS_MAX * ORDER_BYTES_MIN),
    answered: takePart,
  });
  sequencer.submit(request(encodeCancelAll(CANCEL_ALL_START, body)));
}

/** Cancels all open orders of an address (20 bytes); resolves with false when some may still be open. */
export function cancelAllOf(sequencer: Sequencer, address: Uint8Array): Promise<boolean> {
  const owner = { address, apiKeyBytes: NO_KEY };
  return new Promise((resolve) => {
    submitCancelAll(sequencer, RequestKind.cancelAll, owner, NO_BODY, (status) =>
      resolve(status === 200),
    );
  });
}

function join(
  canceled: readonly Uint8Array[],
  filled: readonly Uint8Array[],
  joined: (body: Buffer) => void,
): void {
  const listed = (parts: readonly Uint8Array[]): Uint8Array[] =>
    parts.flatMap((part, i) => (i === 0 ? [part] : [COMMA, part]));
  const pieces = [CANCELED, ...listed(canceled), FILLED, ...listed(filled), END];
  const whole = concatSlowly(pieces);
  if (whole instanceof Promise) void whole.then(joined);
  else joined(whole);
}
