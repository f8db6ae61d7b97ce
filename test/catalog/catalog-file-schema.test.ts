import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { catalogFileSchema } from '../../server/catalog/file-schema.ts';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import {
  EVENT_FIELDS,
  type FieldRule,
  MARKET_FIELDS,
} from '../../storage/catalog/catalog-fields.ts';
import { type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { catalogFile } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { command } from './catalog-commands.ts';

const SCHEMA = catalogFileSchema();
const matches = new Ajv2020({ strict: false, allErrors: true }).compile(SCHEMA);

const example = (SCHEMA.examples as unknown[])[0];

function refusedFields(file: unknown): string[] {
  const read = readCatalog(file);
  assert(read.ok);
  return read.report.skipped.flatMap(({ field }) => field ?? []);
}

function withMarket(fields: JsonObject): object {
  const { events } = catalogFile([{ id: 1 }]) as { events: { markets: JsonObject[] }[] };
  const [event] = events;
  return { events: [{ ...event, markets: [{ ...event!.markets[0], ...fields }] }] };
}

const hash = `0x${'a1'.repeat(32)}`;
/** Valid and invalid values of each field that may be refused. */
const VALUES: Readonly<Record<string, { good: unknown[]; bad: unknown[] }>> = {
  id: { good: ['7', 7, '0', 0, '999999999999999'], bad: ['x', '', -1, 1.5, 1e15, '07', null, {}] },
  conditionId: {
    good: [hash, hash.toUpperCase(), hash.replace('a', 'A'), hash.slice(0, -2)],
    bad: ['', null, '0x12', hash.slice(2), `${hash}0`, hash.slice(0, -1), hash.slice(0, -4), 7],
  },
  outcomes: {
    good: [['Yes', 'No'], '["Yes","No"]'],
    bad: [['Yes'], ['Yes', 1], 'Yes', null, {}],
  },
  clobTokenIds: {
    good: [['11', '12'], '["11","12"]'],
    bad: [
      ['11', '11'],
      ['011', '12'],
      ['0x1', '2'],
      [11, 12],
      ['1', '2'.repeat(79)],
      'x',
      null,
      {},
    ],
  },
  orderPriceMinTickSize: {
    good: [0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001, '0.01', '0.0025', null],
    bad: [0.02, 1, 0, -0.01, '0.03', 'fine', true, {}],
  },
  orderMinSize: {
    good: [0, 5, 0.01, 1.1, '5', '0.000001', null],
    bad: [-1, '0.0000001', '-5', 'five', true, {}],
  },
};

test('a value matches the schema exactly when the reader can use it', () => {
  for (const [field, { bad, good }] of Object.entries(VALUES)) {
    for (const value of [...good, ...bad]) {
      const isGood = good.includes(value);
      const file = withMarket({ [field]: value });
      const place = `${field}: ${JSON.stringify(value)}`;
      assert.deepEqual(refusedFields(file), isGood ? [] : [field], place);
      assert.equal(matches(file), isGood, place);
    }
  }
});

test('the version of a market says which list of tokens it needs', () => {
  const both = { clobTokenIds: ['11', '12'], positionIds: ['21', '22'] };
  for (const [version, needed] of [
    [undefined, 'clobTokenIds'],
    [null, 'clobTokenIds'],
    ['v1', 'clobTokenIds'],
    ['v2', 'positionIds'],
  ] as const) {
    const whole = JSON.parse(JSON.stringify(withMarket({ ...both, version })));
    assert.deepEqual(refusedFields(whole), []);
    assert(matches(whole), String(version));
    const lacks = JSON.parse(JSON.stringify(withMarket({ ...both, version, [needed]: undefined })));
    assert.deepEqual(refusedFields(lacks), [needed]);
    assert(!matches(lacks), String(version));
  }
});

test('the reader refuses exactly the objects that the schema refuses', () => {
  const needed = (rules: Readonly<Record<string, FieldRule>>): string[] =>
    Object.keys(rules).filter((name) => rules[name]!.isNeeded === true);
  for (const field of needed(MARKET_FIELDS)) {
    const file = JSON.parse(JSON.stringify(withMarket({ [field]: undefined })));
    assert.deepEqual(refusedFields(file), [field]);
    assert(!matches(file), field);
  }
  for (const field of Object.keys(MARKET_FIELDS).filter((name) => !(name in VALUES))) {
    const file = withMarket({ [field]: 'x' });
    assert.deepEqual(refusedFields(file), [], field);
    assert(!matches(file), `${field}: a value that is not understood`);
  }
  assert.deepEqual(needed(EVENT_FIELDS), ['id']);
});

test('the demo, the example and an export match; the example imports under --strict', async () => {
  for (const file of [demoCatalog(), example, catalogFile([{ id: 1 }])]) {
    assert(matches(file), JSON.stringify(matches.errors));
    assert.deepEqual(refusedFields(file), []);
  }
  const { code, stdout } = await command(
    ['import', '-', '--strict', '--dry-run'],
    { DATA_DIR: '/nowhere' },
    JSON.stringify(example),
  );
  assert.equal(code, 0);
  assert.match(stdout, /^opens 3 markets: /m);
});

test('`catalog schema` prints the schema that docs has, with its example', async () => {
  const { code, stderr, stdout } = await command(['schema']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(JSON.parse(stdout), SCHEMA);
  const written = (name: string): unknown =>
    JSON.parse(readFileSync(join(ROOT, 'docs', name), 'utf8'));
  assert.deepEqual(written('catalog-file.schema.json'), SCHEMA);
  assert.deepEqual(written('catalog-file.example.json'), example);
});
