/**
 * Every invariant of the tables, walked in full: in tests and after recovery, never while trading.
 * Throws on the first one that is broken.
 */

import { findAccount } from './accounts.ts';
import { assert } from './assert.ts';
import { levelQuantity, levelRow, shapeOf, worseLevel } from './books.ts';
import {
  ACCOUNT_I,
  Account,
  BOOK_I,
  Book,
  EndReason,
  type EndReasonCode,
  Flag,
  LEVEL_F,
  LEVEL_I,
  Level,
  LINK_I,
  Link,
  MARKET_I,
  Market,
  MarketFlag,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  Status,
  TOKEN_I,
  Token,
} from './layout.ts';
import { AMOUNT_MAX } from './limits.ts';
import { findMarket, findToken } from './markets.ts';
import { endStatus, findOrder, historyRow, keptFinished, orderStatus } from './orders.ts';
import type { Tables } from './tables.ts';
import type {
  AccountSlot,
  BookSlot,
  MarketSlot,
  OrderSlot,
  Ticks,
  TicksPerUnit,
  TokenSlot,
} from './units.ts';
import { isTickGrid, TICK_GRIDS } from './units.ts';

export function audit(t: Tables): void {
  const seen = auditBooks(t);
  assert(seen.orders === t.state[State.openOrders], 'every open order rests in a book');
  auditOrderRows(t);
  auditFinished(t);
  auditAccounts(t, seen.orders);
  auditExpiries(t, seen.expiring);
  auditMarkets(t);
  auditLadders(t);
}

function auditBooks(t: Tables): { orders: number; expiring: number } {
  let orders = 0;
  let expiring = 0;
  for (let book = 1 as BookSlot; book <= t.state[State.books]!; book++) {
    const at = book << BOOK_I;
    assert((t.bookI[at + Book.version]! & 1) === 0, 'no book is being written');
    assert(isTickGrid(t.bookI[at + Book.ticksPerUnit]!), 'a book has one of the grids');
    const bid = t.bookI[at + Book.bestBid]!;
    const ask = t.bookI[at + Book.bestAsk]!;
    assert(bid === 0 || ask === 0 || bid < ask, 'a book is not crossed');
    const inBook = { orders: 0, highestBid: 0, lowestAsk: 0 };
    if (t.bookI[at + Book.base] !== 0) {
      for (let tick = worseLevel(t, book, true, 0); tick !== 0; ) {
        expiring += auditLevel(t, book, tick, inBook);
        tick = worseLevel(t, book, true, tick);
      }
      auditBitmap(t, book);
    }
    assert(inBook.highestBid === bid, 'the best bid is the highest one');
    assert(inBook.lowestAsk === ask, 'the best ask is the lowest one');
    assert(inBook.orders === t.bookI[at + Book.orders], 'a book counts its orders');
    orders += inBook.orders;
  }
  return { orders, expiring };
}

function auditLevel(
  t: Tables,
  book: BookSlot,
  tick: Ticks,
  inBook: { orders: number; highestBid: number; lowestAsk: number },
): number {
  const row = levelRow(t, book, tick);
  let slot = t.levelI[(row << LEVEL_I) + Level.head]! as OrderSlot | 0;
  assert(slot !== 0, 'an occupied level has a head');
  let before = 0;
  let quantity = 0;
  let expiring = 0;
  const isAsk = (t.orderI[(slot << ORDER_I) + Order.flags]! & Flag.ask) !== 0;
  while (slot !== 0) {
    const order = slot << ORDER_I;
    const remaining = t.orderF[(slot << ORDER_F) + Order.remaining]!;
    assert(orderStatus(t, slot) === Status.live, 'a resting order is live');
    assert(t.orderI[order + Order.price] === tick, 'an order rests at its own price');
    assert(t.linkI[(slot << LINK_I) + Link.prev] === before, 'a queue is linked both ways');
    assert(((t.orderI[order + Order.flags]! & Flag.ask) !== 0) === isAsk, 'a level has one side');
    assert(remaining > 0, 'nothing empty rests');
    assert(remaining <= t.orderF[(slot << ORDER_F) + Order.original]!, 'an order only shrinks');
    const token = t.orderI[order + Order.token]! << TOKEN_I;
    assert(t.tokenI[token + Token.book] === book, 'an order rests in the book of its token');
    const sells = (t.orderI[order + Order.flags]! & Flag.sell) !== 0;
    assert((sells !== (t.tokenI[token + Token.mirrored] === 1)) === isAsk, 'mirrors are opposite');
    if (t.orderF[(slot << ORDER_F) + Order.expiry] !== 0) expiring += 1;
    quantity += remaining;
    inBook.orders += 1;
    before = slot;
    slot = t.linkI[(slot << LINK_I) + Link.next]! as OrderSlot | 0;
  }
  assert(t.levelI[(row << LEVEL_I) + Level.tail] === before, 'a level ends at its tail');
  assert(levelQuantity(t, book, tick) === quantity, 'a level is the sum of its orders');
  assert(quantity <= AMOUNT_MAX, 'a level total is exact');
  if (isAsk && inBook.lowestAsk === 0) inBook.lowestAsk = tick;
  assert(isAsk || inBook.lowestAsk === 0, 'bids lie below asks');
  if (!isAsk) inBook.highestBid = tick;
  return expiring;
}

