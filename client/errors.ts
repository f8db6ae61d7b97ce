/** The errors that calls of the client throw. */
import { refusalCode } from './refusals.ts';
import type { RefusalCode } from './types.ts';

export class ApiError extends Error {
  readonly call: string;
  readonly status: number;
  readonly body: string;
  /** Stable; undefined for an answer of a proxy, not of the node. */
  readonly code: RefusalCode | undefined;
  /** The node's error text: `error`, and `detail` if there is one. */
  readonly reason: string;
  readonly detail: string;

  constructor(call: string, status: number, body: string, cause?: unknown) {
    const { code, detail, error } = problemOf(body);
    const answer = `${status}: ${error}${detail === '' ? '' : ` (${detail})`}`;
    super(`${call} answered ${answer}`, cause === undefined ? {} : { cause });
    this.name = 'ApiError';
    this.call = call;
    this.status = status;
    this.body = body;
    this.code = code;
    this.reason = error;
    this.detail = detail;
  }
}

const NOT_FOUND = 404;

/** Status 404: the node has nothing of this name, or it has no value now; `code` says which. */
export class NotFoundError extends ApiError {
  constructor(call: string, body: string, cause?: unknown) {
    super(call, NOT_FOUND, body, cause);
    this.name = 'NotFoundError';
  }
}

export class UnknownTokenError extends NotFoundError {
  readonly tokenId: string;

  constructor(call: string, body: string, tokenId: string, cause?: unknown) {
    super(call, body, cause);
    this.name = 'UnknownTokenError';
    this.tokenId = tokenId;
  }
}

/** The book has too little to fill an order; nothing was sent. */
export class LiquidityError extends Error {
  readonly tokenId: string;
  readonly available: string;

  constructor(message: string, tokenId: string, available: string) {
    super(message);
    this.name = 'LiquidityError';
    this.tokenId = tokenId;
    this.available = available;
  }
}

/**
 * No complete answer came within the client's time limit, or the last answer says nothing about an
 * earlier try without an answer. `cause` is the last error.
 * An order that is sent again with the same bytes is not placed twice.
 */
export class NoAnswerError extends Error {
  /** False: no try reached a node, so nothing was carried out. */
  readonly mayBeDone: boolean;

  constructor(what: string, cause: unknown, mayBeDone = true) {
    const outcome = mayBeDone ? 'the request may have been carried out' : 'no node was reached';
    super(`${what} was not answered: ${outcome}`, { cause });
    this.name = 'NoAnswerError';
    this.mayBeDone = mayBeDone;
  }
}

const NO_TOKEN: ReadonlySet<RefusalCode | undefined> = new Set<RefusalCode>([
  'UNKNOWN_BOOK',
  'UNKNOWN_MARKET',
  'UNKNOWN_TOKEN',
]);

/**
 * Returns the error of an answer, of the class that its status and code have.
 * @param tokenId of the request, where it named one
 */
export function refusal(
  call: string,
  { body, status }: { readonly body: string; readonly status: number },
  tokenId?: string,
  cause?: unknown,
): ApiError {
  if (status !== NOT_FOUND) return new ApiError(call, status, body, cause);
  if (tokenId === undefined || !NO_TOKEN.has(problemOf(body).code)) {
    return new NotFoundError(call, body, cause);
  }
  return new UnknownTokenError(call, body, tokenId, cause);
}

/** No connection was made for a try: nothing was done. Calls repeat it, and do not throw it. */
export class NotSentError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'NotSentError';
  }
}

export interface Problem {
  readonly code: RefusalCode | undefined;
  readonly error: string;
  readonly detail: string;
}

export function problemOf(body: string): Problem {
  try {
    const { code, detail, error } = JSON.parse(body) as Partial<Record<keyof Problem, unknown>>;
    const text = String(error ?? body);
    const details = typeof detail === 'string' ? detail : '';
    return { code: refusalCode(text, code), error: text, detail: details };
  } catch {
    return { code: undefined, error: body.slice(0, 300), detail: '' }; // from a proxy, not from the node
  }
}
