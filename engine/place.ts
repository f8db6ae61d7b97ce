/**
 * Placing an order: the rules that need the tables, in the order of GAPS 3.5; then the reservation
 * of every row that it may need; then, and only then, the first change.
 */
import { findAccount, makeAccount } from './accounts.ts';
import { assert } from './assert.ts';
import * as commands from './commands.ts';
import type { Core } from './core.ts';
import * as core from './core.ts';
import * as layout from './layout.ts';
import * as limits from './limits.ts';
import { crosses, survey, sweep } from './match.ts';
import * as matching from './matching/matching.ts';
import {
  closeOrder,
  findOrder,
  finish,
  openOrder,
  register,
  rowRoom,
  takeOrder,
} from './orders.ts';
import { exactTicks, nearestTicks } from './price.ts';
import type { RuleCode } from './rules.ts';
import * as rules from './rules.ts';
import type {
  AccountSlot,
  BookSlot,
  MarketSlot,
  MicroCollateral,
  MicroShares,
  OrderSlot,
  Ticks,
  TicksPerUnit,
} from './units.ts';
import { copyFour, copyId, sameAddress } from './words.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  ACCOUNT_I,
  Account,
  BOOK_I,
  Book,
  EndReason,
  Flag,
  MARKET_F,
  MARKET_I,
  Market,
  MarketFlag,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} = layout;
const { OrderCommand, OrderFlag, OrderType, Verdict } = commands;
const { AMOUNT_MAX } = limits;
const { Rule } = rules;
const { SelfTrade } = core;
const { Side } = matching;

const MS = 1_000;

/** Applies the order command at word `at`. A refusal leaves every table as it was. */
export function placeOrder(core: Core, i32: Int32Array, f64: Float64Array, at: number): RuleCode {
  const { t } = core;
  const verdict = i32[at + OrderCommand.verdict]!;
  const early = (verdict & Verdict.ruleMask) as RuleCode;
  if (early !== Rule.accepted) return early;
  if ((verdict & Verdict.known) !== 0 || findOrder(t, i32, at + OrderCommand.id) !== 0) {
    return Rule.duplicate;
  }
  const flags = i32[at + OrderCommand.flags]!;
  const type = (flags >>> OrderFlag.typeShift) & 3;
  const isBuy = (flags & OrderFlag.sell) === 0;
  const shares = f64[(at >>> 1) + OrderCommand.shares]! as MicroShares;
  const collateral = f64[(at >>> 1) + OrderCommand.collateral]! as MicroCollateral;
  const token = i32[at + OrderCommand.token]! << TOKEN_I;
  const market = t.tokenI[token | Token.market]! as MarketSlot;
  const grid = t.marketI[(market << MARKET_I) | Market.ticksPerUnit]! as TicksPerUnit;
  const early2 = checkTerms(core, i32, f64, at, market);
  if (early2 !== Rule.accepted) return early2;
  const ticks =
    type === OrderType.GTC || type === OrderType.GTD
      ? exactTicks(collateral, shares, grid)
      : nearestTicks(isBuy, collateral, shares, grid);
  if (ticks === 0) return Rule.tick;
  if (shares < t.marketF[(market << MARKET_F) | Market.minSize]!) return Rule.sizeBelowMinimum;
  if ((verdict & Verdict.signature) !== 0) return Rule.signature;
  const maker = findAccount(t, i32, at + OrderCommand.maker);
  const isOwnWallet = sameAddress(i32, at + OrderCommand.maker, i32, at + OrderCommand.signer);
  const owner = isOwnWallet ? maker : findAccount(t, i32, at + OrderCommand.signer);
  if (!bindingAllows(core, i32, at, maker)) return Rule.binding;

  const book = t.tokenI[token | Token.book]! as BookSlot;
  const mirrored = t.tokenI[token | Token.mirrored] === 1;
  const side = isBuy !== mirrored ? Side.bid : Side.ask;
  const limit = (mirrored ? grid - ticks : ticks) as Ticks;
  const rests = type === OrderType.GTC || type === OrderType.GTD;
  if (rests && owner !== 0 && !mayRest(core, owner)) return Rule.tooManyOpen;
  const newAccounts = (maker === 0 ? 1 : 0) + (!isOwnWallet && owner === 0 ? 1 : 0);
  if (t.state[State.accounts]! + newAccounts > t.capacities.accounts) return Rule.tableFull;
  const full = checkRoom(core, type, book, side, limit, shares);
  if (full !== Rule.accepted) return full;
  const unmatched = checkMatch(core, flags, book, side, limit, maker, shares);
  if (unmatched !== Rule.accepted) return unmatched;

  const makerSlot = maker !== 0 ? maker : makeAccount(t, i32, at + OrderCommand.maker);
  const ownerSlot = isOwnWallet
    ? makerSlot
    : owner !== 0
      ? owner
      : makeAccount(t, i32, at + OrderCommand.signer);
  t.accountI[(makerSlot << ACCOUNT_I) | Account.binding] = ownerSlot;
  const slot = takeOrder(core);
  fillRow(core, slot, i32, f64, at, makerSlot, ownerSlot, side, limit);
  accept(core, slot, type, book, limit);
  return Rule.accepted;
}

