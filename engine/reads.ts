/**
 * Reads of the tables for storage, server and bench: a function for each column, by its row. Only the engine and
 * code that copies whole tables know the position of a column (tables/layout.ts).
 *
 * A function that ends in `At` gives the first word of a key, for readers that compare or print its words:
 * those of a token lie in `t.tokenI`, of a market in `marketI`, and so on.
 *
 * Thread: any. Markets, tokens and accounts are only ever added. What moves with a book is read between two
 * looks at its version (tables/depth.ts), and rows of orders under the reader's own rule.
 */
import type { FeeSchedule, WalletLimits } from './commands.ts';
import { releasedFlags } from './markets/held-flags.ts';
import { AMOUNT_MAX } from './tables/capacities.ts';
import { ID_WORDS, MarketFlag, Status } from './tables/codes.ts';
import {
  ACCOUNT_I,
  Account,
  BOOK_I,
  Book,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  FillTerm,
  Flag,
  Ledger,
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
import type {
  AccountRow,
  BookRow,
  FillRow,
  MarketRow,
  MicroCollateral,
  MicroShares,
  OrderRow,
  Pips,
  TicksPerUnit,
  TokenRow,
} from './tables/units.ts';
import { fillRowAt, MICRO, mulDivFloor } from './tables/units.ts';

type StateTable = Pick<Tables, 'state'>;

// The engine as a whole.

export function engineTime({ state }: StateTable): number {
  return state[State.time]!;
}

export function lastBatch({ state }: StateTable): number {
  return state[State.batch]!;
}

/** Fee schedules that were ever set. */
export function feeSchedules({ state }: StateTable): number {
  return state[State.feeSchedules]!;
}

/** Digest of every change up to the last batch: 32 bits with their sign. */
export function stateDigest({ state }: StateTable): number {
  return state[State.digest]!;
}

/** Fills ever made: the sequence of the next one. `closedCount` is the same of closed orders. */
export function fillCount({ state }: StateTable): number {
  return state[State.fills]!;
}

export function closedCount({ state }: StateTable): number {
  return state[State.closed]!;
}

export function firstKeptClosed({ state }: StateTable): number {
  return state[State.firstKeptClosed]!;
}

export function nextReusableClosed({ state }: StateTable): number {
  return state[State.nextReusableClosed]!;
}

export function openOrders({ state }: StateTable): number {
  return state[State.openOrders]!;
}

export function sourceLevels({ state }: StateTable): number {
  return state[State.sourceLevels]!;
}

/** Rows of orders that source levels have or had: no order gets them. */
export function sourceRows({ state }: StateTable): number {
  return state[State.sourceLevels]! + state[State.freeSourceRows]!;
}

/** Order rows ever used: 1 to this one. Markets, tokens, books and accounts are counted alike. */
export function orderRowCount({ state }: StateTable): number {
  return state[State.orderRows]!;
}

export function marketCount({ state }: StateTable): number {
  return state[State.markets]!;
}

export function endsReached({ state }: StateTable): number {
  return state[State.endsReached]!;
}

export function tokenCount({ state }: StateTable): number {
  return state[State.tokens]!;
}

export function bookCount({ state }: StateTable): number {
  return state[State.books]!;
}

export function accountOpenOrders({ accountI }: Pick<Tables, 'accountI'>, row: AccountRow): number {
  return accountI[(row << ACCOUNT_I) + Account.openCount]!;
}

export function accountCount({ state }: StateTable): number {
  return state[State.accounts]!;
}

export interface EngineSettings extends WalletLimits {
  readonly selfTrade: number;
  readonly history: number;
  /** 0 = no bound, here and below. */
  readonly openOrdersPerAccount: number;
  readonly orderRowsMax: number;
  readonly walletsPerSigner: number;
  readonly ledger: boolean;
}

export function engineSettings({
  ledger,
  state,
}: Pick<Tables, 'ledger' | 'state'>): EngineSettings {
  const exposure = ledger[Ledger.exposurePerWallet]!;
  return {
    openOrdersPerWallet: state[State.openOrdersPerWallet]!,
    exposurePerWallet: exposure === AMOUNT_MAX ? 0 : exposure,
    selfTrade: state[State.selfTrade]!,
    history: state[State.history]!,
    openOrdersPerAccount: state[State.openOrdersPerAccount]!,
    orderRowsMax: state[State.orderRowsMax]!,
    walletsPerSigner: state[State.walletsPerSigner]!,
    ledger: state[State.ledger] === 1,
  };
}

// Tokens.

export function tokenIdAt(row: TokenRow): number {
  return (row << TOKEN_I) + Token.id;
}

export function tokenMarket({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): MarketRow {
  return tokenI[(row << TOKEN_I) + Token.market]! as MarketRow;
}

export function tokenBook({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): BookRow {
  return tokenI[(row << TOKEN_I) + Token.book]! as BookRow;
}

/** Index among the outcomes of its market, from 0. */
export function tokenOutcome({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): number {
  return tokenI[(row << TOKEN_I) + Token.outcome]!;
}

export function isMirroredToken({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): boolean {
  return tokenI[(row << TOKEN_I) + Token.mirrored] === 1;
}

export function tokenComplement({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): TokenRow | 0 {
  return tokenI[(row << TOKEN_I) + Token.complement]! as TokenRow | 0;
}

export function tokenLastPrice({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): Pips | 0 {
  return tokenI[(row << TOKEN_I) + Token.lastPrice]! as Pips | 0;
}

export function tokenLastSide({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): number {
  return tokenI[(row << TOKEN_I) + Token.lastSide]!;
}

// Markets.

export function conditionAt(row: MarketRow): number {
  return (row << MARKET_I) + Market.condition;
}

/** Bits of MarketFlag without a proposal: those that a catalog decides. */
export function catalogFlags(t: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return releasedFlags(marketFlags(t, row));
}

export function marketFlags({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.flags]!;
}

export function hasReachedEnd(t: Pick<Tables, 'marketI'>, row: MarketRow): boolean {
  return (marketFlags(t, row) & MarketFlag.endReached) !== 0;
}

export function marketEnd({ marketF }: Pick<Tables, 'marketF'>, row: MarketRow): number {
  return marketF[(row << MARKET_F) + Market.end]!;
}

export function marketTicks({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): TicksPerUnit {
  return marketI[(row << MARKET_I) + Market.ticksPerUnit]! as TicksPerUnit;
}

export function marketFeeBps({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.baseFeeBps]!;
}

export function marketFees({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): FeeSchedule {
  const offset = row << MARKET_I;
  return {
    rate: marketI[offset + Market.feeRate]!,
    exponent: marketI[offset + Market.feeExponent]!,
    rebate: marketI[offset + Market.feeRebate]!,
  };
}

/** Seconds for which a taker waits; 0 = none. */
export function marketTakerDelay(t: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return t.marketI[(row << MARKET_I) + Market.takerDelay]!;
}

/** First of its tokens, which follow one another in the order of outcomes. */
export function marketFirstToken({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): TokenRow {
  return marketI[(row << MARKET_I) + Market.firstToken]! as TokenRow;
}

export function marketTokens({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.tokenCount]!;
}

export function marketFirstBook({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): BookRow {
  return marketI[(row << MARKET_I) + Market.firstBook]! as BookRow;
}

export function marketBooks({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.bookCount]!;
}

export function marketMinSize({ marketF }: Pick<Tables, 'marketF'>, row: MarketRow): MicroShares {
  return marketF[(row << MARKET_F) + Market.minSize]! as MicroShares;
}

// Books.

/** Word of `bookI`: the version of a book, odd while it is being written; loaded by Atomics. */
export function bookVersionAt(row: BookRow): number {
  return (row << BOOK_I) + Book.version;
}

export function bookMarket({ bookI }: Pick<Tables, 'bookI'>, row: BookRow): MarketRow {
  return bookI[(row << BOOK_I) + Book.market]! as MarketRow;
}

export function bookFirstToken({ bookI }: Pick<Tables, 'bookI'>, row: BookRow): TokenRow {
  return bookI[(row << BOOK_I) + Book.firstToken]! as TokenRow;
}

export function bookTicks({ bookI }: Pick<Tables, 'bookI'>, row: BookRow): TicksPerUnit {
  return bookI[(row << BOOK_I) + Book.ticksPerUnit]! as TicksPerUnit;
}

// Accounts.

export function addressAt(row: AccountRow): number {
  return (row << ACCOUNT_I) + Account.address;
}

export function walletSigner(t: Pick<Tables, 'accountI'>, wallet: AccountRow): AccountRow | 0 {
  return t.accountI[(wallet << ACCOUNT_I) + Account.binding]! as AccountRow | 0;
}

// Orders: rows of the table, or copies of rows (orderRowsOf).

export interface OrderRows {
  readonly orderI: Int32Array;
  readonly orderF: Float64Array;
}

export const ONLY_ORDER = 0 as OrderRow;
export const ONLY_FILL = 0 as FillRow;

export const ORDER_BYTES = 4 << ORDER_I;
export const FILL_BYTES = 4 * FILL_WORDS;

/** Copies the bytes of a stored order, aligned, as row ONLY_ORDER. */
export function orderRowsOf(stored: Uint8Array): OrderRows {
  const orderI = new Int32Array(ORDER_BYTES / 4);
  new Uint8Array(orderI.buffer).set(stored);
  return { orderI, orderF: new Float64Array(orderI.buffer) };
}

export function orderIdAt(row: OrderRow): number {
  return (row << ORDER_I) + Order.id;
}

export function orderKeyAt(row: OrderRow): number {
  return (row << ORDER_I) + Order.apiKey;
}

/** Ticks of its book while open; pips of its own token once closed. */
export function orderPrice({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return orderI[(row << ORDER_I) + Order.price]!;
}

export function orderToken({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): TokenRow {
  return orderI[(row << ORDER_I) + Order.token]! as TokenRow;
}

export function orderOwner({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): AccountRow {
  return orderI[(row << ORDER_I) + Order.owner]! as AccountRow;
}

export function orderMaker({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): AccountRow {
  return orderI[(row << ORDER_I) + Order.maker]! as AccountRow;
}

export function orderOriginal({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): MicroShares {
  return orderF[(row << ORDER_F) + Order.original]! as MicroShares;
}

export function orderRemaining({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): MicroShares {
  return orderF[(row << ORDER_F) + Order.remaining]! as MicroShares;
}

export function orderExpiry({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): number {
  return orderF[(row << ORDER_F) + Order.expiry]!;
}

export function orderCreated({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): number {
  return orderF[(row << ORDER_F) + Order.created]!;
}

/** Side of its own token. */
export function isSellOrder({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): boolean {
  return (orderI[(row << ORDER_I) + Order.flags]! & Flag.sell) !== 0;
}

export function orderTypeOf({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return (orderI[(row << ORDER_I) + Order.flags]! >>> Flag.typeShift) & 3;
}

export function statusOfOrder({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return (orderI[(row << ORDER_I) + Order.flags]! >>> Flag.statusShift) & 7;
}

/** True for an ask in the prices of its book. */
export function isAskOrder({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): boolean {
  return (orderI[(row << ORDER_I) + Order.flags]! & Flag.ask) !== 0;
}

/** True for an open order that waits for its taker delay. */
export function isDelayedOrder({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): boolean {
  const isLive = statusOfOrder({ orderI }, row) === Status.live;
  return isLive && orderI[(row << ORDER_I) + Order.restingSlot]! < 0;
}

/** True for an order that was delayed before it was placed, and while it is. */
export function wasDelayed({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): boolean {
  return (orderI[(row << ORDER_I) + Order.flags]! & Flag.delayed) !== 0;
}

export function closeReason({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return (orderI[(row << ORDER_I) + Order.flags]! >>> Flag.reasonShift) & 15;
}

// Fills: rows of the ring, or copies of rows (fillRowsOf).

export interface FillRows {
  readonly fillI: Int32Array;
  readonly fillF: Float64Array;
}

export function fillRow({ fillRows }: Pick<Tables, 'fillRows'>, sequence: number): FillRow {
  return fillRowAt(sequence, fillRows);
}

/** Oldest fill whose row no newer one has taken, or is being written to. */
export function oldestFill({ fillRows, state }: Pick<Tables, 'fillRows' | 'state'>): number {
  return Math.max(0, state[State.fills]! + 1 - fillRows);
}

export function fillRowsOf(stored: Uint8Array): FillRows {
  const fillI = new Int32Array(FILL_WORDS);
  new Uint8Array(fillI.buffer).set(stored);
  return { fillI, fillF: new Float64Array(fillI.buffer) };
}

export function fillTime({ fillF }: Pick<FillRows, 'fillF'>, row: FillRow): number {
  return fillF[row * FILL_DOUBLES + Fill.time]!;
}

export function fillSize({ fillF }: Pick<FillRows, 'fillF'>, row: FillRow): MicroShares {
  return fillF[row * FILL_DOUBLES + Fill.size]! as MicroShares;
}

export function fillMatch({ fillF }: Pick<FillRows, 'fillF'>, row: FillRow): number {
  return fillF[row * FILL_DOUBLES + Fill.match]!;
}

export function fillTakerCollateral(
  { fillF }: Pick<FillRows, 'fillF'>,
  row: FillRow,
): MicroCollateral {
  return fillF[row * FILL_DOUBLES + Fill.takerCollateral]! as MicroCollateral;
}

export function fillMakerCollateral(
  { fillF }: Pick<FillRows, 'fillF'>,
  row: FillRow,
): MicroCollateral {
  return fillF[row * FILL_DOUBLES + Fill.makerCollateral]! as MicroCollateral;
}

/** Fills that were ever not settled at once: without one no fill fails. */
export function unsettledEver({ state }: StateTable): number {
  return state[State.unsettledEver]!;
}

/** True for a fill that was not settled at once. */
export function wasUnsettled({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): boolean {
  return (fillI[row * FILL_WORDS + Fill.terms]! & FillTerm.unsettled) !== 0;
}

/** True for a fill that has failed or will fail: no sum counts it (docs/protocol.md#unsettled-trades). */
export function fillFails({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): boolean {
  return (fillI[row * FILL_WORDS + Fill.terms]! & FillTerm.fails) !== 0;
}

/** Fee of the taker in micro-shares: only of a BUY without a schedule. */
export function fillFeeShares({ fillF, fillI }: FillRows, row: FillRow): number {
  const isShares =
    fillI[row * FILL_WORDS + Fill.takerSide] === 0 &&
    (fillI[row * FILL_WORDS + Fill.terms]! & FillTerm.scheduled) === 0;
  return isShares ? fillF[row * FILL_DOUBLES + Fill.fee]! : 0;
}

/** Fee of the taker in micro-units of collateral. */
export function fillFeeCollateral({ fillF, fillI }: FillRows, row: FillRow): number {
  return fillF[row * FILL_DOUBLES + Fill.fee]! - fillFeeShares({ fillF, fillI }, row);
}

/** Fee of the taker in micro-units of collateral by a schedule; 0 without one. */
export function fillScheduleFee({ fillF, fillI }: FillRows, row: FillRow): number {
  const isScheduled = (fillI[row * FILL_WORDS + Fill.terms]! & FillTerm.scheduled) !== 0;
  return isScheduled ? fillF[row * FILL_DOUBLES + Fill.fee]! : 0;
}

/** Fee in micro-units by which an answer's takingAmount is less than the trade; 0 with a schedule. */
export function fillFeeInAnswer({ fillF, fillI }: FillRows, row: FillRow): number {
  const isScheduled = (fillI[row * FILL_WORDS + Fill.terms]! & FillTerm.scheduled) !== 0;
  return isScheduled ? 0 : fillF[row * FILL_DOUBLES + Fill.fee]!;
}

/** Micro-units that the maker may be paid back of the taker's fee, rounded down; 0 without a schedule. */
export function fillRebate({ fillF, fillI }: FillRows, row: FillRow): number {
  const fee = fillF[row * FILL_DOUBLES + Fill.fee]!;
  return mulDivFloor(fee, fillI[row * FILL_WORDS + Fill.rebate]!, MICRO);
}

export function fillKind({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): number {
  return fillI[row * FILL_WORDS + Fill.kind]!;
}

/** 0 BUY, 1 SELL. */
export function fillTakerSide({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): number {
  return fillI[row * FILL_WORDS + Fill.takerSide]!;
}

export function fillTakerToken({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): TokenRow {
  return fillI[row * FILL_WORDS + Fill.takerToken]! as TokenRow;
}

export function fillMakerToken({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): TokenRow {
  return fillI[row * FILL_WORDS + Fill.makerToken]! as TokenRow;
}

export function fillTakerPrice({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): Pips {
  return fillI[row * FILL_WORDS + Fill.takerPrice]! as Pips;
}

export function fillMakerPrice({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): Pips {
  return fillI[row * FILL_WORDS + Fill.makerPrice]! as Pips;
}

export function fillTaker({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.taker]! as AccountRow;
}

export function fillMaker({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.maker]! as AccountRow;
}

export function fillTakerOwner({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.takerOwner]! as AccountRow;
}

export function fillMakerOwner({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.makerOwner]! as AccountRow;
}

export function fillTakerIdAt(row: FillRow): number {
  return row * FILL_WORDS + Fill.takerId;
}

export function fillMakerIdAt(row: FillRow): number {
  return row * FILL_WORDS + Fill.makerId;
}

/** True when the taker is the source or the fill is a trade print: then it has no id. */
export function isSourceTaker({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): boolean {
  return isNoId(fillI, fillTakerIdAt(row));
}

/** True for a trade print, which moved no money (docs/guides/paper-and-backtests.md#commands). */
export function isPrint(rows: Pick<FillRows, 'fillI'>, row: FillRow): boolean {
  if (fillTaker(rows, row) !== fillMaker(rows, row)) return false;
  return isSourceTaker(rows, row) && isNoId(rows.fillI, fillMakerIdAt(row));
}

function isNoId(words: Int32Array, at: number): boolean {
  for (let w = 0; w < ID_WORDS; w++) if (words[at + w] !== 0) return false;
  return true;
}
