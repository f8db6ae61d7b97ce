/**
 * Check of every invariant of the ledger: part of audit.ts. Throws at the first violation. Invariants:
 * docs/ledger.md#invariants
 */
import { assert } from './book/matching.ts';
import { auditAgents } from './ledger/agents.ts';
import { auditCosts } from './ledger/exposure.ts';
import { auditHouses } from './ledger/house.ts';
import { payoutOf } from './ledger/payout.ts';
import { positionEntries } from './ledger/positions.ts';
import { auditTextIds } from './ledger/requests.ts';
import { delayedCash, reservedCash } from './ledger/reservations.ts';
import { earliestDeadline } from './markets/proposals.ts';
import { isDelayed } from './orders/delayed.ts';
import { orderStatus } from './orders/orders.ts';
import { heldFeeOf, receivedBy, unsettledCount } from './orders/unsettled.ts';
import { seasonHindrances } from './season.ts';
import { MarketFlag, ResolutionState, Status } from './tables/codes.ts';
import { byRegion, home, next } from './tables/hash-index.ts';
import {
  CASH_F,
  CASH_I,
  Cash,
  Fill,
  Flag,
  HOLDER_F,
  HOLDER_I,
  Holder,
  Ledger,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  POSITION_F,
  POSITION_I,
  POSITION_LINK_I,
  Position,
  PositionLink,
  RESOLUTION_I,
  Resolution,
  State,
  TOKEN_I,
  Token,
  UNSETTLED_F,
  UNSETTLED_I,
  Unsettled,
} from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type { MarketRow, OrderRow, PositionRow, ResolutionRow, TokenRow } from './tables/units.ts';

/** Orders that are checked together: their rows fit a cache. */
const RUN_ROWS = 2_048;

export function auditLedger(t: Tables): void {
  auditAmounts(t);
  auditHoldings(t);
}

/** Checks cash, reservations and collateral: about half of the work. */
export function auditAmounts(t: Tables): void {
  if (t.state[State.ledger] === 0) return;
  auditReservations(t);
  auditCollateral(t);
  auditProposals(t);
  auditSeason(t);
  auditCash(t);
  auditTextIds(t);
  auditCosts(t);
  auditHouses(t);
  auditAgents(t);
}

/** Checks positions with their index and their lists. */
export function auditHoldings(t: Tables): void {
  if (t.state[State.ledger] === 0) return;
  auditPositions(t);
  auditLists(t);
}

/** Sums of what orders and unsettled fills hold: cash by account, shares and holds by position. */
interface Held {
  readonly cash: Float64Array;
  readonly shares: Float64Array;
  readonly holds: Int32Array;
}

function auditReservations(t: Tables): void {
  const rows = t.ledger[Ledger.positionRows]!;
  const held: Held = {
    cash: new Float64Array(t.state[State.accounts]! + 1),
    shares: new Float64Array(rows + 1),
    holds: new Int32Array(rows + 1),
  };
  const { cash, holds, shares } = held;
  const run = new Int32Array(RUN_ROWS);
  const end = t.state[State.orderRows]! + 1;
  for (let first = 1; first < end; first += RUN_ROWS) {
    const live = liveOrders(t, run, first as OrderRow, Math.min(first + RUN_ROWS, end));
    auditHeldPositions(t, live, holds);
    addReservations(t, live, held);
  }
  addUnsettled(t, held);
  for (let account = 1; account < cash.length; account++) {
    const reserved = t.cashF[(account << CASH_F) + Cash.reserved];
    assert(
      reserved === cash[account],
      'a wallet reserves what its open BUY orders can cost, and what is not settled',
    );
  }
  for (let row = 1; row <= rows; row++) {
    const reserved = t.positionF[(row << POSITION_F) + Position.reserved];
    assert(
      reserved === shares[row],
      'a position reserves what its open SELL orders offer, and what is not settled',
    );
    const counted = t.positionI[(row << POSITION_I) + Position.holds];
    assert(counted === holds[row], 'a position counts its open orders and unsettled fills');
  }
}