/** Rules 5 to 8 of GAPS 3.5, the public taker and the largest size. */
function checkTerms(
  core: Core,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  market: MarketSlot,
): RuleCode {
  const { t } = core;
  const verdict = i32[at + OrderCommand.verdict]!;
  const flags = i32[at + OrderCommand.flags]!;
  const row = market << MARKET_I;
  if ((t.marketI[row | Market.flags]! & MarketFlag.tradable) === 0) return Rule.marketNotReady;
  if ((verdict & Verdict.amounts) !== 0) return Rule.amountsNotPositive;
  const expiration = f64[(at >>> 1) + OrderCommand.expiration]!;
  if (((flags >>> OrderFlag.typeShift) & 3) === OrderType.GTD) {
    if (expiration === 0) return Rule.expirationRequired;
    if (expiration * MS <= core.time) return Rule.expirationPast;
  } else if (expiration !== 0) {
    return Rule.expirationInvalid;
  }
  if ((verdict & Verdict.feeNegative) !== 0) return Rule.feeNegative;
  if ((verdict & Verdict.feeTooHigh) !== 0) return Rule.feeTooHigh;
  if (flags >>> OrderFlag.feeShift < t.marketI[row | Market.baseFeeBps]!) return Rule.feeBelowBase;
  if ((verdict & Verdict.taker) !== 0) return Rule.takerNotPublic;
  if ((verdict & Verdict.tooLarge) !== 0) return Rule.sizeAboveMaximum;
  return Rule.accepted;
}

/** A wallet that another key has signed for keeps that key; type 0 is never refused (GAPS 12). */
function bindingAllows(core: Core, i32: Int32Array, at: number, maker: AccountSlot | 0): boolean {
  const signatureType = (i32[at + OrderCommand.flags]! >>> OrderFlag.signatureShift) & 3;
  if (signatureType === 0 || maker === 0) return true;
  const { accountI } = core.t;
  const bound = accountI[(maker << ACCOUNT_I) | Account.binding]!;
  if (bound === 0) return true;
  const signer = at + OrderCommand.signer;
  return sameAddress(accountI, bound << ACCOUNT_I, i32, signer);
}

/** True when the owner may have one more open order. */
function mayRest({ t }: Core, owner: AccountSlot): boolean {
  const most = t.state[State.openOrdersPerAccount]!;
  return most === 0 || t.accountI[(owner << ACCOUNT_I) | Account.openCount]! < most;
}

/** True when every row that the order may need can be had. */
function checkRoom(
  core: Core,
  type: number,
  book: BookSlot,
  side: matching.Side,
  limit: Ticks,
  shares: MicroShares,
): RuleCode {
  const { t } = core;
  const { matching: m } = t;
  if (!rowRoom(core)) return Rule.tableFull;
  if (type === OrderType.FOK || type === OrderType.FAK) return Rule.accepted;
  if (t.state[State.openOrders]! >= t.capacities.orders || !m.hasRoom(book)) return Rule.tableFull;
  if (m.quantityAt(book, limit) + shares <= AMOUNT_MAX) return Rule.accepted;
  // What lies at the limit of an order that crosses is of the other side, and goes before it rests.
  const best = m.best(book, (1 - side) as matching.Side);
  return crosses(side, best, limit) ? Rule.accepted : Rule.sizeAboveMaximum;
}

