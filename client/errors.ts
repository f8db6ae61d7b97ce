/** The errors that calls of the client throw. */

/** The node answered with a status other than 200. */
export class ApiError extends Error {
  /** The call that was refused: a method of the client, or a route. */
  readonly call: string;
  readonly status: number;
  readonly body: string;
  /** The node's error text: `error`, and `detail` if there is one. */
  readonly reason: string;
  readonly detail: string;

  constructor(call: string, status: number, body: string, cause?: unknown) {
    const { detail, error } = problemOf(body);
    const answer = `${status}: ${error}${detail === '' ? '' : ` (${detail})`}`;
    super(`${call} answered ${answer}`, cause === undefined ? {} : { cause });
    this.name = 'ApiError';
    this.call = call;
    this.status = status;
    this.body = body;
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
    super(`${what} was not answered: what it asked for may have been done`, { cause });
    this.name = 'NoAnswerError';
  }
}

function problemOf(body: string): { readonly error: string; readonly detail: string } {
  try {
    const { detail, error } = JSON.parse(body) as { detail?: unknown; error?: unknown };
    return { error: String(error ?? body), detail: typeof detail === 'string' ? detail : '' };
  } catch {
    return { error: body.slice(0, 300), detail: '' }; // from a proxy, not from the node
  }
}
