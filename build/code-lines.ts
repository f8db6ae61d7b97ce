/**
 * The lines with code of a compiled file, and which of them V8 has seen running. A line counts by its first word; lines of
 * punctuation, comments, imports and re-exports do not count.
 * Pure.
 */

/** Coverage of a function, as NODE_V8_COVERAGE writes it: the first range is the function, later ones lie inside it. */
export interface FunctionCoverage {
  readonly ranges: readonly {
    readonly startOffset: number;
    readonly endOffset: number;
    readonly count: number;
  }[];
}

const STATEMENTS_LEFT_OUT =
  /^(?:import\b[^;'"]*['"][^'"]+['"]|export\s*(?:\*[^;'"]*|\{[^}]*\})(?:\s*from\s*['"][^'"]+['"])?).*$/gm;
const COMMENTS = /^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*)/gm;
/** Punctuation, and words that only join blocks. */
const NO_CODE = /^[^\w$'"`]*(?:(?:else|try|finally|do)\b[^\w$'"`]*)?$/;
const WORD = /[\w$'"`]/;

export class CodeLines {
  /** Numbers of the lines with code, from 0, ascending. */
  readonly lines: readonly number[];
  /** Column of the first word, by index of `lines`. */
  readonly columns: readonly number[];
  /** 1 = the line has run; by index of `lines`. */
  readonly ran: Uint8Array;
  readonly #offsets: readonly number[];

  constructor(text: string) {
    const blank = (left: string): string => left.replaceAll(/[^\n]/g, ' ');
    const code = text.replaceAll(COMMENTS, blank).replaceAll(STATEMENTS_LEFT_OUT, blank);
    const found: { readonly line: number; readonly column: number; readonly offset: number }[] = [];
    let offset = 0;
    for (const [line, content] of code.split('\n').entries()) {
      const column = content.search(WORD);
      if (!NO_CODE.test(content)) found.push({ line, column, offset: offset + column });
      offset += content.length + 1;
    }
    this.lines = found.map(({ line }) => line);
    this.columns = found.map(({ column }) => column);
    this.#offsets = found.map((each) => each.offset);
    this.ran = new Uint8Array(found.length);
  }

  /** Adds what one process or thread has run. */
  add(functions: readonly FunctionCoverage[]): void {
    const now = new Uint8Array(this.ran.length);
    for (const { ranges } of functions) {
      for (const { count, endOffset, startOffset } of ranges) {
        now.fill(count > 0 ? 1 : 0, this.#firstFrom(startOffset), this.#firstFrom(endOffset));
      }
    }
    for (const [i, hasRun] of now.entries()) if (hasRun === 1) this.ran[i] = 1;
  }

  /** Marks a line, if it has code. */
  mark(line: number): void {
    const at = firstAtLeast(this.lines, line);
    if (this.lines[at] === line) this.ran[at] = 1;
  }

  #firstFrom(offset: number): number {
    return firstAtLeast(this.#offsets, offset);
  }
}

/** Index of the first number that is not smaller; the length where all are. */
function firstAtLeast(ascending: readonly number[], number: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
