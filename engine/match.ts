/**
 * Matching: price, then arrival, at the resting order's price (GAPS 3.1, 7, 12). Everything that
 * can refuse an order has been asked before the first row moves.
 */

import { levelQuantity, levelRow, worseLevel } from './books.ts';
import type { Core } from './core.ts';
import * as core from './core.ts';
import * as events from './events.ts';
import * as layout from './layout.ts';
import { closeOrder } from './orders.ts';
import type { Tables } from './tables.ts';
import type {
  AccountSlot,
  BookSlot,
  MarketSlot,
  MicroCollateral,
  MicroShares,
  OrderSlot,
  Ticks,
  TicksPerUnit,
  TokenSlot,
} from './units.ts';
import * as units from './units.ts';
import { collateralOf, feeOf } from './units.ts';
import { copyId } from './words.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  BOOK_I,
  Book,
  EndReason,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  Flag,
  LEVEL_F,
  LEVEL_I,
  Level,
  LINK_I,
  Link,
  MARKET_F,
  MARKET_I,
  Market,
  MatchKind,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} = layout;
const { EventKind } = events;
const { SelfTrade } = core;
const { PIPS_PER_UNIT } = units;

/**
 * True when a resting level at `tick` is within the limit of a taker on the other side. A false
 * answer says nothing about the tick, whatever the compiler concludes.
 */
export function crosses(takerIsBid: boolean, tick: Ticks | 0, limit: Ticks): tick is Ticks {
  return tick !== 0 && (takerIsBid ? tick <= limit : tick >= limit);
}

/** Ticks of the best level that a taker meets; 0 = none. */
export function bestOpposite(core: Core, book: BookSlot, takerIsBid: boolean): Ticks | 0 {
  return core.t.bookI[(book << BOOK_I) + (takerIsBid ? Book.bestAsk : Book.bestBid)]! as Ticks;
}

/**
 * How much a taker could match inside its limit, counted up to `wanted`, into
 * core.surveyedQuantity; core.surveyStopped tells whether an order of its own account stops it
 * first. Changes nothing.
 */
export function survey(
  core: Core,
  book: BookSlot,
  takerIsBid: boolean,
  limit: Ticks,
  account: AccountSlot | 0,
  wanted: MicroShares,
): void {
  const { t } = core;
  const policy = core.selfTrade();
  const walksOrders = policy !== SelfTrade.allow && account !== 0;
  core.surveyStopped = false;
  let quantity = 0;
  let tick = bestOpposite(core, book, takerIsBid);
  while (quantity < wanted && crosses(takerIsBid, tick, limit)) {
    if (walksOrders) {
      let slot = t.levelI[(levelRow(t, book, tick) << LEVEL_I) + Level.head]!;
      while (slot !== 0 && quantity < wanted) {
        const order = slot << ORDER_I;
        if (t.orderI[order + Order.maker] !== account) {
          quantity += t.orderF[(slot << ORDER_F) + Order.remaining]!;
        } else if (policy !== SelfTrade.cancelMaker) {
          core.surveyStopped = true;
          core.surveyedQuantity = quantity as MicroShares;
          return;
        }
        slot = t.linkI[(slot << LINK_I) + Link.next]!;
      }
    } else {
      quantity += levelQuantity(t, book, tick);
    }
    tick = worseLevel(t, book, takerIsBid, tick);
  }
  core.surveyedQuantity = Math.min(quantity, wanted) as MicroShares;
}

/**
 * Fills a taker against the book until it is full, nothing is left inside its limit, or an order of
 * its own account stops it. Returns true when it was stopped.
 */
export function sweep(core: Core, slot: OrderSlot, book: BookSlot, limit: Ticks): boolean {
  const { t } = core;
  const order = slot << ORDER_I;
  const takerIsBid = (t.orderI[order + Order.flags]! & Flag.ask) === 0;
  const account = t.orderI[order + Order.maker]!;
  const policy = core.selfTrade();
  const match = t.state[State.fills]!;
  for (;;) {
    const remaining = t.orderF[(slot << ORDER_F) + Order.remaining]! as MicroShares;
    if (remaining === 0) return false;
    const tick = bestOpposite(core, book, takerIsBid);
    if (!crosses(takerIsBid, tick, limit)) return false;
    core.touch(book);
    const row = levelRow(t, book, tick);
    const maker = t.levelI[(row << LEVEL_I) + Level.head]! as OrderSlot;
    if (policy !== SelfTrade.allow && t.orderI[(maker << ORDER_I) + Order.maker] === account) {
      if (policy !== SelfTrade.cancelTaker) closeOrder(core, maker, EndReason.selfTrade);
      if (policy !== SelfTrade.cancelMaker) return true;
      continue;
    }
    const makerRemaining = t.orderF[(maker << ORDER_F) + Order.remaining]! as MicroShares;
    const size = Math.min(remaining, makerRemaining) as MicroShares;
    settleFill(core, slot, maker, book, tick, size, match);
    t.orderF[(slot << ORDER_F) + Order.remaining] = remaining - size;
    t.orderF[(maker << ORDER_F) + Order.remaining] = makerRemaining - size;
    const quantity = (t.levelF[(row << LEVEL_F) + Level.quantity]! - size) as MicroShares;
    t.levelF[(row << LEVEL_F) + Level.quantity] = quantity;
    if (size === makerRemaining) closeOrder(core, maker, EndReason.filled);
    else tellPartly(core, maker, book, tick, quantity);
  }
}

