/** How many orders a body holds, told from its bytes as a parser would tell it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { countOrders } from '../../server/orders/count-orders.ts';
import { freshSeed, rounds } from '../common/random.ts';

const count = (text: string): number => countOrders(Buffer.from(text));

test('brackets, quotes and backslashes in texts count for nothing', () => {
  const item = { order: { note: '}{][,"\\', 'x"{': ['\\"', '{', [{}]] }, owner: '\\' };
  for (const indent of [0, 2]) {
    for (const orders of [[], [item], [item, item, item]]) {
      assert.equal(count(JSON.stringify(orders, undefined, indent)), orders.length);
    }
  }
  assert.equal(count(' \n[ {"\\u007b\\\\":"\\\\"} ,\t{} ] '), 2);
});

test('any list of objects is counted as it is parsed', () => {
  const seed = freshSeed();
  const list = fc.array(fc.dictionary(fc.string(), fc.jsonValue()));
  const property = fc.property(list, fc.nat(3), (orders, indent) => {
    assert.equal(count(JSON.stringify(orders, undefined, indent)), orders.length);
  });
  fc.assert(property, { seed, numRuns: rounds(500) });
});

test('bytes that are no list of objects have an end, and some number', () => {
  for (const text of ['', '[', '"', '["\\', '{}', '{"a":{', ']]]{', '[1,2]', '\u0000', '[[[[{']) {
    assert(count(text) <= 1, text);
  }
});
