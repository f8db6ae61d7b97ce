import assert from 'node:assert/strict';
import test from 'node:test';
import { bitmapWords, highest, nextBelow, occupy, vacate } from '../../engine/book/bitmap.ts';
import { type Random, withSeed } from '../common/random.ts';

const SIZES = [2, 3, 31, 32, 33, 99, 1_023, 1_024, 1_025, 32_769, 2 ** 20];
const BASE = 7;

class SortedKeys {
  readonly keys: number[] = [];

  /** Number of keys below `key`: its index, or its insertion point. */
  rank(key: number): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(key: number): boolean {
    return this.keys[this.rank(key)] === key;
  }

  toggle(key: number): void {
    const at = this.rank(key);
    if (this.keys[at] === key) this.keys.splice(at, 1);
    else this.keys.splice(at, 0, key);
  }
}

/** A key drawn uniformly, at the ends, or next to a border between words of a level. */
function pickKey(random: Random, levels: number): number {
  if (random.chance(50)) return random.below(levels);
  if (random.chance(20)) return random.pick([0, levels - 1]);
  const border = 32 ** random.between(1, 3) * random.below(40);
  return Math.min(Math.max(border + random.between(-1, 1), 0), levels - 1);
}

for (const levels of SIZES) {
  test(`a bitmap of ${levels} levels agrees with a sorted set`, () => {
    withSeed((random) => {
      const words = new Int32Array(BASE + bitmapWords(levels) + 9).fill(-1);
      words.fill(0, BASE, BASE + bitmapWords(levels));
      const sorted = new SortedKeys();
      for (let i = 0; i < 5_000; i++) {
        // Now and then nearly empty, now and then crowded.
        const key = pickKey(random, levels);
        const wanted = random.chance(i % 1_000 < 500 ? 70 : 30);
        if (wanted !== sorted.has(key)) {
          if (wanted) occupy(words, BASE, levels, key);
          else vacate(words, BASE, levels, key);
          sorted.toggle(key);
        }
        const probe = pickKey(random, levels);
        const below = sorted.keys[sorted.rank(probe) - 1] ?? -1;
        assert.equal(nextBelow(words, BASE, levels, probe), below);
        assert.equal(highest(words, BASE, levels), sorted.keys.at(-1) ?? -1);
      }
      for (const key of sorted.keys) vacate(words, BASE, levels, key);
      const own = words.subarray(BASE, BASE + bitmapWords(levels));
      assert(
        own.every((word) => word === 0),
        'an empty bitmap has no bit in any storey',
      );
      assert(
        words.subarray(0, BASE).every((word) => word === -1),
        'nothing before it was touched',
      );
      assert(words.at(-9) === -1, 'nothing after it was touched');
    });
  });
}
