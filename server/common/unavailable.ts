/** A request that this node cannot answer now. Thread: any. */
import { errorBody } from './error-bodies.ts';
import { REFUSALS } from './refusals.ts';

/** Headers of an answer to a request that may be sent again in a second. */
export const RETRY_SOON = [['Retry-After', '1']] as const;

/** Nothing has changed, and another try may succeed: answered 503 with `Retry-After`, not 500. */
export class Unavailable extends Error {
  /** JSON. */
  readonly body: string;

  constructor(error: string, detail: string) {
    super(`${error}: ${detail}`);
    this.body = errorBody(error, detail);
  }
}

/** The node has lost the lead of its cluster while the request waited. */
export function leadLost(): Unavailable {
  return new Unavailable(REFUSALS.NOT_LEADING[0], 'it has just lost the lead');
}
