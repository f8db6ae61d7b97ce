/**
 * Text to the words that search compares: letters and digits in any script, without case and
 * diacritics. The same for what is indexed and what is asked, so that both meet.
 *
 * Scripts written without spaces (Chinese, Japanese, Thai and their kin) have no words to split at:
 * they are cut into pairs of neighbouring characters, so a query finds any text that contains it,
 * at the price of one that has the same pairs in another order.
 *
 * Pure; any thread. Non-goals: stems, synonyms, misspellings.
 */

/** Longer words are cut: what follows tells no two texts apart, and a text may be one word. */
const WORD_UNITS_MAX = 64;
/**
 * Words of a query that count, the first ones. Every further word can only narrow what these found,
 * and each costs a walk over all texts that have it.
 */
const QUERY_WORDS_MAX = 32;

const ASCII_WORD = /[a-z0-9]+/g;
const ANY_WORD = /[\p{L}\p{N}]+/gu;
const NON_ASCII = /[^\0-\x7f]/;
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const UNSPACED_OR_SPACED = new RegExp(`(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source}).)+`, 'gu');
const MARKS = /\p{M}+/gu;
/** Letters that are a base letter to whoever types, though Unicode gives them no decomposition. */
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

/** A word of a query. */
export interface QueryWord {
  readonly word: string;
  /** Words that begin with it count too. */
  readonly isPrefix: boolean;
}

/** Calls `take` with each word of a text, repeated as often as it occurs. */
export function eachWord(text: string, take: (word: string) => void): void {
  if (!NON_ASCII.test(text)) {
    for (const word of text.toLowerCase().match(ASCII_WORD) ?? []) take(cut(word));
    return;
  }
  for (const word of folded(text).match(ANY_WORD) ?? []) {
    if (!UNSPACED.test(word)) take(cut(word));
    else for (const part of word.match(UNSPACED_OR_SPACED) ?? []) eachOfPart(part, take);
  }
}

/** The different words of a query, the last of which is a prefix unless something follows it. */
export function queryWords(query: string): QueryWord[] {
  const words = new Map<string, boolean>();
  const text = folded(query);
  for (const match of text.matchAll(ANY_WORD)) {
    const parts = match[0].match(UNSPACED_OR_SPACED) ?? [];
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1 && match.index + match[0].length === text.length;
      addQueryPart(words, part, isLast);
      if (words.size >= QUERY_WORDS_MAX) return toList(words);
    }
  }
  return toList(words);
}

function addQueryPart(words: Map<string, boolean>, part: string, isLast: boolean): void {
  const add = (word: string, isPrefix: boolean): void => {
    if (words.size < QUERY_WORDS_MAX && !words.has(word)) words.set(word, isPrefix);
  };
  if (!UNSPACED.test(part)) {
    add(cut(part), isLast);
    return;
  }
  const characters = [...part];
  if (characters.length === 1) add(pairOf(part, ''), true);
  for (let i = 1; i < characters.length; i++)
    add(pairOf(characters[i - 1]!, characters[i]!), false);
}

function toList(words: ReadonlyMap<string, boolean>): QueryWord[] {
  return [...words].map(([word, isPrefix]) => ({ word, isPrefix }));
}

/** Every pair, and the last character alone: each character then begins something. */
function eachOfPart(part: string, take: (word: string) => void): void {
  if (!UNSPACED.test(part)) {
    take(cut(part));
    return;
  }
  let previous = '';
  for (const character of part) {
    if (previous !== '') take(pairOf(previous, character));
    previous = character;
  }
  take(pairOf(previous, ''));
}

/**
 * A pair in plain digits. Spelled as they are, thousands of different characters would stand side
 * by side in each node of the index's tree, which is searched from first to last.
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
