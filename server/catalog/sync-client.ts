/**
 * GET requests to the source's catalog API, with every limit that a broken source requires: time,
 * bytes, tries, and the pauses that the source requests.
 *
 * Thread: the sync thread, or the sync command. Non-goals: what the answers mean.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../storage/catalog/catalog-json.ts';
import { backOffMs } from '../common/back-off.ts';
import { failureReason } from '../common/failure-reason.ts';
import { BodyTooLong, type HttpAnswer, httpCall } from '../common/http-call.ts';
import { RedirectRefused } from '../common/redirects.ts';

export interface SyncLimits {
  readonly requestMs: number;
  readonly pullMs: number;
  /** Bytes of one body, and of all bodies of a pull, after decompression. */
  readonly bodyBytes: number;
  readonly pullBytes: number;
  /** Tries of one request; the wait before the second, doubled before each further one. */
  readonly tries: number;
  readonly retryMs: number;
  /** If a source requests a longer pause than this, the request fails. */
  readonly pauseMs: number;
  readonly pages: number;
}

export const SYNC_LIMITS: SyncLimits = {
  requestMs: 30_000,
  // 50,000 lookups at the 4,000 a 10 s that the source allows take two minutes.
  pullMs: 600_000,
  // An answer has 500 objects at most, of a few KiB each.
  bodyBytes: 64 << 20,
  // Ten times a catalog of 50,000 markets; more would not fit the thread's heap when parsed.
  pullBytes: 1 << 30,
  tries: 5,
  retryMs: 250,
  // Windows of the rate limits are 10 s long, those of other sources a minute.
  pauseMs: 60_000,
  pages: 2_000,
};

export class SourceError extends Error {
  /** True when the same request may succeed later. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing = false) {
    super(message);
    this.isPassing = isPassing;
  }
}

export class SourceChanged extends SourceError {}

export type Answer =
  | { readonly status: 200; readonly json: unknown }
  | { readonly status: 304 }
  | { readonly status: 404 };

interface Allowed {
  /** Accepted besides 200: 304 while the source still has this generation, 404 where it may have no such route. */
  readonly knownEtag?: string;
  readonly isOptional?: boolean;
}

/**
 * ETag of a node of this kind, sent with each answer of one generation; other ETags identify none.
 * The part after `-` changes with live statistics.
 */
const CATALOG_ETAG = /^(W\/"catalog-[0-9a-f]{40})(?:-[^"]*)?"$/;
const RETRIED_STATUSES = new Set([408, 425, 500, 502, 503, 504]);
const TOO_MANY_REQUESTS = 429;

/**
 * Serves one walk through the source. All its answers are of one generation, if the source shows
 * which.
 */
export class SourceClient {
  private readonly base: string;
  private readonly limits: SyncLimits;
  private readonly signal: AbortSignal;
  private readonly over = new AbortController();
  private bytesLeft: number;
  /** Monotonic milliseconds: the source has requested a pause until then. */
  private pausedUntil = 0;
  private seenEtag: string | undefined;

  /** `signal` ends every request; requests reject with its reason. */
  constructor(url: string, limits: SyncLimits, signal: AbortSignal) {
    const { origin, pathname } = new URL(url);
    this.base = `${origin}${pathname.replace(/\/+$/, '')}`;
    this.limits = limits;
    this.signal = AbortSignal.any([signal, this.over.signal]);
    // Each request in flight and each wait has a listener on it: a few dozen, and not a leak.
    setMaxListeners(0, this.signal);
    this.bytesLeft = limits.pullBytes;
  }

  /** ETag of the source's generation of all answers so far; `undefined` where it sends none. */
  get etag(): string | undefined {
    return this.seenEtag;
  }

  end(reason: unknown): void {
    this.over.abort(reason);
  }

  /** Resolves with a 200, or a 404 or 304 that the caller accepts. Rejects with a SourceError. */
  async get(path: string, allowed: Allowed = {}): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      await this.sleep(this.pausedUntil - performance.now());
      try {
        return await this.once(path, allowed);
      } catch (error) {
        this.signal.throwIfAborted();
        const failure = asSourceError(error);
        if (failure instanceof SourceChanged) throw failure;
        if (!failure.isPassing || tried >= this.limits.tries) {
          throw new SourceError(`GET ${path}: ${failure.message}`);
        }
        await this.sleep(backOffMs(tried, this.limits.retryMs));
      }
    }
  }

  private async sleep(ms: number): Promise<void> {
    if (ms <= 0) return;
    try {
      await sleep(ms, undefined, { signal: this.signal });
    } catch {
      this.signal.throwIfAborted();
    }
  }

  private once(path: string, allowed: Allowed): Promise<Answer> {
    const { bodyBytes, requestMs } = this.limits;
    const headers: Record<string, string> = { accept: 'application/json' };
    if (allowed.knownEtag !== undefined) headers['if-none-match'] = allowed.knownEtag;
    const call = { headers, signal: this.signal, msMax: requestMs, bytesMax: bodyBytes };
    return httpCall(`${this.base}${path}`, call, (answer) => this.read(answer, allowed));
  }

  private async read(answer: HttpAnswer, allowed: Allowed): Promise<Answer> {
    const { status } = answer;
    if (status === 200) {
      this.checkGeneration(answer.header('etag'));
      return { status, json: parseJson(await this.bodyOf(answer)) };
    }
    if (status === 404 && allowed.isOptional !== true) {
      // A gateway in front of an unavailable source also answers 404, but with another text
      // (docs/protocol.md#catalog-errors).
      const body = parseJson(await this.bodyOf(answer));
      if (!isObject(body) || typeof body.error !== 'string') {
        throw new SourceError('status 404 that no catalog answers', true);
      }
      // Within one generation no object disappears between a list and a lookup.
      if (this.seenEtag !== undefined) throw new SourceChanged('an object went away');
      return { status };
    }
    if (status === 304 && allowed.knownEtag !== undefined) return { status };
    if (status === 404) return { status };
    if (status === TOO_MANY_REQUESTS) this.pause(answer.header('retry-after'));
    const isPassing = status === TOO_MANY_REQUESTS || RETRIED_STATUSES.has(status);
    throw new SourceError(`status ${status}`, isPassing);
  }

  private checkGeneration(etag: string | null): void {
    const [, generation] = CATALOG_ETAG.exec(etag ?? '') ?? [];
    if (generation === undefined) return;
    const catalogEtag = `${generation}"`;
    this.seenEtag ??= catalogEtag;
    if (catalogEtag !== this.seenEtag) throw new SourceChanged('its catalog changed');
  }

  private pause(retryAfter: string | null): void {
    if (retryAfter === null) return;
    const isSeconds = /^[0-9]+$/.test(retryAfter);
    const ms = isSeconds ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
    if (Number.isNaN(ms)) return;
    if (ms > this.limits.pauseMs) throw new SourceError(`it asks for a pause of ${ms / 1000} s`);
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + ms);
  }

  private bodyOf(answer: HttpAnswer): Promise<Buffer> {
    return answer.body((bytes) => {
      this.bytesLeft -= bytes;
      if (this.bytesLeft < 0) {
        throw new SourceError(`a catalog of over ${this.limits.pullBytes} bytes`);
      }
    });
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new SourceError('an answer that is not JSON', true);
  }
}

function asSourceError(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const isFinal = error instanceof RedirectRefused || error instanceof BodyTooLong;
  return new SourceError(failureReason(error), !isFinal);
}