/** Returns the rows of live orders in [first, end), in the memory of `run`. */
function liveOrders(t: Tables, run: Int32Array, first: OrderRow, end: number): Int32Array {
  let count = 0;
  for (let order = first; order < end; order++) {
    if (orderStatus(t, order) === Status.live) {
      run[count++] = order;
      continue;
    }
    const position = t.orderI[(order << ORDER_I) + Order.position];
    assert(position === 0, 'a closed order holds no position');
  }
  return run.subarray(0, count);
}

/** Counts holds. The loop is short, so the processor waits for the rows of many positions at once. */
function auditHeldPositions(
  { orderI, positionI }: Tables,
  orders: Int32Array,
  holds: Int32Array,
): void {
  for (let i = 0; i < orders.length; i++) {
    const w = orders[i]! << ORDER_I;
    const position = orderI[w + Order.position]!;
    const p = position << POSITION_I;
    const isOwn = positionI[p + Position.account] === orderI[w + Order.maker];
    assert(isOwn, 'an order holds its own position');
    assert(positionI[p + Position.token] === orderI[w + Order.token], 'and of its token');
    holds[position]! += 1;
  }
}

function addReservations(t: Tables, orders: Int32Array, { cash, shares }: Held): void {
  const { orderF, orderI } = t;
  for (let i = 0; i < orders.length; i++) {
    const order = orders[i]! as OrderRow;
    const w = order << ORDER_I;
    if ((orderI[w + Order.flags]! & Flag.sell) !== 0) {
      shares[orderI[w + Order.position]!]! += orderF[(order << ORDER_F) + Order.remaining]!;
    } else if (isDelayed(t, order)) cash[orderI[w + Order.maker]!]! += delayedCash(t, order);
    else cash[orderI[w + Order.maker]!]! += reservedCash(t, order);
  }
}

/** Adds what unsettled fills hold, and checks their rows. */
function addUnsettled(t: Tables, { cash, holds, shares }: Held): void {
  const { ledger, positionI, tokenI, unsettledF, unsettledI } = t;
  let fees = 0;
  let before = 0;
  for (let row = 0; row < unsettledCount(t); row++) {
    const w = row << UNSETTLED_I;
    const due = unsettledF[(row << UNSETTLED_F) + Unsettled.dueAt]!;
    assert(due >= before, 'unsettled fills lie in the order of their times');
    before = due;
    fees += heldFeeOf(t, row);
    for (const party of [0, 1] as const) {
      const account = unsettledI[w + (party === 0 ? Fill.taker : Fill.maker)]!;
      const token = unsettledI[w + (party === 0 ? Fill.takerToken : Fill.makerToken)]!;
      const position = unsettledI[w + Unsettled.position + party]!;
      const p = position << POSITION_I;
      assert(positionI[p + Position.account] === account, 'a fill holds positions of its wallets');
      assert(positionI[p + Position.token] === token, 'in its tokens');
      const market = tokenI[(token << TOKEN_I) + Token.market]!;
      const resolution = t.marketI[(market << MARKET_I) + Market.resolution];
      assert(resolution === 0, 'a market that resolves has settled');
      const received = receivedBy(t, row, party);
      holds[position]! += 1;
      if (received.shares > 0) shares[position]! += received.shares;
      else cash[account]! += received.cash;
    }
  }
  assert(fees === ledger[Ledger.heldFees], 'held fees are those of unsettled fills');
}

function auditPositions(t: Tables): void {
  const entries = positionEntries(t);
  for (let i = 1; i < entries.length; i += 2) {
    const row = entries[i]! as PositionRow;
    const w = row << POSITION_I;
    const d = row << POSITION_F;
    const total = t.positionF[d + Position.total]!;
    const reserved = t.positionF[d + Position.reserved]!;
    assert(0 <= reserved && reserved <= total, 'a position has what it reserves');
    assert(total > 0 || t.positionI[w + Position.holds]! > 0, 'a position is there for something');
  }
  auditPositionIndex(t, byRegion(t.positionIndex, entries));
  let free = 0;
  for (let row = t.ledger[Ledger.freePosition]!; row !== 0; free++) {
    assert(free <= t.ledger[Ledger.positionRows]!, 'the list of free positions ends');
    row = t.positionI[(row << POSITION_I) + Position.nextFree]!;
  }
  const used = t.ledger[Ledger.positions]!;
  assert(free + used === t.ledger[Ledger.positionRows]!, 'every position is in use or free');
}

