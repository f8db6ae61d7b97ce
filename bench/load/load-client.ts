/**
 * The load tool's HTTP client: node:http with one kept-alive connection per client, so that its
 * requests go out one after another.
 * Thread: the tool's only one.
 * Non-goals: TLS, redirects, streaming.
 */
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

type Method = 'GET' | 'POST' | 'DELETE';

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** From Retry-After; 0 when absent. */
  readonly retryAfterSeconds: number;
}

/** No answer within this time counts as none at all. */
const ANSWER_TIMEOUT_MS = 60_000;
const READ_TRIES = 200;
const DROPPED_TRIES = 2;
const BUSY_PAUSE_MS = 50;

export class Client {
  readonly #base: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(base: URL) {
    this.#base = base;
  }

  /** One request, sent once. Rejects when the answer did not arrive whole. */
  send(
    method: Method,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const bytes = Buffer.from(body);
      const outgoing = httpRequest(
        new URL(path, this.#base),
        {
          method,
          agent: this.#agent,
          headers: {
            ...headers,
            'Content-Type': 'application/json',
            'Content-Length': bytes.length,
          },
          timeout: ANSWER_TIMEOUT_MS,
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const retryAfterSeconds = Number(incoming.headers['retry-after'] ?? 0) || 0;
            const text = Buffer.concat(chunks).toString();
            resolve({ status: incoming.statusCode ?? 0, body: text, retryAfterSeconds });
          });
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
      outgoing.on('error', reject);
      outgoing.end(bytes);
    });
  }

  /**
   * A request that may safely be sent again: waits where the node is busy, throttles or has just
   * dropped the connection, and throws on any other answer but 200.
   */
  async ask(
    method: Method,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): Promise<unknown> {
    for (let attempt = 0; ; attempt += 1) {
      let reply: Reply;
      try {
        reply = await this.send(method, path, headers, body);
      } catch (error) {
        if (attempt >= DROPPED_TRIES) throw error;
        continue;
      }
      if (reply.status === 200) return JSON.parse(reply.body);
      const waits = reply.status === 429 || reply.status === 503;
      if (!waits || attempt >= READ_TRIES) throw new Error(refusal(method, path, reply));
      await pause(busyPauseMs(reply));
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

export function busyPauseMs(reply: Reply): number {
  return reply.retryAfterSeconds > 0 ? reply.retryAfterSeconds * 1000 : BUSY_PAUSE_MS;
}

export function refusal(method: string, path: string, reply: Reply): string {
  return `${method} ${path} answered ${reply.status} ${reply.body.slice(0, 300)}`;
}