/** Post-only, FOK, FAK and self-trade: whatever the other side of the book can refuse. */
function checkMatch(
  core: Core,
  flags: number,
  book: BookSlot,
  side: matching.Side,
  limit: Ticks,
  maker: AccountSlot | 0,
  shares: MicroShares,
): RuleCode {
  const best = core.t.matching.best(book, (1 - side) as matching.Side);
  const isCrossing = crosses(side, best, limit);
  if ((flags & OrderFlag.postOnly) !== 0) {
    if (!isCrossing) return Rule.accepted;
    return (flags & OrderFlag.sell) === 0 ? Rule.postOnlyCrossesAsk : Rule.postOnlyCrossesBid;
  }
  const type = (flags >>> OrderFlag.typeShift) & 3;
  const policy = core.selfTrade();
  if (type === OrderType.FOK) {
    survey(core, book, side, limit, maker, shares);
    if (core.surveyedQuantity === shares) return Rule.accepted;
    return core.surveyStopped ? Rule.selfTrade : Rule.fokUnfilled;
  }
  if (isCrossing && policy !== SelfTrade.allow) {
    survey(core, book, side, limit, maker, 1 as MicroShares);
    if (core.surveyedQuantity === 0 && core.surveyStopped) {
      if (policy === SelfTrade.cancelBoth) cancelFirst(core, book, best as Ticks);
      return Rule.selfTrade;
    }
    if (core.surveyedQuantity > 0) return Rule.accepted;
  }
  if (type === OrderType.FAK && (!isCrossing || policy !== SelfTrade.allow)) {
    return Rule.fakUnfilled;
  }
  return Rule.accepted;
}

/** cancel-both: the maker in the way goes, though the taker is refused. */
function cancelFirst(core: Core, book: BookSlot, tick: Ticks): void {
  const { matching: m } = core.t;
  core.changes += 1;
  closeOrder(core, m.word(m.first(book, tick)) as OrderSlot, EndReason.selfTrade);
}

/** The order is taken: matching, then rest or end. */
function accept(core: Core, slot: OrderSlot, type: number, book: BookSlot, limit: Ticks): void {
  const { t } = core;
  core.changes += 1;
  core.making = 0;
  core.taking = 0;
  register(t, slot);
  core.noteWord(t.orderI[(slot << ORDER_I) | Order.id]!);
  core.events.placed(limit, t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!);
  const stopped = sweep(core, slot, book, limit);
  const remaining = t.orderF[(slot << ORDER_F) | Order.remaining]!;
  assert(type !== OrderType.FOK || remaining === 0, 'a FOK that was taken is filled whole');
  if (remaining === 0) finish(core, slot, EndReason.filled);
  else if (stopped) finish(core, slot, EndReason.selfTrade);
  else if (type === OrderType.FAK) finish(core, slot, EndReason.fakRemainder);
  else openOrder(core, slot, book);
}

function fillRow(
  core: Core,
  slot: OrderSlot,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  maker: AccountSlot,
  owner: AccountSlot,
  side: matching.Side,
  limit: Ticks,
): void {
  const { t } = core;
  const flags = i32[at + OrderCommand.flags]!;
  const isSell = (flags & OrderFlag.sell) !== 0;
  const signatureType = (flags >>> OrderFlag.signatureShift) & 3;
  const d = slot << ORDER_F;
  const { orderF, orderI } = t;
  const shares = f64[(at >>> 1) + OrderCommand.shares]!;
  orderF[d | Order.remaining] = shares;
  orderF[d | Order.original] = shares;
  orderF[d | Order.budget] = isSell ? 0 : f64[(at >>> 1) + OrderCommand.collateral]!;
  orderF[d | Order.expiry] = f64[(at >>> 1) + OrderCommand.expiration]!;
  orderF[d | Order.created] = core.time;
  const w = slot << ORDER_I;
  orderI[w | Order.price] = limit;
  orderI[w | Order.flags] =
    side |
    (isSell ? Flag.sell : 0) |
    (((flags >>> OrderFlag.typeShift) & 3) << Flag.typeShift) |
    (signatureType << Flag.signatureShift) |
    ((flags >>> OrderFlag.feeShift) << Flag.feeShift);
  orderI[w | Order.token] = i32[at + OrderCommand.token]!;
  orderI[w | Order.heap] = 0;
  orderI[w | Order.slot] = 0;
  orderI[w | Order.maker] = maker;
  orderI[w | Order.owner] = owner;
  copyId(i32, at + OrderCommand.id, orderI, w | Order.id);
  copyFour(i32, at + OrderCommand.apiKey, orderI, w | Order.apiKey);
}
