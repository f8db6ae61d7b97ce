/**
 * Status line and headers of answers, written with few calls into the HTTP library: each call costs as much
 * as parsing a query.
 *
 * Thread: I/O.
 */
import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { SEQUENCE_HEADER } from './sequence.ts';
import type { HttpResponse } from './uws.ts';

export type Headers = readonly (readonly [string, string])[];

const OK = 200;
/** Beginning of the head of a 200, as far as the value of its Content-Type. */
const OK_HEAD = '200 OK\r\nContent-Type: ';

const CONTENT_TYPE = 'application/json';

const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
);

/** Header lines, each with its break before it; blanks reserve the digits of numbers written in place. */
export interface NumberedLines {
  readonly text: string;
  /** End of each reserved range, in bytes from the end of the text. */
  readonly placesFromEnd: readonly number[];
}

/** Bytes of a header list, and the latest bytes made of it and further lines. */
interface Joined {
  readonly bytes: Uint8Array;
  /** End offset of the batch sequence; 0 = none. */
  readonly sequenceEnd: number;
  lines: NumberedLines | undefined;
  longer: Uint8Array;
}

/** 16 digits hold every value up to 2^53. */
const SEQUENCE_PLACE = `\r\n${SEQUENCE_HEADER}: ${' '.repeat(16)}`;

/**
 * Headers shared by all answers of one kind, and the byte strings joined from them. Bytes cost the library
 * less than a text of any length.
 */
export class CommonHead {
  private readonly headers: Headers;
  private readonly lines: string;
  private readonly plain: Joined;
  /** Keyed by list: the lists of most answers are made once. */
  private readonly joined = new WeakMap<Headers, Joined>();
  /** Line reserved for the batch sequence, '' where there is none. */
  private readonly place: string;
  private sequence = 0;
  private placed: CommonHead | undefined;

  constructor(headers: Headers, place = '') {
    this.place = place;
    this.headers = headers;
    this.lines = linesOf(headers);
    this.plain = this.join(CONTENT_TYPE, '');
  }

  /** Returns this head with a batch sequence; valid until the next call. */
  withSequence(sequence: number): CommonHead {
    this.placed ??= new CommonHead(this.headers, SEQUENCE_PLACE);
    this.placed.sequence = sequence;
    return this.placed;
  }

  /**
   * Status line of a 200 without its version, and all headers in the lines behind it. JSON is the default
   * Content-Type; one at the start of the list replaces it.
   */
  with(headers: Headers): Uint8Array {
    const { bytes, sequenceEnd } = this.find(headers);
    if (sequenceEnd > 0) writeNumber(bytes, sequenceEnd, this.sequence);
    return bytes;
  }

  /** Adds further lines with an integer in their reserved ranges; the result is valid until the next call. */
  withNumber(headers: Headers, lines: NumberedLines, number: number): Uint8Array {
    const joined = this.find(headers);
    if (joined.lines !== lines) {
      joined.lines = lines;
      joined.longer = Buffer.concat([joined.bytes, Buffer.from(lines.text)]);
    }
    const { longer, sequenceEnd } = joined;
    if (sequenceEnd > 0) writeNumber(longer, sequenceEnd, this.sequence);
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
    const made = this.join(type, linesOf(isTyped ? headers.slice(1) : headers));
    this.joined.set(headers, made);
    return made;
  }

  private join(type: string, lines: string): Joined {
    const head = Buffer.from(OK_HEAD + type + this.lines + this.place);
    const bytes = Buffer.concat([head, Buffer.from(lines)]);
    const sequenceEnd = this.place === '' ? 0 : head.length;
    return { bytes, sequenceEnd, lines: undefined, longer: bytes };
  }
}

const ZERO = 0x30;
const BLANK = 0x20;

/** Writes right-aligned: blanks before a value are no part of it (RFC 9110 5.5). */
function writeNumber(bytes: Uint8Array, end: number, number: number): void {
  let at = end;
  let rest = number;
  do {
    at -= 1;
    bytes[at] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  } while (rest > 0);
  // Clears digits left by a longer number.
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
 * @param head of a 200, from CommonHead
 */
export function writeHead(response: HttpResponse, status: number, head: Uint8Array): void {
  if (status === OK) {
    response.writeStatus(head);
    return;
  }
  const line = STATUS_LINES.get(status);
  assert(line !== undefined, 'a registered status');
  response.writeStatus(line);
  response.writeHeader('Content-Type', head.subarray(OK_HEAD.length));
}