/** Logs that a fill left something of its maker, and of its level. */
function tellPartly(
  core: Core,
  maker: OrderSlot,
  book: BookSlot,
  tick: Ticks,
  quantity: MicroShares,
): void {
  const { events, t } = core;
  const grid = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]!;
  events.partly(t.orderI, maker << ORDER_I);
  events.level(EventKind.levelFill, book, tick, grid, quantity, t.state[State.fills]! - 1);
}

/** Pays both sides of one fill, records it, and moves the last prices. */
function settleFill(
  core: Core,
  takerSlot: OrderSlot,
  makerSlot: OrderSlot,
  book: BookSlot,
  tick: Ticks,
  size: MicroShares,
  match: number,
): void {
  const { t } = core;
  const grid = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]! as TicksPerUnit;
  const market = t.bookI[(book << BOOK_I) + Book.market]! as MarketSlot;
  const taker = takerSlot << ORDER_I;
  const maker = makerSlot << ORDER_I;
  const takerToken = t.orderI[taker + Order.token]! as TokenSlot;
  const makerToken = t.orderI[maker + Order.token]! as TokenSlot;
  const takerSells = t.orderI[taker + Order.flags]! & Flag.sell;
  const makerSells = t.orderI[maker + Order.flags]! & Flag.sell;
  const makerMirrored = t.tokenI[(makerToken << TOKEN_I) + Token.mirrored];
  const makerTicks = (makerMirrored === 1 ? grid - tick : tick) as Ticks;
  const sameToken = takerToken === makerToken;
  const takerTicks = (sameToken ? makerTicks : grid - makerTicks) as Ticks;

  // The maker's leg is rounded down; in a mint or merge the taker's is the rest of the size.
  const makerLeg = collateralOf(size, makerTicks, grid);
  const takerLeg = (sameToken ? makerLeg : size - makerLeg) as MicroCollateral;
  const makerPays = makerSells === 0 ? pay(t, makerSlot, makerLeg) : makerLeg;
  const takerPays = takerSells === 0 ? pay(t, takerSlot, takerLeg) : takerLeg;
  const missing = makerLeg - makerPays + (takerLeg - takerPays);
  if (missing !== 0) t.marketF[(market << MARKET_F) + Market.rounding]! -= missing;

  const baseFeeBps = t.marketI[(market << MARKET_I) + Market.baseFeeBps]!;
  const fee = feeOf(takerSells === 0, size, takerTicks, grid, baseFeeBps);
  if (takerSells === 0) {
    core.making += takerPays;
    core.taking += size - fee;
  } else {
    core.making += size;
    core.taking += takerPays - fee;
  }

  const perTick = PIPS_PER_UNIT / grid;
  const kind = sameToken
    ? MatchKind.complementary
    : takerSells === 0
      ? MatchKind.mint
      : MatchKind.merge;
  const takerRow = takerToken << TOKEN_I;
  t.tokenI[takerRow + Token.lastPrice] = takerTicks * perTick;
  t.tokenI[takerRow + Token.lastSide] = takerSells === 0 ? 0 : 1;
  if (!sameToken) {
    const makerRow = makerToken << TOKEN_I;
    t.tokenI[makerRow + Token.lastPrice] = makerTicks * perTick;
    t.tokenI[makerRow + Token.lastSide] = makerSells === 0 ? 0 : 1;
  }

  const sequence = t.state[State.fills]!;
  const at = sequence & (t.fillRows - 1);
  const f = at * FILL_DOUBLES;
  const { fillF, fillI, orderI } = t;
  fillF[f + Fill.time] = core.time;
  fillF[f + Fill.size] = size;
  fillF[f + Fill.match] = match;
  fillF[f + Fill.takerCollateral] = takerPays;
  fillF[f + Fill.makerCollateral] = makerPays;
  fillF[f + Fill.fee] = fee;
  const i = at * FILL_WORDS;
  fillI[i + Fill.kind] = kind;
  fillI[i + Fill.takerSide] = takerSells === 0 ? 0 : 1;
  fillI[i + Fill.takerToken] = takerToken;
  fillI[i + Fill.makerToken] = makerToken;
  fillI[i + Fill.takerPrice] = takerTicks * perTick;
  fillI[i + Fill.makerPrice] = makerTicks * perTick;
  fillI[i + Fill.taker] = orderI[taker + Order.maker]!;
  fillI[i + Fill.maker] = orderI[maker + Order.maker]!;
  fillI[i + Fill.takerOwner] = orderI[taker + Order.owner]!;
  fillI[i + Fill.makerOwner] = orderI[maker + Order.owner]!;
  copyId(orderI, taker + Order.id, fillI, i + Fill.takerId);
  copyId(orderI, maker + Order.id, fillI, i + Fill.makerId);
  t.state[State.fills] = sequence + 1;
  core.events.fill(sequence);
  core.note(makerSlot);
  core.note(size);
  core.note(makerPays);
  core.note(takerPays);
}

/** Takes collateral from a buyer's budget, at most what is left of it. */
function pay(t: Tables, slot: OrderSlot, leg: MicroCollateral): MicroCollateral {
  const at = (slot << ORDER_F) + Order.budget;
  const budget = t.orderF[at]! as MicroCollateral;
  const paid = Math.min(leg, budget) as MicroCollateral;
  t.orderF[at] = budget - paid;
  return paid;
}
