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
  notEnough: 21,
  tooManyOpen: 22,
  tooManyWallets: 23,
  tableFull: 24,
  postOnlyCrossesAsk: 25,
  postOnlyCrossesBid: 26,
  fokUnfilled: 27,
  fakUnfilled: 28,
  selfTrade: 29,
  /** Cancels: unknown, foreign, or already finished. */
  orderNotFound: 30,
  /** Market commands: already registered, unknown, or a change that may not be. */
  marketRefused: 31,
  // Commands of the ledger (docs/ledger.md#commands), which may also be refused for want of funds or room.
  ledgerOff: 32,
  /** Its id was used: with the same body, with another, too long ago; or is none. */
  idRepeated: 33,
  idConflict: 34,
  idTooOld: 35,
  idInvalid: 36,
  amountInvalid: 37,
  depositsTooLarge: 38,
  walletUnknown: 39,
  bindingConflict: 40,
  marketUnknown: 41,
  marketResolved: 42,
  payoutInvalid: 43,
  groupHasWinner: 44,
} as const;
export type RejectReasonCode = (typeof RejectReason)[keyof typeof RejectReason];
