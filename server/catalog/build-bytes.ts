/**
 * Collects texts as UTF-8 in one run of bytes whose length is not known before the end.
 *
 * Runs on the catalog thread. Non-goals: JSON.
 */
import assert from 'node:assert/strict';
import type { Spans } from './prepared.ts';

const CHUNK_BYTES = 4 << 20;
/** Positions are 32-bit. */
const BYTES_MAX = 2 ** 32 - 1;
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

export class ByteCollector {
  readonly #full: Uint8Array[] = [];
  #chunk: Buffer;
  /** Bytes used of the chunk, and of all before it. */
  #used = 0;
  #before = 0;

  /** `bytesExpected` is an estimate: every allocation beyond it may start a garbage collection. */
  constructor(bytesExpected: number) {
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytesExpected));
  }

  /** The place of the next byte. */
  get place(): number {
    return this.#before + this.#used;
  }

  /** Appends a text without lone surrogates. Returns the position after it. */
  add(text: string): number {
    const room = text.length * BYTES_PER_UNIT_MAX;
    if (this.#used + room > this.#chunk.length) this.#nextChunk(room);
    this.#used += this.#chunk.write(text, this.#used);
    return this.place;
  }

  /** All bytes, in a buffer of their exact length; the collector is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    this.#nextChunk(0);
    assert(this.#before <= BYTES_MAX, 'places of fragments fit 32 bits');
    const all = new Uint8Array(this.#before);
    let at = 0;
    for (const part of this.#full) {
      all.set(part, at);
      at += part.length;
    }
    this.#full.length = 0;
    this.#before = 0;
    return all;
  }

  #nextChunk(room: number): void {
    this.#full.push(this.#chunk.subarray(0, this.#used));
    this.#before += this.#used;
    this.#used = 0;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, room));
  }
}

/** A fragment for each of some objects. */
export function spansOf<T>(
  bytes: ByteCollector,
  objects: readonly T[],
  textOf: (object: T, row: number) => string,
): Spans {
  const start = new Uint32Array(objects.length);
  const end = new Uint32Array(objects.length);
  for (const [row, object] of objects.entries()) {
    start[row] = bytes.place;
    end[row] = bytes.add(textOf(object, row));
  }
  return { start, end };
}
