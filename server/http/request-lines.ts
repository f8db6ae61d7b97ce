/**
 * Facts that need a walk over all header lines, because getHeader of the package sees the first of each name,
 * and values of some headers, which are cheapest in the same walk.
 *
 * A request whose length two readers could understand differently is refused. Behind a proxy that shares
 * connections, the rest of one caller's body would be read as another caller's request. The package itself
 * takes the first of several lengths, and any transfer coding for `chunked`.
 *
 * Thread: I/O, while the package's handler runs.
 */
import type { HttpRequest } from './uws.ts';

/** Digits of every length below a gigabyte. */
const LENGTH_DIGITS = 9;
const ZERO = 0x30;

interface RequestLines {
  /** First line of each wanted name, '' when absent. */
  readonly values: readonly string[];
  /** All X-Forwarded-For lines: a proxy may append one of its own. */
  readonly forwardedFor: string;
  readonly isAmbiguous: boolean;
  /** Declared length of the body; '' = none. */
  readonly length: string;
}

export function readLines(request: HttpRequest, names: readonly string[]): RequestLines {
  const values = new Array<string>(names.length).fill('');
  let seen = 0;
  const forwarded: string[] = [];
  let length: string | undefined;
  let codings = 0;
  let isAmbiguous = false;
  request.forEach((name, value) => {
    const place = names.indexOf(name);
    if (place >= 0) {
      if ((seen & (1 << place)) === 0) values[place] = value;
      seen |= 1 << place;
    }
    if (name === 'x-forwarded-for') forwarded.push(value);
    else if (name === 'content-length') {
      isAmbiguous ||= length !== undefined && length !== value;
      length = value;
    } else if (name === 'transfer-encoding') {
      codings += 1;
      isAmbiguous ||= codings > 1 || value.toLowerCase() !== 'chunked';
    }
  });
  return { values, forwardedFor: forwarded.join(','), isAmbiguous, length: length ?? '' };
}

export function parametersOf(request: HttpRequest, count: number): readonly string[] {
  const parameters: string[] = [];
  for (let index = 0; index < count; index++) parameters.push(request.getParameter(index) ?? '');
  return parameters;
}

/** Value of a declared length; 0 = none. Digits are read one by one, which costs less than Number(). */
export function lengthOf(declared: string): number {
  if (declared.length > LENGTH_DIGITS) return Number(declared);
  let length = 0;
  for (let i = 0; i < declared.length; i++) {
    const digit = declared.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return Number(declared);
    length = 10 * length + digit;
  }
  return length;
}

/** Bytes of a header's name for getHeader: they cost the library less than a text. */
export function headerName(name: string): ArrayBuffer {
  // A copy has no bytes but these, where a Buffer may lie in a pool.
  return new Uint8Array(Buffer.from(name.toLowerCase())).buffer;
}
