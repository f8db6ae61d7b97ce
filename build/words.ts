/**
 * Checks the words of code: how doc comments begin, words that mean nothing outside of this project, and objects that
 * are spread as literals. Part of `npm run check`.
 *
 *   node --import tsx build/words.ts     prints each place with a better form; ends with 1 where there is one
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['build', 'engine', 'storage', 'server', 'client', 'examples', 'bench', 'test'];
/** Files that name the words in order to forbid them. */
const OWN = ['build/words.ts'];
/** Texts of answers, which clients compare. */
const ON_WIRE = /the clock is not in doubt/g;

/** First words of a doc comment that make it a clause. */
const CLAUSE =
  /\/\*\*[\s*]*(What|Whether|Of|By|How|Where|Why|As|Who|Whose|Whom|When|So|The same)\b[^\n]*/g;
const SPREAD = /\.\.\.\{ ?[a-zA-Z][^\n]*/g;

/** Words, as parts of names too, and the words that the field uses. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:caller|delayed)[ -]?lines\b/gi, 'wallet queue'],
  [/\bown commands\b/gi, 'internal commands'],
  [/\b\w*Keeper\b/g, 'service, cache or watcher'],
  [/\b\w*Meters\b/g, 'metrics'],
  [/\bseqlock/gi, 'sequence lock'],
  [/\bunsaid\b/gi, 'unpublished'],
  [/\bstarting over\b/gi, 'resync'],
  [/\b(?:in doubt|doubts?|DOUBTS?)\b/g, 'stale, stale since, reason'],
  [/\bcensus\b/gi, 'connection counts'],
  [/\bwasted (?:bodies|bytes)\b/gi, 'discarded bodies'],
  [/\bheld by a test\b/gi, 'checked by a test'],
  [/\bpatient reader\b/gi, 'waiting reader'],
];

function* placesIn(text: string): Generator<readonly [index: number, message: string]> {
  for (const match of text.matchAll(CLAUSE)) {
    const better = 'begin with a noun phrase or a verb ("Returns ...", "Header fields of ...")';
    yield [match.index, `a doc comment begins with "${match[1]}": ${better}`];
  }
  for (const match of text.matchAll(SPREAD)) {
    yield [match.index, `"${match[0]}" spreads a literal: write its members one by one`];
  }
  for (const [word, better] of WORDS) {
    for (const match of text.matchAll(word)) {
      yield [match.index, `"${match[0]}" is a word of this project alone: ${better}`];
    }
  }
}

let count = 0;
for (const folder of FOLDERS) {
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    const path = `${folder}/${name}`;
    if (!/\.tsx?$/.test(name) || OWN.includes(path)) continue;
    const text = readFileSync(join(ROOT, path), 'utf8').replace(ON_WIRE, '');
    for (const [index, message] of placesIn(text)) {
      count += 1;
      const line = text.slice(0, index).split('\n').length;
      process.stderr.write(`${path}:${line}: ${message}\n`);
    }
  }
}
process.exitCode = count === 0 ? 0 : 1;
