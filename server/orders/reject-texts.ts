/**
 * The exact text of each reject reason, for clients. A test compares the table of orders/API.md with this one.
 * Rules: docs/protocol.md#order-of-checks
 */

import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { REFUSALS } from '../common/refusals.ts';

export const REJECT_TEXTS: Readonly<Record<Exclude<RejectReasonCode, 0>, string>> = {
  [RejectReason.ownerMismatch]: REFUSALS.OWNER_MISMATCH[0],
  [RejectReason.walletBanned]: REFUSALS.ADDRESS_BANNED[0],
  [RejectReason.postOnlyType]: REFUSALS.POST_ONLY_TYPE[0],
  [RejectReason.conditionUnknown]: REFUSALS.UNKNOWN_CONDITION[0],
  [RejectReason.tokenUnknown]: REFUSALS.UNKNOWN_TOKEN[0],
  [RejectReason.tokenOfOtherCondition]: REFUSALS.TOKEN_OF_OTHER_CONDITION[0],
  [RejectReason.takerNotPublic]: REFUSALS.TAKER_NOT_PUBLIC[0],
  [RejectReason.duplicate]: REFUSALS.DUPLICATE_ORDER[0],
  [RejectReason.marketNotReady]: REFUSALS.MARKET_NOT_READY[0],
  [RejectReason.amountsNotPositive]: REFUSALS.AMOUNT_NOT_POSITIVE[0],
  [RejectReason.expirationPast]: REFUSALS.EXPIRATION_PAST[0],
  [RejectReason.expirationRequired]: REFUSALS.EXPIRATION_REQUIRED[0],
  [RejectReason.expirationInvalid]: REFUSALS.EXPIRATION_INVALID[0],
  [RejectReason.feeNegative]: REFUSALS.FEE_NEGATIVE[0],
  [RejectReason.feeBelowBase]: REFUSALS.FEE_BELOW_BASE[0],
  [RejectReason.feeTooHigh]: REFUSALS.FEE_TOO_HIGH[0],
  [RejectReason.sizeAboveMaximum]: REFUSALS.SIZE_ABOVE_MAXIMUM[0],
  [RejectReason.tick]: REFUSALS.TICK_SIZE[0],
  [RejectReason.sizeBelowMinimum]: REFUSALS.SIZE_BELOW_MINIMUM[0],
  [RejectReason.signature]: REFUSALS.INVALID_SIGNATURE[0],
  [RejectReason.binding]: REFUSALS.INVALID_SIGNATURE[0],
  [RejectReason.tooManyOpen]: REFUSALS.TOO_MANY_OPEN_ORDERS[0],
  [RejectReason.tooManyWallets]: REFUSALS.NO_ROOM[0],
  [RejectReason.tableFull]: REFUSALS.NO_ROOM[0],
  [RejectReason.postOnlyCrossesAsk]: REFUSALS.POST_ONLY_CROSSES[0],
  [RejectReason.postOnlyCrossesBid]: REFUSALS.POST_ONLY_CROSSES[1],
  [RejectReason.fokUnfilled]: REFUSALS.FOK_NOT_FILLED[0],
  [RejectReason.fakUnfilled]: REFUSALS.FAK_NOT_FILLED[0],
  [RejectReason.selfTrade]: REFUSALS.SELF_TRADE[0],
  [RejectReason.orderNotFound]: REFUSALS.ORDER_NOT_OPEN[0],
  [RejectReason.marketRefused]: REFUSALS.MARKET_NOT_CHANGED[0],
  [RejectReason.notEnough]: REFUSALS.NOT_ENOUGH_BALANCE[0],
  [RejectReason.ledgerOff]: REFUSALS.LEDGER_OFF[0],
  [RejectReason.idRepeated]: REFUSALS.ID_REPEATED[0],
  [RejectReason.idConflict]: REFUSALS.ID_CONFLICT[0],
  [RejectReason.idTooOld]: REFUSALS.ID_TOO_OLD[0],
  [RejectReason.idInvalid]: REFUSALS.ID_INVALID[0],
  [RejectReason.amountInvalid]: REFUSALS.AMOUNT_INVALID[0],
  [RejectReason.depositsTooLarge]: REFUSALS.DEPOSITS_TOO_LARGE[0],
  [RejectReason.walletUnknown]: REFUSALS.UNKNOWN_WALLET[0],
  [RejectReason.bindingConflict]: REFUSALS.WALLET_SIGNS[0],
  [RejectReason.marketUnknown]: REFUSALS.MARKET_NOT_REGISTERED[0],
  [RejectReason.marketResolved]: REFUSALS.MARKET_RESOLVED[0],
  [RejectReason.payoutInvalid]: REFUSALS.PAYOUT_INVALID[0],
  [RejectReason.groupHasWinner]: REFUSALS.GROUP_HAS_WINNER[0],
  [RejectReason.notBinary]: REFUSALS.NOT_BINARY[0],
  [RejectReason.sourceCrossed]: REFUSALS.SOURCE_CROSSED[0],
  [RejectReason.idsFull]: REFUSALS.IDS_FULL[0],
  [RejectReason.signerHasOrders]: REFUSALS.SIGNER_HAS_ORDERS[0],
  [RejectReason.marketProposed]: REFUSALS.PROPOSAL_PENDING[0],
  [RejectReason.reviewInvalid]: REFUSALS.REVIEW_INVALID[0],
  [RejectReason.proposalUnknown]: REFUSALS.NO_PROPOSAL[0],
};

/** The texts of the other service that its bots look for, where they differ. */
const BOT_TEXTS: Partial<typeof REJECT_TEXTS> = {
  [RejectReason.postOnlyCrossesAsk]: REFUSALS.POST_ONLY_CROSSES[2],
  [RejectReason.postOnlyCrossesBid]: REFUSALS.POST_ONLY_CROSSES[2],
  [RejectReason.fokUnfilled]: REFUSALS.FOK_NOT_FILLED[1],
};

/** The texts of rejected orders (ORDER_TEXTS). */
export type OrderTexts = 'spec' | 'polymarket';

export function rejectTexts(wanted: OrderTexts): typeof REJECT_TEXTS {
  return wanted === 'spec' ? REJECT_TEXTS : { ...REJECT_TEXTS, ...BOT_TEXTS };
}
