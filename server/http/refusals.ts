/** Bodies of answers that the HTTP server gives without a route. Data. */
import { errorBody } from '../common/error-bodies.ts';

export const NOT_FOUND = errorBody('NOT_FOUND');
export const METHOD_NOT_ALLOWED = errorBody('METHOD_NOT_ALLOWED');
export const PAYLOAD_TOO_LARGE = errorBody('PAYLOAD_TOO_LARGE');
export const AMBIGUOUS_LENGTH = errorBody(
  'BAD_REQUEST',
  'Content-Length twice, or a Transfer-Encoding other than chunked',
);
export const SHUTTING_DOWN = errorBody('SHUTTING_DOWN');
export const TOO_MANY_BYTES = errorBody('TOO_MANY_IN_FLIGHT');
export const TOO_MANY_BODIES = errorBody('TOO_MANY_IN_FLIGHT', '', {
  text: 'too many bodies in flight',
});
export const TOO_MANY_REQUESTS = errorBody('TOO_MANY_REQUESTS');
export const TOO_MANY_OF_ADDRESS = errorBody('TOO_MANY_CONNECTIONS', '', {
  text: 'too many stream connections of this address',
});
export const NO_UPGRADE = errorBody('UPGRADE_REQUIRED');
