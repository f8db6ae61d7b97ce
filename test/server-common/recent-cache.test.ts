/** A cache of recent results: the weight that it holds, and which results it removes. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { RecentCache } from '../../server/common/recent-cache.ts';
import { type Random, withSeed } from '../common/random.ts';

test('a cache without weights removes the least recently used result for a new one', () => {
  const cache = new RecentCache<number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  assert.equal(cache.get('a'), 1);
  cache.set('c', 3);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    [1, undefined, 3],
  );
  cache.clear();
  assert.equal(cache.get('a'), undefined);
});

test('a cache leaves out a result that weighs too much alone, and keeps the others', () => {
  const cache = new RecentCache<string>(10, (key, value) => key.length + value.length);
  cache.set('a', 'one');
  cache.set('b', 'far too long');
  assert.deepEqual([cache.get('a'), cache.get('b')], ['one', undefined]);
});

test('a cache holds what a plain list of recent results holds, whatever is set and read', () =>
  withSeed((random: Random) => {
    const cache = new RecentCache<number>(20, (_, value) => value);
    let recent: [string, number][] = [];
    for (let step = 0; step < 2_000; step++) {
      const key = random.pick(['a', 'b', 'c', 'd', 'e', 'f']);
      const known = recent.find(([name]) => name === key);
      const others = recent.filter(([name]) => name !== key);
      if (random.chance(50)) {
        assert.equal(cache.get(key), known?.[1]);
        if (known !== undefined) recent = [...others, known];
        continue;
      }
      const value = 1 + random.below(24);
      cache.set(key, value);
      recent = value > 20 ? others : [...others, [key, value]];
      while (recent.reduce((sum, [, weight]) => sum + weight, 0) > 20) recent.shift();
    }
  }));
