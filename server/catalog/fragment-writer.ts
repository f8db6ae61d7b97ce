/**
 * Joins an answer from fragments in one growing buffer that all answers share: the bytes of an
 * answer are valid until the next one is begun. Adjacent fragments are copied as one run.
 *
 * A long answer is made in steps, with event-loop iterations between them, and copied to a buffer of
 * its own. Each step shows the statistics of its moment.
 *
 * Thread: the I/O thread. Non-goals: what the fragments mean, and JSON.
 */

import { concatSlowly } from '../common/concat-slowly.ts';
import { nextIteration } from '../common/event-loop.ts';

const BYTES_FIRST = 1 << 20;

/** Bytes of one step: less than a millisecond, even when the memory is not cached. */
export const BYTES_PER_STEP = 2 ** 18;

/** Writing of an answer; yields where a piece may end. */
export type Steps = Generator<void, void>;

export class FragmentWriter {
  private out = Buffer.allocUnsafeSlow(BYTES_FIRST);
  private at = 0;
  private source: Uint8Array = this.out;
  private runStart = 0;
  private runEnd = 0;

  begin(source: Uint8Array): this {
    this.at = 0;
    this.source = source;
    this.runStart = 0;
    this.runEnd = 0;
    return this;
  }

  fragment(start: number, end: number): this {
    if (start === this.runEnd) {
      this.runEnd = end;
      return this;
    }
    this.flush();
    this.runStart = start;
    this.runEnd = end;
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.flush();
    this.reserve(bytes.length);
    this.out.set(bytes, this.at);
    this.at += bytes.length;
    return this;
  }

  ascii(text: string): this {
    this.flush();
    this.reserve(text.length);
    this.at += this.out.write(text, this.at, 'latin1');
    return this;
  }

  get length(): number {
    return this.at + this.runEnd - this.runStart;
  }

  dropLast(): this {
    this.flush();
    this.at -= 1;
    return this;
  }

  /** Returns the answer; valid until the next begin(). */
  done(): Buffer {
    this.flush();
    return this.out.subarray(0, this.at);
  }

  /**
   * Makes an answer that was begun. Within this call, its bytes are valid until the next begin(). Made
   * step by step they stay valid, and are `undefined` when the client has disconnected.
   */
  run(steps: Steps, isGone: () => boolean): Buffer | Promise<Buffer | undefined> {
    return steps.next().done === true ? this.done() : this.runLater(steps, isGone);
  }

  private async runLater(steps: Steps, isGone: () => boolean): Promise<Buffer | undefined> {
    const { source } = this;
    const pieces: Buffer[] = [];
    let isOver = false;
    while (!isOver) {
      // Other answers use the writer before this one continues.
      pieces.push(Buffer.from(this.done()));
      await nextIteration();
      if (isGone()) return undefined;
      this.begin(source);
      isOver = steps.next().done === true;
    }
    pieces.push(Buffer.from(this.done()));
    return concatSlowly(pieces);
  }

  private flush(): void {
    const length = this.runEnd - this.runStart;
    if (length > 0) {
      this.reserve(length);
      this.out.set(this.source.subarray(this.runStart, this.runEnd), this.at);
      this.at += length;
    }
    this.runStart = 0;
    this.runEnd = 0;
  }

  private reserve(length: number): void {
    const needed = this.at + length;
    if (needed <= this.out.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.out.length));
    grown.set(this.out.subarray(0, this.at));
    this.out = grown;
  }
}
