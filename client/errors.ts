/** What calls of the client throw. */

/** The node answered, and not with a 200. */
export class ApiError extends Error {
  readonly status: number;
  /** The node's own words: `error`, and `detail` where there is one. */
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
 * No whole answer came within the client's patience, or one that does not tell of an earlier sending whose
 * answer was lost (`cause` is what came last): what was asked for may have been done. An order that is sent
 * again as the same bytes is not placed twice.
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
    return { error: body.slice(0, 300), detail: '' }; // a proxy on the way, not the node
  }
}
