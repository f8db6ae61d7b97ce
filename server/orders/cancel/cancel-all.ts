/**
 * Messages of a cancel of everything (DELETE /cancel-all, /cancel-market-orders). It passes the engine in
 * parts, so that no writer turn is long and no answer too large for its slot. Format of a part:
 *
 *   request  from i32, - | newest f64 | the body as sent
 *   answer   next i32, canceled bytes i32 | newest f64 | canceled | filled
 *
 * `from` and `next` are positions in the owner's list of open orders, 0 = its beginning and its end. `newest`
 * is the time of the first part: later orders stay open. `canceled` and `filled` are the members of the
 * answer's array and object of that name, as JSON without their brackets.
 */

export const CANCEL_ALL_HEAD_BYTES = 16;

const FROM = 0;
const CANCELED_BYTES = 4;
const NEWEST = 8;

export interface CancelAllCursor {
  readonly from: number;
  /** Unix milliseconds; 0 = the first part. */
  readonly newest: number;
}

export const CANCEL_ALL_START: CancelAllCursor = { from: 0, newest: 0 };

export function encodeCancelAll(place: CancelAllCursor, body: Uint8Array): Buffer {
  const bytes = Buffer.alloc(CANCEL_ALL_HEAD_BYTES + body.length);
  writeCancelAllHead(bytes, place, 0);
  bytes.set(body, CANCEL_ALL_HEAD_BYTES);
  return bytes;
}

export function writeCancelAllHead(
  out: Buffer,
  place: CancelAllCursor,
  canceledBytes: number,
): void {
  out.writeInt32LE(place.from, FROM);
  out.writeInt32LE(canceledBytes, CANCELED_BYTES);
  out.writeDoubleLE(place.newest, NEWEST);
}

export function readCancelAllHead(
  bytes: Uint8Array,
): CancelAllCursor & { readonly canceledBytes: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, CANCEL_ALL_HEAD_BYTES);
  return {
    from: view.getInt32(FROM, true),
    canceledBytes: view.getInt32(CANCELED_BYTES, true),
    newest: view.getFloat64(NEWEST, true),
  };
}
