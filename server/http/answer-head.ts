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

/** The headers that all answers of one kind have in common, and what was joined with them. */
export class CommonHead {
  private readonly common: string;
  /** By list: the lists of most answers are made once. */
  private readonly joined = new WeakMap<Headers, string>();

  constructor(headers: Headers) {
    this.common = CONTENT_TYPE + linesOf(headers);
  }

  /** The value of Content-Type with all other headers in the lines behind it. */
  with(headers: Headers): string {
    if (headers.length === 0) return this.common;
    const known = this.joined.get(headers);
    if (known !== undefined) return known;
    const value = this.common + linesOf(headers);
    this.joined.set(headers, value);
    return value;
  }
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
 * @param value of Content-Type, as CommonHead makes it, further lines appended
 */
export function writeHead(response: HttpResponse, status: number, value: string): void {
  if (status !== OK) {
    const line = STATUS_LINES.get(status);
    assert(line !== undefined, 'a registered status');
    response.writeStatus(line);
  }
  response.writeHeader('Content-Type', value);
}
