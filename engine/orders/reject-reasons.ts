/**
 * Reasons why an order is refused. docs/protocol.md#order-of-checks has the rules and their order; the first that
 * fails is the answer. Texts belong to the server; the engine knows only codes.
 */
export const RejectReason = {
  accepted: 0,
  ownerMismatch: 1,
  postOnlyType: 2,
  conditionUnknown: 3,
  tokenUnknown: 4,
  tokenOfOtherCondition: 5,
  takerNotPublic: 6,
  duplicate: 7,
  marketNotReady: 8,
  amountsNotPositive: 9,
  expirationPast: 10,
  expirationRequired: 11,
  expirationInvalid: 12,
  feeNegative: 13,
  feeBelowBase: 14,
  feeTooHigh: 15,
  sizeAboveMaximum: 16,
  tick: 17,
  sizeBelowMinimum: 18,
  signature: 19,
  binding: 20,
  notEnough: 21,
  tooManyOpen: 22,
  tooManyWallets: 23,
  tableFull: 24,
  postOnlyCrossesAsk: 25,
  postOnlyCrossesBid: 26,
  fokUnfilled: 27,
  fakUnfilled: 28,
  selfTrade: 29,
  /** Found before the writer turn: an operator banned the caller or the wallet that pays. */
  walletBanned: 30,
  /** For cancels: unknown, foreign, or already closed. */
  orderNotFound: 31,
  /** For market commands: already registered, unknown, or not allowed. */
  marketRefused: 32,
  // Commands of the ledger (docs/ledger.md#commands), which may also be refused for want of funds or room.
  ledgerOff: 33,
  /** The request id was used with the same body, with another body, or is too old or malformed. */
  idRepeated: 34,
  idConflict: 35,
  idTooOld: 36,
  idInvalid: 37,
  amountInvalid: 38,
  depositsTooLarge: 39,
  walletUnknown: 40,
  bindingConflict: 41,
  marketUnknown: 42,
  marketResolved: 43,
  payoutInvalid: 44,
  groupHasWinner: 45,
  // Commands of the source.
  notBinary: 46,
  sourceCrossed: 47,
  // Commands of the ledger.
  idsFull: 48,
  /** The former signer has too many open orders for one command. */
  signerHasOrders: 49,
  marketProposed: 50,
  /** The review is no whole number of milliseconds from 1 to REVIEW_MS_MAX. */
  reviewInvalid: 51,
  proposalUnknown: 52,
  // Commands of markets.
  /** A part of a fee schedule is out of bounds, or the fee of a sale could exceed its proceeds. */
  feeScheduleInvalid: 53,
  /** The taker delay is no whole number of seconds from 0 to TAKER_DELAY_MAX. */
  takerDelayInvalid: 54,
  /** Too many orders of the signer wait for a taker delay. */
  tooManyDelayed: 55,
  // Relayed batches.
  /** The nonce is not the number of the batches of the wallet before it. */
  nonceMismatch: 56,
  marketUnresolved: 57,
  // Seasons.
  /** Something is left that has to end before a season does. */
  seasonBusy: 58,
  /** A season ends: meanwhile nobody trades or pays. */
  seasonEnding: 59,
  // Invitations.
  /** No code has this digest, or it was revoked. */
  inviteUnknown: 60,
  inviteRedeemed: 61,
  /** The wallet has redeemed another code. */
  walletInvited: 62,
  invitesFull: 63,
  // Orders.
  exposureTooHigh: 64,
  /** The agent was revoked, its end has come, or another signs for the wallet. */
  agentEnded: 65,
  agentMarket: 66,
  agentSize: 67,
  /** Purchases of the day, reservations and this order exceed the cash of the agent. */
  agentCash: 68,
  // Commands of agents.
  /** The agent is the wallet or its owner. */
  agentInvalid: 69,
  /** Its end is past, or further away than AGENT_MS_MAX. */
  agentEndInvalid: 70,
  agentsFull: 71,
  agentUnknown: 72,
  /** The wallet is not of the owner that the command names. */
  walletForeign: 73,
} as const;
export type RejectReasonCode = (typeof RejectReason)[keyof typeof RejectReason];

/** True for reasons of orders; the others are of cancels and internal commands. */
export function refusesOrder(reason: RejectReasonCode): boolean {
  return (
    reason < RejectReason.orderNotFound ||
    reason === RejectReason.tooManyDelayed ||
    (reason >= RejectReason.exposureTooHigh && reason <= RejectReason.agentCash) ||
    reason === RejectReason.seasonEnding
  );
}
