import assert from 'node:assert/strict';
import test from 'node:test';
import {
  instantOf,
  listTextOf,
  membersOf,
  SHAPES,
  textsOf,
  valuesOf,
} from '../../server/catalog/shape.ts';
import { withSeed } from '../common/random.ts';
import { columnsOf as namesOf } from './naive-lists.ts';

function servedDate(value: unknown): unknown {
  const { columns } = SHAPES.events;
  const place = columns.findIndex(({ name }) => name === 'endDate');
  return valuesOf(columns, [{ raw: { id: '1', endDate: value } }])[place]![0];
}

test('an ISO date-time in UTC is served unchanged, with any fraction', () => {
  for (const date of [
    '2024-01-02T03:04:05Z',
    '2024-01-02T03:04:05.1Z',
    '2024-01-02T03:04:05.123Z',
    '2024-01-02T03:04:05.123456Z',
    '2024-01-02T03:04Z',
    '1969-12-31T23:59:59.999999Z',
  ]) {
    assert.equal(servedDate(date), date);
  }
});

test('a date of any digits is served as an instant or as null', () => {
  withSeed((random) => {
    const two = (most: number) => String(random.below(most)).padStart(2, '0');
    for (let round = 0; round < 20_000; round++) {
      const day = `${random.pick(['0000', '1969', '2024', '9999'])}-${two(15)}-${two(34)}`;
      const fraction = random.pick(['', '.', '.1', '.123456789', ':60']);
      const served = servedDate(`${day}T${two(27)}:${two(63)}:${two(63)}${fraction}Z`);
      if (served === null) continue;
      assert(typeof served === 'string' && Number.isFinite(instantOf(served)), String(served));
    }
  });
});

test('other forms of dates are rewritten as ISO 8601 in UTC; no zone means UTC', () => {
  const forms = {
    '2024-01-02 03:04:05+00': '2024-01-02T03:04:05.000Z',
    '2024-01-02 03:04:05.25+00': '2024-01-02T03:04:05.250Z',
    '2024-01-02 03:04:05': '2024-01-02T03:04:05.000Z',
    '2024-01-02T03:04:05': '2024-01-02T03:04:05.000Z',
    '2024-01-02T03:04:05+02:00': '2024-01-02T01:04:05.000Z',
    '2024-01-02 03:04:05 -0330': '2024-01-02T06:34:05.000Z',
    '2024-01-02': '2024-01-02T00:00:00.000Z',
    ' 2024-01-02t03:04:05z ': '2024-01-02T03:04:05.000Z',
  };
  for (const [found, served] of Object.entries(forms)) assert.equal(servedDate(found), served);
});

test('an invalid date is served as null', () => {
  for (const value of [
    undefined,
    null,
    '',
    'soon',
    'market 5',
    '2024-13-01T00:00:00Z',
    '2024-01-01T25:00:00Z',
    '2024-01-01T00:00:00+',
    '2024-01-01T00:00:00+99',
    '0x2024-01-01',
    1704164645,
    true,
    ['2024-01-02T03:04:05Z'],
  ]) {
    assert.equal(servedDate(value), null, JSON.stringify(value));
  }
});

test('instants compare to the microsecond, before 1970 too', () => {
  const ascending = [
    '1969-12-31T23:59:59.999998Z',
    '1969-12-31T23:59:59.999999Z',
    '1970-01-01T00:00Z',
    '2024-01-02T03:04:05.1Z',
    '2024-01-02T03:04:05.1001Z',
    '2024-01-02T03:04:05.100101Z',
    '2024-01-02T03:04:05.10011Z',
    '2024-01-02T03:04:05.101Z',
  ];
  for (const [index, date] of ascending.slice(1).entries()) {
    assert(instantOf(ascending[index]!) < instantOf(date), `${ascending[index]} < ${date}`);
  }
  assert.equal(instantOf('2024-01-02T03:04:05Z'), instantOf('2024-01-02T03:04:05.000000Z'));
});

test('a list is served as the text of a JSON array, unchanged where it was one', () => {
  assert.equal(listTextOf('["Yes", "No"]').text, '["Yes", "No"]');
  assert.equal(listTextOf(['Yes', 'No']).text, '["Yes","No"]');
  assert.equal(listTextOf([]).text, '[]');
  assert.equal(listTextOf('[1,2]').text, '[1,2]');
  for (const value of [undefined, null, '', 'Yes', '{"0":"Yes"}', '"Yes"', 7, {}, '["Yes"']) {
    assert.equal(listTextOf(value).text, '[]', JSON.stringify(value));
  }
});

test('a list of texts with any other value in it is empty', () => {
  assert.equal(textsOf(listTextOf('["Yes", "No"]')), '["Yes", "No"]');
  assert.equal(textsOf(listTextOf([1, 'No'])), '[]');
  assert.equal(textsOf(listTextOf('[null]')), '[]');
});

test('texts are quoted as JSON does it, lone surrogates escaped', () => {
  withSeed((random) => {
    const units = ['a', '"', '\\', '\n', '\u0000', '\u001f', ' ', '\u007f', '\u2028', 'é', '伊'];
    units.push('\ud83d', '\ude00', '\ud7ff', '\ue000', '\uffff', '!', '#', '[', ']', '/');
    for (let round = 0; round < 3000; round++) {
      const length = random.below(random.pick([4, 12, 400]));
      const percent = random.pick([0, 2, 100]);
      const text = Array.from({ length }, () =>
        random.chance(percent) ? random.pick(units) : 'x',
      ).join('');
      const members = membersOf([{ name: 'text', kind: 'text', read: () => text }], [[text]], 0);
      assert.equal(`${members}}`, JSON.stringify({ text }));
    }
  });
});

test('the columns are the usual fields in their order, then those for trading, then statistics', () => {
  assert.equal(
    namesOf('markets').join(' '),
    'id question conditionId slug resolutionSource startDate endDate image icon description ' +
      'outcomes clobTokenIds active closed archived createdAt updatedAt questionID ' +
      'negRisk orderPriceMinTickSize orderMinSize acceptingOrders enableOrderBook creator ' +
      'volume volumeNum volume24hr liquidity liquidityNum outcomePrices bestBid bestAsk spread ' +
      'lastTradePrice',
  );
  assert.equal(
    namesOf('events').join(' '),
    'id ticker slug title description resolutionSource startDate creationDate endDate image icon ' +
      'active closed archived createdAt updatedAt volume volume24hr liquidity',
  );
});
