/** Trades of the source: with one paper order, or among others. Rules: docs/guides/paper-and-backtests.md#commands */
import type * as matching from '../book/matching.ts';
import { FillCommand, LevelCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { EventKind } from '../events.ts';
import { freeCash, lookUpPosition } from '../ledger/reservations.ts';
import { EndReason, MatchKind, SOURCE_ADDRESS } from '../tables/codes.ts';
import {
  BOOK_I,
  Book,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  Flag,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type {
  BookRow,
  MarketRow,
  MicroShares,
  OrderRow,
  Ticks,
  TokenRow,
} from '../tables/units.ts';
import { fillRowAt, mulDivFloor, PIPS_PER_UNIT } from '../tables/units.ts';
import { findAccount, makeAccount } from './accounts.ts';
import { isDelayed } from './delayed.ts';
import { closeRested, findOrder } from './orders.ts';
import { RejectReason, type RejectReasonCode } from './reject-reasons.ts';
import { lastTrade, settleFill } from './settle-fill.ts';
import {
  costOf,
  hasRoom,
  isEnded,
  isTrading,
  largestFeeOf,
  note,
  type Place,
  takeRow,
} from './source-purchase.ts';
import { freeLevel, isLevel } from './source-rows.ts';

/** Applies a fill: a taker of the source meets one paper order at that order's price, whatever rests before it. */
export function fillOrder(
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
  if (found <= 0 || isLevel(t, found as OrderRow) || isDelayed(t, found as OrderRow))
    return RejectReason.orderNotFound;
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
  const fee = largestFeeOf(t, { grid, market, side }, tick, size);
  if (account === 0 || freeCash(t, account) < cost + fee) return RejectReason.notEnough;
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

export function print(
  context: EngineContext,
  i32: Int32Array,
  at: number,
  p: Place,
): RejectReasonCode {
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
  const row = fillRowAt(sequence, t.fillRows);
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
