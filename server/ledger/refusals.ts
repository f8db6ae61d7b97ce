/**
 * How a refused command of the ledger is answered, to users and operators alike.
 *
 * Thread: any. Not here: the texts (orders/reject-texts.ts).
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

/** 400 where the table has no other. */
export function refusalStatus(reason: RejectReasonCode): RefusalStatus {
  return STATUSES[reason] ?? 400;
}
