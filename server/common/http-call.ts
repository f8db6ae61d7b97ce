/**
 * HTTP client of the server for requests to other services. Every call has a time limit, which includes the body, and
 * a limit of bytes of its body. Redirects are followed to the same host alone.
 *
 * Thread: any. Not here: the meaning of statuses and bodies; retries (back-off.ts has their pauses).
 */
import { fetchFromHost } from './redirects.ts';

export interface HttpCall {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Ends the call, which rejects with its reason. */
  readonly signal: AbortSignal;
  readonly msMax: number;
  /** Bytes of the body after decompression. */
  readonly bytesMax: number;
  /** Follows redirects to any host, for an address that a person has typed. Absent: to the same host alone. */
  readonly followsAnyHost?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | null;
  /**
   * Reads the body, once. Rejects with a BodyTooLong.
   * @param onBytes is called with the length of each part before the part is retained; may throw
   */
  body(onBytes?: (bytes: number) => void): Promise<Buffer>;
}

class NoAnswerInTime extends Error {}
export class BodyTooLong extends Error {}

/**
 * Resolves with the result of `read`. A body that `read` does not request is cancelled.
 * Rejects with a NoAnswerInTime, the reason of the signal, a RedirectRefused, or the error of fetch.
 */
export async function httpCall<Result>(
  url: string,
  call: HttpCall,
  read: (answer: HttpAnswer) => Result | Promise<Result>,
): Promise<Result> {
  const { body, bytesMax, followsAnyHost = false, headers = {}, method, msMax } = call;
  const late = new NoAnswerInTime(`no answer within ${msMax} ms`);
  const { release, signal } = boundedSignal(call.signal, msMax, late);
  const init: RequestInit = { headers, signal };
  if (method !== undefined) init.method = method;
  if (body !== undefined) init.body = body;
  let response: Response | undefined;
  try {
    response = await (followsAnyHost ? fetch(url, init) : fetchFromHost(url, init));
    return await read(answerOf(response, bytesMax));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    release();
    if (response?.bodyUsed === false) await response.body?.cancel().catch(() => undefined);
  }
}

function answerOf(response: Response, bytesMax: number): HttpAnswer {
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    async body(onBytes) {
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length;
        if (bytes > bytesMax) throw new BodyTooLong(`an answer of over ${bytesMax} bytes`);
        onBytes?.(chunk.length);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    },
  };
}

/**
 * A signal that follows `parent` and also aborts `ms` later with `late` as its reason. `release` removes listener and
 * timer at once. AbortSignal.any and AbortSignal.timeout leave that to the garbage collector, which is too late for
 * tens of thousands of requests under one parent.
 */
export function boundedSignal(
  parent: AbortSignal,
  ms: number,
  late: Error,
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
