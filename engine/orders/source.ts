/**
 * What the source of a paper venue does: sets the size of its levels, takes from paper orders, and says what it
 * traded. Its money is that of one reserved account, which is paid in as that of any wallet.
 * Rules: docs/paper.md#commands
 */
import type * as matching from '../book/matching.ts';
import { Side } from '../book/matching.ts';
import { CommandKind, commandKind, FillCommand, LevelCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { EventKind } from '../events.ts';
import { positionRoom } from '../ledger/positions.ts';
import {
  holdPosition,
  lookUpPosition,
  reserve,
  reservedCash,
  unreserve,
} from '../ledger/reservations.ts';
import { AMOUNT_MAX } from '../tables/capacities.ts';
import { EndReason, MarketFlag, MatchKind, SOURCE_ADDRESS, Status } from '../tables/codes.ts';
import {
  BOOK_I,
  Book,
  CASH_F,
  Cash,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  Flag,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  AccountRow,
  BookRow,
  MarketRow,
  MicroShares,
  OrderRow,
  Pips,
  Ticks,
  TokenRow,
} from '../tables/units.ts';
import { mulDivFloor, PIPS_PER_UNIT } from '../tables/units.ts';
import { findAccount, makeAccount } from './accounts.ts';
import { crosses, matchTaker } from './match.ts';
import { closeOrder, closeRested, findOrder, rowRoom, takeOrder } from './orders.ts';
import { RejectReason, type RejectReasonCode } from './reject-reasons.ts';
import { lastTrade, settleFill } from './settle-fill.ts';
import { enterLevel, findLevel, freeLevel, isLevel, reuseLevel } from './source-rows.ts';

/** Where a level stands: what the source buys, and at which side and price of the book. */
interface Place {
  /** The token that the reserved account buys: the complement where the source sells. */
  readonly token: TokenRow;
  readonly market: MarketRow;
  readonly book: BookRow;
  readonly side: matching.Side;
  /** In the prices of the book. */
  readonly pips: Pips;
  /** 0 = its price is off the grid. */
  readonly tick: Ticks | 0;
  readonly grid: number;
  readonly size: MicroShares;
}

/** Applies a level, print or fill command. */
export function applySource(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  context.making = 0;
  context.taking = 0;
  const kind = commandKind(i32, at);
  if (kind === CommandKind.fill) return fillOrder(context, i32, f64, at);
  const token = i32[at + LevelCommand.token]! as TokenRow;
  if (token < 1 || token > t.state[State.tokens]!) return RejectReason.tokenUnknown;
  if (t.tokenI[(token << TOKEN_I) + Token.complement] === 0) return RejectReason.notBinary;
  const pips = i32[at + LevelCommand.pips]!;
  if (pips < 1 || pips >= PIPS_PER_UNIT) return RejectReason.tick;
  const size = f64[at / 2 + LevelCommand.size]!;
  const least = kind === CommandKind.print ? 1 : 0;
  const isAmount = Number.isInteger(size) && size >= least && size <= AMOUNT_MAX;
  if (!isAmount) return RejectReason.amountInvalid;
  const p = placeAt(t, i32, f64, at);
  return kind === CommandKind.print ? print(context, i32, at, p) : setLevel(context, p);
}

function placeAt(t: Tables, i32: Int32Array, f64: Float64Array, at: number): Place {
  const named = i32[at + LevelCommand.token]! as TokenRow;
  const sells = i32[at + LevelCommand.side]! & 1;
  const w = named << TOKEN_I;
  const mirrored = t.tokenI[w + Token.mirrored]!;
  const book = t.tokenI[w + Token.book]! as BookRow;
  const grid = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]!;
  const own = i32[at + LevelCommand.pips]!;
  const pips = (mirrored === 1 ? PIPS_PER_UNIT - own : own) as Pips;
  const tick = (pips * grid) / PIPS_PER_UNIT;
  return {
    token: (sells === 1 ? t.tokenI[w + Token.complement]! : named) as TokenRow,
    market: t.tokenI[w + Token.market]! as MarketRow,
    book,
    side: (sells ^ mirrored) as matching.Side,
    pips,
    tick: Number.isInteger(tick) ? (tick as Ticks) : 0,
    grid,
    size: f64[at / 2 + LevelCommand.size]! as MicroShares,
  };
}

