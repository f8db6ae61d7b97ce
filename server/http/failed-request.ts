/**
 * Ids of failed requests, named in the answer and in the log (other requests have none), and texts of errors.
 *
 * Thread: I/O.
 */
import { randomBytes } from 'node:crypto';

export const REQUEST_ID_HEADER = 'X-Request-Id';

const RUN_BYTES = 6;

/** Random prefix: ids of two runs differ. */
const run = randomBytes(RUN_BYTES).toString('hex');
let requests = 0;

export function nextRequestId(): string {
  requests += 1;
  return `${run}-${requests}`;
}

export function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s+/g, ' ').slice(0, 500);
}
