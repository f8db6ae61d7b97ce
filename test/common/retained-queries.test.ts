/** Checked queries that a route retains: they are shared, and nothing of a refusal or an ignored name is. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { PARAMETERS } from '../../server/catalog/parameters.ts';
import { TRADES_QUERY } from '../../server/market-data/trades-schemas.ts';

test('a repeated query is one object, which nobody can change', () => {
  const query = TRADES_QUERY.parse('limit=7&offset=3');
  assert(typeof query === 'object');
  assert.equal(TRADES_QUERY.parse('limit=7&offset=3'), query);
  assert.throws(() => Object.assign(query, { limit: 8 }), TypeError);
  assert.notEqual(TRADES_QUERY.parse('limit=8&offset=3'), query);
});

test('refusals and ignored names are the same at every request', () => {
  for (let times = 0; times < 3; times++) {
    assert.match(String(TRADES_QUERY.parse('limit=x')), /INVALID_FIELD/);
    assert.match(String(TRADES_QUERY.parse('limit=7&nothing=1')), /UNKNOWN_FIELD/);
    const ignored: string[] = [];
    const query = TRADES_QUERY.parse('limit=7&nothing=1', [], ignored);
    assert.deepEqual([typeof query, ignored], ['object', ['nothing']]);
    const names: string[] = [];
    PARAMETERS.markets.parse('limit=7&other=1', [], names);
    assert.deepEqual(names, ['other']);
  }
});
