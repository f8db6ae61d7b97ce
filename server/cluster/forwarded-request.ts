/**
 * A request of a client on its way from the node that took it to the one that leads, and its answer on the way back:
 *
 *   length of the head u32 | head, JSON | body
 *
 * Thread: the I/O thread. Not here: how it gets there (forwarder.ts).
 */
import assert from 'node:assert/strict';
import { RateHeaders } from '../http/rate-headers.ts';
import type { RateDecision } from '../http/rate-limiter.ts';
import type { RequestContext, Route } from '../http/request-context.ts';

type Headers = readonly (readonly [string, string])[];

/** All that handlers read of a request, without its body. */
type RequestHead = Pick<
  RequestContext,
  'method' | 'path' | 'query' | 'parameters' | 'headers' | 'address' | 'judgedAt'
> & { readonly route: string };

export interface ForwardedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const HEAD_LENGTH_BYTES = 4;
const EMPTY = Buffer.alloc(0);

/** The name of a route: it is the same on all nodes. */
export function routeName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** To be called before the handler's first await, as the context says. */
export function encodeRequest(context: RequestContext, route: string, judgedAt: number): Buffer {
  const { address, body, headers, method, parameters, path, query } = context;
  const target = { route, method, path, query, parameters };
  const head: RequestHead = { ...target, headers, address, judgedAt };
  return encode(head, body);
}

export function encodeAnswer({ body, headers, status }: ForwardedAnswer): Buffer {
  return encode({ status, headers }, body);
}

export function decodeAnswer(bytes: Buffer): ForwardedAnswer {
  const { body, head } = decode(bytes);
  return { ...(head as Pick<ForwardedAnswer, 'status' | 'headers'>), body };
}

export function encode(head: object, body: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(HEAD_LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, body]);
}

export function decode(bytes: Buffer): { readonly head: unknown; readonly body: Buffer } {
  const end = HEAD_LENGTH_BYTES + bytes.readUInt32LE(0);
  const head: unknown = JSON.parse(bytes.toString('utf8', HEAD_LENGTH_BYTES, end));
  return { head, body: bytes.subarray(end) };
}

/** A request that another node has taken, as a handler here sees it. */
export class ForwardedContext implements RequestContext {
  readonly method;
  readonly path;
  readonly query;
  readonly parameters;
  readonly headers;
  readonly body;
  readonly address;
  readonly judgedAt;
  readonly route: string;
  readonly answered: Promise<ForwardedAnswer>;
  /** The node that took it has waited. */
  readonly minSequence = '';
  /** Only the node that took it sees whether its caller has disconnected. */
  readonly aborted = false;
  isOverLimit = false;
  private resolve: (answer: ForwardedAnswer) => void = () => undefined;
  private isAnswered = false;

  constructor(bytes: Buffer) {
    const { body, head } = decode(bytes);
    const { address, headers, judgedAt, method, parameters, path, query, route } =
      head as RequestHead;
    this.method = method;
    this.path = path;
    this.query = query;
    this.parameters = parameters;
    this.headers = headers;
    this.body = body.length === 0 ? EMPTY : body;
    this.address = address;
    this.judgedAt = judgedAt;
    this.route = route;
    this.answered = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  get bodyView(): DataView {
    const { body } = this;
    return new DataView(body.buffer, body.byteOffset, body.length);
  }

  limitedBy(decision: RateDecision): Headers {
    this.isOverLimit = true;
    return new RateHeaders().retryAfter(decision, Date.now());
  }

  reply(status: number, body: string | Uint8Array, headers: Headers = []): void {
    assert(!this.isAnswered, 'a request is answered once');
    this.isAnswered = true;
    this.resolve({ status, headers, body: typeof body === 'string' ? Buffer.from(body) : body });
  }

  replyTransient(status: number, body: Uint8Array, headers?: Headers): void {
    this.reply(status, Buffer.from(body), headers);
  }
}
