/**
 * Id of a trade, which follows from the fill sequence of its first fill, its match.
 * Rules: docs/protocol.md#identifiers
 *
 * Thread: any; pure.
 */

/** Every id begins so: the form is that of a version 4 UUID. The match in hex follows. */
export const TRADE_ID_BEGINNING = '00000000-0000-4000-8000-';
export const TRADE_ID_DIGITS = 12;
const TRADE_ID = new RegExp(`^${TRADE_ID_BEGINNING}([0-9a-f]{${TRADE_ID_DIGITS}})$`);

export function tradeIdOf(match: number): string {
  return TRADE_ID_BEGINNING + match.toString(16).padStart(TRADE_ID_DIGITS, '0');
}

/** Match of a trade id in any case; -1 for every other text. */
export function matchOfTradeId(text: string): number {
  const hex = TRADE_ID.exec(text.toLowerCase())?.[1];
  return hex === undefined ? -1 : Number.parseInt(hex, 16);
}
