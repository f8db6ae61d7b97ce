/**
 * The naive reader of JSON, by recursion over tokens: the judge where two other readers differ.
 * JSON.parse reads only single texts, numbers and words here, never an object.
 */

const TOKEN = /[ \t\r\n]*([{}[\],:]|"(?:[^"\\]|\\[\s\S])*"|[^ \t\r\n{}[\],:"]+)/y;
const SPACE = /[ \t\r\n]*/y;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * True where JSON.parse takes an escaped name for one of an object before it: for a name that the characters between
 * the quotes begin with. A defect of V8 13.6, which Node 24 has.
 */
export const MISREADS_NAMES = misreadsNames();

function misreadsNames(): boolean {
  JSON.parse(String.raw`{"q":0,"q\\":0}`);
  return Object.keys(JSON.parse(String.raw`{"q":0,"q\n":0}`) as object)[1] !== 'q\n';
}

/** Returns `undefined` for bytes that are not JSON. */
export function readPlainly(bytes: Uint8Array): unknown {
  try {
    return new PlainReader(utf8.decode(bytes)).whole();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

class PlainReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value(this.#next());
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    if (SPACE.lastIndex !== this.#text.length) throw new SyntaxError('more behind the value');
    return value;
  }

  #next(): string {
    TOKEN.lastIndex = this.#at;
    const token = TOKEN.exec(this.#text)?.[1];
    if (token === undefined) throw new SyntaxError('no token');
    this.#at = TOKEN.lastIndex;
    return token;
  }

  #value(token: string): unknown {
    if (token === '[') return this.#items();
    if (token === '{') return this.#members();
    return JSON.parse(token);
  }

  #items(): unknown[] {
    const items: unknown[] = [];
    let token = this.#next();
    if (token === ']') return items;
    for (;;) {
      items.push(this.#value(token));
      if (this.#isLast(']')) return items;
      token = this.#next();
    }
  }

  #members(): object {
    const members: object = {};
    let token = this.#next();
    if (token === '}') return members;
    for (;;) {
      if (!token.startsWith('"') || this.#next() !== ':') throw new SyntaxError('no name');
      const value = this.#value(this.#next());
      const member = { value, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(members, JSON.parse(token) as string, member);
      if (this.#isLast('}')) return members;
      token = this.#next();
    }
  }

  /** Returns true at the end of a list; otherwise a comma leads to its next element. */
  #isLast(end: string): boolean {
    const token = this.#next();
    if (token !== end && token !== ',') throw new SyntaxError('no comma');
    return token === end;
  }
}
