/**
 * Status line and headers of answers, written with as few calls into the HTTP library as can be: each
 * costs as much as parsing a query.
 *
 * Thread: I/O.
 */
import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from './uws.ts';

export type Headers = readonly (readonly [string, string])[];

/** What the library says by itself. */
const OK = 200;

const CONTENT_TYPE = 'application/json';

const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
);

/** Further lines that end in numbers, which differ from answer to answer and are written in place. */
export interface NumberedLines {
  /** Each line with its break before it, blanks in the places of the number. */
  readonly text: string;
  /** Where those places end, in bytes from the end of the text. */
  readonly placesFromEnd: readonly number[];
}

/** Bytes made of a list of headers, and the last ones made of it and further lines. */
interface Joined {
  readonly bytes: Uint8Array;
  lines: NumberedLines | undefined;
  longer: Uint8Array;
}

/**
 * The headers that all answers of one kind have in common, and what was joined with them. Bytes cost
 * the library less than a text of any length does.
 */
export class CommonHead {
  private readonly lines: string;
  private readonly plain: Joined;
  /** By list: the lists of most answers are made once. */
  private readonly joined = new WeakMap<Headers, Joined>();

  constructor(headers: Headers) {
    this.lines = linesOf(headers);
    this.plain = joinedOf(CONTENT_TYPE + this.lines);
  }

  /**
   * The value of Content-Type with all other headers in the lines behind it. Answers are JSON unless the
   * first header of the list says otherwise.
   */
  with(headers: Headers): Uint8Array {
    return this.find(headers).bytes;
  }

  /** The same and further lines with their number, a whole one; good until the next call. */
  withNumber(headers: Headers, lines: NumberedLines, number: number): Uint8Array {
    const joined = this.find(headers);
    if (joined.lines !== lines) {
      joined.lines = lines;
      joined.longer = Buffer.concat([joined.bytes, Buffer.from(lines.text)]);
    }
    const { longer } = joined;
    for (const place of lines.placesFromEnd) writeNumber(longer, longer.length - place, number);
    return longer;
  }

  private find(headers: Headers): Joined {
    if (headers.length === 0) return this.plain;
    const known = this.joined.get(headers);
    if (known !== undefined) return known;
    const [first] = headers;
    const isTyped = first?.[0] === 'Content-Type';
    const type = isTyped ? first[1] : CONTENT_TYPE;
    const made = joinedOf(type + this.lines + linesOf(isTyped ? headers.slice(1) : headers));
    this.joined.set(headers, made);
    return made;
  }
}

function joinedOf(value: string): Joined {
  const bytes = Buffer.from(value);
  return { bytes, lines: undefined, longer: bytes };
}

const ZERO = 0x30;
const BLANK = 0x20;

/** Right-aligned: blanks before a value are no part of it (RFC 9110 5.5). */
function writeNumber(bytes: Uint8Array, end: number, number: number): void {
  let at = end;
  let rest = number;
  do {
    at -= 1;
    bytes[at] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  } while (rest > 0);
  // What a longer number has left.
  for (at -= 1; bytes[at]! >= ZERO; at -= 1) bytes[at] = BLANK;
}

function linesOf(headers: Headers): string {
  let lines = '';
  for (const [name, value] of headers) {
    assert(!/\p{Cc}/u.test(value), 'a header value has no control characters');
    lines += `\r\n${name}: ${value}`;
  }
  return lines;
}

/**
 * Writes status line and headers; the socket has to be corked.
 *
 * @param value of Content-Type, as CommonHead makes it
 */
export function writeHead(response: HttpResponse, status: number, value: Uint8Array): void {
  if (status !== OK) {
    const line = STATUS_LINES.get(status);
    assert(line !== undefined, 'a registered status');
    response.writeStatus(line);
  }
  response.writeHeader('Content-Type', value);
}