function setLevel(context: EngineContext, p: Place): RejectReasonCode {
  const { t } = context;
  const row = findLevel(t, p.book, p.side, p.pips);
  if (p.size === 0) {
    if (row === 0) return RejectReason.accepted;
    note(context, p);
    closeOrder(context, row, EndReason.canceled);
    return RejectReason.accepted;
  }
  if (isEnded(t, p.market)) return RejectReason.marketNotReady;
  if (p.tick === 0) return RejectReason.tick;
  if (row === 0) return addLevel(context, p, p.tick);
  const restingSlot = t.orderI[(row << ORDER_I) + Order.restingSlot]!;
  const before = t.matching.remaining(restingSlot);
  if (before === p.size) return RejectReason.accepted;
  if (t.matching.quantityAt(p.book, p.tick) - before + p.size > AMOUNT_MAX)
    return RejectReason.sizeAboveMaximum;
  const account = t.orderI[(row << ORDER_I) + Order.maker]! as AccountRow;
  return resizeLevel(context, row, p, p.tick, account, restingSlot);
}

function isEnded({ marketI }: Tables, market: MarketRow): boolean {
  return (marketI[(market << MARKET_I) + Market.flags]! & MarketFlag.ended) !== 0;
}

function isTrading({ marketI }: Tables, market: MarketRow): boolean {
  return (marketI[(market << MARKET_I) + Market.flags]! & MarketFlag.tradable) !== 0;
}

function note(context: EngineContext, { book, size, tick }: Place): void {
  context.changes += 1;
  context.noteWord(book);
  context.noteWord(tick);
  context.note(size);
}

/** What a purchase costs at a tick of its book, rounded up. */
function costOf({ grid, side }: Pick<Place, 'grid' | 'side'>, tick: Ticks, size: number): number {
  // What an ask buys is the complement, at the other side of the price.
  return size - mulDivFloor(size, side === Side.ask ? tick : grid - tick, grid);
}

function freeCash({ cashF }: Tables, account: AccountRow | 0): number {
  const d = account << CASH_F;
  return account === 0 ? 0 : cashF[d + Cash.total]! - cashF[d + Cash.reserved]!;
}

/** Gives a level another size; it keeps its place in the queue. */
function resizeLevel(
  context: EngineContext,
  row: OrderRow,
  p: Place,
  tick: Ticks,
  account: AccountRow,
  restingSlot: number,
): RejectReasonCode {
  const { events, t } = context;
  const cost = costOf(p, tick, p.size);
  if (freeCash(t, account) + reservedCash(t, row) < cost) return RejectReason.notEnough;
  note(context, p);
  unreserve(context, row);
  setAmounts(t, row, p.size, cost);
  reserve(context, row);
  context.touch(p.book);
  t.matching.resize(restingSlot, p.size);
  const total = t.matching.total as MicroShares;
  events.level(EventKind.levelSource, p.book, tick, p.grid, total, p.side);
  return RejectReason.accepted;
}

function setAmounts({ orderF }: Tables, row: OrderRow, size: number, cost: number): void {
  const d = row << ORDER_F;
  orderF[d + Order.remaining] = size;
  orderF[d + Order.original] = size;
  orderF[d + Order.budget] = cost;
}

/** Makes a level where there is none: it trades with paper orders in its way, and what is left of it stands. */
function addLevel(context: EngineContext, p: Place, tick: Ticks): RejectReasonCode {
  const { t } = context;
  const { matching: m } = t;
  const account = findAccount(t, SOURCE_ADDRESS, 0);
  const cost = costOf(p, tick, p.size);
  if (account === 0 || freeCash(t, account) < cost) return RejectReason.notEnough;
  const facing = (1 - p.side) as matching.Side;
  const isCrossing = crosses(p.side, m.best(p.book, facing), tick);
  if (isCrossing && meetsItself(t, p, tick)) return RejectReason.sourceCrossed;
  if (isCrossing && !isTrading(t, p.market)) return RejectReason.marketNotReady;
  lookUpPosition(context, account, p.token);
  if (!hasRoom(context) || !m.hasRoom(p.book)) return RejectReason.tableFull;
  // What lies at the price of a level that crosses is of the other side, and goes before it rests.
  if (!isCrossing && m.quantityAt(p.book, tick) + p.size > AMOUNT_MAX)
    return RejectReason.sizeAboveMaximum;
  note(context, p);
  const row = takeRow(context, account, p, tick, cost);
  if (isCrossing) matchTaker(context, row, p.book, tick);
  if (t.orderF[(row << ORDER_F) + Order.remaining] === 0) freeLevel(context, row);
  else standLevel(context, row, p, tick);
  return RejectReason.accepted;
}

