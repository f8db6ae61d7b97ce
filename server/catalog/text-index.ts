/**
 * Finds rows by one of their texts, such as a slug. It is an open-addressing hash table in flat
 * arrays: a thread sends it to another by transferring its buffers, and a look-up allocates
 * nothing.
 *
 * Matches are exact, by UTF-16 code units. Built on the catalog thread, read on the I/O thread.
 * Non-goals: changing an index, and texts chosen to collide (they come from the catalog's owner).
 */

import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import type { TextIndex } from './prepared.ts';
import { relationOf, valuesOfRow } from './relation.ts';

/** Comparison of the texts of a column: as they are, or by the 256-bit number or the condition id that they contain. */
export type KeyForm = 'exact' | 'number' | 'numbers' | 'condition';

/** A position without its leading zero has one digit less. */
const HEX = /^0x[0-9a-f]{63,64}$/;
const DECIMAL = /^[1-9][0-9]{0,77}$/;
const HEX_DIGITS = 64;
/** First unit of a key that is a number; its other units have sixteen bits each. */
export const NUMBER_KEY = 1;
export const NUMBER_KEY_UNITS = 17;

/** Key of a text. Numbers are packed; any other text matches in any case. */
export function keyOf(form: KeyForm, text: string): string {
  if (form === 'exact') return text;
  const sent = text.trim().toLowerCase();
  const plain = form === 'condition' ? wholeCondition(sent) : sent;
  let digits = HEX.test(plain) ? plain.slice(2).padStart(HEX_DIGITS, '0') : '';
  if (DECIMAL.test(plain)) digits = BigInt(plain).toString(16).padStart(HEX_DIGITS, '0');
  if (digits.length !== HEX_DIGITS) return `\0${plain}`;
  const packed = Buffer.from(digits, 'hex').swap16().toString('utf16le');
  return String.fromCharCode(NUMBER_KEY) + packed;
}

export function rowsNamed(index: TextIndex, key: string): Uint32Array {
  const number = findKey(index, key);
  return number === -1 ? NO_ROWS : valuesOfRow(index.rows, number);
}

const UNITS_FIRST = 1 << 16;
export const HASH_FIRST = 0x811c9dc5 | 0;

export const NO_ROWS = new Uint32Array(0);

/** Pairs may come in any order; a repeated pair counts once. */
export function buildTextIndex(
  pairs: readonly (readonly [text: string, row: number])[],
): TextIndex {
  const table = new TextTable(pairs.length);
  const keys = Uint32Array.from(pairs, ([text]) => table.numberOf(text));
  const rows = Uint32Array.from(pairs, ([, row]) => row);
  return { ...table.index(), rows: relationOf(table.size, keys, rows) };
}

/**
 * Different texts, numbered from 0 in the order of arrival. It is a hash table over plain units: a known text needs
 * no string.
 */
export class TextTable {
  /** All texts, one after another; the units of the next one are written behind them. */
  protected units = new Uint16Array(UNITS_FIRST);
  /** Text n = units[ends[n] .. ends[n + 1]). */
  private ends: Uint32Array<ArrayBuffer>;
  private hashes: Int32Array;
  /** A power of two long: 0, or the number of a text plus 1. At most half are used, so that a miss ends soon. */
  private slots: Uint32Array<ArrayBuffer>;
  private count = 0;

  /** @param texts number of texts that fit before it grows */
  constructor(texts: number) {
    this.ends = new Uint32Array(texts + 1);
    this.hashes = new Int32Array(texts);
    let length = 2;
    while (length < 2 * texts) length *= 2;
    this.slots = new Uint32Array(length);
  }

  get size(): number {
    return this.count;
  }

  text(number: number): string {
    const units = this.units.subarray(this.ends[number], this.ends[number + 1]);
    return String.fromCharCode(...units);
  }

  numberOf(text: string): number {
    this.reserve(text.length);
    const { end } = this;
    for (let i = 0; i < text.length; i++) this.units[end + i] = text.charCodeAt(i);
    return this.numberOfNext(text.length, hashOf(text));
  }

  index(): Pick<TextIndex, 'slots' | 'keyEnds' | 'units'> {
    const { count, end, ends, slots, units } = this;
    return { slots, keyEnds: ends.slice(0, count + 1), units: units.slice(0, end) };
  }

  protected get end(): number {
    return this.ends[this.count]!;
  }

  protected reserve(length: number): void {
    const { end, units } = this;
    if (units.length - end >= length) return;
    this.units = new Uint16Array(Math.max(2 * units.length, end + length));
    this.units.set(units);
  }

  /** Number of the text whose units are written behind all others; a new one becomes one of them. */
  protected numberOfNext(length: number, hash: number): number {
    const mask = this.slots.length - 1;
    let slot = mixed(hash) & mask;
    for (let taken = this.slots[slot]!; taken !== 0; taken = this.slots[slot]!) {
      if (this.hashes[taken - 1] === hash && this.isNext(taken - 1, length)) return taken - 1;
      slot = (slot + 1) & mask;
    }
    const number = this.count;
    if (number === this.hashes.length) {
      this.grow();
      return this.numberOfNext(length, hash);
    }
    this.ends[number + 1] = this.end + length;
    this.hashes[number] = hash;
    this.slots[slot] = number + 1;
    this.count += 1;
    return number;
  }

  private isNext(number: number, length: number): boolean {
    const { end, units } = this;
    const start = this.ends[number]!;
    if (this.ends[number + 1]! - start !== length) return false;
    let same = 0;
    while (same < length && units[start + same] === units[end + same]) same += 1;
    return same === length;
  }

  private grow(): void {
    const { count, ends, hashes } = this;
    this.ends = new Uint32Array(2 * count + 1);
    this.ends.set(ends);
    this.hashes = new Int32Array(2 * count);
    this.hashes.set(hashes);
    this.slots = new Uint32Array(2 * this.slots.length);
    const mask = this.slots.length - 1;
    for (let number = 0; number < count; number++) {
      let slot = mixed(hashes[number]!) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = number + 1;
    }
  }
}

function findKey(index: TextIndex, text: string): number {
  const { slots } = index;
  const mask = slots.length - 1;
  for (let slot = mixed(hashOf(text)) & mask; ; slot = (slot + 1) & mask) {
    const key = slots[slot]! - 1;
    if (key < 0 || isKey(index, key, text)) return key;
  }
}

function isKey(index: TextIndex, key: number, text: string): boolean {
  const start = index.keyEnds[key]!;
  if (index.keyEnds[key + 1]! - start !== text.length) return false;
  for (let unit = 0; unit < text.length; unit++) {
    if (index.units[start + unit] !== text.charCodeAt(unit)) return false;
  }
  return true;
}

function hashOf(text: string): number {
  let hash = HASH_FIRST;
  for (let unit = 0; unit < text.length; unit++) hash = hashWith(hash, text.charCodeAt(unit));
  return hash;
}

/** FNV-1a: the hash with one more unit. */
export function hashWith(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

/** Returns a hash with its bits mixed, because only low bits choose the slot. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
