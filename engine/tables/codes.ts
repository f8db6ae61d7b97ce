/**
 * Numbers in the columns of the tables, and widths of keys, for every reader of a row, a command or an engine
 * event. Positions of columns: layout.ts.
 */

/** Words of an order id, a token id and a condition id. */
export const ID_WORDS = 8;
export const ADDRESS_WORDS = 5;
/** 65 bytes, and three of padding. */
export const SIGNATURE_WORDS = 17;
export const API_KEY_WORDS = 4;
/** Words of the part of a request id that is no time. */
export const REQUEST_KEY_WORDS = 4;

/**
 * Wallet with the source levels: its last bytes spell its name, and no key is known that signs for it. Big-endian
 * words, as in every address.
 */
export const SOURCE_ADDRESS = Int32Array.of(0, 0, 0, 0x736f, 0x75726365);

/** Status of an order; none while it is being placed. */
export const Status = { free: 0, live: 1, matched: 2, canceled: 3, expired: 4 } as const;

/**
 * Close reasons; the status follows from them (endStatus, orders.ts). The numbers are stored. Names and meanings
 * for clients are in server/orders/README.md.
 */
export const EndReason = {
  none: 0,
  filled: 1,
  /** Remainder of a fill-and-kill that met nobody. */
  fakRemainder: 2,
  canceled: 3,
  expired: 4,
  marketEnded: 5,
  /** Price off a coarser grid. */
  tickChange: 6,
  /** Policy about a trade with an order of its own account. */
  selfTrade: 7,
  resolved: 8,
  endReached: 9,
  /** Taker that could not be placed at the end of its delay. */
  unmatched: 10,
} as const;
export type EndReasonCode = Exclude<(typeof EndReason)[keyof typeof EndReason], 0>;

export const MarketFlag = {
  tradable: 1,
  /** Closed or archived, resolved, or at its end. */
  ended: 2,
  negRisk: 4,
  /** Set by the engine, for good: the market has reached its end. */
  endReached: 8,
  /** Set by the engine: a payout is proposed, and the market is not tradable. */
  proposed: 16,
  /** For a market with a proposal: it is tradable again after a withdrawal. */
  held: 32,
} as const;

export const ResolutionState = { resolving: 1, resolved: 2, proposed: 3, withdrawn: 4 } as const;

/** Causes of changed totals (docs/ledger.md#entries). */
export const EntryCause = {
  deposit: 1,
  withdraw: 2,
  split: 3,
  merge: 4,
  trade: 5,
  redeem: 6,
  fees: 7,
  rebate: 8,
  /** A trade that failed after it was made. */
  failed: 9,
  /** Back to the start sum at the end of a season; of the venue, with no cash, when it begins. */
  season: 10,
} as const;
export type EntryCauseCode = (typeof EntryCause)[keyof typeof EntryCause];

/** Match kinds (docs/protocol.md#match-kinds). */
export const MatchKind = { complementary: 0, mint: 1, merge: 2 } as const;
