/**
 * Transport that sends orders, cancels and replaces over a user stream while it is connected. Other requests, and these
 * while it is not, go over HTTP. Non-goals: repeating a request (retry.ts).
 */
import type { Headers, Method, Reply, Transport } from '../http.ts';
import { meaningOf } from '../retry.ts';
import type { AnswerEvent } from '../types.ts';

const OPERATIONS: Readonly<Record<string, AnswerEvent['op']>> = {
  'POST /order': 'order',
  'DELETE /order': 'cancel',
  'POST /replace': 'replace',
};

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class StreamTransport implements Transport {
  readonly #http: Transport;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<string, Waiting>();
  #send: ((text: string) => void) | undefined;
  #requests = 0;

  /** @param timeoutMs longest wait for an answer over the stream */
  constructor(http: Transport, timeoutMs: number) {
    this.#http = http;
    this.#timeoutMs = timeoutMs;
  }

  get count(): number {
    return this.#http.count;
  }

  get at(): number {
    return this.#http.at;
  }

  get sequence(): number {
    return this.#http.sequence;
  }

  set sequence(sequence: number) {
    this.#http.sequence = sequence;
  }

  moveOn(from: number): void {
    this.#http.moveOn(from);
  }

  send(method: Method, path: string, headers?: Headers, body = ''): Promise<Reply> {
    const op = OPERATIONS[`${method} ${path}`];
    const send = this.#send;
    if (op === undefined || send === undefined) return this.#http.send(method, path, headers, body);
    this.#requests += 1;
    const id = String(this.#requests);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`no answer over the stream in ${this.#timeoutMs} ms`));
      }, this.#timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer });
      send(`{"op":"${op}","id":"${id}","body":${body}}`);
    });
  }

  /** Takes a connection whose credentials have been sent. */
  opened(send: (text: string) => void): void {
    this.#send = send;
  }

  /** The connection has closed: the outcome of its requests is unknown. */
  ended(): void {
    this.#send = undefined;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error('the stream was closed before the answer'));
    }
    this.#waiting.clear();
  }

  answered({ body, headers, id, status }: AnswerEvent): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return; // it came too late
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    this.sequence = Math.max(this.sequence, Number(headers['X-Sequence'] ?? 0));
    const retryAfterSeconds = Number(headers['Retry-After'] ?? 0);
    const reply = { status, body: JSON.stringify(body), retryAfterSeconds };
    // Another node has to take it: requests go over HTTP until the stream connects anew.
    if (meaningOf(reply)?.isElsewhere === true) this.#send = undefined;
    waiting.resolve(reply);
  }

  close(): void {
    this.ended();
  }
}
