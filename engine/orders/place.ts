/**
 * Placing an order: the rules that need the tables, in their order; then the reservation
 * of every row that it may need; then, and only then, the first change.
 * Rules: docs/protocol.md#order-of-checks
 */

import type * as matching from '../book/matching.ts';
import { assert } from '../book/matching.ts';
import * as commands from '../commands.ts';
import type { Applier, Core } from '../context.ts';
import * as core from '../context.ts';
import * as limits from '../tables/capacities.ts';
import { indexPut, indexRoom } from '../tables/hash-index.ts';
import * as layout from '../tables/layout.ts';
import { exactTicks, nearestTicks } from '../tables/prices.ts';
import type {
  AccountSlot,
  BookSlot,
  MarketSlot,
  MicroCollateral,
  MicroShares,
  OrderSlot,
  Ticks,
  TicksPerUnit,
} from '../tables/units.ts';
import { copyFour, copyId, sameAddress } from '../tables/words.ts';
import { bindWallet, findAccount, makeAccount } from './accounts.ts';
import { crosses, survey, sweep } from './match.ts';
import { closeOrder, findEntry, finish, opening, orderTag, rowRoom, takeOrder } from './orders.ts';
import type { RuleCode } from './reject-reasons.ts';
import * as rules from './reject-reasons.ts';

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

const MS = 1_000;

/**
 * What applies the order command at word `at`; a refusal leaves every table as it was. It closes over
 * the tables, so that the compiler takes them for constants.
 */
export function placing(core: Core): Applier {
  const { t } = core;
  const { bookI, marketF, orderIndex, tokenI } = t;
  const open = opening(core);
  return (i32, f64, at) => {
    const verdict = i32[at + OrderCommand.verdict]!;
    const early = (verdict & Verdict.ruleMask) as RuleCode;
    if (early !== Rule.accepted) return early;
    const tag = orderTag(i32, at + OrderCommand.id);
    const entry = findEntry(t, tag, i32, at + OrderCommand.id);
    if ((verdict & Verdict.known) !== 0 || orderIndex[2 * entry + 1] !== 0) return Rule.duplicate;
    const flags = i32[at + OrderCommand.flags]!;
    const type = (flags >>> OrderFlag.typeShift) & 3;
    const sells = flags & OrderFlag.sell;
    const shares = f64[(at >>> 1) + OrderCommand.shares]! as MicroShares;
    const token = i32[at + OrderCommand.token]! << TOKEN_I;
    const market = tokenI[token | Token.market]! as MarketSlot;
    const book = tokenI[token | Token.book]! as BookSlot;
    const refused = checkTerms(core, verdict, flags, market, f64, at);
    if (refused !== Rule.accepted) return refused;
    const grid = bookI[(book << BOOK_I) | Book.ticksPerUnit]! as TicksPerUnit;
    const collateral = f64[(at >>> 1) + OrderCommand.collateral]! as MicroCollateral;
    const ticks = isResting(type)
      ? exactTicks(collateral, shares, grid)
      : nearestTicks(sells === 0, collateral, shares, grid);
    if (ticks === 0) return Rule.tick;
    if (shares < marketF[(market << MARKET_F) | Market.minSize]!) return Rule.sizeBelowMinimum;
    if ((verdict & Verdict.signature) !== 0) return Rule.signature;
    const maker = findAccount(t, i32, at + OrderCommand.maker);
    const isOwnWallet = sameAddress(i32, at + OrderCommand.maker, i32, at + OrderCommand.signer);
    const owner = isOwnWallet ? maker : findAccount(t, i32, at + OrderCommand.signer);
    if (!bindingAllows(core, flags, verdict, i32, at, maker)) return Rule.binding;

    const mirrored = tokenI[token | Token.mirrored]!;
    // Without branches that nobody can guess: a mirrored token turns both side and price round.
    const side = (sells ^ mirrored) as matching.Side;
    const limit = ((ticks ^ -mirrored) + (-mirrored & (grid + 1))) as Ticks;
    const best = t.matching.best(book, (1 - side) as matching.Side);
    const isCrossing = crosses(side, best, limit);
    const full = checkRoom(core, type, book, isCrossing, limit, shares, maker, owner, isOwnWallet);
    if (full !== Rule.accepted) return full;
    if (isCrossing || !isResting(type)) {
      const unmatched = checkMatch(core, flags, book, side, limit, best, maker, shares);
      if (unmatched !== Rule.accepted) return unmatched;
    }
    const makerSlot = maker !== 0 ? maker : makeAccount(t, i32, at + OrderCommand.maker);
    const ownerSlot = isOwnWallet ? makerSlot : ownerOf(core, owner, i32, at);
    if (t.accountI[(makerSlot << ACCOUNT_I) | Account.binding] !== ownerSlot) {
      bindWallet(t, makerSlot, ownerSlot);
    }
    const slot = takeOrder(core);
    fillRow(core, slot, i32, f64, at, makerSlot, ownerSlot, side, limit);
    register(core, entry, tag, slot);
    core.events.placed(limit, grid);
    if (!isCrossing || accept(core, slot, type, book, limit))
      open(slot, book, side, limit, ownerSlot);
    return Rule.accepted;
  };
}

