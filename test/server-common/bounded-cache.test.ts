import assert from 'node:assert/strict';
import test from 'node:test';
import { BoundedCache } from '../../server/common/bounded-cache.ts';

test('a key with a value is not looked up again, one without is', () => {
  const registered = new Map([['12', 3]]);
  const looked: string[] = [];
  const tokens = new BoundedCache(4_096, (text: string) => {
    looked.push(text);
    return registered.get(text);
  });
  assert.deepEqual(
    ['12', '12', '13', '13'].map((text) => tokens.get(text)),
    [3, 3, undefined, undefined],
  );
  registered.set('13', 4);
  assert.deepEqual([tokens.get('13'), tokens.get('13')], [4, 4]);
  assert.deepEqual(looked, ['12', '13', '13', '13']);
  // A client may make up as many keys as it likes.
  const all = new BoundedCache(4_096, (text: string) => Number(text));
  for (let i = 1; i <= 5_000; i++) assert.equal(all.get(String(i)), i);
  assert.equal(all.get('1'), 1);
});
