import assert from 'node:assert/strict';
import test from 'node:test';
import { csvOf, plainColumn, textColumn } from '../../server/common/csv.ts';
import { rounds, withSeed } from '../common/random.ts';

interface Row {
  readonly name: string;
  readonly amount: string;
}

const COLUMNS = {
  name: textColumn(({ name }: Row) => name),
  amount: plainColumn(({ amount }: Row) => amount),
};
const lineOf = (name: string, amount = '0') =>
  csvOf(COLUMNS, [{ name, amount }]).replace('name,amount\r\n', '');

test('a name that a spreadsheet would compute begins with an apostrophe, an amount never', () => {
  assert.equal(lineOf('=1+1', '-1000000'), "'=1+1,-1000000\r\n");
  assert.equal(lineOf('-0.5 %'), "'-0.5 %,0\r\n");
  assert.equal(lineOf('@home', '12'), "'@home,12\r\n");
  assert.equal(lineOf('\uff1d1'), "'\uff1d1,0\r\n");
  assert.equal(lineOf('Yes'), 'Yes,0\r\n');
  assert.equal(lineOf("'90s"), "'90s,0\r\n");
  const id = '71321045679252212594626385532706912750332728571942532289631379312455583992563';
  assert.equal(lineOf('No', id), `No,${id}\r\n`);
});

test('quotes, commas and line breaks are quoted, and terminal control characters escaped', () => {
  assert.equal(lineOf('a "b", c'), '"a ""b"", c",0\r\n');
  assert.equal(lineOf('a\nb'), '"a\nb",0\r\n');
  assert.equal(lineOf('a\x1b[31mb\r\u202e'), 'a\\u001b[31mb\\r\\u202e,0\r\n');
});

test('a plain column refuses values other than numbers, ids, times and words', () => {
  for (const amount of ['=1', '+1', 'a,b', '-x', '"', ' 1']) {
    assert.throws(() => lineOf('Yes', amount), /a plain column holds/);
  }
});

test('taking one apostrophe from a cell that would be a formula gives every name back', () =>
  withSeed((random) => {
    const pieces = ["'", '=', '+', '-', '@', '"', ',', '\n', '\t', ' ', 'a', 'ä', '1', '\uff20'];
    const rows = Array.from({ length: rounds(4_000) }, () => ({
      name: Array.from({ length: random.below(6) }, () => random.pick(pieces)).join(''),
      amount: random.chance(50) ? `-${random.below(1e6)}` : `${random.below(1e6)}.5`,
    }));
    const [head, ...cells] = readCsv(csvOf(COLUMNS, rows));
    assert.deepEqual(head, ['name', 'amount']);
    const read = cells.map(([name = '', amount = '']) => {
      assert.doesNotMatch(name, /^[=+\-@\t\n\uff20]/);
      return { name: /^'+[=+\-@\t\n\uff20]/.test(name) ? name.slice(1) : name, amount };
    });
    assert.deepEqual(read, rows);
  }));

/** RFC 4180, character by character. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[i + 1] === '"') cell += text[++i]!;
      else isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === ',') {
      row.push(cell);
      cell = '';
    } else if (character === '\r' && text[i + 1] === '\n') {
      i += 1;
      rows.push([...row, cell]);
      row = [];
      cell = '';
    } else cell += character;
  }
  return rows;
}
