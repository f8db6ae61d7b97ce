/**
 * What a command writes apart from its result: colours and progress. Only on a terminal (and no
 * colours when NO_COLOR is set), so that piped output stays plain.
 */
import type { Writable } from 'node:stream';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Gives a text a colour, or leaves it as it is. */
export type Paint = Readonly<Record<keyof typeof CODES, (text: string) => string>>;

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;
const PROGRESS_MS = 100;
const CLEAR_LINE = '\r\x1b[K';
/** Moves the cursor to the corner and clears the screen below it. */
export const CLEAR_SCREEN = '\x1b[H\x1b[J';

export function isTerminal(stream: Writable): boolean {
  return (stream as { readonly isTTY?: boolean }).isTTY === true;
}

export function painter(stream: Writable, env: Environment): Paint {
  const hasColours = isTerminal(stream) && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint = (code: number) => (text: string) =>
    hasColours ? `\x1b[${code}m${text}\x1b[0m` : text;
  return {
    bold: paint(CODES.bold),
    dim: paint(CODES.dim),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
  };
}

/** One line with the progress of long work; nothing when the output is not a terminal. */
export class Progress {
  private readonly stream: Writable;
  private readonly isShown: boolean;
  private shownAt = 0;
  private isDirty = false;

  constructor(stream: Writable) {
    this.stream = stream;
    this.isShown = isTerminal(stream);
  }

  readonly show = (what: string, done: number, total: number): void => {
    const now = performance.now();
    if (!this.isShown || now - this.shownAt < PROGRESS_MS) return;
    this.shownAt = now;
    this.isDirty = true;
    const share = total > 0 ? ` ${Math.floor((100 * done) / total)} %` : '';
    this.stream.write(`${CLEAR_LINE}${what}${share}`);
  };

  clear(): void {
    if (this.isDirty) this.stream.write(CLEAR_LINE);
    this.isDirty = false;
  }
}

/** Rows with aligned columns. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
}
