/**
 * Status of refused commands of the ledger, for users and operators.
 *
 * Thread: any. Not here: the texts (orders/worker/reject-texts.ts).
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';

export type RefusalStatus = 400 | 404 | 409 | 503;

const STATUSES: Partial<Record<RejectReasonCode, RefusalStatus>> = {
  [RejectReason.ledgerOff]: 409,
  [RejectReason.idConflict]: 409,
  [RejectReason.idTooOld]: 409,
  [RejectReason.depositsTooLarge]: 409,
  [RejectReason.bindingConflict]: 409,
  [RejectReason.marketResolved]: 409,
  [RejectReason.groupHasWinner]: 409,
  [RejectReason.walletUnknown]: 404,
  [RejectReason.marketUnknown]: 404,
  [RejectReason.tableFull]: 503,
  [RejectReason.idsFull]: 503,
  [RejectReason.signerHasOrders]: 409,
  [RejectReason.marketProposed]: 409,
  [RejectReason.proposalUnknown]: 409,
};

/** Status of the reject table, or 400. */
export function refusalStatus(reason: RejectReasonCode): RefusalStatus {
  return STATUSES[reason] ?? 400;
}