/** The bitmap marks exactly the levels with orders, and each storey the words of the one below. */
function auditBitmap(t: Tables, book: BookSlot): void {
  const at = book << BOOK_I;
  const grid = t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit;
  const shape = shapeOf(grid);
  const base = t.bookI[at + Book.base]! << LEVEL_I;
  for (let tick = 0 as Ticks; tick < grid; tick++) {
    const row = levelRow(t, book, tick);
    const marked = ((t.levelI[base + (tick >>> 5)]! >>> (tick & 31)) & 1) === 1;
    assert(marked === (t.levelI[(row << LEVEL_I) + Level.head] !== 0), 'the bitmap is right');
    if (!marked) {
      assert(t.levelF[(row << LEVEL_F) + Level.quantity] === 0, 'an empty level holds nothing');
    }
  }
  for (let storey = 1; storey < shape.storeys.length; storey++) {
    const below = shape.storeys[storey - 1]!;
    const here = shape.storeys[storey]!;
    for (let word = 0; word < here - below; word++) {
      const marked = ((t.levelI[base + here + (word >>> 5)]! >>> (word & 31)) & 1) === 1;
      assert(
        marked === (t.levelI[base + below + word] !== 0),
        'every storey of the bitmap is right',
      );
    }
  }
}

function auditOrderRows(t: Tables): void {
  const rows = t.state[State.orderRows]!;
  let free = 0;
  for (let slot = t.state[State.orderFree]! as OrderSlot | 0; slot !== 0; ) {
    assert(orderStatus(t, slot) === Status.free, 'a free row holds no order');
    free += 1;
    assert(free <= rows, 'the free list ends');
    slot = t.linkI[(slot << LINK_I) + Link.next]! as OrderSlot | 0;
  }
  assert(free + t.state[State.openOrders]! === rows, 'every order row is open or free');
  for (let slot = 1 as OrderSlot; slot <= rows; slot++) {
    if (orderStatus(t, slot) === Status.free) continue;
    assert(findOrder(t, t.orderI, (slot << ORDER_I) + Order.id) === slot, 'an order has one id');
  }
}

function auditFinished(t: Tables): void {
  const end = t.state[State.finished]!;
  const { history, orders } = t.capacities;
  assert(keptFinished(t) + t.state[State.openOrders]! <= orders + history, 'the ring has room');
  for (let sequence = t.state[State.finishedFirst]!; sequence < end; sequence++) {
    const place = historyRow(t, sequence);
    const row = place << ORDER_I;
    const status = (t.historyI[row + Order.flags]! >>> Flag.statusShift) & 7;
    const reason = (t.historyI[row + Order.flags]! >>> Flag.reasonShift) & 15;
    assert(reason !== EndReason.none, 'a finished order has a reason');
    assert(status === endStatus(reason as EndReasonCode), 'its status follows from its reason');
    const found = findOrder(t, t.historyI, row + Order.id);
    assert(found === -place - 1, 'a finished order is known by its id');
  }
}

