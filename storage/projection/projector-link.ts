/**
 * The words that the I/O thread and the projector share.
 *
 *   i32     bell (rung when there is something to do) | stop
 *   i64     durable: batches that may be read             written by the I/O thread
 *           sequence, finished: what is derived           written by the projector
 */
import type { DerivedPosition } from './derived.ts';

const Bell = { bell: 0, stop: 1 } as const;
const Word = { durable: 1, sequence: 2, finished: 3, count: 4 } as const;

export class ProjectorLink {
  readonly memory: SharedArrayBuffer;
  private readonly i32: Int32Array;
  private readonly i64: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(8 * Word.count)) {
    this.memory = memory;
    this.i32 = new Int32Array(memory, 0, 2);
    this.i64 = new BigInt64Array(memory);
  }

  /** Batches up to this batch sequence are durable in the log. */
  reach(sequence: number): void {
    Atomics.store(this.i64, Word.durable, BigInt(sequence));
    this.ring();
  }

  stop(): void {
    Atomics.store(this.i32, Bell.stop, 1);
    Atomics.notify(this.i32, Bell.stop);
    this.ring();
  }

  publish({ finished, sequence }: DerivedPosition): void {
    Atomics.store(this.i64, Word.finished, BigInt(finished));
    Atomics.store(this.i64, Word.sequence, BigInt(sequence));
  }

  durable(): number {
    return Number(Atomics.load(this.i64, Word.durable));
  }

  sequence(): number {
    return Number(Atomics.load(this.i64, Word.sequence));
  }

  /** Orders that closed before this one are on disk. */
  closedPersisted(): number {
    return Number(Atomics.load(this.i64, Word.finished));
  }

  isStopping(): boolean {
    return Atomics.load(this.i32, Bell.stop) !== 0;
  }

  /** Value for sleep(), to be read before looking for work. */
  bell(): number {
    return Atomics.load(this.i32, Bell.bell);
  }

  /** Sleeps until the bell rings, or returns if it has since `seen`; so long at most. */
  sleep(seen: number, milliseconds: number): void {
    Atomics.wait(this.i32, Bell.bell, seen, milliseconds);
  }

  /** Sleeps so long, unless it is signalled to end. */
  rest(milliseconds: number): void {
    Atomics.wait(this.i32, Bell.stop, 0, milliseconds);
  }

  ring(): void {
    Atomics.add(this.i32, Bell.bell, 1);
    Atomics.notify(this.i32, Bell.bell);
  }
}
