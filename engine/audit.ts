/**
 * Check of every invariant of the tables, in tests and after recovery, never while trading. Throws at the first
 * violation.
 */

import { auditOrderIndex } from './audit-index.ts';
import { auditAmounts, auditHoldings } from './audit-ledger.ts';
import { assert, auditMatching, LANES, matchingUse, Side, sideBySide } from './book/matching.ts';
import { auditInvites } from './invites.ts';
import { findMarket, findToken } from './markets/markets.ts';
import { findAccount } from './orders/accounts.ts';
import { placesTaken } from './orders/books.ts';
import { isDelayed } from './orders/delayed.ts';
import { closedInMemory, closedOrder, endStatus, orderStatus, orderTag } from './orders/orders.ts';
import { findLevelOf, isLevel } from './orders/source-rows.ts';
import {
  EndReason,
  type EndReasonCode,
  ID_WORDS,
  MarketFlag,
  SOURCE_ADDRESS,
  Status,
} from './tables/codes.ts';
import {
  ACCOUNT_I,
  Account,
  BOOK_I,
  Book,
  CLOSED_I,
  Closed,
  Flag,
  LINK_I,
  Link,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type { BookRow, MarketRow, OrderRow, TicksPerUnit, TokenRow } from './tables/units.ts';
import { isSchedule, isTickGrid } from './tables/units.ts';
import { sameAddress } from './tables/words.ts';

export function audit(t: Tables): void {
  auditBooks(t);
  auditOrders(t);
}

/** Checks books, accounts, markets and money: about half of the work. */
export function auditBooks(t: Tables): void {
  const resting = auditMatching(t.matching);
  const open = t.state[State.openOrders]!;
  const expected = open + t.state[State.sourceLevels]!;
  assert(resting === expected, 'every open order rests in a book, and every source level');
  for (let book = 1 as BookRow; book <= t.state[State.books]!; book++) auditBook(t, book);
  auditAccounts(t, open);
  auditMarkets(t);
  auditInvites(t);
  auditAmounts(t);
}

/** Checks orders, their index, and positions. */
export function auditOrders(t: Tables): void {
  const delayed = new Int32Array(t.state[State.accounts]! + 1);
  const expiring = auditRows(t, delayed);
  auditClosed(t);
  auditOrderIndex(t);
  t.expiring.audit(expiring);
  t.delayed.audit(delayed.reduce((sum, count) => sum + count, 0));
  delayed.forEach((count, owner) => {
    assert(t.delayCounts[owner] === count, 'an owner counts its delayed orders');
  });
  assert(placesTaken(t) <= t.capacities.orders, 'delayed orders hold places of open ones');
  auditHoldings(t);
}

function auditDelayed(t: Tables, row: OrderRow): void {
  const d = row << ORDER_F;
  const offset = row << ORDER_I;
  const isWhole = t.orderF[d + Order.remaining] === t.orderF[d + Order.original];
  assert(isWhole, 'a delayed order has not traded');
  assert((t.orderI[offset + Order.flags]! & Flag.delayed) !== 0, 'it is marked');
  const book = t.tokenI[(t.orderI[offset + Order.token]! << TOKEN_I) + Token.book]!;
  const level = t.matching.rowOf(book, t.orderI[offset + Order.price]!);
  assert(level !== 0, 'its book has a ladder to rest in');
}

function auditBook(t: Tables, book: BookRow): void {
  const at = book << BOOK_I;
  const grid = t.bookI[at + Book.ticksPerUnit]!;
  assert((t.bookI[at + Book.version]! & 1) === 0, 'no book is being written');
  assert(isTickGrid(grid), 'a book has one of the grids');
  assert(t.matching.levels(book) === grid, 'a book has a level for each tick');
}

/**
 * Asserts that every order row is open or closed. Returns the number of resting ones that expire.
 * @param delayedOf gets the number of delayed ones of each owner
 */
function auditRows(t: Tables, delayedOf: Int32Array): number {
  const rows = t.state[State.orderRows]!;
  assert(rows <= t.orderRows, 'order rows lie in their table');
  let open = 0;
  let levels = 0;
  let expiring = 0;
  let delayed = 0;
  for (let row = 1 as OrderRow; row <= rows; row++) {
    if (orderStatus(t, row) !== Status.live) continue;
    if (isDelayed(t, row)) {
      auditDelayed(t, row);
      delayedOf[t.orderI[(row << ORDER_I) + Order.owner]!]! += 1;
      delayed += 1;
      continue;
    }
    auditOpen(t, row);
    if (isLevel(t, row)) {
      auditLevel(t, row);
      levels += 1;
      continue;
    }
    open += 1;
    if (t.orderF[(row << ORDER_F) + Order.expiry] !== 0) expiring += 1;
  }
  assert(open === t.state[State.openOrders], 'open orders are counted');
  assert(levels === t.state[State.sourceLevels], 'source levels are counted');
  const inQueue = t.state[State.closed]! - t.state[State.nextReusableClosed]!;
  const unused = inQueue + auditFreeLevels(t);
  const used = open + levels + delayed;
  assert(used + unused === rows, 'every order row is open or in a queue of free ones');
  return expiring;
}

function auditOpen(t: Tables, row: OrderRow): void {
  const { matching: m } = t;
  const offset = row << ORDER_I;
  const restingSlot = t.orderI[offset + Order.restingSlot]!;
  const flags = t.orderI[offset + Order.flags]!;
  const remaining = t.orderF[(row << ORDER_F) + Order.remaining]!;
  const token = t.orderI[offset + Order.token]! << TOKEN_I;
  assert(
    restingSlot !== 0 && m.userData(restingSlot) === row,
    'an open order and its place know each other',
  );
  assert(m.remaining(restingSlot) === remaining && remaining > 0, 'what remains of an order rests');
  assert(
    m.level(restingSlot) === t.orderI[offset + Order.price],
    'an order rests at its own price',
  );
  assert(
    m.book(restingSlot) === t.tokenI[token + Token.book],
    'an order rests in the book of its token',
  );
  const isAsk = (flags & Flag.ask) !== 0;
  assert((m.side(restingSlot) === Side.ask) === isAsk, 'an order rests on its side');
  const sells = (flags & Flag.sell) !== 0;
  assert((sells !== (t.tokenI[token + Token.mirrored] === 1)) === isAsk, 'mirrors are opposite');
  assert(remaining <= t.orderF[(row << ORDER_F) + Order.original]!, 'an order only shrinks');
}

function auditLevel(t: Tables, row: OrderRow): void {
  const offset = row << ORDER_I;
  const account = t.orderI[offset + Order.maker]! << ACCOUNT_I;
  assert(findLevelOf(t, row) === row, 'the source has one level at a price');
  assert(sameAddress(t.accountI, account, SOURCE_ADDRESS, 0), 'a level is of the source');
  assert((t.orderI[offset + Order.flags]! & Flag.sell) === 0, 'the source buys');
  assert(t.orderF[(row << ORDER_F) + Order.expiry] === 0, 'a level does not expire');
  for (let w = 0; w < ID_WORDS; w++) {
    assert(t.orderI[offset + Order.id + w] === 0, 'a level has no id');
  }
}

function auditFreeLevels(t: Tables): number {
  let free = 0;
  for (let row = t.state[State.freeSourceRow]! as OrderRow; row !== 0; free++) {
    assert(free < t.state[State.freeSourceRows]!, 'the list of free rows ends');
    assert(orderStatus(t, row) === Status.free, 'a free row holds no level');
    row = t.orderI[(row << ORDER_I) + Order.nextFree]! as OrderRow;
  }
  assert(free === t.state[State.freeSourceRows], 'free rows are counted');
  return free;
}

function auditClosed(t: Tables): void {
  const end = t.state[State.closed]!;
  const { history, orders } = t.capacities;
  assert(closedInMemory(t) + placesTaken(t) <= orders + history, 'the rows suffice');
  assert(
    t.state[State.nextReusableClosed]! <= t.state[State.firstKeptClosed]!,
    'kept rows are kept',
  );
  const seen = new Uint8Array(t.state[State.orderRows]! + 1);
  for (let sequence = t.state[State.firstKeptClosed]!; sequence < end; sequence++) {
    const row = closedOrder(t, sequence);
    assert(seen[row] === 0, 'a row has one closed order');
    seen[row] = 1;
    const offset = row << ORDER_I;
    const status = (t.orderI[offset + Order.flags]! >>> Flag.statusShift) & 7;
    const reason = (t.orderI[offset + Order.flags]! >>> Flag.reasonShift) & 15;
    assert(t.orderI[offset + Order.restingSlot] === 0, 'a closed order does not rest');
    assert(reason !== EndReason.none, 'a closed order has a reason');
    assert(status === endStatus(reason as EndReasonCode), 'its status follows from its reason');
    const entry = (sequence & (t.closedRows - 1)) << CLOSED_I;
    const tag = t.closedI[entry + Closed.tag];
    assert(tag === orderTag(t.orderI, offset + Order.id), 'a closed order keeps its tag');
  }
}

function auditAccounts(t: Tables, openOrders: number): void {
  const { accountI, linkI } = t;
  const accounts = t.state[State.accounts]!;
  const resting = new Int32Array(t.walletOrders.length);
  const owners = ownersOf(t, resting);
  auditWallets(t, accounts);
  const owner = new Int32Array(LANES);
  const at = new Int32Array(LANES);
  const before = new Int32Array(LANES);
  const count = new Int32Array(LANES);
  let begun = 0;
  let owned = 0;
  const begin = (lane: number): boolean => {
    if (begun === accounts) return false;
    begun += 1;
    const offset = begun << ACCOUNT_I;
    assert(findAccount(t, accountI, offset) === begun, 'an address has one account');
    owner[lane] = begun;
    at[lane] = accountI[offset + Account.openHead]!;
    before[lane] = 0;
    count[lane] = 0;
    return true;
  };
  const step = (lane: number): boolean => {
    const restingSlot = at[lane]!;
    if (restingSlot === 0) {
      const openCount = accountI[(owner[lane]! << ACCOUNT_I) + Account.openCount];
      assert(count[lane] === openCount, 'an owner counts its orders');
      owned += count[lane]!;
      return false;
    }
    const link = restingSlot << LINK_I;
    assert(owners[restingSlot] === owner[lane], 'an owner lists its own live orders');
    assert(linkI[link + Link.ownerPrev] === before[lane], 'lists are linked both ways');
    count[lane]! += 1;
    assert(count[lane]! <= openOrders, 'an owner list ends');
    before[lane] = restingSlot;
    at[lane] = linkI[link + Link.ownerNext]!;
    return true;
  };
  sideBySide(begin, step);
  assert(owned === openOrders, 'every open order has an owner');
  for (let wallet = 0; wallet < resting.length; wallet++) {
    assert(t.walletOrders[wallet] === resting[wallet], 'a wallet counts its open orders');
  }
}

function auditWallets({ accountI, wallets }: Tables, accounts: number): void {
  const counted = new Int32Array(accounts + 1);
  for (let account = 1; account <= accounts; account++) {
    const owner = accountI[(account << ACCOUNT_I) + Account.binding]!;
    assert(owner <= accounts, 'bindings exist');
    if (owner !== 0 && owner !== account) counted[owner]! += 1;
  }
  for (let account = 1; account <= accounts; account++) {
    assert(wallets[account] === counted[account], 'a signer counts its wallets');
  }
}

/**
 * Owners of live orders by slot of the matching core, as lists of owners use. One pass, because the rows of a list
 * lie far apart.
 * @param resting gets the number of open orders of each wallet
 */
function ownersOf(t: Tables, resting: Int32Array): Int32Array {
  const owners = new Int32Array(matchingUse(t.matching).orders + 1);
  for (let row = 1 as OrderRow; row <= t.state[State.orderRows]!; row++) {
    if (orderStatus(t, row) !== Status.live || isDelayed(t, row)) continue;
    const offset = row << ORDER_I;
    owners[t.orderI[offset + Order.restingSlot]!] = t.orderI[offset + Order.owner]!;
    if (!isLevel(t, row)) resting[t.orderI[offset + Order.maker]!]! += 1;
  }
  return owners;
}

function auditSchedule({ marketI, state }: Tables, offset: number): void {
  const grid = marketI[offset + Market.ticksPerUnit]! as TicksPerUnit;
  const rate = marketI[offset + Market.feeRate]!;
  const exponent = marketI[offset + Market.feeExponent]!;
  const rebate = marketI[offset + Market.feeRebate]!;
  assert(isSchedule(grid, rate, exponent, rebate), 'no sale owes more than its proceeds');
  const isNone = rate === 0 && exponent === 0 && rebate === 0;
  assert(isNone || state[State.feeSchedules]! > 0, 'schedules are counted');
}

function auditMarkets(t: Tables): void {
  let tokens = 0;
  let books = 0;
  let ending = 0;
  let reached = 0;
  for (let market = 1 as MarketRow; market <= t.state[State.markets]!; market++) {
    const offset = market << MARKET_I;
    assert(findMarket(t, t.marketI, offset) === market, 'a condition id has one market');
    assert(t.marketI[offset + Market.firstToken] === tokens + 1, 'tokens follow one another');
    assert(t.marketI[offset + Market.firstBook] === books + 1, 'books follow one another');
    const count = t.marketI[offset + Market.tokenCount]!;
    assert(
      t.marketI[offset + Market.bookCount] === (count === 2 ? 1 : count),
      'a pair shares a book',
    );
    auditSchedule(t, offset);
    const flags = t.marketI[offset + Market.flags]!;
    const isBoth = (flags & MarketFlag.tradable) !== 0 && (flags & MarketFlag.ended) !== 0;
    assert(!isBoth, 'an ended market is not tradable');
    const isOver = (flags & MarketFlag.endReached) !== 0;
    assert(!isOver || (flags & MarketFlag.ended) !== 0, 'a market whose end has come has ended');
    const isResolved = t.marketI[offset + Market.resolution] !== 0;
    const hasEnd = t.marketF[(market << MARKET_F) + Market.end] !== 0;
    if (isOver) reached += 1;
    else if (hasEnd && !isResolved) ending += 1;
    for (let token = (tokens + 1) as TokenRow; token <= tokens + count; token++) {
      assert(findToken(t, t.tokenI, token << TOKEN_I) === token, 'a token id has one token');
      assert(t.tokenI[(token << TOKEN_I) + Token.market] === market, 'a token has its market');
    }
    for (
      let book = (books + 1) as BookRow;
      book <= books + t.marketI[offset + Market.bookCount]!;
      book++
    ) {
      const at = book << BOOK_I;
      assert(t.bookI[at + Book.market] === market, 'a book has its market');
      const grid = t.marketI[offset + Market.ticksPerUnit];
      assert(t.bookI[at + Book.ticksPerUnit] === grid, 'a book has the grid of its market');
    }
    tokens += count;
    books += t.marketI[offset + Market.bookCount]!;
  }
  assert(tokens === t.state[State.tokens], 'every token belongs to a market');
  assert(books === t.state[State.books], 'every book belongs to a market');
  assert(reached === t.state[State.endsReached], 'markets whose end has come are counted');
  t.ending.audit(ending);
}
