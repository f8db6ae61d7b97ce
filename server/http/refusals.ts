/** Bodies of what the HTTP server answers by itself, before or instead of a route. Data. */

export const NOT_FOUND = '{"error":"not found"}';
export const METHOD_NOT_ALLOWED = '{"error":"method not allowed"}';
export const PAYLOAD_TOO_LARGE = '{"error":"payload too large"}';
export const AMBIGUOUS_LENGTH =
  '{"error":"bad request","detail":"Content-Length twice, or a Transfer-Encoding other than chunked"}';
export const SHUTTING_DOWN = '{"error":"shutting down"}';
export const TOO_MANY_BYTES = '{"error":"too many answers in flight"}';
export const TOO_MANY_BODIES = '{"error":"too many bodies in flight"}';
export const TOO_MANY_REQUESTS = '{"error":"Too Many Requests"}';
export const TOO_MANY_OF_ADDRESS = '{"error":"too many stream connections of this address"}';
export const NO_UPGRADE = '{"error":"websocket upgrade required"}';
