/** Declaration of an account of the house by its operator. Rules: docs/ledger.md#accounts-of-the-house */
import { CommandKind, HouseCommand } from './commands.ts';
import type { EngineContext } from './context.ts';
import { isHouse, listHouse } from './ledger/house.ts';
import { findAccount } from './orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from './orders/reject-reasons.ts';
import { State } from './tables/layout.ts';

/** A repeated declaration is accepted and changes nothing. */
export function applyHouse(context: EngineContext, i32: Int32Array, at: number): RejectReasonCode {
  const { t } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const account = findAccount(t, i32, at + HouseCommand.wallet);
  if (account === 0) return RejectReason.walletUnknown;
  if (isHouse(t, account)) return RejectReason.accepted;
  context.changes += 1;
  context.mixWord(CommandKind.house);
  context.mixWord(account);
  listHouse(t, account);
  return RejectReason.accepted;
}
