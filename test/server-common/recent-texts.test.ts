import assert from 'node:assert/strict';
import test from 'node:test';
import { RecentTexts } from '../../server/common/recent-texts.ts';

test('a text has its own value, or none once others took its place', () => {
  const texts = new RecentTexts<string>();
  const made = (i: number): string => `token_id=${String(i).padStart(120, '0')}&side=BUY`;
  let found = 0;
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 2_000; i++) {
      const value = texts.find(made(i));
      if (value === undefined) texts.add(made(i), made(i));
      else {
        assert.equal(value, made(i));
        found += 1;
      }
    }
  }
  texts.add('limit=20', 'twenty');
  assert.equal(texts.find('limit=20'), 'twenty');
  assert.equal(texts.find('limit=21'), undefined);
  assert.equal(texts.find(''), undefined);
  assert(found < 2_000, 'memory is bounded');
});

test('texts that differ where they are not sampled are told apart', () => {
  const texts = new RecentTexts<number>();
  const long = 'x'.repeat(160);
  for (let at = 0; at < long.length; at++) {
    texts.add(`${long.slice(0, at)}y${long.slice(at + 1)}`, at);
    for (let other = 0; other <= at; other++) {
      const value = texts.find(`${long.slice(0, other)}y${long.slice(other + 1)}`);
      assert(value === undefined || value === other);
    }
  }
});
