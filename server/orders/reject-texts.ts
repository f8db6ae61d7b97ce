/**
 * The exact text of each reject reason, for clients. A test compares the table of orders/API.md with this one.
 * Rules: docs/protocol.md#order-of-checks
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';

export const REJECT_TEXTS: Readonly<Record<Exclude<RejectReasonCode, 0>, string>> = {
  [RejectReason.ownerMismatch]: 'owner_address_mismatch',
  [RejectReason.postOnlyType]: 'postOnly requires GTC or GTD',
  [RejectReason.conditionUnknown]: 'condition is not registered',
  [RejectReason.tokenUnknown]: 'token is not registered',
  [RejectReason.tokenOfOtherCondition]: 'tokenId not found for conditionId lookup',
  [RejectReason.takerNotPublic]: 'taker must be the zero address',
  [RejectReason.duplicate]:
    "order is invalid. Duplicated. Same order has already been placed, can't be placed again",
  [RejectReason.marketNotReady]: 'the market is not yet ready to process new orders',
  [RejectReason.amountsNotPositive]: 'makerAmount and takerAmount must be positive',
  [RejectReason.expirationPast]: 'expiration must be in the future',
  [RejectReason.expirationRequired]: 'expiration is required',
  [RejectReason.expirationInvalid]: 'invalid expiration',
  [RejectReason.feeNegative]: 'feeRateBps must be non-negative',
  [RejectReason.feeBelowBase]: 'feeRateBps must be >= exchangeBaseFeeRate',
  [RejectReason.feeTooHigh]: 'feeRateBps must be <= 1000',
  [RejectReason.sizeAboveMaximum]: 'order is invalid. Size higher than the maximum',
  [RejectReason.tick]: 'order is invalid. Price breaks minimum tick size rules',
  [RejectReason.sizeBelowMinimum]: 'order is invalid. Size lower than the minimum',
  [RejectReason.signature]: 'invalid order signature',
  [RejectReason.binding]: 'invalid order signature',
  [RejectReason.notEnough]: 'not enough balance / allowance',
  [RejectReason.tooManyOpen]: 'too many open orders',
  [RejectReason.tooManyWallets]: 'could not insert order',
  [RejectReason.tableFull]: 'could not insert order',
  [RejectReason.postOnlyCrossesAsk]: 'postOnly would cross the best ask',
  [RejectReason.postOnlyCrossesBid]: 'postOnly would cross the best bid',
  [RejectReason.fokUnfilled]: "order couldn't be fully filled, FOK orders are fully filled/killed",
  [RejectReason.fakUnfilled]:
    'no orders found to match with FAK order. FAK orders are partially filled or killed if no ' +
    'match is found.',
  [RejectReason.selfTrade]: 'self trade prevented',
  [RejectReason.orderNotFound]: "order can't be found - already canceled or matched",
  [RejectReason.marketRefused]: 'market is already registered or cannot be changed so',
  [RejectReason.ledgerOff]: 'this node has no ledger',
  [RejectReason.idRepeated]: 'id was used before, with the same body',
  [RejectReason.idConflict]: 'id was used before, with another body',
  [RejectReason.idTooOld]: 'id is older than the oldest that is kept',
  [RejectReason.idInvalid]: 'id must begin with unix milliseconds, at most 300 s ahead',
  [RejectReason.amountInvalid]: 'amount must be a whole number of micro-units from 1 to 2^53 - 1',
  [RejectReason.depositsTooLarge]: 'deposits less withdrawals would exceed 2^52 micro-units',
  [RejectReason.walletUnknown]: 'wallet is not known',
  [RejectReason.bindingConflict]: 'wallet has signed for itself',
  [RejectReason.marketUnknown]: 'market is not registered',
  [RejectReason.marketResolved]: 'market has resolved',
  [RejectReason.payoutInvalid]:
    'payout must be a whole number for each outcome, with a sum from 1 to 10000; all equal if void',
  [RejectReason.groupHasWinner]: 'another market of the group has resolved to its first outcome',
};

/** The texts of the other service that its bots look for, where they differ. */
const BOT_TEXTS: Partial<typeof REJECT_TEXTS> = {
  [RejectReason.postOnlyCrossesAsk]: 'invalid post-only order: order crosses book',
  [RejectReason.postOnlyCrossesBid]: 'invalid post-only order: order crosses book',
  [RejectReason.fokUnfilled]:
    "order couldn't be fully filled. FOK orders are fully filled or killed.",
};

/** The texts of rejected orders (ORDER_TEXTS). */
export type OrderTexts = 'spec' | 'polymarket';

export function rejectTexts(wanted: OrderTexts): typeof REJECT_TEXTS {
  return wanted === 'spec' ? REJECT_TEXTS : { ...REJECT_TEXTS, ...BOT_TEXTS };
}
