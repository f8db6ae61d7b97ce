/**
 * Why an order was refused: the rules of docs/protocol.md#order-of-checks, in their order.
 * The first that fails is the answer. Texts belong to the server; the engine knows only codes.
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
  tooManyOpen: 21,
  tooManyWallets: 22,
  tableFull: 23,
  postOnlyCrossesAsk: 24,
  postOnlyCrossesBid: 25,
  fokUnfilled: 26,
  fakUnfilled: 27,
  selfTrade: 28,
  /** Cancels: unknown, foreign, or already finished. */
  orderNotFound: 29,
  /** Market commands: already registered, unknown, or a change that may not be. */
  marketRefused: 30,
  /** Found before the turn: an operator has banned the caller or the wallet that pays. */
  walletBanned: 31,
} as const;
export type RejectReasonCode = (typeof RejectReason)[keyof typeof RejectReason];
