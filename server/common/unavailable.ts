/** A request that this node cannot answer now. Thread: any. */
import { errorBody } from './error-bodies.ts';
import { REFUSALS, type RefusalCode } from './refusals.ts';

/** Headers of an answer to a request that may be sent again in a second. */
export const RETRY_SOON = [['Retry-After', '1']] as const;

/** Refusal of a request that changed nothing and may succeed later: 503 with `Retry-After`, not 500. */
export class Unavailable extends Error {
  readonly body: string;

  constructor(code: RefusalCode, detail: string) {
    super(`${REFUSALS[code].texts[0]}: ${detail}`);
    this.body = errorBody(code, detail);
  }
}

export function leadLost(): Unavailable {
  return new Unavailable('NOT_LEADING', 'it has just lost the lead');
}
