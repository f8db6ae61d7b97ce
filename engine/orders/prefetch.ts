/**
 * Reading ahead: fetches the rows that the commands of a batch will touch before the first is applied. A look-up in
 * a table of many megabytes waits longer for memory than the rest of a command takes, and many can wait at once.
 * Each step covers many commands and uses the results of the step before. Changes nothing and decides nothing.
 */
import * as commands from '../commands.ts';
import type { EngineContext } from '../context.ts';
import * as positions from '../ledger/positions.ts';
import * as hashIndex from '../tables/hash-index.ts';
import * as layout from '../tables/layout.ts';
import type { AccountRow, TokenRow } from '../tables/units.ts';
import * as accounts from './accounts.ts';
import * as orders from './orders.ts';

// A module's own constants are folded into machine code; what is imported is loaded at each use.
const { BOOK_I, Book, CLOSED_I, LINK_I, ORDER_I, Order, POSITION_I, State, TOKEN_I, Token } =
  layout;
const {
  CancelCommand,
  CommandKind,
  commandKind,
  commandWords,
  FillCommand,
  LevelCommand,
  OrderCommand,
} = commands;
const { home } = hashIndex;
const { orderTag } = orders;
const { findAccount } = accounts;
const { findPosition, positionHome } = positions;

/** Commands of one step. The lines of more would evict one another from the cache. */
const STEP_COMMANDS = 64;
/** Words of an index at which the searches of a step begin: for the ids of new orders, then for their positions. */
const HOMES = new Int32Array(STEP_COMMANDS);
/** Words of the index of ids for the orders that commands refer to, then the rows of these orders. */
const FOUND = new Int32Array(STEP_COMMANDS);
const ORDERS = new Int32Array(STEP_COMMANDS);
const ACCOUNTS = new Int32Array(STEP_COMMANDS);

export function prefetch(context: EngineContext, i32: Int32Array, at: number, end: number): void {
  const hasLedger = context.t.state[State.ledger] !== 0;
  for (let from = at, orders = 0; from < end; ) {
    let to = from;
    let cancels = 0;
    const ordersBefore = orders;
    for (let n = 0; n < STEP_COMMANDS && to < end; n++) {
      const kind = commandKind(i32, to);
      if (kind === CommandKind.cancel) {
        FOUND[cancels] = entryOf(context, i32, to + CancelCommand.id);
        cancels += 1;
      } else if (kind === CommandKind.order) {
        HOMES[orders - ordersBefore] = entryOf(context, i32, to + OrderCommand.id);
        fetchToken(context, i32[to + OrderCommand.token]!);
        ORDERS[orders - ordersBefore] = to;
        orders += 1;
      } else if (kind === CommandKind.level) {
        fetchToken(context, i32[to + LevelCommand.token]!);
      } else if (kind === CommandKind.fill) {
        // It looks for an order just as a cancel does.
        FOUND[cancels] = entryOf(context, i32, to + FillCommand.id);
        cancels += 1;
      }
      to += commandWords(i32, to);
    }
    fetchEntries(context, orders - ordersBefore, cancels);
    fetchFreeRows(context, ordersBefore, orders);
    fetchRows(context, cancels);
    if (hasLedger) fetchPositions(context, i32, orders - ordersBefore, cancels);
    fetchPlaces(context, cancels);
    from = to;
  }
}

function entryOf(context: EngineContext, i32: Int32Array, id: number): number {
  return 2 * home(context.t.orderIndex, orderTag(i32, id));
}

/** Loops of their own and short, so that the processor waits for as many entries as it can at a time. */
function fetchEntries(context: EngineContext, orders: number, cancels: number): void {
  const { orderIndex } = context.t;
  let fetched = 0;
  for (let i = 0; i < orders; i++) fetched ^= orderIndex[HOMES[i]!]!;
  for (let i = 0; i < cancels; i++) fetched ^= orderIndex[FOUND[i]!]!;
  context.fetched = fetched;
}

function fetchToken(context: EngineContext, token: number): void {
  const { bookI, tokenI } = context.t;
  const book = tokenI[(token << TOKEN_I) | Token.book]!;
  context.fetched = bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
}

function fetchFreeRows(context: EngineContext, from: number, to: number): void {
  const { closedI, closedRows, orderI, state } = context.t;
  const free = state[State.nextReusableClosed]!;
  let fetched = 0;
  for (let n = free + from; n < free + to; n++) {
    const offset = closedI[(n & (closedRows - 1)) << CLOSED_I]! << ORDER_I;
    fetched ^= orderI[offset | Order.flags]! ^ orderI[offset | Order.restingSlot]!;
  }
  context.fetched = fetched;
}

function fetchRows(context: EngineContext, count: number): void {
  const { orderI, orderIndex } = context.t;
  let fetched = 0;
  for (let i = 0; i < count; i++) {
    const slot = orderIndex[FOUND[i]! | 1]!;
    const offset = slot << ORDER_I;
    FOUND[i] = slot;
    fetched ^= orderI[offset | Order.flags]! ^ orderI[offset | Order.restingSlot]!;
  }
  context.fetched = fetched;
}

function fetchPlaces(context: EngineContext, count: number): void {
  const { linkI, matching, orderI } = context.t;
  let fetched = 0;
  for (let i = 0; i < count; i++) {
    // Negative for an order that waits.
    const restingSlot = Math.max(0, orderI[(FOUND[i]! << ORDER_I) | Order.restingSlot]!);
    fetched ^= linkI[restingSlot << LINK_I]! ^ matching.level(restingSlot);
  }
  context.fetched = fetched;
}

function fetchPositions(
  context: EngineContext,
  i32: Int32Array,
  orders: number,
  cancels: number,
): void {
  const { t } = context;
  const { orderI, positionI, positionIndex } = t;
  let fetched = 0;
  for (let i = 0; i < orders; i++) {
    const at = ORDERS[i]!;
    const account = findAccount(t, i32, at + OrderCommand.maker);
    ACCOUNTS[i] = account;
    HOMES[i] = positionHome(t, account, i32[at + OrderCommand.token]! as TokenRow);
  }
  for (let i = 0; i < orders; i++) fetched ^= positionIndex[HOMES[i]!]!;
  for (let i = 0; i < orders; i++) {
    const token = i32[ORDERS[i]! + OrderCommand.token]! as TokenRow;
    fetched ^= findPosition(t, ACCOUNTS[i]! as AccountRow, token);
  }
  for (let i = 0; i < cancels; i++) {
    const position = orderI[(FOUND[i]! << ORDER_I) | Order.position]!;
    fetched ^= positionI[position << POSITION_I]!;
  }
  context.fetched = fetched;
}
