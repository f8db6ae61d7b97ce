/**
 * Counts whole numbers by their size, in an array and without allocation, so that the hot path can
 * use it. Each power of two is split in two, so a quantile has an error of at most a third.
 *
 * Thread: the one that owns it.
 */

/** The last bucket counts everything above 2^25 times 1.5: half a minute in microseconds. */
const BUCKETS = 52;
const LARGEST = 2 ** 30;

export class Histogram {
  /** Values below the bound of a bucket and not below the bound before. */
  readonly counts = new Float64Array(BUCKETS);
  sum = 0;

  /** @param value not negative; its fraction only counts in the sum */
  add(value: number): void {
    this.counts[bucketOf(value)]! += 1;
    this.sum += value;
  }

  addMs(ms: number): void {
    this.add(ms * US);
  }
}

const US = 1_000;

/** Upper bound of each bucket but the last. */
export const BUCKET_BOUNDS: readonly number[] = Array.from({ length: BUCKETS - 1 }, (_, bucket) => {
  if (bucket < 2) return bucket + 1;
  const power = 2 ** (bucket >> 1);
  return (bucket & 1) === 0 ? 1.5 * power : 2 * power;
});

function bucketOf(value: number): number {
  const whole = value < LARGEST ? value | 0 : LARGEST;
  if (whole < 2) return whole;
  const exponent = 31 - Math.clz32(whole);
  return Math.min(BUCKETS - 1, 2 * exponent + ((whole >>> (exponent - 1)) & 1));
}
