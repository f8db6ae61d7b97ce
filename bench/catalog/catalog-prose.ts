/**
 * Invented English-like text: words have the frequencies of real prose and repeat within one text,
 * so that indexes, searches and compression behave as with real texts.
 *
 * Pure. Non-goals: meaning.
 */
import type { Random } from '../random.ts';

/** Distinct words of a real catalog of 35,000 markets. */
const VOCABULARY = 16_000;
/**
 * One word in so many is a repetition of the text: real events have 83 distinct words on average.
 */
const REPEAT_EACH = 3;
const COMMON =
  'the will to of in a by on and be is this if for market resolve yes no at or as not from any that ' +
  'source before between official than otherwise outcome event date resolution used date primary';
const FIRST = 'b br ch d dr f g gr h k l m n p pr qu r s st t tr v w z'.split(' ');
const VOWELS = 'a e i o u ai ea io ou é ü'.split(' ');
const LAST = 'b ck d l ll m n nd ng r rn s st t th x'.split(' ');
/** One event in so many has typographic quotes, which no one-byte string can hold. */
const CURLY_QUOTES_EACH = 6;

export class Words {
  readonly #random: Random;
  readonly #list: readonly string[];

  constructor(random: Random) {
    this.#random = random;
    const words = new Set(COMMON.split(' '));
    while (words.size < VOCABULARY) words.add(this.#invent());
    this.#list = [...words];
  }

  /** A place below `count`, the n-th about 1/n as likely as the first (Zipf's law). */
  rank(count: number): number {
    return Math.floor(count ** (this.#random.next() / 2 ** 32)) - 1;
  }

  /** A word, which is added to the words of the text. */
  word(had: string[]): string {
    if (had.length > 0 && this.#random.below(REPEAT_EACH) === 0) return this.#random.pick(had);
    const word = this.#list[this.rank(this.#list.length)]!;
    had.push(word);
    return word;
  }

  /** A writer of texts that belong together. */
  prose(): Prose {
    return new Prose(this, this.#random.below(CURLY_QUOTES_EACH) === 0);
  }

  #invent(): string {
    const random = this.#random;
    let word = '';
    for (let syllables = random.between(1, 3); syllables > 0; syllables -= 1) {
      word += random.pick(FIRST) + random.pick(VOWELS);
    }
    return random.below(3) > 0 ? word + random.pick(LAST) : word;
  }
}

export class Prose {
  readonly #words: Words;
  readonly #quotes: readonly [string, string];
  readonly #had: string[] = [];

  constructor(words: Words, isCurly: boolean) {
    this.#words = words;
    this.#quotes = isCurly ? ['“', '”'] : ['"', '"'];
  }

  words(count: number): string {
    return Array.from({ length: count }, () => this.#words.word(this.#had)).join(' ');
  }

  /** About so many characters, a capital first, a question mark last. */
  sentence(chars: number): string {
    return `${capital(this.#run(chars - 1))}?`;
  }

  question(outcome: string, chars: number): string {
    return `Will ${outcome} ${this.#run(chars - outcome.length - 7)}?`;
  }

  /** Sentences in paragraphs, about so many characters. */
  text(chars: number): string {
    let text = '';
    while (text.length < chars) {
      const isParagraph = text.length > 0 && text.length % 3 === 0;
      const gap = text === '' ? '' : isParagraph ? '\n\n' : ' ';
      text += `${gap}${capital(this.#run(Math.min(120, chars - text.length)))}.`;
    }
    return text;
  }

  /** A description for one outcome in front of what holds for all of its event. */
  about(outcome: string, common: string): string {
    const [open, close] = this.#quotes;
    const rule =
      `This market will resolve to ${open}Yes${close} if ${outcome} is the outcome. ` +
      `Otherwise, this market will resolve to ${open}No${close}. `;
    return `${rule}The source for ${outcome} will be official.\n\n${common}`;
  }

  #run(chars: number): string {
    let text = this.#words.word(this.#had);
    while (text.length < chars) text += ` ${this.#words.word(this.#had)}`;
    return text;
  }
}

export function titleCase(text: string): string {
  return text.split(' ').map(capital).join(' ');
}

/** Lower-case ASCII letters and digits with hyphens between. */
export function slugOf(text: string): string {
  const plain = text.normalize('NFKD').toLowerCase();
  return plain
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