/** True when a level of the source stands on the other side within the limit of one that is set. */
function meetsItself(t: Tables, { book, grid, side }: Place, limit: Ticks): boolean {
  const { matching: m } = t;
  const facing = (1 - side) as matching.Side;
  for (let tick = m.best(book, facing); crosses(side, tick, limit); ) {
    const pips = (tick * (PIPS_PER_UNIT / grid)) as Pips;
    if (findLevel(t, book, facing, pips) !== 0) return true;
    tick = m.worse(book, facing, tick);
  }
  return false;
}

/** Whether a row can be had for a purchase of the reserved account, and the position that was looked up. */
function hasRoom(context: EngineContext): boolean {
  const { position, t } = context;
  if (position === 0 && !positionRoom(t, 1)) return false;
  return t.state[State.freeSourceRow] !== 0 || rowRoom(context);
}

/** A row for a purchase of the reserved account that does not rest. */
function takeRow(
  context: EngineContext,
  account: AccountRow,
  { side, size, token }: Pick<Place, 'side' | 'size' | 'token'>,
  tick: Ticks,
  cost: number,
): OrderRow {
  const { t } = context;
  const { orderI } = t;
  const free = reuseLevel(t);
  const row = free === 0 ? takeOrder(context) : free;
  context.hasForgotten = false;
  const offset = row << ORDER_I;
  orderI.fill(0, offset, offset + (1 << ORDER_I));
  orderI[offset + Order.price] = tick;
  orderI[offset + Order.flags] = side | Flag.source;
  orderI[offset + Order.token] = token;
  orderI[offset + Order.owner] = account;
  orderI[offset + Order.maker] = account;
  t.orderF[(row << ORDER_F) + Order.created] = context.time;
  setAmounts(t, row, size, cost);
  holdPosition(context, row, account, token);
  return row;
}

/** Puts what is left of a level at the end of the queue of its price. */
function standLevel(context: EngineContext, row: OrderRow, p: Place, tick: Ticks): void {
  const { events, t } = context;
  const { matching: m, orderI } = t;
  const offset = row << ORDER_I;
  context.touch(p.book);
  orderI[offset + Order.flags]! |= Status.live << Flag.statusShift;
  const remaining = t.orderF[(row << ORDER_F) + Order.remaining]!;
  orderI[offset + Order.restingSlot] = m.rest(p.book, p.side, tick, remaining, row);
  const total = m.total as MicroShares;
  events.level(EventKind.levelSource, p.book, tick, p.grid, total, p.side);
  enterLevel(t, row);
  reserve(context, row);
}

