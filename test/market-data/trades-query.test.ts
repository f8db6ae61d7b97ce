import assert from 'node:assert/strict';
import test from 'node:test';
import { TRADES_QUERY, type TradesQuery } from '../../server/market-data/trades-schemas.ts';
import { plainRefusal } from '../common/refused.ts';

function parsed(text: string): TradesQuery {
  const query = TRADES_QUERY.parse(text);
  assert(typeof query !== 'string', text);
  return query;
}

test('a query has the defaults of the protocol', () => {
  assert.deepEqual(parsed(''), {
    limit: 100,
    offset: 0,
    takerOnly: true,
    filterType: '',
    filterAmount: -1,
    market: null,
    user: '',
    side: '',
  });
  assert.deepEqual(parsed('&&'), parsed(''));
});

test('unknown fields may be ignored, and are then named', () => {
  const ignored: string[] = [];
  const query = TRADES_QUERY.parse('start=1&limit=5&a%20b=2', [], ignored);
  assert.equal(typeof query === 'string' ? query : query.limit, 5);
  assert.deepEqual(ignored, ['start', 'a b']);
});

function refusal(text: string) {
  const body = TRADES_QUERY.parse(text);
  assert(typeof body === 'string', text);
  return plainRefusal(JSON.parse(body));
}

test('an unknown field is named before any bad value, the first one first', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['creator=x', 'creator'],
    ['limit=-1&foo=1&bar=2', 'foo'],
    ['foo', 'foo'],
    ['Limit=5', 'Limit'],
    ['=5', ''],
    ['a%20b=1', 'a b'],
    ['a+b=1', 'a b'],
    ['%zz=1', '%zz'],
    ['constructor=1', 'constructor'],
    ['__proto__=1', '__proto__'],
    ['market%5B%5D=1', 'market[]'],
  ];
  for (const [text, name] of cases) {
    assert.deepEqual(refusal(text), { error: `unknown_field: ${name}`, code: 'UNKNOWN_FIELD' });
  }
});

test('a bad value is named by its field', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    limit: ['limit=', 'limit', 'limit=-1', 'limit=10001', 'limit=1.0', 'limit=1e2', 'limit=+5'],
    offset: ['offset=10001', 'offset=007', 'offset=%zz', 'offset=1&offset=1', 'offset=99999999999'],
    takerOnly: ['takerOnly=', 'takerOnly=True', 'takerOnly=yes', 'takerOnly=2'],
    filterType: ['filterType=cash&filterAmount=1', 'filterType=', 'filterAmount=1&filterType=USD'],
    filterAmount: ['filterType=CASH', 'filterAmount=-1', 'filterAmount=', 'filterAmount=abc'],
    user: ['user=', 'user=0x12', `user=${'1'.repeat(42)}`, `user=0X${'1'.repeat(40)}`],
    side: ['side=buy', 'side=', 'side=BUY,SELL', 'side=BUY&side=BUY', 'limit=5&side=x&limit=x'],
  };
  for (const [name, texts] of Object.entries(cases)) {
    for (const text of texts) {
      const refused = { error: `invalid_field: ${name}`, code: 'INVALID_FIELD' };
      assert.deepEqual(refusal(text), refused, text);
    }
  }
});

test('values are read in every allowed form', () => {
  const user = `0x${'aB'.repeat(20)}`;
  assert.equal(parsed(`user=${user}`).user, user.toLowerCase());
  assert.equal(parsed('takerOnly=0').takerOnly, false);
  assert.equal(parsed('takerOnly=false').takerOnly, false);
  assert.equal(parsed('takerOnly=1').takerOnly, true);
  assert.equal(parsed('limit=10000&offset=10000').limit, 10_000);
  assert.deepEqual(parsed('market=0xA,0xB&market=0xc%2C0xd').market, ['0xa', '0xb', '0xc', '0xd']);
  assert.deepEqual(parsed('market=,0xA,').market, ['0xa']);
  assert.equal(parsed('market=').market, null);
  const cash = parsed('filterType=CASH&filterAmount=0.0000015');
  assert.deepEqual([cash.filterType, cash.filterAmount], ['CASH', 2]);
  assert.equal(parsed('filterAmount=5').filterType, '');
  assert.equal(parsed('s%69de=SELL').side, 'SELL');
});
