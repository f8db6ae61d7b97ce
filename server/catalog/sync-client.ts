/**
 * GET requests to the mirrored catalog API, with every limit that a broken source requires: time,
 * bytes, tries, and the pauses that the source requests.
 *
 * Thread: the sync thread, or the sync command. Non-goals: what the answers mean.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../storage/catalog/catalog-json.ts';
import { failureReason } from '../common/failure-reason.ts';
import { fetchFromHost, RedirectRefused } from '../common/redirects.ts';

export interface SyncLimits {
  /** One try of one request, its body included. */
  readonly requestMs: number;
  readonly pullMs: number;
  /** Of one body, and of all bodies of a pull; after decompression. */
  readonly bodyBytes: number;
  readonly pullBytes: number;
  /** Tries of one request; the wait before the second, doubled before each further one. */
  readonly tries: number;
  readonly retryMs: number;
  /** If a source requests a longer pause than this, the request fails. */
  readonly pauseMs: number;
  /** Pages of one list. A walk with more pages is regarded as endless. */
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

/** Why a pull cannot continue: a text for the log. */
export class SourceError extends Error {
  /** Whether the same request may succeed when it is sent again. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing = false) {
    super(message);
    this.isPassing = isPassing;
  }
}

/** The source switched to another generation while it was read. */
export class SourceChanged extends SourceError {}

export type Answer =
  | { readonly status: 200; readonly json: unknown }
  | { readonly status: 304 }
  | { readonly status: 404 };

/** Answers other than 200 that a request accepts. */
interface Allowed {
  /** 304: the source still has this generation. */
  readonly knownEtag?: string;
  /** 404: the source may have no such route. */
  readonly isOptional?: boolean;
}

/**
 * The ETag that a node of this kind sends with each answer of one generation; other ETags do not
 * identify a generation. The part after `-` changes with the live figures, if an answer shows them.
 */
const CATALOG_ETAG = /^(W\/"catalog-[0-9a-f]{40})(?:-[^"]*)?"$/;
const RETRIED_STATUSES = new Set([408, 425, 500, 502, 503, 504]);
const TOO_MANY_REQUESTS = 429;

/**
 * A signal that follows `parent` and also aborts `ms` later with `late` as its reason. `release`
 * removes listener and timer at once. AbortSignal.any and AbortSignal.timeout leave that to the
 * garbage collector, which is too late for tens of thousands of requests under one parent.
 */
export function boundedSignal(
  parent: AbortSignal,
  ms: number,
  late: SourceError,
): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  parent.addEventListener('abort', follow);
  const timer = setTimeout(() => controller.abort(late), ms);
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      parent.removeEventListener('abort', follow);
    },
  };
}

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

  /**
   * The ETag of the generation of the source of all answers so far; undefined: the source sends
   * none.
   */
  get etag(): string | undefined {
    return this.seenEtag;
  }

  /** Ends every request in flight and every later one with this reason. */
  end(reason: unknown): void {
    this.over.abort(reason);
  }

  /** A 200, or a 404 or 304 that the caller accepts. Rejects with a SourceError. */
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
        await this.sleep(this.limits.retryMs * 2 ** (tried - 1));
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

  private async once(path: string, allowed: Allowed): Promise<Answer> {
    const { requestMs } = this.limits;
    const late = new SourceError(`no answer within ${requestMs} ms`, true);
    const bounded = boundedSignal(this.signal, requestMs, late);
    try {
      const headers: Record<string, string> = { accept: 'application/json' };
      if (allowed.knownEtag !== undefined) headers['if-none-match'] = allowed.knownEtag;
      const { signal } = bounded;
      const response = await fetchFromHost(`${this.base}${path}`, { headers, signal });
      return await this.read(response, allowed);
    } catch (error) {
      bounded.signal.throwIfAborted();
      throw error;
    } finally {
      bounded.release();
    }
  }

  private async read(response: Response, allowed: Allowed): Promise<Answer> {
    const { status } = response;
    if (status === 200) {
      this.checkGeneration(response.headers.get('etag'));
      return { status, json: parseJson(await this.bodyOf(response)) };
    }
    if (status === 404 && allowed.isOptional !== true) {
      // A gateway in front of an unavailable source also answers 404, but with another text
      // (docs/protocol.md#catalog-errors).
      const body = parseJson(await this.bodyOf(response));
      if (!isObject(body) || typeof body.error !== 'string') {
        throw new SourceError('status 404 that no catalog answers', true);
      }
      // Within one generation no object disappears between a list and a lookup.
      if (this.seenEtag !== undefined) throw new SourceChanged('an object went away');
      return { status };
    }
    await response.body?.cancel();
    if (status === 304 && allowed.knownEtag !== undefined) return { status };
    if (status === 404) return { status };
    if (status === TOO_MANY_REQUESTS) this.pause(response.headers.get('retry-after'));
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

  /** Delays all requests as long as the source requests, in seconds or until a date. */
  private pause(retryAfter: string | null): void {
    if (retryAfter === null) return;
    const isSeconds = /^[0-9]+$/.test(retryAfter);
    const ms = isSeconds ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
    if (Number.isNaN(ms)) return;
    if (ms > this.limits.pauseMs) throw new SourceError(`it asks for a pause of ${ms / 1000} s`);
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + ms);
  }

  private async bodyOf(response: Response): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > this.limits.bodyBytes) {
        throw new SourceError(`an answer of over ${this.limits.bodyBytes} bytes`);
      }
      this.bytesLeft -= chunk.length;
      if (this.bytesLeft < 0) {
        throw new SourceError(`a catalog of over ${this.limits.pullBytes} bytes`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new SourceError('an answer that is not JSON', true);
  }
}

/** The error of fetch has no useful text; its cause has. */
function asSourceError(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  return new SourceError(failureReason(error), !(error instanceof RedirectRefused));
}
