/**
 * Reasons why a mirrored book may differ from that of its source, for `GET /status`, the metrics and the documents.
 */

export const STALE_REASONS = {
  starting: 'the source has not sent its book yet',
  disconnected: 'there is no connection to the source',
  silent: 'the source sends nothing and answers no ping',
  gap: 'messages of the source were missed',
  damaged: 'a message of the source could not be understood',
  time: 'a time of the source is far from those before it',
  hash: 'a book of the source has another hash than its levels',
  crossed: 'the best bid of the source is not below its best ask',
  tick: 'the tick of the market changes',
  behind: 'the engine could not follow, and a new snapshot replaces what waits',
  refused: 'a level of the source could not be taken over',
} as const;

export type StaleReason = keyof typeof STALE_REASONS;
export const STALE_REASON_NAMES = Object.keys(STALE_REASONS) as readonly StaleReason[];
