/** Bodies of what the HTTP server answers by itself, before or instead of a route. Data. */
import { errorBody } from '../common/error-bodies.ts';

export const NOT_FOUND = errorBody('not found');
export const METHOD_NOT_ALLOWED = errorBody('method not allowed');
export const PAYLOAD_TOO_LARGE = errorBody('payload too large');
export const AMBIGUOUS_LENGTH = errorBody(
  'bad request',
  'Content-Length twice, or a Transfer-Encoding other than chunked',
);
export const SHUTTING_DOWN = errorBody('shutting down');
export const TOO_MANY_BYTES = errorBody('too many answers in flight');
export const TOO_MANY_BODIES = errorBody('too many bodies in flight');
export const TOO_MANY_REQUESTS = errorBody('Too Many Requests');
export const TOO_MANY_OF_ADDRESS = errorBody('too many stream connections of this address');
export const NO_UPGRADE = errorBody('websocket upgrade required');
