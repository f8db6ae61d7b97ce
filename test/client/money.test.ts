/** Money of answers, which is decimal text whatever the node writes; no digit passes through floating point. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { fromMicro, type RouteKey, toMicro } from '../../client/client.ts';
import { parseMoney } from '../../client/money.ts';
import type { RouteRow } from '../../server/http/route.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';

/** Routes that methods of the client read with `callMoney`. */
const READ_AS_TEXT: readonly RouteKey[] = [
  'GET /markets/keyset',
  'GET /events/keyset',
  'GET /markets/:id',
  'GET /public-search',
  'GET /positions',
  'GET /value',
  'GET /trades',
  'GET /prices-history',
];

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

function members(type: string, schema: Schema, name = ''): string[] {
  const { allOf = [], anyOf = [], items, properties = {} } = schema;
  const inside = [...allOf, ...anyOf, ...(items === undefined ? [] : [items])];
  return [
    ...(schema.type === type ? [name] : []),
    ...inside.flatMap((part) => members(type, part, name)),
    ...Object.entries(properties).flatMap(([member, part]) => members(type, part, member)),
  ];
}

test('every fraction of the answers that methods return becomes text; counts and times stay numbers', () => {
  const table = ROUTE_TABLE as unknown as Readonly<Record<string, RouteRow>>;
  const found = (type: string): string[] => [
    ...new Set(READ_AS_TEXT.flatMap((key) => members(type, table[key]!.answer as Schema))),
  ];
  const [fractions, integers] = [found('number'), found('integer')];
  assert(fractions.includes('avgPrice') && integers.includes('timestamp'), fractions.join());
  for (const name of fractions) assert.deepEqual(parseMoney(`{"${name}":0.5}`), { [name]: '0.5' });
  for (const name of integers) assert.deepEqual(parseMoney(`{"${name}":12}`), { [name]: 12 });
});

test('numbers become the text that the node wrote, digit by digit; other numbers and texts stay', () => {
  const title = 'He said "size":12 and \\"price\\":0.5, or {"value": 3}';
  const body =
    `[{"size":9007199254740993.123456,"cashPnl":-0.000001,"title":${JSON.stringify(title)},` +
    `"outcomeIndex":1,"sizes":5,"curPrice": 0.5,"nested":{"p":1e-7,"t":1700000000}}]`;
  assert.deepEqual(parseMoney(body), [
    {
      size: '9007199254740993.123456',
      cashPnl: '-0.000001',
      title,
      outcomeIndex: 1,
      sizes: 5,
      curPrice: '0.5',
      nested: { p: '1e-7', t: 1_700_000_000 },
    },
  ]);
});

test('decimal text and whole millionths lead to one another', () => {
  for (const [text, micro] of [
    ['12.5', 12_500_000n],
    ['0.000001', 1n],
    ['9007199254.740991', 2n ** 53n - 1n],
    ['0', 0n],
  ] as const) {
    assert.equal(toMicro(text), micro);
    assert.equal(fromMicro(micro), text);
  }
  assert.equal(fromMicro(-1_500_000n), '-1.5');
  for (const text of ['1e3', '-1', '0.0000001', '', '1.']) {
    assert.throws(() => toMicro(text), RangeError);
  }
});
