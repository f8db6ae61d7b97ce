/**
 * Fills whose settlement is decided later: what both sides received, and the fees, are held until then. The decision
 * came with the command of their taker. Rules: docs/protocol.md#unsettled-trades
 */
import { ALL_FAULTS, SettleCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { addCost } from '../ledger/exposure.ts';
import { dropPosition } from '../ledger/positions.ts';
import { UNSETTLED_FILLS_MAX } from '../tables/capacities.ts';
import { EntryCause } from '../tables/codes.ts';
import {
  CASH_F,
  Cash,
  FILL_WORDS,
  Fill,
  FillTerm,
  HOLDER_F,
  Holder,
  Ledger,
  MARKET_F,
  Market,
  ORDER_I,
  Order,
  POSITION_F,
  POSITION_I,
  Position,
  State,
  TOKEN_I,
  Token,
  UNSETTLED_F,
  UNSETTLED_I,
  Unsettled,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  AccountRow,
  BookRow,
  MarketRow,
  OrderRow,
  PositionRow,
  TokenRow,
} from '../tables/units.ts';
import { fillRowAt } from '../tables/units.ts';
import { findOrder } from './orders.ts';
import { RejectReason, type RejectReasonCode } from './reject-reasons.ts';

/** Sides of a fill, which are the columns of a pair. */
const TAKER = 0;
const MAKER = 1;
type Party = typeof TAKER | typeof MAKER;
const PARTIES = [TAKER, MAKER] as const;

const NONE = -1;
/** Sequence of a row that is settled and not removed yet. */
const SETTLED = -2;
const ROW_WORDS = 1 << UNSETTLED_I;

/** Amounts that a side of a fill received, or gave as a negative, in micro-units. */
export interface Received {
  readonly cash: number;
  readonly shares: number;
}

export function unsettledCount({ state }: Pick<Tables, 'state'>): number {
  return state[State.unsettled]!;
}

/** Unix milliseconds at which the first fill is decided; 0 = none. */
export function firstSettlement({ state, unsettledF }: Tables): number {
  return state[State.unsettled] === 0 ? 0 : unsettledF[Unsettled.dueAt]!;
}

/** True while a fill is not settled. */
export function isUnsettled({ state, unsettledF }: Tables, sequence: number): boolean {
  for (let row = 0; row < state[State.unsettled]!; row++) {
    if (unsettledF[(row << UNSETTLED_F) | Unsettled.sequence] === sequence) return true;
  }
  return false;
}

/**
 * Prepares the row of the fill at hand, before it becomes the last trade of its tokens. A full table settles its first
 * fill.
 */
export function beginUnsettled(context: EngineContext, taker: OrderRow, maker: OrderRow): void {
  const { t } = context;
  const { orderI, state } = t;
  if (state[State.unsettled] === UNSETTLED_FILLS_MAX) settleFirst(context, 1);
  const row = state[State.unsettled]!;
  const takerToken = orderI[(taker << ORDER_I) | Order.token]! as TokenRow;
  const makerToken = orderI[(maker << ORDER_I) | Order.token]! as TokenRow;
  notePrice(t, row, TAKER, takerToken);
  notePrice(t, row, MAKER, takerToken === makerToken ? 0 : makerToken);
}

/** Holds what both sides of the newest fill received. Its row was prepared. */
export function holdFill(context: EngineContext, taker: OrderRow, maker: OrderRow): void {
  const { settleFails, settleFault, settleMs, t, time } = context;
  const { fillI, orderI, state, unsettledF, unsettledI } = t;
  const row = state[State.unsettled]!;
  const w = row << UNSETTLED_I;
  const f = row << UNSETTLED_F;
  const sequence = state[State.fills]! - 1;
  const fill = fillRowAt(sequence, t.fillRows) * FILL_WORDS;
  fillI[fill + Fill.terms]! |= FillTerm.unsettled | (settleFails === 0 ? 0 : FillTerm.fails);
  for (let i = 0; i < FILL_WORDS; i++) unsettledI[w + i] = fillI[fill + i]!;
  unsettledF[f + Unsettled.sequence] = sequence;
  unsettledF[f + Unsettled.dueAt] = time + settleMs;
  unsettledI[w + Unsettled.position + TAKER] = orderI[(taker << ORDER_I) | Order.position]!;
  unsettledI[w + Unsettled.position + MAKER] = orderI[(maker << ORDER_I) | Order.position]!;
  unsettledI[w + Unsettled.fails] = settleFails;
  unsettledI[w + Unsettled.fault] = settleFault;
  state[State.unsettled] = row + 1;
  state[State.unsettledEver]! += 1;
  hold(t, row, 1);
  tellReserved(context, row);
  context.mix(time + settleMs);
  context.mixWord(settleFails);
  sortLast(t);
}

/** Marks that a token trades again, for the price that a failure gives back. */
export function supersede({ state, unsettledI }: Tables, token: TokenRow): void {
  for (let row = 0; row < state[State.unsettled]!; row++) {
    for (const party of PARTIES) {
      const at = (row << UNSETTLED_I) + party;
      if (tokenOf(unsettledI, row, party) === token) unsettledI[at + Unsettled.isLast] = 0;
    }
  }
}

/** Settles fills that are due by a time, `limit` at most. Returns their number. */
export function settleDue(context: EngineContext, time: number, limit: number): number {
  const { state, unsettledF } = context.t;
  const most = Math.min(limit, state[State.unsettled]!);
  let count = 0;
  while (count < most && unsettledF[(count << UNSETTLED_F) + Unsettled.dueAt]! <= time) count += 1;
  settleFirst(context, count);
  return count;
}

/** Settles all fills of a market, which resolves. */
export function settleMarket(context: EngineContext, market: MarketRow): void {
  const { tokenI, unsettledI } = context.t;
  settleWhere(context, (row) => {
    const token = tokenOf(unsettledI, row, TAKER) << TOKEN_I;
    return tokenI[token + Token.market] === market;
  });
}

/** Applies the command that ends the wait of all fills of a fault, or of every fault. */
export function settleFault(context: EngineContext, i32: Int32Array, at: number): RejectReasonCode {
  const { unsettledI } = context.t;
  const fault = i32[at + SettleCommand.fault]!;
  settleWhere(
    context,
    (row) => fault === ALL_FAULTS || unsettledI[(row << UNSETTLED_I) + Unsettled.fault] === fault,
  );
  return RejectReason.accepted;
}

/** Returns what a side received, net of fees. */
export function receivedBy(
  { unsettledF, unsettledI }: Tables,
  row: number,
  party: Party,
): Received {
  const f = row << UNSETTLED_F;
  const size = unsettledF[f + Fill.size]!;
  const leg = unsettledF[f + (party === TAKER ? Fill.takerCollateral : Fill.makerCollateral)]!;
  const isBuy = buys(unsettledI, row, party);
  if (party === MAKER) return { cash: isBuy ? -leg : leg, shares: isBuy ? size : -size };
  const fee = unsettledF[f + Fill.fee]!;
  const feeShares = feeSharesOf(unsettledI, row, fee);
  const cash = (isBuy ? -leg : leg) - (fee - feeShares);
  return { cash, shares: isBuy ? size - feeShares : -size };
}

/** Cash of the taker's fee, which is held too. */
export function heldFeeOf({ unsettledF, unsettledI }: Tables, row: number): number {
  const fee = unsettledF[(row << UNSETTLED_F) + Fill.fee]!;
  return fee - feeSharesOf(unsettledI, row, fee);
}

function settleFirst(context: EngineContext, count: number): void {
  for (let row = 0; row < count; row++) settle(context, row);
  removeSettled(context.t);
}

function settleWhere(context: EngineContext, isMeant: (row: number) => boolean): void {
  const { t } = context;
  if (t.state[State.unsettled] === 0) return;
  for (let row = 0; row < t.state[State.unsettled]!; row++) if (isMeant(row)) settle(context, row);
  removeSettled(t);
}

function settle(context: EngineContext, row: number): void {
  const { events, t } = context;
  const w = row << UNSETTLED_I;
  const sequence = t.unsettledF[(row << UNSETTLED_F) + Unsettled.sequence]!;
  const fails = t.unsettledI[w + Unsettled.fails] === 1;
  context.changes += 1;
  context.mix(sequence);
  context.mixWord(fails ? 1 : 0);
  hold(t, row, -1);
  if (fails) reverse(context, row);
  else tellReserved(context, row);
  const taker = t.unsettledI[w + Unsettled.position + TAKER]! as PositionRow;
  const maker = t.unsettledI[w + Unsettled.position + MAKER]! as PositionRow;
  dropPosition(t, taker);
  if (maker !== taker) dropPosition(t, maker);
  if (events.isOn) {
    const orders = [Fill.takerId, Fill.makerId].map((id) =>
      Math.abs(findOrder(t, t.unsettledI, w + id)),
    );
    events.decided(t, w, sequence, fails, orders);
  }
  t.unsettledF[(row << UNSETTLED_F) + Unsettled.sequence] = SETTLED;
}

function removeSettled({ state, unsettledF, unsettledI }: Tables): void {
  const count = state[State.unsettled]!;
  let left = 0;
  for (let row = 0; row < count; row++) {
    if (unsettledF[(row << UNSETTLED_F) + Unsettled.sequence] === SETTLED) continue;
    if (left !== row) {
      unsettledI.copyWithin(left * ROW_WORDS, row * ROW_WORDS, (row + 1) * ROW_WORDS);
    }
    left += 1;
  }
  unsettledI.fill(0, left * ROW_WORDS, count * ROW_WORDS);
  state[State.unsettled] = left;
}

/** Moves the last row to its place by due time; equal times stay in the order of their fills. */
function sortLast({ state, unsettledF, unsettledI }: Tables): void {
  const last = state[State.unsettled]! - 1;
  const due = unsettledF[(last << UNSETTLED_F) + Unsettled.dueAt]!;
  let to = last;
  while (to > 0 && unsettledF[((to - 1) << UNSETTLED_F) + Unsettled.dueAt]! > due) to -= 1;
  if (to === last) return;
  const row = unsettledI.slice(last * ROW_WORDS, (last + 1) * ROW_WORDS);
  unsettledI.copyWithin((to + 1) * ROW_WORDS, to * ROW_WORDS, last * ROW_WORDS);
  unsettledI.set(row, to * ROW_WORDS);
}

function hold(t: Tables, row: number, sign: 1 | -1): void {
  const { cashF, ledger, positionF, positionI, unsettledI } = t;
  const w = row << UNSETTLED_I;
  for (const party of PARTIES) {
    const { cash, shares } = receivedBy(t, row, party);
    const position = unsettledI[w + Unsettled.position + party]!;
    positionI[(position << POSITION_I) + Position.holds]! += sign;
    if (shares > 0) positionF[(position << POSITION_F) + Position.reserved]! += sign * shares;
    else cashF[(accountOf(unsettledI, row, party) << CASH_F) + Cash.reserved]! += sign * cash;
  }
  ledger[Ledger.heldFees]! += sign * heldFeeOf(t, row);
}

function tellReserved({ events, t }: EngineContext, row: number): void {
  if (!events.isOn) return;
  const { unsettledI } = t;
  for (const party of PARTIES) {
    const account = accountOf(unsettledI, row, party);
    if (!buys(unsettledI, row, party)) {
      events.reserved(t, account, 0, 0);
      continue;
    }
    const at = (row << UNSETTLED_I) + Unsettled.position + party;
    const position = unsettledI[at]! as PositionRow;
    events.reserved(t, account, position, tokenOf(unsettledI, row, party));
  }
}

/** Gives everything back, fees too. */
function reverse(context: EngineContext, row: number): void {
  const { t } = context;
  const { holderF, ledger, marketF, tokenI, unsettledF, unsettledI } = t;
  moveBack(context, row, MAKER);
  moveBack(context, row, TAKER);
  const f = row << UNSETTLED_F;
  const feeCash = heldFeeOf(t, row);
  const token = tokenOf(unsettledI, row, TAKER);
  const market = tokenI[(token << TOKEN_I) + Token.market]!;
  holderF[(token << HOLDER_F) + Holder.venue]! -= unsettledF[f + Fill.fee]! - feeCash;
  ledger[Ledger.fees]! -= feeCash;
  const size = unsettledF[f + Fill.size]!;
  const makerLeg = unsettledF[f + Fill.makerCollateral]!;
  const takerLeg = unsettledF[f + Fill.takerCollateral]!;
  const takerBuys = buys(unsettledI, row, TAKER);
  if (takerBuys !== buys(unsettledI, row, MAKER)) {
    giveBackRounding(t, market, takerBuys ? makerLeg - takerLeg : takerLeg - makerLeg);
  } else {
    if (takerBuys) giveBackRounding(t, market, size - makerLeg - takerLeg);
    const sets = takerBuys ? -size : size;
    marketF[(market << MARKET_F) + Market.collateral]! += sets;
    ledger[Ledger.collateral]! += sets;
  }
  for (const party of PARTIES) giveBackPrice(context, row, party);
}

function giveBackRounding({ ledger, marketF }: Tables, market: number, missing: number): void {
  ledger[Ledger.rounding]! += missing;
  marketF[(market << MARKET_F) + Market.rounding]! += missing;
}

function moveBack({ events, t }: EngineContext, row: number, party: Party): void {
  const { cashF, ledger, positionF, unsettledF, unsettledI } = t;
  const { cash, shares } = receivedBy(t, row, party);
  const account = accountOf(unsettledI, row, party);
  const at = (row << UNSETTLED_I) + Unsettled.position + party;
  const position = unsettledI[at]! as PositionRow;
  cashF[(account << CASH_F) + Cash.total]! -= cash;
  positionF[(position << POSITION_F) + Position.total]! -= shares;
  ledger[Ledger.cash]! -= cash;
  addCost(t, account, position, cash);
  const entry = ledger[Ledger.entries]!;
  ledger[Ledger.entries] = entry + 1;
  const token = tokenOf(unsettledI, row, party);
  const fill = unsettledF[(row << UNSETTLED_F) + Unsettled.sequence]!;
  events.entry(t, EntryCause.failed, account, position, token, entry, fill, -cash, -shares);
}

/** @param token 0 = the maker's is the taker's */
function notePrice(t: Tables, row: number, party: Party, token: TokenRow | 0): void {
  const { state, tokenI, unsettledF, unsettledI } = t;
  const w = (row << UNSETTLED_I) + party;
  const f = (row << UNSETTLED_F) + party;
  unsettledI[w + Unsettled.price] = tokenI[(token << TOKEN_I) + Token.lastPrice]!;
  unsettledI[w + Unsettled.side] = tokenI[(token << TOKEN_I) + Token.lastSide]!;
  unsettledI[w + Unsettled.isLast] = token === 0 ? 0 : 1;
  unsettledF[f + Unsettled.before] = NONE;
  for (let other = 0; other < state[State.unsettled]!; other++) {
    for (const its of PARTIES) {
      const isLast = unsettledI[(other << UNSETTLED_I) + Unsettled.isLast + its] === 1;
      if (!isLast || tokenOf(unsettledI, other, its) !== token) continue;
      const sequence = unsettledF[(other << UNSETTLED_F) + Unsettled.sequence]!;
      unsettledF[f + Unsettled.before] = sequence;
    }
  }
}

/** Restores the last trade of a token before a fill that failed, now or once a later fill fails. */
function giveBackPrice(context: EngineContext, row: number, party: Party): void {
  const { state, tokenI, unsettledF, unsettledI } = context.t;
  const token = tokenOf(unsettledI, row, party);
  if (party === MAKER && token === tokenOf(unsettledI, row, TAKER)) return;
  const w = (row << UNSETTLED_I) + party;
  const price = unsettledI[w + Unsettled.price]!;
  const side = unsettledI[w + Unsettled.side]!;
  const sequence = unsettledF[(row << UNSETTLED_F) + Unsettled.sequence]!;
  const before = unsettledF[(row << UNSETTLED_F) + party + Unsettled.before]!;
  const wasLast = unsettledI[w + Unsettled.isLast] === 1;
  if (wasLast) {
    tokenI[(token << TOKEN_I) + Token.lastPrice] = price;
    tokenI[(token << TOKEN_I) + Token.lastSide] = side;
    context.touch(tokenI[(token << TOKEN_I) + Token.book]! as BookRow);
  }
  for (let other = 0; other < state[State.unsettled]!; other++) {
    for (const its of PARTIES) {
      if (tokenOf(unsettledI, other, its) !== token) continue;
      const at = (other << UNSETTLED_I) + its;
      const d = other << UNSETTLED_F;
      if (wasLast) {
        if (unsettledF[d + Unsettled.sequence] === before) unsettledI[at + Unsettled.isLast] = 1;
      } else if (unsettledF[d + its + Unsettled.before] === sequence) {
        unsettledI[at + Unsettled.price] = price;
        unsettledI[at + Unsettled.side] = side;
        unsettledF[d + its + Unsettled.before] = before;
      }
    }
  }
}

function accountOf(unsettledI: Int32Array, row: number, party: Party): AccountRow {
  const column = party === TAKER ? Fill.taker : Fill.maker;
  return unsettledI[(row << UNSETTLED_I) + column]! as AccountRow;
}

function tokenOf(unsettledI: Int32Array, row: number, party: Party): TokenRow {
  const column = party === TAKER ? Fill.takerToken : Fill.makerToken;
  return unsettledI[(row << UNSETTLED_I) + column]! as TokenRow;
}

/** A maker of the same token is on the other side. */
function buys(unsettledI: Int32Array, row: number, party: Party): boolean {
  const takerBuys = unsettledI[(row << UNSETTLED_I) + Fill.takerSide] === 0;
  const isSame = tokenOf(unsettledI, row, TAKER) === tokenOf(unsettledI, row, MAKER);
  return party === MAKER && isSame ? !takerBuys : takerBuys;
}

function feeSharesOf(unsettledI: Int32Array, row: number, fee: number): number {
  const w = row << UNSETTLED_I;
  const isShares =
    unsettledI[w + Fill.takerSide] === 0 &&
    (unsettledI[w + Fill.terms]! & FillTerm.scheduled) === 0;
  return isShares ? fee : 0;
}
