/** The reader of token lists from bytes agrees with the parser and a plain merge. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type KnownTokens, UNKNOWN } from '../../server/market-data/known-tokens.ts';
import { type BookSide, SideCode, TokenRequest } from '../../server/market-data/token-request.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { parseTokenItems } from './parse-tokens.ts';
import { Fixture } from './read-fixture.ts';

/** Long ids that differ early, late and only in their length, and short ones. */
function idsOf(random: Random): readonly string[] {
  const digits = (count: number): string =>
    Array.from({ length: count }, () => random.between(1, 9)).join('');
  const alike = Array.from({ length: 14 }, () => `123456789${digits(60)}`);
  const long = Array.from({ length: 12 }, () => digits(random.between(70, 76)));
  const cut = long.slice(0, 4).map((id) => id.slice(0, -1));
  return [...new Set([...long, ...cut, ...alike, '7', '21', '123456789', '1234567890'])];
}

function fixtureOf(ids: readonly string[]): Fixture {
  const fixture = new Fixture();
  for (let i = 0; i < ids.length; i += 7) {
    const some = ids.slice(i, i + 7);
    fixture.market(some.length, 100, false, undefined, some);
  }
  return fixture;
}

type Read = { error: string } | { tokens: string[]; sides: number[] };

/** Naive result: the parser, then a merge by id. */
function expected(body: Buffer, ids: readonly string[]): Read {
  const parsed = parseTokenItems(body);
  if (!parsed.ok) return { error: parsed.error };
  const merged = new Map<string, BookSide>();
  parsed.tokens.forEach((token, i) => {
    if (!ids.includes(token)) return;
    const side = parsed.sides[i]!;
    merged.set(token, (merged.get(token) ?? side) === side ? side : '');
  });
  return { tokens: [...merged.keys()], sides: [...merged.values()].map((side) => SideCode[side]) };
}

function readBy(request: TokenRequest, known: KnownTokens, body: Buffer): Read {
  if (!request.scan(body)) {
    const parsed = parseTokenItems(body);
    if (!parsed.ok) return { error: parsed.error };
    request.take(parsed.tokens, parsed.sides);
  }
  const { count } = request;
  return {
    tokens: [...request.tokens.subarray(0, count)].map((token) => known.ids[token]!),
    sides: [...request.sides.subarray(0, count)],
  };
}

/** Lists as clients write them, most of them in a form that is read from its bytes. */
function usual(random: Random, ids: readonly string[]): string {
  const space = random.chance(30) ? ' ' : '';
  const item = (): string => {
    const sides = ['', `,${space}"side":${space}"${random.pick(['BUY', 'SELL', ''])}"`];
    return `{"token_id":${space}"${random.pick(ids)}"${random.pick(sides)}}`;
  };
  const count = random.chance(5) ? random.between(498, 502) : random.between(0, 6);
  return `[${Array.from({ length: count }, item).join(`,${space}`)}]`;
}

function odd(random: Random, text: string): Buffer {
  const at = random.below(text.length);
  const rest = text.slice(at);
  const pieces = [
    ...'[]{},:" \t\n0123456789\\x\u00e9',
    '"side"',
    '"token_id"',
    '"BUY"',
    'null',
    '"x":1,',
    '\\u0031',
  ];
  switch (random.below(6)) {
    case 0:
      return Buffer.from(text.slice(0, at));
    case 1:
      return Buffer.from(text.slice(0, at) + rest.slice(random.between(1, 9)));
    case 2:
      return Buffer.from(text.slice(0, at) + random.pick(pieces) + rest);
    case 3:
      return Buffer.from(text.slice(0, at) + random.pick(pieces) + rest.slice(1));
    case 4:
      return Buffer.from(text.replace(/[BS]/, random.pick(['b', 'BU', '1', '']))); // another side
    default: {
      const bytes = Buffer.from(text);
      bytes[at] = random.below(256);
      return bytes;
    }
  }
}

test('a token list read from its bytes equals that of the parser, and so do its errors', () => {
  withSeed((random) => {
    const ids = idsOf(random);
    const known = fixtureOf(ids).texts.known;
    const request = new TokenRequest(known);
    const asked = [...ids, '5', '9'.repeat(77), `${ids[0]}0`, `0${ids[0]}`, '12345678:'];
    let refused = 0;
    for (let round = 0; round < rounds(6_000); round++) {
      // Tokens become known as they are asked for, so that both ways are taken.
      const text = usual(random, asked.slice(0, 1 + random.below(asked.length)));
      const body = random.chance(50) ? Buffer.from(text) : odd(random, text);
      const wanted = expected(body, ids);
      if ('error' in wanted) refused += 1;
      assert.deepEqual(readBy(request, known, body), wanted, body.toString());
    }
    assert(rounds(300) < refused && refused < rounds(5_000), `${refused} were refused`);
  });
});

test('a token is found by its digits once it has been requested, and no other text is', () => {
  withSeed((random) => {
    const ids = idsOf(random);
    const { known } = fixtureOf(ids).texts;
    const view = (text: string): DataView => new DataView(new TextEncoder().encode(text).buffer);
    const at = (text: string) => known.at(view(`"${text}"`), 1, text.length + 2);
    for (const id of ids) assert.equal(at(id), UNKNOWN);
    for (const id of ids) assert.equal(known.ids[known.find(id)], id);
    const found = ids.filter((id) => at(id) !== UNKNOWN);
    for (const id of found) assert.equal(known.ids[at(id)], id);
    // Short ids, and those of many that begin alike, are left to the parser.
    assert(found.length >= 16 && found.length < ids.length);
    for (const id of ids) {
      assert.equal(known.at(view(id), 0, id.length), UNKNOWN, 'no quote behind it');
      if (!ids.includes(`${id}1`)) assert.equal(at(`${id}1`), UNKNOWN);
    }
  });
});
