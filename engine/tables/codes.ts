/**
 * Numbers that stand in the columns of the tables, and the widths of keys: what every reader of a row, a
 * command or an event has to know. Where a column lies is in layout.ts.
 */

/** Words of an order id, a token id and a condition id. */
export const ID_WORDS = 8;
export const ADDRESS_WORDS = 5;
export const API_KEY_WORDS = 4;
/** Words of the part of a request's id that is no time. */
export const REQUEST_KEY_WORDS = 4;

/**
 * The wallet that has the levels of the source: its last bytes spell its name, and no key is known that signs for it.
 * Big-endian words, as those of every address.
 */
export const SOURCE_ADDRESS = Int32Array.of(0, 0, 0, 0x736f, 0x75726365);

/** Status of an order; while it is being placed it has none of them. */
export const Status = { free: 0, live: 1, matched: 2, canceled: 3, expired: 4 } as const;

/**
 * Why an order ended; the status beside it follows from it (endStatus, orders.ts).
 * The numbers are stored; names and what each means to a client stand in server/orders/README.md.
 */
export const EndReason = {
  none: 0,
  /** All of it was filled. */
  filled: 1,
  /** A fill-and-kill whose rest found nobody. */
  fakRemainder: 2,
  /** By its owner. */
  canceled: 3,
  expired: 4,
  /** Its market was closed or archived. */
  marketEnded: 5,
  /** A coarser tick left its price off the grid. */
  tickChange: 6,
  /** It would have traded with an order of its own account, and the policy ended it. */
  selfTrade: 7,
  /** Its market resolved, or is void. */
  resolved: 8,
  /** The end of its market came. */
  endReached: 9,
} as const;
export type EndReasonCode = Exclude<(typeof EndReason)[keyof typeof EndReason], 0>;

/** Bits of the flags of a market. */
export const MarketFlag = {
  tradable: 1,
  /** Closed or archived, resolved, or its end has come. */
  ended: 2,
  negRisk: 4,
  /** Set by the engine alone, for good: the end of the market has come. */
  endReached: 8,
  /** Set by the engine alone: a payout is proposed, and the market is not tradable meanwhile. */
  proposed: 16,
  /** Of a market with a proposal: it is tradable again once that is withdrawn. */
  held: 32,
} as const;

/** Of a row of resolutions. */
export const ResolutionState = { resolving: 1, resolved: 2, proposed: 3, withdrawn: 4 } as const;

/** Why a wallet's totals changed (docs/ledger.md#entries). */
export const EntryCause = {
  deposit: 1,
  withdraw: 2,
  split: 3,
  merge: 4,
  trade: 5,
  redeem: 6,
  /** Fees of the venue: to a wallet. */
  fees: 7,
} as const;
export type EntryCauseCode = (typeof EntryCause)[keyof typeof EntryCause];

/** Match kinds (docs/protocol.md#match-kinds). */
export const MatchKind = { complementary: 0, mint: 1, merge: 2 } as const;