function auditPositionIndex({ positionI, positionIndex }: Tables, entries: Int32Array): void {
  for (let i = 0; i < entries.length; i += 2) {
    const tag = entries[i]!;
    const row = entries[i + 1]!;
    const w = row << POSITION_I;
    for (let at = home(positionIndex, tag); ; at = next(positionIndex, at)) {
      const found = positionIndex[2 * at + 1]!;
      assert(found !== 0, 'a position is found by account and token');
      if (found === row) break;
      if (positionIndex[2 * at] !== tag) continue;
      const other = found << POSITION_I;
      const isSame =
        positionI[other + Position.account] === positionI[w + Position.account] &&
        positionI[other + Position.token] === positionI[w + Position.token];
      assert(!isSame, 'an account has one position in a token');
    }
  }
}

function auditLists(t: Tables): void {
  let listed = 0;
  for (let account = 1; account <= t.state[State.accounts]!; account++) {
    const head = t.cashI[(account << CASH_I) + Cash.head]!;
    const count = t.cashI[(account << CASH_I) + Cash.count]!;
    listed += count;
    auditList(t, head, count, PositionLink.accountNext, PositionLink.accountPrev, (w) => {
      assert(t.positionI[w + Position.account] === account, 'a wallet lists its own positions');
    });
  }
  for (let token = 1; token <= t.state[State.tokens]!; token++) {
    const head = t.holderI[(token << HOLDER_I) + Holder.head]!;
    const count = t.holderI[(token << HOLDER_I) + Holder.count]!;
    listed += count;
    auditList(t, head, count, PositionLink.tokenNext, PositionLink.tokenPrev, (w) => {
      assert(t.positionI[w + Position.token] === token, 'a token lists its own holders');
    });
  }
  assert(listed === 2 * t.ledger[Ledger.positions]!, 'every position is in two lists');
}

function auditList(
  { positionLinkI }: Tables,
  head: number,
  count: number,
  next: number,
  prev: number,
  visit: (w: number) => void,
): void {
  let before = 0;
  let row = head;
  for (let i = 0; i < count; i++) {
    const link = row << POSITION_LINK_I;
    assert(row !== 0 && positionLinkI[link + prev] === before, 'lists are linked both ways');
    visit(row << POSITION_I);
    before = row;
    row = positionLinkI[link + next]!;
  }
  assert(row === 0, 'a list counts its rows');
}

function auditCollateral(t: Tables): void {
  const shares = new Float64Array(t.state[State.tokens]! + 1);
  const owed = new Float64Array(t.state[State.markets]! + 1);
  const add = (token: TokenRow, amount: number): void => {
    shares[token]! += amount;
    const market = marketOf(t, token);
    const row = t.marketI[(market << MARKET_I) + Market.resolution]! as ResolutionRow | 0;
    if (row === 0) return;
    const outcome = token - t.marketI[(market << MARKET_I) + Market.firstToken]!;
    owed[market]! += payoutOf(t, row, outcome, amount);
  };
  for (let row = 1; row <= t.ledger[Ledger.positionRows]!; row++) {
    const token = t.positionI[(row << POSITION_I) + Position.token]! as TokenRow;
    if (token !== 0) add(token, t.positionF[(row << POSITION_F) + Position.total]!);
  }
  for (let token = 1 as TokenRow; token < shares.length; token++) {
    add(token, t.holderF[(token << HOLDER_F) + Holder.venue]!);
  }
  let sum = 0;
  for (let market = 1 as MarketRow; market < owed.length; market++) {
    const offset = market << MARKET_I;
    const collateral = t.marketF[(market << MARKET_F) + Market.collateral]!;
    sum += collateral;
    const row = t.marketI[offset + Market.resolution]!;
    const first = t.marketI[offset + Market.firstToken]!;
    const end = first + t.marketI[offset + Market.tokenCount]!;
    const isDone =
      t.resolutionI[(row << RESOLUTION_I) + Resolution.state] === ResolutionState.resolved;
    if (row !== 0 && !isDone) {
      assert(collateral >= owed[market]!, 'a market that resolves can pay what it owes');
      continue;
    }
    assert(row === 0 || collateral === 0, 'a market that has resolved has paid everything');
    for (let token = first; token < end; token++) {
      assert(shares[token] === collateral, 'shares of an outcome are the sets of its market');
    }
  }
  assert(sum === t.ledger[Ledger.collateral], 'the collateral of all is counted');
}

