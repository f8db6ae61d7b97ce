/**
 * Headers with which a client reads its own writes on any node: an answer names the batch that holds a write,
 * a request the batch that its answer has to show. Rules: docs/protocol.md#reading-an-own-write
 */
type Headers = readonly (readonly [string, string])[];

export const SEQUENCE_HEADER = 'X-Sequence';
export const MIN_SEQUENCE_HEADER = 'X-Min-Sequence';

export function sequenceHeaders(sequence: number): Headers {
  return [[SEQUENCE_HEADER, String(sequence)]];
}

export function hasSequence(headers: Headers): boolean {
  return headers.some(([name]) => name === SEQUENCE_HEADER);
}
