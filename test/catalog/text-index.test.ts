import assert from 'node:assert/strict';
import test from 'node:test';
import { buildTextIndex, rowsNamed } from '../../server/catalog/text-index.ts';
import { type Random, withSeed } from '../common/random.ts';

type Pair = readonly [text: string, row: number];

function rowsOf(index: ReturnType<typeof buildTextIndex>, text: string): number[] {
  return [...rowsNamed(index, text)];
}

function naiveRows(pairs: readonly Pair[]): Map<string, number[]> {
  const found = new Map<string, Set<number>>();
  for (const [text, row] of pairs) found.set(text, (found.get(text) ?? new Set()).add(row));
  return new Map([...found].map(([text, rows]) => [text, [...rows].sort((a, b) => a - b)]));
}

/** Few letters, so that texts repeat and share prefixes; among them halves of surrogate pairs. */
const UNITS = ['a', 'b', 'A', '\u0000', 'é', '伊', '\ud83d', '\ude00', '\uffff', '0'];

function randomText(random: Random, lengthMax: number): string {
  return Array.from({ length: random.below(lengthMax + 1) }, () => random.pick(UNITS)).join('');
}

test('an index answers as a map of sets would, for texts in it and not in it', () => {
  withSeed((random) => {
    for (let round = 0; round < 60; round++) {
      const lengthMax = random.pick([1, 3, 40]);
      const pairs = Array.from({ length: random.below(500) }, (): Pair => {
        return [randomText(random, lengthMax), random.below(40)];
      });
      const index = buildTextIndex(pairs);
      const naive = naiveRows(pairs);
      for (const text of naive.keys()) assert.deepEqual(rowsOf(index, text), naive.get(text));
      for (let miss = 0; miss < 200; miss++) {
        const text = randomText(random, lengthMax + 1);
        assert.deepEqual(rowsOf(index, text), naive.get(text) ?? [], JSON.stringify(text));
      }
    }
  });
});

test('thousands of texts that differ in one unit are different keys', () => {
  const pairs = Array.from({ length: 40_000 }, (_, row): Pair => {
    return [`same${String.fromCharCode(20_000 + row)}same`, row];
  });
  const index = buildTextIndex(pairs);
  for (const [text, row] of pairs) assert.deepEqual(rowsOf(index, text), [row]);
  assert.deepEqual(rowsOf(index, 'samesame'), []);
  assert(index.slots.length >= 2 * pairs.length, 'half of the slots are free: a miss ends soon');
});

test('an index of nothing finds nothing; the empty text is a text', () => {
  assert.deepEqual(rowsOf(buildTextIndex([]), ''), []);
  assert.deepEqual(rowsOf(buildTextIndex([]), 'x'), []);
  const index = buildTextIndex([
    ['', 3],
    ['', 1],
  ]);
  assert.deepEqual(rowsOf(index, ''), [1, 3]);
  assert.deepEqual(rowsOf(index, '\u0000'), []);
});

test('upper and lower case, composed and decomposed, are different texts', () => {
  const index = buildTextIndex([
    ['EPL', 1],
    ['é', 2],
  ]);
  assert.deepEqual(rowsOf(index, 'epl'), []);
  assert.deepEqual(rowsOf(index, 'e\u0301'), []);
  assert.deepEqual(rowsOf(index, 'é'), [2]);
});

test('the rows of a key are a view of the index, not a copy', () => {
  const index = buildTextIndex([
    ['b', 7],
    ['a', 5],
    ['b', 6],
    ['b', 7],
  ]);
  const rows = rowsNamed(index, 'b');
  assert.deepEqual([...rows], [6, 7]);
  assert.equal(rows.buffer, index.rows.values.buffer);
});
