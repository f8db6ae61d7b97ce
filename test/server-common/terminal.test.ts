import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import test from 'node:test';
import { aligned, Output, terminalText } from '../../server/common/terminal.ts';
import { rounds, withSeed } from '../common/random.ts';

const ATTACK = 'Yes\x1b]0;title\x07\x1b[2J\r\nNo\u009b31m\u202eseY';
const SHOWN = 'Yes\\u001b]0;title\\u0007\\u001b[2J\\r\\nNo\\u009b31m\\u202eseY';

async function written(isTTY: boolean, write: (output: Output) => unknown): Promise<string> {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const all = text(stream);
  await write(new Output(stream, {}));
  stream.end();
  return all;
}

test('a line has no terminal control character, and colours are pieces of their own', async () => {
  const line = (output: Output) => output.line(output.paint.red(ATTACK), ' ', ATTACK);
  assert.equal(await written(true, line), `\x1b[31m${SHOWN}\x1b[0m ${SHOWN}\n`);
  assert.equal(await written(false, line), `${SHOWN} ${SHOWN}\n`);
  const template = (output: Output) => output.line(`${output.paint.red(ATTACK)}`);
  assert.equal(await written(true, template), `${SHOWN}\n`);
});

test('a cell of a table adds no line and no column', async () => {
  const rows = aligned([
    ['outcome', 'size'],
    [ATTACK, '5'],
    ['No', '12'],
  ]);
  assert.equal(rows.length, 3);
  assert.equal(rows[1], `${SHOWN}  5`);
  assert.equal(rows[2]!.indexOf('12'), SHOWN.length + 2);
  const right = aligned(
    [
      ['a', '5'],
      ['b', '12'],
    ],
    (column) => column > 0,
  );
  assert.deepEqual(right, ['a   5', 'b  12']);
});

test('data leaves unchanged into a pipe, and escaped to a terminal, where JSON stays the same', async () => {
  const value = { name: `${ATTACK} 👍🏽 é`, more: ['a\u2028b', '\u{e0061}'] };
  const json = (output: Output) => output.json(value);
  assert.equal(await written(false, json), `${JSON.stringify(value)}\n`);
  const shown = await written(true, json);
  assert.doesNotMatch(shown.trimEnd(), /[\p{Cc}\u2028\u202e\u{e0061}]/u);
  assert.deepEqual(JSON.parse(shown), value);
  const csv = (output: Output) => output.data('name,size\r\n"a\x1b",5\r\n');
  assert.equal(await written(true, csv), 'name,size\r\n"a\\u001b",5\r\n');
});

test('a stream of data escapes characters that span two pieces', async () => {
  const bytes = Buffer.from(`{"a":"\u009b ü \u{1f600}"}\n`);
  const pieces = [...bytes].map((byte) => Buffer.from([byte]));
  const piped = (output: Output) => pipeline(pieces, output.dataStream());
  assert.equal(await written(true, piped), '{"a":"\\u009b ü \u{1f600}"}\n');
  assert.equal(await written(false, piped), bytes.toString());
});

test('scripts and emoji keep the invisible characters that they need', () => {
  const needed = [
    '👩‍🚀',
    '❤️',
    '1️⃣',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    'می‌خواهم',
  ];
  for (const name of needed) assert.equal(terminalText(name), name);
  assert.equal(terminalText('Y\u200des'), 'Y\\u200des');
  assert.equal(terminalText('Yes\ufe0f'), 'Yes\\ufe0f');
  assert.equal(terminalText('🏴\u{e0067}x'), '🏴\\udb40\\udc67x');
});

test('no text leaves a terminal control character', () =>
  withSeed((random) => {
    for (let round = 0; round < rounds(2_000); round++) {
      const name = Array.from({ length: 8 }, () =>
        String.fromCodePoint(random.below(random.pick([0x100, 0x2100, 0x110000]))),
      ).join('');
      const shown = terminalText(name);
      assert.doesNotMatch(
        shown,
        /[\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u,
      );
      assert.equal(terminalText(shown), shown);
    }
  }));
