/**
 * Bytes of unfinished bodies, of all callers and of each. A body may take ten seconds, and every connection
 * may have one.
 *
 * Thread: I/O.
 */
import type { Caller } from './callers.ts';
import { callerKey } from './callers.ts';

export interface BodyBytesMax {
  readonly all: number;
  readonly perCaller: number;
}

/** A caller may hold 64 of the longest bodies. */
export const BODY_BYTES_MAX: BodyBytesMax = {
  all: 256 * 1024 * 1024,
  perCaller: 64 * 1024 * 1024,
};

/** Status of a refused body: 429 = its caller holds too many bytes, 503 = all callers together do. */
export type BodyRefusal = 429 | 503;

export class BodyBytes {
  private readonly max: BodyBytesMax;
  private readonly callers = new Map<string, number>();
  private bytes = 0;

  constructor(max: BodyBytesMax) {
    this.max = max;
  }

  get all(): number {
    return this.bytes;
  }

  of(caller: Caller): PendingBytes {
    return new PendingBytes(this, callerKey(caller));
  }

  take(key: string, bytes: number): BodyRefusal | undefined {
    const ofCaller = (this.callers.get(key) ?? 0) + bytes;
    if (ofCaller > this.max.perCaller) return 429;
    if (this.bytes + bytes > this.max.all) return 503;
    this.callers.set(key, ofCaller);
    this.bytes += bytes;
    return undefined;
  }

  giveBack(key: string, bytes: number): void {
    const left = (this.callers.get(key) ?? 0) - bytes;
    if (left > 0) this.callers.set(key, left);
    else this.callers.delete(key);
    this.bytes -= bytes;
  }
}

export class PendingBytes {
  private readonly bodies: BodyBytes;
  private readonly key: string;
  private bytes = 0;

  constructor(bodies: BodyBytes, key: string) {
    this.bodies = bodies;
    this.key = key;
  }

  /** Raises the bytes held to a total, or returns the refusal. */
  growTo(bytes: number): BodyRefusal | undefined {
    const refusal = this.bodies.take(this.key, bytes - this.bytes);
    if (refusal === undefined) this.bytes = bytes;
    return refusal;
  }

  release(): void {
    if (this.bytes > 0) this.bodies.giveBack(this.key, this.bytes);
    this.bytes = 0;
  }
}
