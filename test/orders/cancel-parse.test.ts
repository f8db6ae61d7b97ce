import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  parseCancelMarket,
  parseCancelOrder,
  parseCancelOrders,
} from '../../server/orders/worker/cancel-parse.ts';
import { freshSeed, rounds } from '../common/random.ts';

const ID = `0x${'0f'.repeat(32)}`;

const parseIds = (body: Uint8Array) => parseCancelOrders(body, 1_000);

/** A body in a slot: in memory that threads share. */
function bodyOf(value: unknown): Uint8Array {
  const text = Buffer.from(JSON.stringify(value));
  const shared = new Uint8Array(new SharedArrayBuffer(text.length + 8), 8, text.length);
  shared.set(text);
  return shared;
}

test('ids are told apart from other texts, each once, in the order of the body', () => {
  const other = `0x${'ee'.repeat(32)}`;
  const texts = [other, 'b', ID, 'a', ID.toUpperCase().replace('X', 'x'), 'b', `${ID}0`, ''];
  const parsed = parseCancelOrders(bodyOf(texts), 1_000);
  assert(parsed.ok);
  const hex = parsed.ids.map((id) => `0x${Buffer.from(id).toString('hex')}`);
  assert.deepEqual(hex, [other, ID]);
  assert.deepEqual(parsed.malformedIds, ['b', 'a', `${ID}0`, '']);
});

test('any body gives ids or a scope, or an error with its reason', () => {
  const names = fc.constantFrom('orderID', 'orderId', 'market', 'asset_id', 'assetId', 'x');
  const values = fc.oneof(fc.constantFrom('', ID, '5', '05', null), fc.jsonValue());
  const bodies = fc.oneof(fc.dictionary(names, values), fc.array(values), fc.jsonValue());
  const property = fc.property(bodies, (body) => {
    for (const parse of [parseCancelOrder, parseIds, parseCancelMarket]) {
      const parsed = parse(bodyOf(body));
      if (parsed.ok) continue;
      assert.equal(parsed.code, 'INVALID_ORDER_PAYLOAD');
      assert.match(parsed.detail ?? '', /^(body|orderI[Dd]|market|asset_?[iI]d|\[\d+\]) /);
    }
  });
  fc.assert(property, { seed: freshSeed(), numRuns: rounds(300) });
});

test('each route names bytes that are not JSON', () => {
  for (const parse of [parseCancelOrder, parseIds, parseCancelMarket]) {
    for (const bytes of [Buffer.alloc(0), Buffer.from('{'), Buffer.of(0x22, 0xff, 0x22)]) {
      const parsed = parse(bytes);
      assert(!parsed.ok && parsed.detail === 'body must be JSON');
    }
  }
});
