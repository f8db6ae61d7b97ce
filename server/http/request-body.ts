/**
 * Bytes of a request's body, collected as they arrive, up to a bound.
 *
 * Thread: I/O. Not here: the answer to a body that is too large (uws-request-context.ts).
 */
import type { BodyRefusal, PendingBytes } from './limits/body-bytes.ts';

/** First allocation for a body of unknown length, doubled as it grows. */
const BYTES_FIRST = 16 * 1024;

const NO_BYTES = Buffer.alloc(0);

export class RequestBody {
  private readonly bytesMax: number;
  private readonly declared: number;
  private readonly pending: PendingBytes;
  private bytes: Buffer = NO_BYTES;
  private received = 0;

  /** @param declared bytes of the whole body, 0 when unknown */
  constructor(bytesMax: number, declared: number, pending: PendingBytes) {
    this.bytesMax = bytesMax;
    this.declared = declared;
    this.pending = pending;
  }

  /** Copies a chunk, whose memory is detached when its callback returns; returns the status of a refusal. */
  add(chunk: ArrayBuffer, isLast: boolean): BodyRefusal | 413 | undefined {
    const start = this.received;
    const end = start + chunk.byteLength;
    if (end > this.bytesMax) {
      this.drop();
      return 413;
    }
    if (end > this.bytes.length) {
      const guess = Math.max(this.declared, BYTES_FIRST, 2 * this.bytes.length, end);
      const length = isLast ? end : Math.min(guess, this.bytesMax);
      const refusal = this.pending.growTo(length);
      if (refusal !== undefined) {
        this.drop();
        return refusal;
      }
      const grown = Buffer.allocUnsafe(length);
      grown.set(this.bytes.subarray(0, start));
      this.bytes = grown;
    }
    this.bytes.set(new Uint8Array(chunk), start);
    this.received = end;
    return undefined;
  }

  whole(): Buffer {
    this.pending.release();
    return this.received < this.bytes.length ? this.bytes.subarray(0, this.received) : this.bytes;
  }

  drop(): void {
    this.bytes = NO_BYTES;
    this.pending.release();
  }
}
