/**
 * What only a look at all header lines tells, getHeader of the package sees the first of each name; and the
 * values of some of them, which cost least when they are taken in the same walk.
 *
 * A request whose length two readers could understand differently is refused: behind a proxy that shares
 * connections, the rest of one caller's body would be read as another caller's request. The package itself
 * takes the first of several lengths, and any transfer coding for `chunked`.
 *
 * Thread: I/O, while the package's handler runs.
 */
import type { HttpRequest } from './uws.ts';

interface RequestLines {
  /** Of the wanted names: of each name the first line, '' when absent. */
  readonly values: readonly string[];
  /** All of X-Forwarded-For: a proxy may append a line of its own. */
  readonly forwardedFor: string;
  readonly isAmbiguous: boolean;
  /** Of the body, as the caller says it; '' = it does not. */
  readonly length: string;
}

export function readLines(request: HttpRequest, names: readonly string[]): RequestLines {
  const values = new Array<string>(names.length).fill('');
  /** Bits of the names that were seen. */
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

/** Values of the ':name' parts of a path. */
export function parametersOf(request: HttpRequest, count: number): readonly string[] {
  const parameters: string[] = [];
  for (let index = 0; index < count; index++) parameters.push(request.getParameter(index) ?? '');
  return parameters;
}
