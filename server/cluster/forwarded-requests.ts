/**
 * Requests of clients that the leader decides: it runs the handler of the same route, and its answer is the client's.
 * Bytes of a request and of an answer:
 *
 *   length of the head u32 | head, JSON | body
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import { INTERNAL_ERROR } from '../common/error-bodies.ts';
import type { Log } from '../common/logger.ts';
import { RETRY_SOON, Unavailable } from '../common/unavailable.ts';
import { RateHeaders } from '../http/limits/rate-headers.ts';
import type { RateDecision } from '../http/limits/rate-limiter.ts';
import type { RequestContext, Route } from '../http/request-context.ts';
import { sequenceHeaders } from '../http/sequence.ts';
import { Forwarder } from './forwarder.ts';
import { NOT_LEADING } from './leader-link.ts';
import { NOTHING_DONE, PeerCall } from './peers/calls.ts';
import type { PeerServer } from './peers/peer-server.ts';

type Headers = readonly (readonly [string, string])[];

/** All that handlers read of a request, without its body. */
type RequestHead = Pick<
  RequestContext,
  'method' | 'path' | 'query' | 'parameters' | 'headers' | 'address' | 'judgedAt'
> & { readonly route: string };

interface ForwardedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const UNKNOWN_ROUTE = `${NOTHING_DONE}this node does not have the route`;
const HEAD_LENGTH_BYTES = 4;
const EMPTY = Buffer.alloc(0);

export class RequestForwarder extends Forwarder {
  /** @param here runs the handler of this node, which leads by then */
  readonly forward = async (
    context: RequestContext,
    route: Pick<Route, 'method' | 'path'>,
    judgedAt: number,
    here: () => void | Promise<void>,
  ): Promise<void> => {
    const request = encodeRequest(context, routeName(route), judgedAt);
    const outcome = await this.send(PeerCall.request, request, ['request']);
    if (outcome === 'here') return here();
    const { body, headers, status } = Buffer.isBuffer(outcome) ? decodeAnswer(outcome) : outcome;
    return context.reply(status, body, headers);
  };

  /** @param sequence the newest durable batch */
  serveRoutes(
    server: Pick<PeerServer, 'answer'>,
    routes: readonly Route[],
    sequence: () => number,
    print: Log,
  ): void {
    const byName = new Map(routes.map((route) => [routeName(route), route]));
    this.serve(server, PeerCall.request, async (bytes) => {
      const context = new ForwardedContext(bytes);
      const route = byName.get(context.route);
      if (route === undefined) throw new Error(UNKNOWN_ROUTE);
      try {
        await route.run(context);
      } catch (error) {
        // A read has changed nothing: the next leader answers it.
        if (error instanceof Unavailable && route.writes !== true) throw new Error(NOT_LEADING);
        if (error instanceof Unavailable) context.reply(503, error.body, RETRY_SOON);
        else {
          print('error', `${context.route}: ${(error as Error).message}`);
          context.reply(500, INTERNAL_ERROR);
        }
      }
      const answer = await context.answered;
      if (route.writes !== true) return encodeAnswer(answer);
      return encodeAnswer({
        ...answer,
        headers: [...answer.headers, ...sequenceHeaders(sequence())],
      });
    });
  }
}

/** The name of a route: it is the same on all nodes. */
function routeName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/**
 * To be called before the handler's first await, as the context says.
 * @internal Tests send messages between nodes.
 */
export function encodeRequest(context: RequestContext, route: string, judgedAt: number): Buffer {
  const { address, body, headers, method, parameters, path, query } = context;
  const target = { route, method, path, query, parameters };
  const head: RequestHead = { ...target, headers, address, judgedAt };
  return encode(head, body);
}

function encodeAnswer({ body, headers, status }: ForwardedAnswer): Buffer {
  return encode({ status, headers }, body);
}

/** @internal Tests read messages between nodes. */
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

class ForwardedContext implements RequestContext {
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
  /** The node that received it has waited. */
  readonly minSequence = '';
  /** Only the node that received it sees whether its caller has disconnected. */
  readonly aborted = false;
  isOverLimit = false;
  private resolve: (answer: ForwardedAnswer) => void = () => undefined;
  private isAnswered = false;

  constructor(bytes: Buffer) {
    const { body, head } = decode(bytes);
    const request = head as RequestHead;
    this.method = request.method;
    this.path = request.path;
    this.query = request.query;
    this.parameters = request.parameters;
    this.headers = request.headers;
    this.address = request.address;
    this.judgedAt = request.judgedAt;
    this.route = request.route;
    this.body = body.length === 0 ? EMPTY : body;
    this.answered = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  get bodyBytes(): Uint8Array {
    return this.body;
  }

  limitedBy(decision: RateDecision): Headers {
    this.isOverLimit = true;
    return new RateHeaders().retryAfter(decision, Date.now());
  }

  /** The receiving node writes the rate headers of the answer. */
  countedBy(): void {}

  reply(status: number, body: string | Uint8Array, headers: Headers = []): void {
    assert(!this.isAnswered, 'a request is answered once');
    this.isAnswered = true;
    this.resolve({ status, headers, body: typeof body === 'string' ? Buffer.from(body) : body });
  }

  replyTransient(status: number, body: Uint8Array, headers?: Headers): void {
    this.reply(status, Buffer.from(body), headers);
  }

  drop(): void {
    assert.fail('no fault closes a connection in a cluster');
  }
}
