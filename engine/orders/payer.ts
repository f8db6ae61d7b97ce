/**
 * Free funds of the wallet that would pay for an order, and room of the tables, as place.ts would find them. A read: it
 * ends on inconsistent tables, and is valid where no writer was inside. Rules: docs/protocol.md#order-of-checks
 */
import {
  agentLeft,
  agentSizeMax,
  isActiveAgent,
  mayListAgentOrder,
  mayTradeMarket,
} from '../ledger/agents.ts';
import { exposureLeft } from '../ledger/exposure.ts';
import { findPosition, positionRoom } from '../ledger/positions.ts';
import { CASH_F, Cash, POSITION_F, Position, State, TOKEN_I, Token } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, AgentRow, MarketRow, TokenRow } from '../tables/units.ts';
import { hasDelayRoom, mayDelay } from './delayed.ts';
import { mayHaveWallet, mayRest } from './place.ts';
import { RejectReason, type RejectReasonCode } from './reject-reasons.ts';

/** Micro-units, or micro-shares. */
interface Held {
  readonly free: number;
  readonly reserved: number;
}

/** Bound of an agent whose key would sign. */
export interface AgentBound {
  /** Against any order in this market. */
  readonly reason: RejectReasonCode;
  /** Micro-shares. */
  readonly sizeMax: number;
  /** Micro-units that it may still spend on the day. */
  readonly left: number;
  readonly mayRest: boolean;
}

export interface Payer {
  /** Undefined where the signer of the wallet would sign. */
  readonly agent: AgentBound | undefined;
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
 * @param agent row of the owner, where it is an agent of the wallet; 0 = none
 * @param time the UTC day of which counts
 */
export function readPayer(
  t: Tables,
  wallet: AccountRow | 0,
  owner: AccountRow | 0,
  isOwn: boolean,
  token: TokenRow,
  agent: AgentRow | 0,
  time: number,
): Payer {
  const hasLedger = t.state[State.ledger] !== 0;
  const position = wallet === 0 || !hasLedger ? 0 : findPosition(t, wallet, token);
  const missing = [wallet, ...(isOwn ? [] : [owner])].filter((row) => row === 0).length;
  const p = position << POSITION_F;
  const c = wallet << CASH_F;
  return {
    agent: agent === 0 ? undefined : agentBound(t, agent, token, time),
    funds: hasLedger
      ? {
          cash: heldOf(t.cashF, c + Cash.total, c + Cash.reserved),
          shares: heldOf(t.positionF, p + Position.total, p + Position.reserved),
        }
      : undefined,
    exposureLeft: hasLedger ? exposureLeft(t, wallet) : Number.POSITIVE_INFINITY,
    mayRest: mayRest({ t }, owner, wallet),
    mayHaveWallet: isOwn || agent !== 0 || mayHaveWallet({ t }, wallet, owner),
    hasAccountRoom: t.state[State.accounts]! + missing <= t.capacities.accounts,
    hasPositionRoom: !hasLedger || position !== 0 || positionRoom(t, 1),
    hasDelayRoom: hasDelayRoom(t),
    mayDelay: mayDelay(t, owner),
  };
}

function agentBound(t: Tables, agent: AgentRow, token: TokenRow, time: number): AgentBound {
  const market = t.tokenI[(token << TOKEN_I) + Token.market]! as MarketRow;
  const isAllowed = mayTradeMarket(t, agent, market);
  return {
    reason: !isActiveAgent(t, agent)
      ? RejectReason.agentEnded
      : isAllowed
        ? RejectReason.accepted
        : RejectReason.agentMarket,
    sizeMax: agentSizeMax(t, agent),
    left: agentLeft(t, agent, time),
    mayRest: mayListAgentOrder(t, agent),
  };
}

function heldOf(table: Float64Array, total: number, reserved: number): Held {
  return { free: table[total]! - table[reserved]!, reserved: table[reserved]! };
}
