/** The errors that calls of the client throw. */

/** The node answered with a status other than 200. */
export class ApiError extends Error {
  readonly status: number;
  /** The node's error text: `error`, and `detail` if there is one. */
  readonly reason: string;
  readonly detail: string;

  constructor(what: string, status: number, body: string) {
    const { detail, error } = problemOf(body);
    super(`${what} answered ${status}: ${error}${detail === '' ? '' : ` (${detail})`}`);
    this.name = 'ApiError';
    this.status = status;
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
