/**
 * One request and its answer: in Node over kept-alive connections, elsewhere by fetch. An answer that
 * is cut off counts as none. Non-goals: redirects, and what an answer means (calls.ts).
 */
import type { Agent } from 'node:http';
import { NotSentError } from './errors.ts';
import { builtin } from './platform.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** From Retry-After; 0 when absent. */
  readonly retryAfterSeconds: number;
}

type Read = (name: string) => string | null | undefined;

export interface HttpOptions {
  readonly timeoutMs?: number;
  /** With 1, requests go out one after another. In a browser, the browser decides. */
  readonly connections?: number;
  readonly readsOwnWrites?: boolean;
  /** The address of this machine that connections come from; the system's choice when absent. Node only. */
  readonly localAddress?: string;
}

export type Headers = Readonly<Record<string, string>>;

export interface NodeChoice {
  readonly count: number;
  /** Index of the node that the next try is sent to. */
  readonly at: number;
  /** Chooses another node, unless another call has done so since. @param from `at` of the try that failed */
  moveOn(from: number): void;
}

export interface Transport extends NodeChoice {
  /** The newest batch that an answer has named, as X-Sequence; 0 = none has. */
  sequence: number;
  /** Sends one request once. Rejects when the complete answer did not arrive. */
  send(method: Method, path: string, headers?: Headers, body?: string): Promise<Reply>;
  close(): void;
}

/** Longest wait for an answer where an option says nothing. */
export const TIMEOUT_MS = 10_000;
const CONNECTIONS = 8;
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** System calls before the first byte of a request. */
const BEFORE_SENDING = new Set(['connect', 'getaddrinfo']);

export class HttpClient implements Transport {
  readonly count = 1;
  readonly at = 0;
  sequence = 0;
  readonly #readsOwnWrites: boolean;
  readonly #base: URL;
  readonly #timeoutMs: number;
  readonly #node: typeof import('node:http') | undefined;
  readonly #agent: Agent | undefined;

  constructor(base: URL, options: HttpOptions = {}) {
    const { connections = CONNECTIONS, readsOwnWrites = false, timeoutMs = TIMEOUT_MS } = options;
    const local = options.localAddress === undefined ? {} : { localAddress: options.localAddress };
    this.#readsOwnWrites = readsOwnWrites;
    this.#base = base;
    this.#timeoutMs = timeoutMs;
    this.#node = builtin(base.protocol === 'https:' ? 'node:https' : 'node:http');
    this.#agent =
      this.#node && new this.#node.Agent({ keepAlive: true, maxSockets: connections, ...local });
  }

  moveOn(): void {
    // There is no other node.
  }

  send(method: Method, path: string, headers: Headers = {}, body = ''): Promise<Reply> {
    const url = new URL(this.#base.pathname.replace(/\/$/, '') + path, this.#base);
    const waits = this.#readsOwnWrites && this.sequence > 0;
    const all = waits ? { ...headers, 'X-Min-Sequence': String(this.sequence) } : headers;
    return this.#node === undefined
      ? this.#fetch(url, method, all, body)
      : this.#request(this.#node, url, method, all, body);
  }

  close(): void {
    this.#agent?.destroy();
  }

  async #fetch(url: URL, method: Method, headers: Headers, body: string): Promise<Reply> {
    const answer = await fetch(url, {
      method,
      headers: { ...headers, ...JSON_TYPE },
      redirect: 'manual',
      ...(body === '' ? {} : { body }),
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    return this.#reply(answer.status, await answer.text(), (name) => answer.headers.get(name));
  }

  #reply(status: number, body: string, read: Read): Reply {
    this.sequence = Math.max(this.sequence, numberOf(read('x-sequence')));
    return { status, body, retryAfterSeconds: numberOf(read('retry-after')) };
  }

  #request(
    { request }: typeof import('node:http'),
    url: URL,
    method: Method,
    headers: Headers,
    body: string,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const bytes = Buffer.from(body);
      const own = { ...JSON_TYPE, 'Content-Length': bytes.length };
      const agent = this.#agent!;
      const options = { method, agent, headers: { ...headers, ...own } };
      const outgoing = request(url, options, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const read: Read = (name) => incoming.headers[name] as string | undefined;
          resolve(this.#reply(incoming.statusCode ?? 0, text, read));
        });
      });
      // Limits the whole request and answer: a socket's own timeout restarts with every byte.
      const timer = setTimeout(
        () => outgoing.destroy(new Error('no answer in time')),
        this.#timeoutMs,
      );
      outgoing.on('close', () => clearTimeout(timer));
      outgoing.on('error', (error) => {
        reject(isBeforeSending(error) ? new NotSentError(error.message, error) : error);
      });
      outgoing.end(bytes);
    });
  }
}

/** True for a failure to connect, of every address where a name has several. */
function isBeforeSending(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isBeforeSending);
  return BEFORE_SENDING.has(String((error as NodeJS.ErrnoException).syscall));
}

function numberOf(text: string | null | undefined): number {
  return Number(text ?? 0) || 0;
}
