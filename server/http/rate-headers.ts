/**
 * What the answers to limited requests tell of their limits: X-RateLimit-Limit, -Remaining and
 * -Reset (unix seconds) of the row that binds first, and Retry-After where the request was refused.
 * They come as lines to be appended to another header's value, which costs no call of its own.
 */
import type { Verdict } from './rate-limiter.ts';

const MS = 1_000;
const STANDARD = 'X-RateLimit';

/** The lines of one family of names, the number that remains to follow. */
type Head = (limit: number, reset: number) => string;

const standardHead: Head = (limit, reset) =>
  `\r\n${STANDARD}-Limit: ${limit}\r\n${STANDARD}-Reset: ${reset}\r\n${STANDARD}-Remaining: `;

export class RateHeaders {
  readonly names: readonly string[];
  private readonly heads: readonly Head[];
  private limit = 0;
  private reset = 0;
  /** Made for limit and reset: they seldom differ from one request to the next. */
  private made: readonly string[] = [];

  /** @param family another first part of the names, under which clients look too; '' = none */
  constructor(family = '') {
    const standard = ['Limit', 'Remaining', 'Reset'].map((part) => `${STANDARD}-${part}`);
    const other = [`${family}-Remaining`, `${family}-Reset`];
    this.names = ['Retry-After', ...standard, ...(family === '' ? [] : other)];
    const otherHead: Head = (_, reset) => `\r\n${family}-Reset: ${reset}\r\n${family}-Remaining: `;
    this.heads = family === '' ? [standardHead] : [standardHead, otherHead];
  }

  /** Each line with its break before it. */
  linesOf({ allowed, limit, remaining, resetMs }: Verdict, nowMs: number): string {
    const reset = Math.ceil(resetMs / MS);
    if (limit !== this.limit || reset !== this.reset) {
      this.limit = limit;
      this.reset = reset;
      this.made = this.heads.map((head) => head(limit, reset));
    }
    let lines = '';
    for (const head of this.made) lines += head + remaining;
    return allowed ? lines : `${lines}\r\nRetry-After: ${Math.ceil((resetMs - nowMs) / MS)}`;
  }
}

/** CREDENTIAL_PREFIX=POLY: clients of that family read Poly-RateLimit-Remaining and -Reset. */
export function familyOf(credentialPrefix: string, usual: string): string {
  if (credentialPrefix === usual) return '';
  const name = credentialPrefix.charAt(0) + credentialPrefix.slice(1).toLowerCase();
  return `${name.replaceAll('_', '-')}-RateLimit`;
}
