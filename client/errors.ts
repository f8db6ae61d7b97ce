/** The errors that calls of the client throw. */
import { refusalCode } from './refusals.ts';
import type { RefusalCode } from './types.ts';

/** The node answered with a status other than 200. */
export class ApiError extends Error {
  /** The call that was refused: a method of the client, or a route. */
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
    this.code = refusalCode(error, code);
    this.reason = error;
    this.detail = detail;
  }
}

/**
 * No complete answer came within the client's time limit, or the last answer says nothing about an
 * earlier try without an answer (`cause` is the last error): the request may have been carried out.
 * An order that is sent again with the same bytes is not placed twice.
 */
export class NoAnswerError extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what} was not answered: the request may have been carried out`, { cause });
    this.name = 'NoAnswerError';
  }
}

interface Problem {
  readonly code: unknown;
  readonly error: string;
  readonly detail: string;
}

function problemOf(body: string): Problem {
  try {
    const { code, detail, error } = JSON.parse(body) as Partial<Record<keyof Problem, unknown>>;
    return { code, error: String(error ?? body), detail: typeof detail === 'string' ? detail : '' };
  } catch {
    return { code: undefined, error: body.slice(0, 300), detail: '' }; // from a proxy, not from the node
  }
}