/** Applies a fill: a taker of the source meets one paper order at its own price, whatever rests before it. */
function fillOrder(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const { matching: m, orderI, tokenI } = t;
  const wanted = f64[at / 2 + FillCommand.size]!;
  if (!Number.isInteger(wanted) || wanted < 1) return RejectReason.amountInvalid;
  const found = findOrder(t, i32, at + FillCommand.id);
  if (found <= 0 || isLevel(t, found as OrderRow)) return RejectReason.orderNotFound;
  const order = found as OrderRow;
  const offset = order << ORDER_I;
  const own = orderI[offset + Order.token]! as TokenRow;
  const complement = tokenI[(own << TOKEN_I) + Token.complement]! as TokenRow | 0;
  if (complement === 0) return RejectReason.notBinary;
  const market = tokenI[(own << TOKEN_I) + Token.market]! as MarketRow;
  if (!isTrading(t, market)) return RejectReason.marketNotReady;
  const book = tokenI[(own << TOKEN_I) + Token.book]! as BookRow;
  const grid = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]!;
  const flags = orderI[offset + Order.flags]!;
  const remaining = t.orderF[(order << ORDER_F) + Order.remaining]!;
  const size = Math.min(wanted, remaining) as MicroShares;
  const side = (1 - (flags & Flag.ask)) as matching.Side;
  const token = (flags & Flag.sell) !== 0 ? own : complement;
  const tick = orderI[offset + Order.price]! as Ticks;
  const account = findAccount(t, SOURCE_ADDRESS, 0);
  const cost = costOf({ grid, side }, tick, size);
  if (account === 0 || freeCash(t, account) < cost) return RejectReason.notEnough;
  lookUpPosition(context, account, token);
  if (!hasRoom(context)) return RejectReason.tableFull;
  context.changes += 1;
  const taker = takeRow(context, account, { side, size, token }, tick, cost);
  context.firstFill = t.state[State.fills]!;
  context.touch(book);
  m.sizes[0] = size;
  settleFill(context, taker, order, book, tick, 0);
  leaveBook(context, order, book, tick, remaining - size);
  freeLevel(context, taker);
  return RejectReason.accepted;
}

/** Takes what was filled of an order out of its book. */
function leaveBook(
  context: EngineContext,
  order: OrderRow,
  book: BookRow,
  tick: Ticks,
  left: number,
): void {
  const { events, t } = context;
  const { matching: m } = t;
  const restingSlot = t.orderI[(order << ORDER_I) + Order.restingSlot]!;
  if (left === 0) {
    m.cancel(restingSlot);
    closeRested(context, order, book, tick, m.total as MicroShares, EndReason.filled);
    return;
  }
  m.resize(restingSlot, left);
  const grid = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]!;
  const total = m.total as MicroShares;
  events.partly(t.orderI, order << ORDER_I);
  events.level(EventKind.levelFill, book, tick, grid, total, t.state[State.fills]! - 1);
}

/** Applies a print: it stands among the fills, and moves no money. */
function print(context: EngineContext, i32: Int32Array, at: number, p: Place): RejectReasonCode {
  const { t } = context;
  if (isEnded(t, p.market)) return RejectReason.marketNotReady;
  const known = findAccount(t, SOURCE_ADDRESS, 0);
  if (known === 0 && t.state[State.accounts]! === t.capacities.accounts)
    return RejectReason.tableFull;
  note(context, p);
  const account = known === 0 ? makeAccount(t, SOURCE_ADDRESS, 0) : known;
  const token = i32[at + LevelCommand.token]! as TokenRow;
  const pips = i32[at + LevelCommand.pips]!;
  const sells = i32[at + LevelCommand.side]! & 1;
  // Readers of a book take the last price under its version.
  context.touch(p.book);
  lastTrade(t, token, pips, sells);
  const sequence = t.state[State.fills]!;
  const row = sequence & (t.fillRows - 1);
  const { fillF, fillI } = t;
  const f = row * FILL_DOUBLES;
  const i = row * FILL_WORDS;
  fillI.fill(0, i, i + FILL_WORDS);
  const collateral = mulDivFloor(p.size, pips, PIPS_PER_UNIT);
  fillF[f + Fill.time] = context.time;
  fillF[f + Fill.size] = p.size;
  fillF[f + Fill.match] = sequence;
  fillF[f + Fill.takerCollateral] = collateral;
  fillF[f + Fill.makerCollateral] = collateral;
  fillI[i + Fill.kind] = MatchKind.complementary;
  fillI[i + Fill.takerSide] = sells;
  fillI[i + Fill.takerToken] = token;
  fillI[i + Fill.makerToken] = token;
  fillI[i + Fill.takerPrice] = pips;
  fillI[i + Fill.makerPrice] = pips;
  for (const column of [Fill.taker, Fill.maker, Fill.takerOwner, Fill.makerOwner])
    fillI[i + column] = account;
  t.state[State.fills] = sequence + 1;
  context.events.fill(sequence);
  return RejectReason.accepted;
}
