/**
 * Header that names query parameters without effect, so that no client takes an answer for a filtered one.
 */
import { decodeText, eachPair } from '../common/query.ts';
import type { Headers } from './answer-head.ts';

export const IGNORED_HEADER = 'X-Ignored-Parameters';

/** Names that are safe in a header; others appear as `?`. */
const PRINTABLE = /^[\w.[\]-]{1,64}$/;
const NAMES_MAX = 32;

export function ignoredExcept(known: string, query: string): Headers {
  const names: string[] = [];
  eachPair(query, (sent) => {
    const name = decodeText(sent) ?? sent;
    if (name !== '' && name !== known) names.push(name);
    return '';
  });
  return ignoredHeaders(names);
}

export function ignoredHeaders(names: readonly string[]): Headers {
  if (names.length === 0) return [];
  const shown = new Set(names.map((name) => (PRINTABLE.test(name) ? name : '?')));
  return [[IGNORED_HEADER, [...shown].slice(0, NAMES_MAX).join(', ')]];
}
