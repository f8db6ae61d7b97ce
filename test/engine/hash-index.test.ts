import assert from 'node:assert/strict';
import test from 'node:test';
import {
  home,
  indexFind,
  indexInsert,
  indexRemove,
  sameWords,
  tagOf,
} from '../../engine/tables/hash-index.ts';
import { type Random, withSeed } from '../common/random.ts';

const WORDS = 2;
const SHIFT = 2;
const COLUMN = 1;

/** Rows of four words, keys of two words from column 1 on, like the tables of the engine. */
class Keyed {
  readonly index: Int32Array;
  readonly rows: Int32Array;
  readonly #tag: (key: Int32Array, offset: number) => number;

  constructor(entries: number, tag = (key: Int32Array, at: number) => tagOf(key, at, WORDS)) {
    this.index = new Int32Array(2 * entries);
    this.rows = new Int32Array((entries + 1) << SHIFT);
    this.#tag = tag;
  }

  insert(key: Int32Array, slot: number): void {
    this.rows.set(key, (slot << SHIFT) + COLUMN);
    indexInsert(this.index, this.#tag(key, 0), slot);
  }

  find(key: Int32Array): number {
    const tag = this.#tag(key, 0);
    return indexFind(this.index, this.rows, SHIFT, COLUMN, key, 0, WORDS, tag);
  }

  remove(key: Int32Array, slot: number): boolean {
    return indexRemove(this.index, this.#tag(key, 0), slot);
  }
}

function keyOf(n: number): Int32Array {
  return Int32Array.of(n, ~n);
}

/** Inserts and removes at random up to the bound of an index, and looks up every key. */
function runAgainstMap(random: Random, keyed: Keyed, rows: number): void {
  const held = new Map<number, number>();
  const freeSlots = Array.from({ length: rows }, (_, i) => i + 1);
  for (let i = 0; i < 4_000; i++) {
    const n = random.below(3 * rows);
    const slot = held.get(n);
    if (slot !== undefined) {
      assert(keyed.remove(keyOf(n), slot), 'what is there can be removed');
      assert(!keyed.remove(keyOf(n), slot), 'and only once');
      held.delete(n);
      freeSlots.push(slot);
    } else if (freeSlots.length > 0) {
      const free = freeSlots.splice(random.below(freeSlots.length), 1)[0]!;
      keyed.insert(keyOf(n), free);
      held.set(n, free);
    }
    const asked = random.below(3 * rows);
    assert.equal(keyed.find(keyOf(asked)), held.get(asked) ?? 0, `key ${asked}`);
    if (i % 200 === 0) {
      for (let key = 0; key < 3 * rows; key++) {
        assert.equal(keyed.find(keyOf(key)), held.get(key) ?? 0, `key ${key}`);
      }
    }
  }
  for (const [n, slot] of held) assert(keyed.remove(keyOf(n), slot));
  assert(
    keyed.index.every((word) => word === 0),
    'an emptied index keeps no traces',
  );
}

test('an index half full finds exactly what a Map holds', () => {
  withSeed((random) => {
    for (const entries of [2, 8, 64]) runAgainstMap(random, new Keyed(entries), entries / 2);
  });
});

test('keys that share a tag, and tags that share a home at the end of the index, stay apart', () => {
  withSeed((random) => {
    runAgainstMap(random, new Keyed(32, () => 12_345), 16);
    // Homes in the last entries only: probing wraps around.
    const index = new Int32Array(64);
    const late: number[] = [];
    for (let tag = 1; late.length < 4; tag++) if (home(index, tag) >= 30) late.push(tag);
    runAgainstMap(random, new Keyed(32, (key, at) => late[(key[at] ?? 0) % 4] ?? 0), 16);
  });
});

test('every word of a key counts, and so does its position', () => {
  const tags = new Set<number>();
  for (let word = 0; word < 8; word++) {
    for (const value of [1, 2, -1, 0x40000000, -0x80000000]) {
      const key = new Int32Array(8);
      key[word] = value;
      tags.add(tagOf(key, 0, 8));
    }
  }
  assert.equal(tags.size, 40, 'forty keys, forty tags');
  assert.equal(tagOf(Int32Array.of(9, 1, 2), 1, 2), tagOf(Int32Array.of(1, 2), 0, 2));
});

test('the homes of hashes spread over the index', () => {
  withSeed((random) => {
    const index = new Int32Array(2 * 1_024);
    const counts = new Int32Array(1_024);
    for (let i = 0; i < 8_192; i++) {
      const key = Int32Array.from({ length: 8 }, () => random.next() | 0);
      const at = home(index, tagOf(key, 0, 8));
      assert(at >= 0 && at < 1_024);
      counts[at]! += 1;
    }
    assert(Math.max(...counts) < 40, 'eight on average, never a crowd');
  });
});

test('two keys are the same when all their words are', () => {
  const a = Int32Array.of(0, 1, 2, 3);
  assert(sameWords(a, 1, Int32Array.of(1, 2, 3), 0, 3));
  assert(!sameWords(a, 1, Int32Array.of(1, 2, 4), 0, 3));
  assert(sameWords(a, 1, Int32Array.of(1, 2, 4), 0, 2));
});