function auditProposals(t: Tables): void {
  const { ledger, marketI, resolutionI } = t;
  const rows = new Int32Array(ledger[Ledger.resolutions]! + 1);
  const counts = { proposed: 0, resolving: 0 };
  for (let market = 1; market <= t.state[State.markets]!; market++) {
    const offset = market << MARKET_I;
    const proposal = marketI[offset + Market.proposal]!;
    const resolution = marketI[offset + Market.resolution]!;
    const row = resolution === 0 ? proposal : resolution;
    assert(proposal === 0 || proposal === row, 'a market has one row of resolutions');
    const state = resolutionI[(row << RESOLUTION_I) + Resolution.state]!;
    const isProposed = (marketI[offset + Market.flags]! & MarketFlag.proposed) !== 0;
    assert(
      isProposed === (row !== 0 && state === ResolutionState.proposed),
      'proposals are marked',
    );
    if (row === 0) continue;
    rows[row]! += 1;
    assert(resolutionI[(row << RESOLUTION_I) + Resolution.market] === market, 'a row has a market');
    const hasBegun = state === ResolutionState.resolving || state === ResolutionState.resolved;
    assert(hasBegun === (resolution !== 0), 'a market that resolves has a row that says so');
    if (isProposed) counts.proposed += 1;
    if (state === ResolutionState.resolving) counts.resolving += 1;
  }
  assert(
    rows.subarray(1).every((count) => count === 1),
    'every row is of one market',
  );
  assert(counts.proposed === ledger[Ledger.proposals], 'proposals are counted');
  assert(counts.resolving === ledger[Ledger.resolving], 'resolutions under way are counted');
  const earliest = ledger[Ledger.earliestDeadline];
  assert(earliest === earliestDeadline(t), 'the earliest deadline is that of a proposal');
}

function auditSeason(t: Tables): void {
  const next = t.ledger[Ledger.seasonNext]!;
  if (next === 0) return;
  assert(next <= t.state[State.accounts]! + 1, 'a season ends by wallets that are there');
  const isQuiet = Object.values(seasonHindrances(t)).every((count) => count === 0);
  assert(isQuiet, 'nothing is traded while a season ends');
}

function marketOf({ tokenI }: Tables, token: TokenRow): MarketRow {
  return tokenI[(token << TOKEN_I) + Token.market]! as MarketRow;
}

function auditCash(t: Tables): void {
  const { cashF, cashI, ledger } = t;
  let sum = 0;
  let relayed = 0;
  for (let account = 1; account <= t.state[State.accounts]!; account++) {
    const total = cashF[(account << CASH_F) + Cash.total]!;
    const reserved = cashF[(account << CASH_F) + Cash.reserved]!;
    assert(0 <= reserved && reserved <= total, 'a wallet has what it reserves');
    sum += total;
    relayed += cashI[(account << CASH_I) + Cash.relayed]!;
  }
  assert(relayed === ledger[Ledger.relayed], 'relayed batches of all wallets are counted');
  assert(sum === ledger[Ledger.cash], 'the cash of all is counted');
  const there = sum + ledger[Ledger.collateral]! + ledger[Ledger.fees]! + ledger[Ledger.rounding]!;
  assert(there === ledger[Ledger.deposited], 'what was paid in is there');
  const freeFees = ledger[Ledger.fees]! - ledger[Ledger.heldFees]!;
  assert(freeFees >= 0, 'fees are there, also those that are held');
}
