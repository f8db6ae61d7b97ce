import assert from 'node:assert/strict';
import test from 'node:test';
import { cleanLine, cleanName, cleanProse, isName, isProse } from '../../storage/texts/door.ts';
import { rounds, withSeed } from '../common/random.ts';

test('a name has one line, is printable and has no blank at its ends', () => {
  const taken = [
    '',
    'Yes',
    '=1+1',
    '-0.5 %',
    "'90s",
    'Müller',
    '伊朗',
    '👩‍🚀',
    '❤️',
    'می‌خواهم',
    'a  b',
  ];
  for (const name of taken) assert(isName(name), name);
  const refused = [
    ' Yes',
    'Yes ',
    'Yes\u00a0',
    'Yes\0',
    'Y\x1b[31mes',
    'Yes\r',
    'Yes\nNo',
    'Yes\u0085',
    'Yes\u2028',
    '\u202eseY',
    'Yes\u200b',
    'Y\u200des',
    'Yes\ufe0f',
    '\ufeffYes',
    'Y\u00ades',
    '\u3164',
    'Yes\ud800',
    'Yes\ue000',
    'Yes\uffff',
    'Yes\u{e0041}',
  ];
  for (const name of refused) assert(!isName(name), JSON.stringify(name));
});

test('prose may have line breaks, and no other control character', () => {
  for (const text of ['', 'a\r\n\tb\n', 'a\u200bb', 'a\u2028b', ' a ']) assert(isProse(text), text);
  for (const text of ['a\0', '\x1b[2J', 'a\u009b', '\u202ea', '\ud800', '\ufffe']) {
    assert(!isProse(text), JSON.stringify(text));
  }
});

test('a cleaned name keeps its words, and is never empty', () => {
  assert.equal(cleanName('Will \tMichael win?\n'), 'Will Michael win? ');
  assert.equal(cleanName('MUNDO-GB\u2028 wins'), 'MUNDO-GB wins');
  assert.equal(cleanName('Y\x1b[31mes\0'), 'Y[31mes');
  assert.equal(cleanName('\u202eseY\ud800'), 'seY\ufffd');
  assert.equal(cleanName('\u200b'), '\ufffd');
  assert.equal(cleanName('\u196c\u200d\u0099'), '\u196c');
  assert.equal(cleanName('\u196c\u200d\u2003'), '\u196c\u2003');
  assert.equal(cleanName(''), '');
  assert.equal(cleanName(' as it is '), ' as it is ');
  assert.equal(cleanName(`${'x'.repeat(999)}👍`).length, 999);
  assert.equal(cleanName('👍'.repeat(600)).length, 1_000);
  assert.equal(cleanLine('x'.repeat(200_000)).length, 100_000);
  assert.equal(cleanProse('a\r\n\u200bb\0\u202e\ud800'), 'a\r\n\u200bb\ufffd');
});

test('a cleaned text is accepted, and is not changed again', () =>
  withSeed((random) => {
    for (let round = 0; round < rounds(4_000); round++) {
      const text = Array.from({ length: random.below(8) }, () =>
        String.fromCodePoint(random.below(random.pick([0x40, 0x100, 0x2100, 0x110000]))),
      ).join('');
      const [name, prose] = [cleanName(text), cleanProse(text)];
      assert(isName(name.trim()), JSON.stringify(text));
      assert.equal(cleanName(name), name);
      assert(isProse(prose), JSON.stringify(text));
      assert.equal(cleanProse(prose), prose);
      if (isName(text)) assert.equal(name, text);
    }
  }));
