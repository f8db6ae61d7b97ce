/**
 * Bodies of a mebibyte, for every route that parses one: most are refused, all of them have to be looked at.
 *
 * Non-goals: bodies that a route answers with much; those are among its questions (spans-questions.ts).
 */

const MEBIBYTE = 2 ** 20;
const ITEMS = 500;
const IDS = 3_000;
const MEMBERS = 90_000;

const ID = `0x${'1'.repeat(64)}`;
const TOKEN = '7'.repeat(77);

/** `unit` as often as a body has room for it. */
function filled(before: string, unit: string, after: string): string {
  const room = MEBIBYTE - before.length - after.length;
  return before + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + after;
}

const longNotes = (unit: string): string => filled('{"note":"', unit, '"}');

const members = Array.from({ length: MEMBERS }, (_, i) => `"k${i}":1`);
const item = { token_id: TOKEN, note: 'n'.repeat(MEBIBYTE / ITEMS - 120) };

export const BODIES: Readonly<Record<string, string>> = {
  'open brackets': filled('', '[', ''),
  'empty objects': filled('[', '{},', '{}]'),
  'one object of many members': `{${members.join(',')}}`,
  numbers: filled('[', '1,', '1]'),
  spaces: filled('[', ' ', ']'),
  'a long text': longNotes('n'),
  'a long text of escapes': longNotes('\\n'),
  'a long text of three-byte characters': longNotes('\u4e2d'),
  'the most items, with long fields': JSON.stringify(Array(ITEMS).fill(item)),
  'many ids': JSON.stringify(Array(IDS).fill(ID)),
  'many names': `{${members.slice(0, 1_000).join(',')}}`,
};
