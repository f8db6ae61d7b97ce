/**
 * One request and its answer over kept-alive connections. An answer that is cut off counts as none.
 * Non-goals: redirects, and what an answer means (calls.ts).
 */
import * as http from 'node:http';
import * as https from 'node:https';

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
  /** With 1, requests go out one after another. */
  readonly connections?: number;
}

const TIMEOUT_MS = 10_000;
const CONNECTIONS = 8;

export class HttpClient {
  readonly #base: URL;
  readonly #timeoutMs: number;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;

  constructor(base: URL, { connections = CONNECTIONS, timeoutMs = TIMEOUT_MS }: HttpOptions = {}) {
    const { Agent, request } = base.protocol === 'https:' ? https : http;
    this.#base = base;
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#request = request;
  }

  /** Sends one request once. Rejects when the complete answer did not arrive. */
  send(
    method: Method,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const bytes = Buffer.from(body);
      const own = { 'Content-Type': 'application/json', 'Content-Length': bytes.length };
      const url = new URL(this.#base.pathname.replace(/\/$/, '') + path, this.#base);
      const options = { method, agent: this.#agent, headers: { ...headers, ...own } };
      const outgoing = this.#request(url, options, (incoming) => {
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

  close(): void {
    this.#agent.destroy();
  }
}