/** True for the types of which a rest stays in the book. */
function isResting(type: number): boolean {
  return type <= OrderType.GTD;
}

/** Market, amounts, expiration, fee, taker and largest size (docs/protocol.md#order-of-checks). */
function checkTerms(
  core: Core,
  verdict: number,
  flags: number,
  market: MarketSlot,
  f64: Float64Array,
  at: number,
): RuleCode {
  const { marketI } = core.t;
  const row = market << MARKET_I;
  if ((marketI[row | Market.flags]! & MarketFlag.tradable) === 0) return Rule.marketNotReady;
  const expiration = f64[(at >>> 1) + OrderCommand.expiration]!;
  const isDated = ((flags >>> OrderFlag.typeShift) & 3) === OrderType.GTD;
  const isFeeLow = flags >>> OrderFlag.feeShift < marketI[row | Market.baseFeeBps]!;
  if (verdict === 0 && expiration === 0 && !isDated && !isFeeLow) return Rule.accepted;
  if ((verdict & Verdict.amounts) !== 0) return Rule.amountsNotPositive;
  if (isDated) {
    if (expiration === 0) return Rule.expirationRequired;
    if (expiration * MS <= core.time) return Rule.expirationPast;
  } else if (expiration !== 0) {
    return Rule.expirationInvalid;
  }
  if ((verdict & Verdict.feeNegative) !== 0) return Rule.feeNegative;
  if ((verdict & Verdict.feeTooHigh) !== 0) return Rule.feeTooHigh;
  if (isFeeLow) return Rule.feeBelowBase;
  if ((verdict & Verdict.taker) !== 0) return Rule.takerNotPublic;
  if ((verdict & Verdict.tooLarge) !== 0) return Rule.sizeAboveMaximum;
  return Rule.accepted;
}

/**
 * A wallet that another key has signed for keeps that key. Type 0 is never refused, nor is a wallet
 * that follows from the signer: whoever came first with such a wallet was not its owner
 * (docs/protocol.md#wallet-binding).
 */
function bindingAllows(
  core: Core,
  flags: number,
  verdict: number,
  i32: Int32Array,
  at: number,
  maker: AccountSlot | 0,
): boolean {
  if (((flags >>> OrderFlag.signatureShift) & 3) === 0 || maker === 0) return true;
  if ((verdict & Verdict.derivedWallet) !== 0) return true;
  const { accountI } = core.t;
  const bound = accountI[(maker << ACCOUNT_I) | Account.binding]!;
  if (bound === 0) return true;
  const signer = at + OrderCommand.signer;
  return sameAddress(accountI, bound << ACCOUNT_I, i32, signer);
}

