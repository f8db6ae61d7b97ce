/**
 * Headers of answers to limited requests: X-RateLimit-Limit, -Remaining and -Reset (unix seconds) of the row
 * that binds first, and Retry-After on a refusal.
 */
import type { Headers, NumberedLines } from '../answer-head.ts';
import type { RateDecision } from './rate-limiter.ts';

const MS = 1_000;
const STANDARD = 'X-RateLimit';
/** Every caller has the same caps, so there is one tier (docs/protocol.md#rate-limits). */
const TIER = 'standard';

export class RateHeaders {
  readonly names: readonly string[];
  private readonly family: string;
  private limit = 0;
  private reset = 0;
  private warned = false;
  /** Cache keyed by the two numbers, which seldom change between requests. */
  private lines: NumberedLines = { text: '', placesFromEnd: [] };
  private waitSeconds = 0;
  private wait: Headers = [];

  /** True where counts of handlers show in the headers too (docs/protocol.md#rate-limits). */
  get showsHandlerRows(): boolean {
    return this.family !== '';
  }

  /** @param family additional first part of the header names, for clients that read those; '' = none */
  constructor(family = '') {
    const standard = ['Limit', 'Remaining', 'Reset'].map((part) => `${STANDARD}-${part}`);
    const other = ['Remaining', 'Reset', 'Tier', 'Warning'].map((part) => `${family}-${part}`);
    this.family = family;
    this.names = ['Retry-After', ...standard, ...(family === '' ? [] : other)];
  }

  /** Header lines of any answer; the number to write in place is the remaining count. */
  linesOf({ limit, resetMs, warned }: RateDecision): NumberedLines {
    const reset = Math.ceil(resetMs / MS);
    if (limit !== this.limit || reset !== this.reset || warned !== this.warned) {
      this.limit = limit;
      this.reset = reset;
      this.warned = warned;
      this.lines = this.render(limit, reset, warned);
    }
    return this.lines;
  }

  private render(limit: number, reset: number, warned: boolean): NumberedLines {
    const place = ' '.repeat(String(limit).length);
    const own =
      `\r\n${STANDARD}-Limit: ${limit}\r\n${STANDARD}-Reset: ${reset}` +
      `\r\n${STANDARD}-Remaining: ${place}`;
    if (this.family === '') return { text: own, placesFromEnd: [0] };
    const warning = warned ? `\r\n${this.family}-Warning: true` : '';
    const other =
      `\r\n${this.family}-Tier: ${TIER}${warning}` +
      `\r\n${this.family}-Reset: ${reset}\r\n${this.family}-Remaining: ${place}`;
    return { text: own + other, placesFromEnd: [0, other.length] };
  }

  /** Retry-After of a refusal: whole seconds, at least one. */
  retryAfter({ resetMs }: RateDecision, nowMs: number): Headers {
    const seconds = Math.ceil((resetMs - nowMs) / MS);
    if (seconds !== this.waitSeconds) {
      this.waitSeconds = seconds;
      this.wait = [['Retry-After', String(seconds)]];
    }
    return this.wait;
  }
}

/** CREDENTIAL_PREFIX=POLY: clients of that family read Poly-RateLimit-Remaining and -Reset. */
export function familyOf(credentialPrefix: string, usual: string): string {
  if (credentialPrefix === usual) return '';
  const name = credentialPrefix.charAt(0) + credentialPrefix.slice(1).toLowerCase();
  return `${name.replaceAll('_', '-')}-RateLimit`;
}
