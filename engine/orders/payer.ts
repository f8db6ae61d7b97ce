/**
 * Free funds of the wallet that would pay for an order, and room of the tables, as place.ts would find them. A read: it
 * ends on inconsistent tables, and is valid where no writer was inside. Rules: docs/protocol.md#order-of-checks
 */
import { exposureLeft } from '../ledger/exposure.ts';
import { findPosition, positionRoom } from '../ledger/positions.ts';
import { CASH_F, Cash, POSITION_F, Position, State } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, TokenRow } from '../tables/units.ts';
import { hasDelayRoom, mayDelay } from './delayed.ts';
import { mayHaveWallet, mayRest } from './place.ts';

/** Micro-units, or micro-shares. */
interface Held {
  readonly free: number;
  readonly reserved: number;
}

export interface Payer {
  /** Undefined without a ledger. */
  readonly funds: { readonly cash: Held; readonly shares: Held } | undefined;
  /** Micro-units of collateral of a BUY. */
  readonly exposureLeft: number;
  readonly mayRest: boolean;
  readonly mayHaveWallet: boolean;
  readonly hasAccountRoom: boolean;
  readonly hasPositionRoom: boolean;
  readonly hasDelayRoom: boolean;
  readonly mayDelay: boolean;
}

/**
 * @param wallet account that pays; 0 = none of its orders was ever accepted
 * @param owner account whose key signs, likewise
 * @param isOwn the wallet is the owner's own address
 */
export function readPayer(
  t: Tables,
  wallet: AccountRow | 0,
  owner: AccountRow | 0,
  isOwn: boolean,
  token: TokenRow,
): Payer {
  const hasLedger = t.state[State.ledger] !== 0;
  const position = wallet === 0 || !hasLedger ? 0 : findPosition(t, wallet, token);
  const missing = [wallet, ...(isOwn ? [] : [owner])].filter((row) => row === 0).length;
  const p = position << POSITION_F;
  const c = wallet << CASH_F;
  return {
    funds: hasLedger
      ? {
          cash: heldOf(t.cashF, c + Cash.total, c + Cash.reserved),
          shares: heldOf(t.positionF, p + Position.total, p + Position.reserved),
        }
      : undefined,
    exposureLeft: hasLedger ? exposureLeft(t, wallet) : Number.POSITIVE_INFINITY,
    mayRest: mayRest({ t }, owner, wallet),
    mayHaveWallet: isOwn || mayHaveWallet({ t }, wallet, owner),
    hasAccountRoom: t.state[State.accounts]! + missing <= t.capacities.accounts,
    hasPositionRoom: !hasLedger || position !== 0 || positionRoom(t, 1),
    hasDelayRoom: hasDelayRoom(t),
    mayDelay: mayDelay(t, owner),
  };
}

function heldOf(table: Float64Array, total: number, reserved: number): Held {
  return { free: table[total]! - table[reserved]!, reserved: table[reserved]! };
}
