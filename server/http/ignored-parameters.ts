/** Parameters that were sent and change nothing are named in a header, so that nobody takes an
 * answer for a filtered one. */
import { decodeText, eachPair } from '../common/query.ts';
import type { Headers } from './answer-head.ts';

export const IGNORED_HEADER = 'X-Ignored-Parameters';

/** Names that are safe in a header; others are counted among them as `?`. */
const PRINTABLE = /^[\w.[\]-]{1,64}$/;
const NAMES_MAX = 32;

/** Of a query string in which one name alone counts. */
export function ignoredExcept(known: string, query: string): Headers {
  const names: string[] = [];
  eachPair(query, (sent) => {
    const name = decodeText(sent) ?? sent;
    if (name !== '' && name !== known) names.push(name);
    return '';
  });
  return ignoredHeaders(names);
}

/** No header at all where nothing was ignored. */
export function ignoredHeaders(names: readonly string[]): Headers {
  if (names.length === 0) return [];
  const shown = new Set(names.map((name) => (PRINTABLE.test(name) ? name : '?')));
  return [[IGNORED_HEADER, [...shown].slice(0, NAMES_MAX).join(', ')]];
}
