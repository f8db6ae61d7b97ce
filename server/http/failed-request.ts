/**
 * Ids of failed requests, named in the answer and in the log (other requests have none), and texts of errors.
 *
 * Thread: I/O.
 */
import { randomBytes } from 'node:crypto';
import type { LogFields } from '../common/logger.ts';
import type { Headers } from './answer-head.ts';

const REQUEST_ID_HEADER = 'X-Request-Id';

const RUN_BYTES = 6;

/** Random prefix: ids of two runs differ. */
const run = randomBytes(RUN_BYTES).toString('hex');
let requests = 0;

export function nextRequestId(): string {
  requests += 1;
  return `${run}-${requests}`;
}

/** Logs a failure; the returned headers of its answer carry the id of the log line. */
export function namedFailure(
  log: (line: string, fields?: LogFields) => void,
  { method, path }: { readonly method: string; readonly path: string },
  why: string,
  headers: Headers,
): Headers {
  const request_id = nextRequestId();
  log(`${method} ${path} ${why}`, { method, route: path, request_id });
  return [...headers, [REQUEST_ID_HEADER, request_id]];
}

export function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s+/g, ' ').slice(0, 500);
}
