/** The ladder of any size finds the next occupied level as a sorted set of levels does. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ladderShape, nextAbove, nextBelow, occupy, vacate } from '../../engine/ladder.ts';
import { type Random, withSeed } from '../common/random.ts';

const SIZES = [2, 3, 31, 32, 33, 99, 1_023, 1_024, 1_025, 2 ** 20];
const BASE = 7;

/** Sorted levels: the obvious ladder. */
class SortedLevels {
  readonly levels: number[] = [];

  /** How many levels lie below `level`: where it is, or belongs. */
  rank(level: number): number {
    let low = 0;
    let high = this.levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.levels[middle]! < level) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(level: number): boolean {
    return this.levels[this.rank(level)] === level;
  }

  toggle(level: number): void {
    const at = this.rank(level);
    if (this.levels[at] === level) this.levels.splice(at, 1);
    else this.levels.splice(at, 0, level);
  }

  above(level: number): number {
    return this.levels[this.rank(level + 1)] ?? -1;
  }

  below(level: number): number {
    return this.levels[this.rank(level) - 1] ?? -1;
  }
}

/** Uniform, at the ends, or next to a border between words of some storey. */
function pickLevel(random: Random, levels: number): number {
  if (random.chance(50)) return random.below(levels);
  if (random.chance(20)) return random.pick([0, levels - 1]);
  const border = 32 ** random.between(1, 3) * random.below(40);
  return Math.min(Math.max(border + random.between(-1, 1), 0), levels - 1);
}

for (const levels of SIZES) {
  test(`a ladder of ${levels} levels agrees with a sorted set`, () => {
    withSeed((random) => {
      const shape = ladderShape(levels);
      const words = new Int32Array(BASE + 4 * shape.firstLevelRow + 9);
      const sorted = new SortedLevels();
      for (let i = 0; i < 6_000; i++) {
        // Now and then nearly empty, now and then crowded.
        const wantsMore = Math.floor(i / 1_500) % 2 === 0;
        const level = pickLevel(random, levels);
        if (sorted.has(level) !== wantsMore || random.chance(10)) {
          if (sorted.has(level)) vacate(shape, words, BASE, level);
          else occupy(shape, words, BASE, level);
          sorted.toggle(level);
        }
        const from = pickLevel(random, levels);
        assert.equal(nextAbove(shape, words, BASE, from), sorted.above(from), `above ${from}`);
        assert.equal(nextBelow(shape, words, BASE, from), sorted.below(from), `below ${from}`);
      }
      for (const level of [...sorted.levels]) vacate(shape, words, BASE, level);
      assert(
        words.every((word) => word === 0),
        'an empty ladder is all zeros, and so are its edges',
      );
    });
  });
}

test('a ladder finds its way across 2^20 levels with nothing in between', () => {
  const shape = ladderShape(2 ** 20);
  const words = new Int32Array(4 * shape.firstLevelRow);
  assert.equal(shape.storeys.length, 4, 'four storeys of 32 cover them');
  occupy(shape, words, 0, 0);
  occupy(shape, words, 0, 2 ** 20 - 1);
  assert.equal(nextAbove(shape, words, 0, 0), 2 ** 20 - 1);
  assert.equal(nextBelow(shape, words, 0, 2 ** 20 - 1), 0);
  assert.equal(nextAbove(shape, words, 0, 2 ** 20 - 1), -1);
  assert.equal(nextBelow(shape, words, 0, 0), -1);
});

test('a ladder occupied twice at one level is left by vacating it once', () => {
  const shape = ladderShape(100);
  const words = new Int32Array(4 * shape.firstLevelRow);
  occupy(shape, words, 0, 63);
  occupy(shape, words, 0, 63);
  vacate(shape, words, 0, 63);
  assert.equal(nextAbove(shape, words, 0, 0), -1);
});

test('a full ladder is walked level by level, both ways', () => {
  const shape = ladderShape(99);
  const words = new Int32Array(4 * shape.firstLevelRow);
  for (let level = 0; level < 99; level++) occupy(shape, words, 0, level);
  for (let level = 0; level < 99; level++) {
    assert.equal(nextAbove(shape, words, 0, level), level === 98 ? -1 : level + 1);
    assert.equal(nextBelow(shape, words, 0, level), level - 1);
  }
});

test('the rows of a ladder hold its bitmap and its levels', () => {
  for (const levels of SIZES) {
    const shape = ladderShape(levels);
    let words = 0;
    for (let width = levels; words === 0 || width > 1; ) {
      width = Math.ceil(width / 32);
      words += width;
    }
    assert(shape.firstLevelRow * 4 >= words, 'the bitmap fits before the first level');
    assert.equal(shape.rows, shape.firstLevelRow + levels);
  }
});

test('a ladder has 2 to 2^20 levels', () => {
  for (const levels of [-1, 0, 1, 2.5, 2 ** 20 + 1, Number.NaN]) {
    assert.throws(() => ladderShape(levels), String(levels));
  }
});
