/**
 * Checksum of snapshots over whole 32-bit words, several times as fast as a CRC over hundreds of megabytes. It is the
 * sum of the words, and the sum of those sums, which also depends on their order. Thread: any; pure.
 */
import assert from 'node:assert/strict';

export class WordSum {
  private sum = 1;
  private sums = 0;

  add(bytes: Uint8Array): void {
    assert(bytes.byteOffset % 4 === 0 && bytes.length % 4 === 0, 'whole words');
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    let { sum, sums } = this;
    const fours = words.length & ~3;
    let i = 0;
    // Four words at a time, so that not every addition waits for the one before.
    for (; i < fours; i += 4) {
      const a = words[i]!;
      const b = words[i + 1]!;
      const c = words[i + 2]!;
      const d = words[i + 3]!;
      sums = (((sums + (sum << 2)) | 0) + ((((a << 2) + 3 * b) | 0) + (((c << 1) + d) | 0))) | 0;
      sum = (((sum + a) | 0) + ((((b + c) | 0) + d) | 0)) | 0;
    }
    for (; i < words.length; i++) {
      sum = (sum + words[i]!) | 0;
      sums = (sums + sum) | 0;
    }
    this.sum = sum;
    this.sums = sums;
  }

  text(): string {
    return `${(this.sum >>> 0).toString(16)}-${(this.sums >>> 0).toString(16)}`;
  }
}
