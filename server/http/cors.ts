/**
 * Cross-origin requests: web pages that may read answers, and answers to preflights.
 *
 * Credentials are headers set by the page and there are no cookies, so by default every page may read.
 * Thread: I/O.
 */
import { CommonHead, type Headers } from './answer-head.ts';
import { MIN_SEQUENCE_HEADER } from './sequence.ts';

/** Origins whose pages may read answers; one `*` = all origins, empty = none. */
export type CorsOrigins = readonly string[];

export const ALL_ORIGINS: CorsOrigins = ['*'];

const HEADERS_ALLOWED = ['Content-Type', 'If-None-Match', MIN_SEQUENCE_HEADER];

const MAX_AGE_SECONDS = 86_400;

/**
 * Reads CORS_ORIGINS: `*`, `none`, or a comma-separated list of origins as browsers send them, such as
 * `https://app.example`. `detail` names the first invalid entry.
 */
export function parseCorsOrigins(
  text: string,
): { ok: true; value: CorsOrigins } | { ok: false; detail: string } {
  if (text === '*') return { ok: true, value: ALL_ORIGINS };
  if (text === 'none') return { ok: true, value: [] };
  const origins = text.split(',').map((entry) => entry.trim());
  const wrong = origins.find((origin) => !isOrigin(origin));
  return wrong === undefined
    ? { ok: true, value: origins }
    : { ok: false, detail: `${JSON.stringify(wrong)} is no origin` };
}

export function corsOriginsText(origins: CorsOrigins): string {
  return origins.join(',') || 'none';
}

function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#,\s@*]+$/.test(text)) return false;
  // A web address must equal its origin: no path, default port or capital letters.
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Headers common to all answers, chosen by the origin of the request. */
export interface Heads {
  /** True where answers differ by origin; then heads are chosen by the header Origin. */
  readonly asksOrigin: boolean;
  headFor(origin: string): CommonHead;
}

/** Heads of a node that may lag behind its cluster; while it does, answers say so. */
export class StaleHeads implements Heads {
  readonly asksOrigin: boolean;
  private readonly current: Heads;
  private readonly stale: Heads;
  private readonly isStale: () => boolean;

  constructor(current: Heads, stale: Heads, isStale: () => boolean) {
    this.asksOrigin = current.asksOrigin;
    this.current = current;
    this.stale = stale;
    this.isStale = isStale;
  }

  headFor(origin: string): CommonHead {
    return (this.isStale() ? this.stale : this.current).headFor(origin);
  }
}

export const STALE: Headers = [['X-Stale', 'true']];

export class Cors implements Heads {
  readonly asksOrigin: boolean;
  private readonly unknown: CommonHead;
  private readonly byOrigin = new Map<string, CommonHead>();

  constructor(origins: CorsOrigins, exposed: readonly string[], further: Headers = []) {
    const isForAll = origins.includes('*');
    this.asksOrigin = !isForAll && origins.length > 0;
    const expose = ['Access-Control-Expose-Headers', exposed.join(', ')] as const;
    const varying: Headers = this.asksOrigin ? [['Vary', 'Origin']] : [];
    this.unknown = new CommonHead(
      isForAll
        ? [['Access-Control-Allow-Origin', '*'], expose, ...further]
        : [...varying, ...further],
    );
    for (const origin of this.asksOrigin ? origins : []) {
      const head = new CommonHead([
        ['Access-Control-Allow-Origin', origin],
        expose,
        ...varying,
        ...further,
      ]);
      this.byOrigin.set(origin, head);
    }
  }

  /** @param origin the header Origin, '' where it is absent or makes no difference */
  headFor(origin: string): CommonHead {
    return origin === '' ? this.unknown : (this.byOrigin.get(origin) ?? this.unknown);
  }
}

export function preflightHeaders(methods: readonly string[], headers: readonly string[]): Headers {
  const always = new Set(HEADERS_ALLOWED.map((name) => name.toLowerCase()));
  const own = [...new Set(headers)].filter((name) => !always.has(name));
  return [
    ['Allow', [...methods, 'OPTIONS'].join(', ')],
    ['Access-Control-Allow-Methods', methods.join(', ')],
    // The asterisk covers headers added by client libraries; some old browsers ignore it.
    ['Access-Control-Allow-Headers', [...HEADERS_ALLOWED, ...own, '*'].join(', ')],
    ['Access-Control-Max-Age', String(MAX_AGE_SECONDS)],
  ];
}
