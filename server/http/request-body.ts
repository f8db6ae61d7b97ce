/**
 * The bytes of a request's body, collected as they arrive, up to a bound.
 *
 * Thread: I/O. Not here: what is told to a caller whose body is too large (uws-request-context.ts).
 */

/** First allocation for a body of unknown length, doubled as it grows. */
const BYTES_FIRST = 16 * 1024;

const NO_BYTES = Buffer.alloc(0);

export class RequestBody {
  private readonly bytesMax: number;
  private readonly declared: number;
  private bytes: Buffer = NO_BYTES;
  private received = 0;

  /** @param declared bytes of the whole body, 0 when the caller did not say */
  constructor(bytesMax: number, declared: number) {
    this.bytesMax = bytesMax;
    this.declared = declared;
  }

  /** Copies a chunk, which is emptied when its callback returns; false = the body is too large. */
  add(chunk: ArrayBuffer, isLast: boolean): boolean {
    const start = this.received;
    const end = start + chunk.byteLength;
    if (end > this.bytesMax) {
      this.bytes = NO_BYTES;
      return false;
    }
    if (end > this.bytes.length) {
      const guess = Math.max(this.declared, BYTES_FIRST, 2 * this.bytes.length, end);
      const grown = Buffer.allocUnsafe(isLast ? end : Math.min(guess, this.bytesMax));
      grown.set(this.bytes.subarray(0, start));
      this.bytes = grown;
    }
    this.bytes.set(new Uint8Array(chunk), start);
    this.received = end;
    return true;
  }

  /** All that has arrived. */
  whole(): Buffer {
    return this.received < this.bytes.length ? this.bytes.subarray(0, this.received) : this.bytes;
  }
}
