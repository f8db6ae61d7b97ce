/**
 * Request context whose answer is taken by a function in place of the caller. Everything else is the context
 * behind it.
 *
 * Thread: I/O.
 */
import type { SettlementTerms } from '../../engine/commands.ts';
import type { Headers } from '../http/answer-head.ts';
import type { Method, RequestContext } from '../http/http.ts';
import type { RateDecision } from '../http/limits/rate-limiter.ts';
import type { InnerRequests } from '../http/request-context.ts';

/** Terms that a fault gives the orders of a request. */
export type OrderTerms = Pick<RequestContext, 'settlement' | 'takerDelay'>;
type Answered = (status: number, body: string | Uint8Array, headers: Headers) => void;

export class InterceptedContext implements RequestContext {
  private readonly inner: RequestContext;
  private readonly answered: Answered;
  readonly takerDelay: number | undefined;
  readonly settlement: SettlementTerms | undefined;

  /** @param terms of its orders, in place of those of the context behind it */
  constructor(inner: RequestContext, answered: Answered, terms: OrderTerms = {}) {
    this.inner = inner;
    this.answered = answered;
    this.takerDelay = terms.takerDelay ?? inner.takerDelay;
    this.settlement = terms.settlement ?? inner.settlement;
  }

  get method(): Method {
    return this.inner.method;
  }

  get path(): string {
    return this.inner.path;
  }

  get query(): string {
    return this.inner.query;
  }

  get parameters(): readonly string[] {
    return this.inner.parameters;
  }

  get headers(): readonly string[] {
    return this.inner.headers;
  }

  get body(): Buffer {
    return this.inner.body;
  }

  get bodyBytes(): Uint8Array {
    return this.inner.bodyBytes;
  }

  get judgedAt(): number | undefined {
    return this.inner.judgedAt;
  }

  get minSequence(): string {
    return this.inner.minSequence;
  }

  get address(): string {
    return this.inner.address;
  }

  get isOverLimit(): boolean {
    return this.inner.isOverLimit;
  }

  get aborted(): boolean {
    return this.inner.aborted;
  }

  get innerRequests(): (() => InnerRequests) | undefined {
    const { inner } = this;
    return inner.innerRequests?.bind(inner);
  }

  limitedBy(decision: RateDecision): Headers {
    return this.inner.limitedBy(decision);
  }

  countedBy(decision: RateDecision): void {
    this.inner.countedBy(decision);
  }

  drop(): void {
    this.inner.drop();
  }

  reply(status: number, body: string | Uint8Array, headers: Headers = []): void {
    this.answered(status, body, headers);
  }

  replyTransient(status: number, body: Uint8Array, headers: Headers = []): void {
    this.answered(status, Buffer.from(body), headers);
  }
}
