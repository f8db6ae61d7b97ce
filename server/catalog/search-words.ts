/**
 * Splits a text into the words that search compares: letters and digits in any script, without case
 * and diacritics. Indexed texts and queries are split in the same way.
 *
 * Scripts written without spaces (Chinese, Japanese, Thai and similar ones) have no words to split
 * at: they are cut into pairs of neighbouring characters. So a query finds any text that contains
 * it, but also a text with the same pairs in another order.
 *
 * Pure; any thread. Non-goals: stems, synonyms, misspellings.
 */
import { HASH_FIRST, hashWith, TextTable } from './text-index.ts';

/** Longest word in UTF-16 units; a longer one is cut. */
const WORD_UNITS_MAX = 64;
/** Words of a query that count, the first ones. Each costs a walk over all texts that have it. */
const QUERY_WORDS_MAX = 32;

const ANY_WORD = /[\p{L}\p{N}]+/gu;
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const UNSPACED_OR_SPACED = new RegExp(`(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source}).)+`, 'gu');
const MARKS = /\p{M}+/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Letters that users type as a base letter, though Unicode has no decomposition for them. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ĸ: 'k',
  ς: 'σ',
};
const WITH_PLAIN_FORM = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

/** Below are the alphabets that are written with spaces, and most punctuation. */
const SIMPLE_UNITS = 0x2070;
/** Kinds of units that are no letter or digit; the kind of a letter or digit is its folded form. */
const SEPARATOR = 0;
const MARK = 1;
/** A unit that folds to several, or is part of more than a word: handled by regular expressions. */
const INTRICATE = 2;
const FIRST_LETTER = '0'.charCodeAt(0);
/** Kind by unit. Folding works on single characters, so a text may be folded unit by unit. */
const UNIT_KINDS = Uint16Array.from({ length: SIMPLE_UNITS }, (_, unit) => kindOf(unit));

export interface QueryWord {
  readonly word: string;
  readonly isPrefix: boolean;
}

const WORDS_FIRST = 1 << 12;

export class WordTable extends TextTable {
  constructor() {
    super(WORDS_FIRST);
  }

  /** Calls `take` with the number of each word of a text, repeated as often as it occurs. */
  eachOf(text: string, take: (word: number) => void): void {
    let start = 0;
    let length = 0;
    let hash = HASH_FIRST;
    let { end } = this;
    this.reserve(WORD_UNITS_MAX);
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const kind = unit < SIMPLE_UNITS ? UNIT_KINDS[unit]! : INTRICATE;
      if (kind >= FIRST_LETTER) {
        if (length === WORD_UNITS_MAX) continue;
        this.units[end + length] = kind;
        length += 1;
        hash = hashWith(hash, kind);
      } else if (kind !== MARK) {
        if (kind === INTRICATE) {
          at = separatorFrom(text, at);
          eachIntricate(text.slice(start, at), (word) => take(this.numberOf(word)));
        } else if (length > 0) take(this.numberOfNext(length, hash));
        start = at + 1;
        length = 0;
        hash = HASH_FIRST;
        end = this.end;
        this.reserve(WORD_UNITS_MAX);
      }
    }
    if (length > 0) take(this.numberOfNext(length, hash));
  }
}

function separatorFrom(text: string, from: number): number {
  let at = from;
  while (at < text.length && UNIT_KINDS[text.charCodeAt(at)] !== SEPARATOR) at += 1;
  return at;
}

function kindOf(unit: number): number {
  const letters = folded(String.fromCharCode(unit));
  if (letters === '') return MARK;
  if (!LETTER_OR_DIGIT.test(letters)) return SEPARATOR;
  return letters.length > 1 || UNSPACED.test(letters) ? INTRICATE : letters.charCodeAt(0);
}

/**
 * Calls `take` with the words of a text in any script. A script without spaces gives every pair,
 * and the last character alone.
 */
function eachIntricate(text: string, take: (word: string) => void): void {
  for (const { part, pairs, last } of partsOf(folded(text))) {
    if (pairs === undefined) take(cut(part));
    else [...pairs, pairOf(last, '')].forEach(take);
  }
}

/** Returns the different words of a query; the last is a prefix unless something follows it. */
export function queryWords(query: string): QueryWord[] {
  const words = new Map<string, boolean>();
  const add = (word: string, isPrefix: boolean): void => {
    if (words.size < QUERY_WORDS_MAX && !words.has(word)) words.set(word, isPrefix);
  };
  for (const { part, pairs, last, isLast } of partsOf(folded(query))) {
    if (words.size >= QUERY_WORDS_MAX) break;
    if (pairs === undefined) add(cut(part), isLast);
    else if (pairs.length === 0) add(pairOf(last, ''), true);
    else for (const pair of pairs) add(pair, false);
  }
  return [...words].map(([word, isPrefix]) => ({ word, isPrefix }));
}

/** Runs of letters and digits with or without spaces; `pairs` only of the latter. */
function* partsOf(text: string) {
  for (const match of text.matchAll(ANY_WORD)) {
    let end = match.index;
    for (const part of match[0].match(UNSPACED_OR_SPACED) ?? []) {
      end += part.length;
      const isLast = end === text.length;
      const characters = UNSPACED.test(part) ? [...part] : undefined;
      const pairs = characters?.slice(1).map((second, at) => pairOf(characters[at]!, second));
      yield { part, pairs, last: characters?.at(-1) ?? '', isLast };
    }
  }
}

/**
 * Returns a pair as digits: with the characters themselves, a node of the index's tree would have
 * thousands of children.
 */
function pairOf(first: string, second: string): string {
  return `_${digitsOf(first)}${second === '' ? '' : digitsOf(second)}`;
}

function digitsOf(character: string): string {
  return character.codePointAt(0)!.toString(36).padStart(4, '0');
}

function cut(word: string): string {
  return word.length > WORD_UNITS_MAX ? word.slice(0, WORD_UNITS_MAX) : word;
}

function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(WITH_PLAIN_FORM, (letter) => PLAIN[letter]!);
}