function auditAccounts(t: Tables, openOrders: number): void {
  let owned = 0;
  for (let account = 1 as AccountSlot; account <= t.state[State.accounts]!; account++) {
    const row = account << ACCOUNT_I;
    assert(findAccount(t, t.accountI, row) === account, 'an address has one account');
    assert(t.accountI[row + Account.binding]! <= t.state[State.accounts]!, 'bindings exist');
    let count = 0;
    let before = 0;
    for (let slot = t.accountI[row + Account.openHead]! as OrderSlot | 0; slot !== 0; ) {
      assert(orderStatus(t, slot) === Status.live, 'an owner lists live orders');
      assert(
        t.orderI[(slot << ORDER_I) + Order.owner] === account,
        'an owner lists its own orders',
      );
      assert(t.linkI[(slot << LINK_I) + Link.ownerPrev] === before, 'lists are linked both ways');
      count += 1;
      assert(count <= openOrders, 'an owner list ends');
      before = slot;
      slot = t.linkI[(slot << LINK_I) + Link.ownerNext]! as OrderSlot | 0;
    }
    assert(count === t.accountI[row + Account.openCount], 'an owner counts its orders');
    owned += count;
  }
  assert(owned === openOrders, 'every open order has an owner');
}

function auditExpiries(t: Tables, expiring: number): void {
  const size = t.state[State.expiries]!;
  assert(size === expiring, 'every order that expires is in the heap');
  for (let at = 1; at <= size; at++) {
    const slot = t.expiries[at]!;
    assert(t.orderI[(slot << ORDER_I) + Order.heap] === at, 'an order knows its place in the heap');
    if (at === 1) continue;
    const parent = t.expiries[at >>> 1]!;
    assert(
      t.orderF[(parent << ORDER_F) + Order.expiry]! <= t.orderF[(slot << ORDER_F) + Order.expiry]!,
      'the heap is ordered',
    );
  }
}

function auditMarkets(t: Tables): void {
  let tokens = 0;
  let books = 0;
  for (let market = 1 as MarketSlot; market <= t.state[State.markets]!; market++) {
    const row = market << MARKET_I;
    assert(findMarket(t, t.marketI, row) === market, 'a condition id has one market');
    assert(t.marketI[row + Market.firstToken] === tokens + 1, 'tokens follow one another');
    assert(t.marketI[row + Market.firstBook] === books + 1, 'books follow one another');
    const count = t.marketI[row + Market.tokenCount]!;
    assert(t.marketI[row + Market.bookCount] === (count === 2 ? 1 : count), 'a pair shares a book');
    const flags = t.marketI[row + Market.flags]!;
    const isBoth = (flags & MarketFlag.tradable) !== 0 && (flags & MarketFlag.ended) !== 0;
    assert(!isBoth, 'an ended market is not tradable');
    for (let token = (tokens + 1) as TokenSlot; token <= tokens + count; token++) {
      assert(findToken(t, t.tokenI, token << TOKEN_I) === token, 'a token id has one token');
      assert(t.tokenI[(token << TOKEN_I) + Token.market] === market, 'a token has its market');
    }
    for (
      let book = (books + 1) as BookSlot;
      book <= books + t.marketI[row + Market.bookCount]!;
      book++
    ) {
      const at = book << BOOK_I;
      assert(t.bookI[at + Book.market] === market, 'a book has its market');
      const grid = t.marketI[row + Market.ticksPerUnit];
      assert(t.bookI[at + Book.ticksPerUnit] === grid, 'a book has the grid of its market');
    }
    tokens += count;
    books += t.marketI[row + Market.bookCount]!;
  }
  assert(tokens === t.state[State.tokens], 'every token belongs to a market');
  assert(books === t.state[State.books], 'every book belongs to a market');
}

/** Used and free ladders fill the level table without gap or overlap. */
function auditLadders(t: Tables): void {
  const spans: [base: number, rows: number][] = [];
  for (let book = 1 as BookSlot; book <= t.state[State.books]!; book++) {
    const at = book << BOOK_I;
    const base = t.bookI[at + Book.base]!;
    if (base !== 0)
      spans.push([base, shapeOf(t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit).rows]);
  }
  TICK_GRIDS.forEach((grid, i) => {
    for (let base = t.state[State.levelFree + i]!; base !== 0; ) {
      spans.push([base, shapeOf(grid).rows]);
      assert(spans.length <= t.state[State.levelRows]!, 'the list of free ladders ends');
      base = t.levelI[base << LEVEL_I]!;
    }
  });
  spans.sort((a, b) => a[0] - b[0]);
  let end = 1;
  for (const [base, rows] of spans) {
    assert(base === end, 'ladders neither overlap nor leave gaps');
    end += rows;
  }
  assert(end === t.state[State.levelRows]! + 1, 'every level row belongs to a ladder');
}
