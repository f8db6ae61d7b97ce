/**
 * Finds rows by one of their texts, such as a slug. It is an open-addressing hash table in flat
 * arrays: a thread sends it to another by transferring its buffers, and a look-up allocates
 * nothing.
 *
 * Matches are exact, by UTF-16 code units. Built on the catalog thread, read on the I/O thread.
 * Non-goals: changing an index, and texts chosen to collide (they come from the catalog's owner).
 */

import type { TextIndex } from './prepared.ts';
import { relationOf, valuesOfRow } from './relation.ts';

const SLOTS_MIN = 2;

/** Comparison of the texts of a column: as they are, or by the 256-bit number that they contain. */
export type KeyForm = 'exact' | 'number' | 'numbers';

const HEX = /^0x[0-9a-f]{64}$/;
const DECIMAL = /^[1-9][0-9]{0,77}$/;
const HEX_DIGITS = 64;
/** First unit of a key that is a number; its other units have sixteen bits each. */
export const NUMBER_KEY = 1;
export const NUMBER_KEY_UNITS = 17;

/** Key of a text. Numbers are packed; any other text matches in any case. */
export function keyOf(form: KeyForm, text: string): string {
  if (form === 'exact') return text;
  const plain = text.trim().toLowerCase();
  let digits = HEX.test(plain) ? plain.slice(2) : '';
  if (DECIMAL.test(plain)) digits = BigInt(plain).toString(16).padStart(HEX_DIGITS, '0');
  if (digits.length !== HEX_DIGITS) return `\0${plain}`;
  const packed = Buffer.from(digits, 'hex').swap16().toString('utf16le');
  return String.fromCharCode(NUMBER_KEY) + packed;
}

export function rowsNamed(index: TextIndex, key: string): Uint32Array {
  const number = findKey(index, key);
  return number === -1 ? NO_ROWS : valuesOfRow(index.rows, number);
}

export const NO_ROWS = new Uint32Array(0);

/** Pairs may come in any order; a repeated pair counts once. */
export function buildTextIndex(
  pairs: readonly (readonly [text: string, row: number])[],
): TextIndex {
  // At most half full, so that a miss ends soon.
  let length = SLOTS_MIN;
  while (length < 2 * pairs.length) length *= 2;
  const slots = new Uint32Array(length);
  const texts: string[] = [];
  const keys = new Uint32Array(pairs.length);
  const rows = new Uint32Array(pairs.length);
  for (const [place, [text, row]] of pairs.entries()) {
    let slot = hashOf(text) & (length - 1);
    while (slots[slot] !== 0 && texts[slots[slot]! - 1] !== text) slot = (slot + 1) & (length - 1);
    if (slots[slot] === 0) slots[slot] = texts.push(text);
    keys[place] = slots[slot]! - 1;
    rows[place] = row;
  }
  return { slots, ...unitsOf(texts), rows: relationOf(texts.length, keys, rows) };
}

function findKey(index: TextIndex, text: string): number {
  const { slots } = index;
  const mask = slots.length - 1;
  for (let slot = hashOf(text) & mask; ; slot = (slot + 1) & mask) {
    const key = slots[slot]! - 1;
    if (key < 0 || isKey(index, key, text)) return key;
  }
}

function unitsOf(texts: readonly string[]): Pick<TextIndex, 'keyEnds' | 'units'> {
  const keyEnds = new Uint32Array(texts.length + 1);
  for (const [key, text] of texts.entries()) keyEnds[key + 1] = keyEnds[key]! + text.length;
  const units = new Uint16Array(keyEnds[texts.length]!);
  const bytes = Buffer.from(units.buffer);
  for (const [key, text] of texts.entries()) {
    bytes.write(text, keyEnds[key]! * units.BYTES_PER_ELEMENT, 'utf16le');
  }
  return { keyEnds, units };
}

function isKey(index: TextIndex, key: number, text: string): boolean {
  const start = index.keyEnds[key]!;
  if (index.keyEnds[key + 1]! - start !== text.length) return false;
  for (let unit = 0; unit < text.length; unit++) {
    if (index.units[start + unit] !== text.charCodeAt(unit)) return false;
  }
  return true;
}

/**
 * FNV-1a over the code units. The bits are mixed at the end, because only low bits choose the slot.
 */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let unit = 0; unit < text.length; unit++) {
    hash = Math.imul(hash ^ text.charCodeAt(unit), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
