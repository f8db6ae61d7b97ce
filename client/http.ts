/**
 * One request and its answer: in Node over kept-alive connections, elsewhere by fetch. An answer that
 * is cut off counts as none. Non-goals: redirects, and what an answer means (calls.ts).
 */
import type { Agent } from 'node:http';
import { builtin } from './platform.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** From Retry-After; 0 when absent. */
  readonly retryAfterSeconds: number;
}

interface HttpOptions {
  /** After this time without an answer the request counts as lost. */
  readonly timeoutMs?: number;
  /** With 1, requests go out one after another. In a browser, the browser decides. */
  readonly connections?: number;
}

type Headers = Readonly<Record<string, string>>;

const TIMEOUT_MS = 10_000;
const CONNECTIONS = 8;
const JSON_TYPE = { 'Content-Type': 'application/json' };

export class HttpClient {
  readonly #base: URL;
  readonly #timeoutMs: number;
  readonly #node: typeof import('node:http') | undefined;
  readonly #agent: Agent | undefined;

  constructor(base: URL, { connections = CONNECTIONS, timeoutMs = TIMEOUT_MS }: HttpOptions = {}) {
    this.#base = base;
    this.#timeoutMs = timeoutMs;
    this.#node = builtin(base.protocol === 'https:' ? 'node:https' : 'node:http');
    this.#agent = this.#node && new this.#node.Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends one request once. Rejects when the complete answer did not arrive. */
  send(method: Method, path: string, headers: Headers = {}, body = ''): Promise<Reply> {
    const url = new URL(this.#base.pathname.replace(/\/$/, '') + path, this.#base);
    return this.#node === undefined
      ? this.#fetch(url, method, headers, body)
      : this.#request(this.#node, url, method, headers, body);
  }

  close(): void {
    this.#agent?.destroy();
  }

  async #fetch(url: URL, method: Method, headers: Headers, body: string): Promise<Reply> {
    const answer = await fetch(url, {
      ...{ method, headers: { ...headers, ...JSON_TYPE }, redirect: 'manual' },
      ...(body === '' ? {} : { body }),
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    const retryAfterSeconds = Number(answer.headers.get('retry-after') ?? 0) || 0;
    return { status: answer.status, body: await answer.text(), retryAfterSeconds };
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
          const retryAfterSeconds = Number(incoming.headers['retry-after'] ?? 0) || 0;
          const text = Buffer.concat(chunks).toString();
          resolve({ status: incoming.statusCode ?? 0, body: text, retryAfterSeconds });
        });
      });
      // Limits the whole request and answer: a socket's own timeout restarts with every byte.
      const timer = setTimeout(
        () => outgoing.destroy(new Error('no answer in time')),
        this.#timeoutMs,
      );
      outgoing.on('close', () => clearTimeout(timer));
      outgoing.on('error', reject);
      outgoing.end(bytes);
    });
  }
}
