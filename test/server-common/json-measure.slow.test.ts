/** Counts over the bytes of a JSON text equal those of a plain walk over its value. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { parseJson, readJson, TOO_MUCH } from '../../server/common/json.ts';
import {
  boundsOf,
  countObjects,
  type JsonMeasure,
  JsonScan,
} from '../../server/common/json-measure.ts';
import { JsonPieces } from '../../server/common/json-pieces.ts';
import { freshSeed, type Random, rounds, withSeed } from '../common/random.ts';
import { turnsOf } from '../common/turns.ts';
import { MISREADS_NAMES, readPlainly } from './plain-json.ts';

const TEXTS = [
  '',
  'a',
  '"',
  '\\',
  '\\"',
  '[',
  ']',
  '{},',
  '\n\t\b',
  'é',
  '中',
  '😀',
  '\u0001',
  '\ud800',
];

const NO_BOUNDS = { depth: 2 ** 30, values: 2 ** 30 };

/** Measures in steps of so many bytes. */
function measured(
  text: string | Uint8Array,
  bounds = NO_BOUNDS,
  bytes = Number.POSITIVE_INFINITY,
): JsonMeasure {
  const scan = new JsonScan(Buffer.from(text), bounds);
  while (scan.step(bytes));
  const { depth, items, values } = scan;
  return { depth, values, items };
}

/** Naive count: a walk over the value. */
function counted(value: unknown): JsonMeasure {
  let depth = 0;
  let values = 1;
  const walk = (each: unknown, level: number): void => {
    depth = Math.max(depth, level);
    if (typeof each !== 'object' || each === null) return;
    const inside = Object.values(each);
    values += Math.max(1, inside.length);
    depth = Math.max(depth, level + 1);
    for (const member of inside) walk(member, level + 1);
  };
  walk(value, 0);
  const outermost = typeof value === 'object' && value !== null ? Object.values(value).length : 0;
  return { depth, values, items: Math.max(1, outermost) };
}

function textOf(random: Random): string {
  return Array.from({ length: random.below(6) }, () => random.pick(TEXTS)).join('');
}

function jsonOf(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 6 ? 4 : 7);
  if (kind === 0) return random.pick([true, false, null]);
  if (kind === 1) return random.pick([0, -1, 1.5, 1e300, -2e-7, random.next()]);
  if (kind < 4) return textOf(random);
  const inside = Array.from({ length: random.below(5) }, () => jsonOf(random, depth + 1));
  if (kind < 6) return inside;
  return Object.fromEntries(inside.map((value, i) => [`${i}${textOf(random)}`, value]));
}

/**
 * JSON as some client might write it: spaces, needless escapes, repeated names, a name that objects
 * have.
 */
function written(random: Random, value: unknown): string {
  const space = () => random.pick(['', '', '', ' ', '\n', '\t\r ']);
  const quoted = (text: string): string =>
    random.chance(70)
      ? JSON.stringify(text)
      : `"${[...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`;
  let parts: string[];
  if (typeof value === 'string') return space() + quoted(value) + space();
  if (typeof value !== 'object' || value === null) return space() + JSON.stringify(value) + space();
  if (Array.isArray(value)) {
    parts = value.map((each) => written(random, each));
    return `${space()}[${parts.join(',') || space()}]${space()}`;
  }
  parts = Object.entries(value).map(([name, each]) => {
    const called = random.chance(10) ? '__proto__' : name;
    return `${space()}${quoted(called)}${space()}:${written(random, each)}`;
  });
  return `${space()}{${parts.join(',') || space()}}${space()}`;
}