/** True when the wallet is bound to the signer already, or the signer may have one more. */
function mayHaveWallet({ t }: Core, wallet: AccountSlot | 0, signer: AccountSlot | 0): boolean {
  const most = t.state[State.walletsPerSigner]!;
  if (most === 0 || signer === 0 || t.wallets[signer]! < most) return true;
  return wallet !== 0 && t.accountI[(wallet << ACCOUNT_I) | Account.binding] === signer;
}

/** True when the owner may have one more open order. */
function mayRest({ t }: Core, owner: AccountSlot): boolean {
  const most = t.state[State.openOrdersPerAccount]!;
  return most === 0 || t.accountI[(owner << ACCOUNT_I) | Account.openCount]! < most;
}

/** Whether every row that the order may need can be had, and its owner may have one more, and its wallet. */
function checkRoom(
  core: Core,
  type: number,
  book: BookSlot,
  isCrossing: boolean,
  limit: Ticks,
  shares: MicroShares,
  maker: AccountSlot | 0,
  owner: AccountSlot | 0,
  isOwnWallet: boolean,
): RuleCode {
  const { t } = core;
  const { matching: m } = t;
  const rests = isResting(type);
  if (rests && owner !== 0 && !mayRest(core, owner)) return Rule.tooManyOpen;
  if (!isOwnWallet && !mayHaveWallet(core, maker, owner)) return Rule.tooManyWallets;
  if (maker === 0 || owner === 0) {
    const wanted = isOwnWallet || maker !== 0 || owner !== 0 ? 1 : 2;
    if (t.state[State.accounts]! + wanted > t.capacities.accounts) return Rule.tableFull;
  }
  if (!rowRoom(core)) return Rule.tableFull;
  if (!rests) return Rule.accepted;
  if (!m.hasRoom(book)) return Rule.tableFull;
  // What lies at the limit of an order that crosses is of the other side, and goes before it rests.
  if (isCrossing || m.quantityAt(book, limit) + shares <= AMOUNT_MAX) return Rule.accepted;
  return Rule.sizeAboveMaximum;
}

/** Post-only, FOK, FAK and self-trade: whatever the other side of the book, of which `best` is the best level, can refuse. */
function checkMatch(
  core: Core,
  flags: number,
  book: BookSlot,
  side: matching.Side,
  limit: Ticks,
  best: number,
  maker: AccountSlot | 0,
  shares: MicroShares,
): RuleCode {
  const isCrossing = crosses(side, best, limit);
  if ((flags & OrderFlag.postOnly) !== 0) {
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

/** The signer's account. */
function ownerOf(core: Core, owner: AccountSlot | 0, i32: Int32Array, at: number): AccountSlot {
  return owner !== 0 ? owner : makeAccount(core.t, i32, at + OrderCommand.signer);
}

/** Makes a taken order known by its id. `entry`: where a search for it ended. */
function register(core: Core, entry: number, tag: number, slot: OrderSlot): void {
  const { orderI, orderIndex } = core.t;
  // An order that was forgotten for its row may have left a place nearer to where the search begins.
  const place = core.hasForgotten ? indexRoom(orderIndex, tag) : entry;
  core.hasForgotten = false;
  indexPut(orderIndex, place, tag, slot);
  core.changes += 1;
  core.making = 0;
  core.taking = 0;
  core.noteWord(orderI[(slot << ORDER_I) | Order.id]!);
}

/** Matches an order that crosses. True when it is to rest; otherwise it has ended. */
function accept(core: Core, slot: OrderSlot, type: number, book: BookSlot, limit: Ticks): boolean {
  const stopped = sweep(core, slot, book, limit);
  const remaining = core.t.orderF[(slot << ORDER_F) | Order.remaining]!;
  assert(type !== OrderType.FOK || remaining === 0, 'a FOK that was taken is filled whole');
  if (remaining > 0 && !stopped && type !== OrderType.FAK) return true;
  const unfilled = stopped ? EndReason.selfTrade : EndReason.fakRemainder;
  finish(core, slot, book, limit, remaining === 0 ? EndReason.filled : unfilled);
  return false;
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
