/**
 * Fill in the ledger: moves cash, shares, collateral and fees, and frees what the maker no longer needs. The
 * amounts of the fill are in context.legs. Rules: docs/ledger.md#movements
 */
import type { EngineContext } from '../context.ts';
import * as coreModule from '../context.ts';
import * as codes from '../tables/codes.ts';
import * as layout from '../tables/layout.ts';
import type { AccountRow, MarketRow, OrderRow, PositionRow, TokenRow } from '../tables/units.ts';
import { spend } from './agents.ts';
import { addCost } from './exposure.ts';
import { reservedCash } from './reservations.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { EntryCause } = codes;
const {
  CASH_F,
  Cash,
  Flag,
  HOLDER_F,
  Holder,
  Ledger,
  MARKET_F,
  Market,
  ORDER_I,
  Order,
  POSITION_F,
  Position,
  State,
} = layout;
const { Leg } = coreModule;

export function recordReserved(context: EngineContext, maker: OrderRow): void {
  const { legs, t } = context;
  const sells = t.orderI[(maker << ORDER_I) | Order.flags]! & Flag.sell;
  legs[Leg.reserved] = sells === 0 ? reservedCash(t, maker) : legs[Leg.size]!;
}

export function settleFunds(
  context: EngineContext,
  taker: OrderRow,
  maker: OrderRow,
  market: MarketRow,
): void {
  const { legs, t } = context;
  const { cashF, holderF, ledger, marketF, orderI, positionF } = t;
  const takerFlags = orderI[(taker << ORDER_I) | Order.flags]!;
  const makerFlags = orderI[(maker << ORDER_I) | Order.flags]!;
  const takerBuys = (takerFlags & Flag.sell) === 0;
  const makerBuys = (makerFlags & Flag.sell) === 0;
  const size = legs[Leg.size]!;
  const feeShares = legs[Leg.feeShares]!;
  const feeCash = legs[Leg.fee]! - feeShares;
  const makerLeg = legs[Leg.maker]!;
  const takerLeg = legs[Leg.taker]!;
  if (makerBuys) {
    const account = orderI[(maker << ORDER_I) | Order.maker]!;
    const freed = legs[Leg.reserved]! - reservedCash(t, maker);
    cashF[(account << CASH_F) | Cash.reserved]! -= freed;
  } else {
    const position = orderI[(maker << ORDER_I) | Order.position]!;
    positionF[(position << POSITION_F) | Position.reserved]! -= size;
  }
  legs[Leg.cash] = makerBuys ? -makerLeg : makerLeg;
  legs[Leg.shares] = makerBuys ? size : -size;
  move(context, maker);
  legs[Leg.cash] = (takerBuys ? -takerLeg : takerLeg) - feeCash;
  legs[Leg.shares] = takerBuys ? size - feeShares : -size;
  move(context, taker);
  if (((takerFlags | makerFlags) & Flag.agent) !== 0) {
    if (isPurchase(makerFlags)) spend(t, maker, makerLeg, context.time);
    if (isPurchase(takerFlags)) spend(t, taker, takerLeg + feeCash, context.time);
  }
  if (feeShares !== 0) {
    const token = orderI[(taker << ORDER_I) | Order.token]!;
    holderF[(token << HOLDER_F) | Holder.venue]! += feeShares;
  }
  ledger[Ledger.fees]! += feeCash;
  if (takerBuys !== makerBuys) {
    // Of one token: what the buyer lacked is missing.
    ledger[Ledger.rounding]! -= takerBuys ? makerLeg - takerLeg : takerLeg - makerLeg;
    return;
  }
  if (takerBuys) ledger[Ledger.rounding]! -= size - makerLeg - takerLeg;
  const sets = takerBuys ? size : -size;
  marketF[(market << MARKET_F) | Market.collateral]! += sets;
  ledger[Ledger.collateral]! += sets;
}

/** True for a BUY of an agent. */
function isPurchase(flags: number): boolean {
  return (flags & (Flag.agent | Flag.sell)) === Flag.agent;
}

function move(context: EngineContext, order: OrderRow): void {
  const { events, legs, t } = context;
  const { cashF, ledger, orderI, positionF } = t;
  const cash = legs[Leg.cash]!;
  const shares = legs[Leg.shares]!;
  const account = orderI[(order << ORDER_I) | Order.maker]! as AccountRow;
  const position = orderI[(order << ORDER_I) | Order.position]! as PositionRow;
  cashF[(account << CASH_F) | Cash.total]! += cash;
  positionF[(position << POSITION_F) | Position.total]! += shares;
  ledger[Ledger.cash]! += cash;
  addCost(t, account, position, -cash);
  const entry = ledger[Ledger.entries]!;
  ledger[Ledger.entries] = entry + 1;
  if (!events.isOn) return;
  const token = orderI[(order << ORDER_I) | Order.token]! as TokenRow;
  const fill = t.state[State.fills]! - 1;
  events.entry(t, EntryCause.trade, account, position, token, entry, fill, cash, shares);
}