function damaged(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = random.below(copy.length);
  const byte = random.pick([
    ...Buffer.from('[]{},:"\\ 0-.etru\n'),
    0xff,
    0x80,
    0xc3,
    random.below(256),
  ]);
  if (random.chance(50)) copy[at] = byte;
  return random.chance(50) ? copy.subarray(0, at + 1) : Buffer.concat([copy, Buffer.from([byte])]);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function whole(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * Compares three readers, of which the plain one decides who is wrong.
 * Where JSON.parse is known to misread names, it only has to refuse the same texts.
 */
function compareReaders(bytes: Uint8Array): void {
  const text = Buffer.from(bytes).toString('latin1');
  const expected = readPlainly(bytes);
  assert.deepEqual(inPieces(bytes), expected, `JsonPieces is wrong about ${text}`);
  const atOnce = whole(bytes);
  if (MISREADS_NAMES) assert.equal(atOnce === undefined, expected === undefined, text);
  else assert.deepEqual(atOnce, expected, `JSON.parse of this V8 is wrong about ${text}`);
}

function inPieces(bytes: Uint8Array): unknown {
  const pieces = new JsonPieces(bytes);
  try {
    while (pieces.step());
    return pieces.value;
  } catch {
    return undefined;
  }
}

test('depth, values and items equal those of the value, with any texts in it', () =>
  withSeed((random) => {
    for (let round = 0; round < rounds(3_000); round++) {
      const text = JSON.stringify(jsonOf(random));
      assert.deepEqual(measured(text), counted(JSON.parse(text)), text);
      const pretty = JSON.stringify(JSON.parse(text), undefined, random.below(3));
      assert.deepEqual(measured(pretty), counted(JSON.parse(text)), pretty);
      const bytes = 1 + random.below(7);
      assert.deepEqual(measured(text, NO_BOUNDS, bytes), counted(JSON.parse(text)), text);
    }
  }));

test('input that ends inside a text or an escape is measured up to its end', () => {
  assert.deepEqual(measured(''), { depth: 0, values: 1, items: 1 });
  assert.deepEqual(measured('["a\\'), { depth: 1, values: 2, items: 1 });
  assert.deepEqual(measured('[["\\",[[[['), { depth: 2, values: 3, items: 1 });
  assert.deepEqual(measured('['.repeat(2 ** 20)).depth, 2 ** 20);
});

test('a scan with bounds ends when one of them is exceeded', () => {
  const bounds = boundsOf(1);
  const past = (begin: string): JsonMeasure =>
    measured(`[${begin}${'{},'.repeat(350_000)}{}]`, bounds);
  const { values } = past('');
  assert(values > bounds.values && values <= bounds.values + 2, `${values} values`);
  assert.equal(measured('['.repeat(2 ** 20), bounds).depth, bounds.depth + 1);
  assert.equal(measured('{"a":'.repeat(2 ** 17), bounds).depth, bounds.depth + 1);
  assert.equal(past('"}]",').values, values);
  const within = JSON.stringify([{ a: [1, 2, { b: 3 }] }, 'text', []]);
  assert.deepEqual(measured(within, bounds), measured(within));
});

test('reading in pieces gives the same value or refusal as reading at once', () =>
  withSeed((random) => {
    for (let round = 0; round < rounds(3_000); round++) {
      const mark = random.chance(5) ? '\ufeff' : '';
      const bytes = Buffer.from(mark + written(random, jsonOf(random)));
      compareReaders(bytes);
      if (bytes.length > 0) compareReaders(damaged(random, bytes));
    }
  }));

test('every name that JSON.parse misreads has a backslash, so the node reads none of them', () =>
  withSeed((random) => {
    let misread = 0;
    for (let round = 0; round < rounds(20_000); round++) {
      const names = Array.from({ length: 1 + random.below(4) }, () => `k${textOf(random)}`);
      const members = names.map((name, i) => [name, i] as const);
      const text = written(random, Object.fromEntries(members));
      const read = JSON.parse(text) as Readonly<Record<string, number>>;
      const expected = readPlainly(Buffer.from(text)) as Readonly<Record<string, number>>;
      const wrong = Object.keys(read).filter((name) => read[name] !== expected[name]);
      for (const name of wrong) assert.match(name, /\\/, `${JSON.stringify(name)} of ${text}`);
      misread += wrong.length;
    }
    if (!MISREADS_NAMES)
      assert.equal(misread, 0, `JSON.parse of V8 ${process.versions.v8} is wrong`);
  }));

/** Longer than a step, so that a pause falls into each kind of place. */
const LONG = 80_000;
const longBodies: Readonly<Record<string, string>> = {
  'a text of two-byte escapes': `["${'\\n'.repeat(LONG)}"]`,
  'a text of long escapes': `["${'\\ud83d\\ude00'.repeat(LONG / 8)}a"]`,
  'a text of characters of three bytes': `{"a":"${'中'.repeat(LONG)}"}`,
  'a text of characters of four bytes': `["x${'😀'.repeat(LONG)}"]`,
  'a long name': `{"${'é\\"'.repeat(LONG)}":{"b":[]}}`,
  'spaces everywhere': `${' '.repeat(LONG)}[${'\n'.repeat(LONG)}1${' '.repeat(LONG)},2 ]${'\t'.repeat(LONG)}`,
  'many small values': JSON.stringify(
    Array.from({ length: LONG / 8 }, (_, i) => ({ i, t: `${i}` })),
  ),
  'a long number': `[${'1'.repeat(LONG)}, 0.${'1'.repeat(LONG)}]`,
  'names twice': `{${'"a":1,"__proto__":{"b":2},'.repeat(LONG / 8)}"a":3}`,
};

for (const [name, text] of Object.entries(longBodies)) {
  test(`reading in pieces equals reading at once: ${name}`, () => {
    for (let shift = 0; shift < 8; shift++) {
      const bytes = Buffer.from(' '.repeat(shift) + text);
      assert.deepEqual(inPieces(bytes), JSON.parse(bytes.toString()));
      const broken = Buffer.from(' '.repeat(shift) + text.trimEnd().slice(0, -1));
      assert.equal(inPieces(broken), undefined);
    }
  });
}

test('a short body is read at once, and a long one in event-loop iterations by its length', async () => {
  const bounds = boundsOf(500);
  const read = (text: string, aborted = false) => {
    let sent: unknown = 'nothing';
    const done = readJson({ body: Buffer.from(text), aborted }, bounds, (value) => {
      sent = value;
    });
    return { done, sent: () => sent };
  };
  const item = { token_id: '7'.repeat(77), note: 'x'.repeat(1_000) };
  const short = read(JSON.stringify([item]));
  assert.deepEqual([short.done, short.sent()], [undefined, [item]]);
  const long = read(JSON.stringify(Array.from({ length: 500 }, () => item)));
  assert.equal(long.sent(), 'nothing');
  const { turns } = await turnsOf(long.done!);
  assert(turns >= (500 * 1_000) / 2 ** 16, `${turns} turns`);
  assert.equal((long.sent() as unknown[]).length, 500);
  const bad = read(`[${'"a" '.repeat(2 ** 15)}]`);
  await bad.done;
  assert.equal(bad.sent(), undefined);
  const gone = read(JSON.stringify(Array.from({ length: 500 }, () => item)), true);
  await gone.done;
  assert.equal(gone.sent(), 'nothing');
});

test('a body that is deeper or larger than the bounds is not parsed', () => {
  const bounds = boundsOf(1);
  const deep = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  const many = (values: number) => Buffer.from(`[${'1,'.repeat(values - 2)}1]`);
  assert.deepEqual(parseJson(deep(2), bounds), [[]]);
  assert.notEqual(parseJson(deep(bounds.depth), bounds), TOO_MUCH);
  assert.equal(parseJson(deep(bounds.depth + 1), bounds), TOO_MUCH);
  assert.equal((parseJson(many(bounds.values), bounds) as unknown[]).length, bounds.values - 1);
  assert.equal(parseJson(many(bounds.values + 1), bounds), TOO_MUCH);
  assert.equal(parseJson(Buffer.from('{"a":"\\u12"}'), bounds), undefined);
});

const count = (text: string): number => countObjects(Buffer.from(text));

test('brackets, quotes and backslashes in texts do not change the number of objects', () => {
  const item = { order: { note: '}{][,"\\', 'x"{': ['\\"', '{', [{}]] }, owner: '\\' };
  for (const indent of [0, 2]) {
    for (const orders of [[], [item], [item, item, item]]) {
      assert.equal(count(JSON.stringify(orders, undefined, indent)), orders.length);
    }
  }
  assert.equal(count(' \n[ {"\\u007b\\\\":"\\\\"} ,\t{} ] '), 2);
});

test('objects of any list are counted like those of the parser', () => {
  const seed = freshSeed();
  const list = fc.array(fc.dictionary(fc.string(), fc.jsonValue()));
  const property = fc.property(list, fc.nat(3), (orders, indent) => {
    assert.equal(count(JSON.stringify(orders, undefined, indent)), orders.length);
  });
  fc.assert(property, { seed, numRuns: rounds(500) });
});

test('a count of bytes that are no list of objects ends, and is small', () => {
  for (const text of ['', '[', '"', '["\\', '{}', '{"a":{', ']]]{', '[1,2]', '\u0000', '[[[[{']) {
    assert(count(text) <= 1, text);
  }
});
