/**
 * Condition ids in both lengths: 32 bytes, and the 31 bytes of markets of the second protocol, which are the same with a
 * zero byte behind them. Rules: docs/protocol.md#identifiers
 *
 * Pure; any thread.
 */

/** Digits of 31 or 32 bytes in either case, for schemas of requests. */
export const CONDITION_SOURCE = '^0x(?:[0-9a-fA-F]{62}|[0-9a-fA-F]{64})$';
/** Form of a condition id, with either case of its `0x`. */
export const CONDITION_PATTERN = /^0[xX](?:[0-9a-fA-F]{62}|[0-9a-fA-F]{64})$/;

/** Characters of the short form with its `0x`. */
const SHORT_LENGTH = 64;
const LAST_BYTE = '00';
/** Module, hash and arity, eight zero bytes, chain and index, and the byte that the short form leaves out. */
const OF_POSITIONS = /^0x0[1-4][0-9a-f]{36}0{16}[0-9a-f]{8}00$/;

/** Returns the stored form: `0x` and 64 lower-case hex digits; undefined for any other text. */
export function conditionKey(text: string): string | undefined {
  return CONDITION_PATTERN.test(text) ? wholeCondition(text).toLowerCase() : undefined;
}

/** Returns the long form of a short condition id; any other text unchanged. */
export function wholeCondition(text: string): string {
  return text.length === SHORT_LENGTH && CONDITION_PATTERN.test(text) ? text + LAST_BYTE : text;
}

/**
 * Returns a stored condition id as another service is asked for it: short where it has the layout of the second
 * protocol, as that service shows it. Not verified: that its filters find the short form.
 */
export function askedCondition(key: string): string {
  return OF_POSITIONS.test(key) ? key.slice(0, SHORT_LENGTH) : key;
}
