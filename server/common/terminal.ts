/**
 * Output of the command line: lines for people and data for programs. A line has no character that a terminal
 * obeys, wherever its text comes from; colours are pieces of their own. Data leaves unchanged into a file or a pipe,
 * and escaped as JSON does it where a terminal would read it.
 * Rules: docs/protocol.md#texts
 */

import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { escapeOf, replaceUnprintable } from '../../storage/texts/printable.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;
const CLEAR_SCREEN = '\x1b[H\x1b[J';
const CLEAR_LINE = '\r\x1b[K';

/** Returns a text in which each character that a terminal obeys, or does not show, is escaped as in JSON. */
export function terminalText(text: string, kept = ''): string {
  return replaceUnprintable(text, kept, escapeOf);
}

class Painted {
  readonly text: string;
  private readonly code: number | undefined;

  constructor(text: string, code: number | undefined) {
    this.text = terminalText(text);
    this.code = code;
  }

  written(): string {
    return this.code === undefined ? this.text : `\x1b[${this.code}m${this.text}\x1b[0m`;
  }

  /** The plain text: a template literal loses the colour, not the protection. */
  toString(): string {
    return this.text;
  }
}

export type Piece = string | Painted;
export type Paint = Readonly<Record<keyof typeof COLOURS, (text: string) => Painted>>;

export class Output {
  private readonly stream: Writable;
  readonly isTerminal: boolean;
  /** Colours on a terminal, unless NO_COLOR is set. */
  readonly paint: Paint;

  constructor(stream: Writable, env: Environment) {
    this.stream = stream;
    this.isTerminal = (stream as { readonly isTTY?: boolean }).isTTY === true;
    const hasColours = this.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
    const paint = (code: number) => (text: string) =>
      new Painted(text, hasColours ? code : undefined);
    this.paint = {
      bold: paint(COLOURS.bold),
      dim: paint(COLOURS.dim),
      red: paint(COLOURS.red),
      green: paint(COLOURS.green),
      yellow: paint(COLOURS.yellow),
    };
  }

  /** Writes one line: a line break within a piece is escaped. */
  line(...pieces: readonly Piece[]): void {
    this.stream.write(`${lineOf(pieces)}\n`);
  }

  lines(lines: Iterable<Piece>): void {
    this.stream.write(textOf(lines));
  }

  /** Writes text of the program itself that has several lines, as help has. */
  block(text: string): void {
    this.stream.write(terminalText(text, '\n'));
  }

  /** Writes lines where the lines before them stood, on a terminal. Resolves with false when the reader is gone. */
  redraw(lines: Iterable<Piece>, isFirst: boolean): Promise<boolean> {
    const clear = this.isTerminal && !isFirst ? CLEAR_SCREEN : '';
    return new Promise((resolve) => {
      this.stream.write(`${clear}${textOf(lines)}`, (error) => resolve(error == null));
    });
  }

  /** Replaces the last line of a terminal; an empty text removes it. Nothing elsewhere. */
  status(text: string): void {
    if (this.isTerminal) this.stream.write(`${CLEAR_LINE}${terminalText(text)}`);
  }

  json(value: unknown, indent?: number): void {
    this.data(`${JSON.stringify(value, null, indent)}\n`);
  }

  data(text: string): void {
    this.stream.write(this.isTerminal ? shownData(text) : text);
  }

  /** Returns a stream for data in pieces. Its end does not end the output. */
  dataStream(): Writable {
    return new DataStream(this.stream, this.isTerminal);
  }
}

export function aligned(
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean = () => false,
): string[] {
  const shown = rows.map((row) => row.map((cell) => terminalText(cell)));
  const widths: number[] = [];
  for (const row of shown) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  return shown.map((row) =>
    row
      .map((cell, i) => (isRight(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}

class DataStream extends Writable {
  private readonly stream: Writable;
  private readonly decoder: StringDecoder | undefined;

  constructor(stream: Writable, isTerminal: boolean) {
    super();
    this.stream = stream;
    // A character may lie in two pieces.
    if (isTerminal) this.decoder = new StringDecoder('utf8');
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    const data = this.decoder === undefined ? bytes : shownData(this.decoder.write(bytes));
    this.stream.write(data, done);
  }
}

function shownData(text: string): string {
  return terminalText(text, '\n\t').replaceAll('\\r\n', '\r\n');
}

function lineOf(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => (piece instanceof Painted ? piece.written() : terminalText(piece)))
    .join('');
}

function textOf(lines: Iterable<Piece>): string {
  let text = '';
  for (const line of lines) text += `${lineOf([line])}\n`;
  return text;
}
