/** Bodies of errors that more than one room answers with. */

export const ENGINE_BUSY = '{"error":"engine busy"}';
export const JOURNAL_UNAVAILABLE = '{"error":"journal unavailable"}';
export const INTERNAL_ERROR = '{"error":"internal_error"}';
export const NOT_ALLOWED_ADDRESS = '{"error":"unauthorized: ip_not_allowlisted"}';

/** Body of an error with an optional explanation for the person who has to correct the request. */
export function errorBody(error: string, detail = ''): string {
  return JSON.stringify(detail === '' ? { error } : { error, detail });
}
