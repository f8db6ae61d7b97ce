/**
 * What storage, server and bench read of the tables: a function for each column, by the row that has it. Only
 * the engine and what copies whole tables know where a column lies (tables/layout.ts).
 *
 * A function that ends in `At` gives the first word of a key, for readers that compare or print its words:
 * those of a token lie in `t.tokenI`, of a market in `marketI`, and so on.
 *
 * Thread: any. Markets, tokens and accounts are only ever added. What moves with a book is read between two
 * looks at its version (tables/depth.ts), and rows of orders under the reader's own rule.
 */
import { releasedFlags } from './markets/held-flags.ts';
import { ID_WORDS, MarketFlag } from './tables/codes.ts';
import {
  ACCOUNT_I,
  Account,
  BOOK_I,
  Book,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  Flag,
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

type StateTable = Pick<Tables, 'state'>;

// The engine as a whole.

/** Unix milliseconds of the last batch that changed something. */
export function engineTime({ state }: StateTable): number {
  return state[State.time]!;
}

/** Sequence of the last batch that changed something; 0 = none did. */
export function lastBatch({ state }: StateTable): number {
  return state[State.batch]!;
}

/** Digest of every change up to the last batch: 32 bits with their sign. */
export function stateDigest({ state }: StateTable): number {
  return state[State.digest]!;
}

/** Fills ever made, which is the sequence of the next one. */
export function fillCount({ state }: StateTable): number {
  return state[State.fills]!;
}

/** Orders ever closed, which is the sequence of the next one. */
export function closedCount({ state }: StateTable): number {
  return state[State.closed]!;
}

/** Sequence of the oldest closed order whose id is in memory. */
export function firstKeptClosed({ state }: StateTable): number {
  return state[State.firstKeptClosed]!;
}

/** Sequence of the oldest closed order whose row was not used again. */
export function nextReusableClosed({ state }: StateTable): number {
  return state[State.nextReusableClosed]!;
}

/** Orders that are open. */
export function openOrders({ state }: StateTable): number {
  return state[State.openOrders]!;
}

/** Levels of the source that stand. */
export function sourceLevels({ state }: StateTable): number {
  return state[State.sourceLevels]!;
}

/** Rows of orders that levels of the source have, or had: no order gets them. */
export function sourceRows({ state }: StateTable): number {
  return state[State.sourceLevels]! + state[State.freeSourceRows]!;
}

/** Rows of the order table that were ever used: 1 to this one. */
export function orderRowCount({ state }: StateTable): number {
  return state[State.orderRows]!;
}

/** Markets are the rows 1 to this one. */
export function marketCount({ state }: StateTable): number {
  return state[State.markets]!;
}

/** How many markets have reached their end. */
export function endsReached({ state }: StateTable): number {
  return state[State.endsReached]!;
}

/** Tokens are the rows 1 to this one. */
export function tokenCount({ state }: StateTable): number {
  return state[State.tokens]!;
}

/** Books are the rows 1 to this one. */
export function bookCount({ state }: StateTable): number {
  return state[State.books]!;
}

/** Open orders that an account has signed. */
export function accountOpenOrders({ accountI }: Pick<Tables, 'accountI'>, row: AccountRow): number {
  return accountI[(row << ACCOUNT_I) + Account.openCount]!;
}

/** Accounts are the rows 1 to this one. */
export function accountCount({ state }: StateTable): number {
  return state[State.accounts]!;
}

/** What the last `configure` command said. */
export interface EngineSettings {
  readonly selfTrade: number;
  /** Closed orders whose ids stay in memory. */
  readonly history: number;
  /** 0 = as many as there is room for, here and below. */
  readonly openOrdersPerAccount: number;
  readonly orderRowsMax: number;
  readonly walletsPerSigner: number;
  /** Whether there is a ledger. */
  readonly ledger: boolean;
}

export function engineSettings({ state }: StateTable): EngineSettings {
  return {
    selfTrade: state[State.selfTrade]!,
    history: state[State.history]!,
    openOrdersPerAccount: state[State.openOrdersPerAccount]!,
    orderRowsMax: state[State.orderRowsMax]!,
    walletsPerSigner: state[State.walletsPerSigner]!,
    ledger: state[State.ledger] === 1,
  };
}

// Tokens.

/** Word of `tokenI`: the id of a token, ID_WORDS. */
export function tokenIdAt(row: TokenRow): number {
  return (row << TOKEN_I) + Token.id;
}

/** Its market. */
export function tokenMarket({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): MarketRow {
  return tokenI[(row << TOKEN_I) + Token.market]! as MarketRow;
}

/** Its book, which a mirrored pair shares. */
export function tokenBook({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): BookRow {
  return tokenI[(row << TOKEN_I) + Token.book]! as BookRow;
}

/** Its place among the outcomes of its market, from 0. */
export function tokenOutcome({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): number {
  return tokenI[(row << TOKEN_I) + Token.outcome]!;
}

/** True where the prices of its book are 1 less its own. */
export function isMirroredToken({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): boolean {
  return tokenI[(row << TOKEN_I) + Token.mirrored] === 1;
}

/** The other token of a mirrored pair; 0 = none. */
export function tokenComplement({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): TokenRow | 0 {
  return tokenI[(row << TOKEN_I) + Token.complement]! as TokenRow | 0;
}

/** Pips of its last trade; 0 = never traded. */
export function tokenLastPrice({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): Pips | 0 {
  return tokenI[(row << TOKEN_I) + Token.lastPrice]! as Pips | 0;
}

/** Side of its last trade: 0 BUY, 1 SELL. */
export function tokenLastSide({ tokenI }: Pick<Tables, 'tokenI'>, row: TokenRow): number {
  return tokenI[(row << TOKEN_I) + Token.lastSide]!;
}

// Markets.

/** Word of `marketI`: the condition id of a market, ID_WORDS. */
export function conditionAt(row: MarketRow): number {
  return (row << MARKET_I) + Market.condition;
}

/** Bits of MarketFlag that a catalog decides: those of the market if nothing were proposed. */
export function catalogFlags(t: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return releasedFlags(marketFlags(t, row));
}

/** Bits of MarketFlag. */
export function marketFlags({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.flags]!;
}

/** Whether its end has come. */
export function hasReachedEnd(t: Pick<Tables, 'marketI'>, row: MarketRow): boolean {
  return (marketFlags(t, row) & MarketFlag.endReached) !== 0;
}

/** Unix milliseconds from which on it takes no orders; 0 = no such time. */
export function marketEnd({ marketF }: Pick<Tables, 'marketF'>, row: MarketRow): number {
  return marketF[(row << MARKET_F) + Market.end]!;
}

/** Ticks per unit of its books. */
export function marketTicks({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): TicksPerUnit {
  return marketI[(row << MARKET_I) + Market.ticksPerUnit]! as TicksPerUnit;
}

/** Fee rate of its takers, in basis points. */
export function marketFeeBps({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.baseFeeBps]!;
}

/** Its tokens follow one another from this one on, in the order of its outcomes. */
export function marketFirstToken({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): TokenRow {
  return marketI[(row << MARKET_I) + Market.firstToken]! as TokenRow;
}

/** How many tokens it has. */
export function marketTokens({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.tokenCount]!;
}

/** Its books follow one another from this one on. */
export function marketFirstBook({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): BookRow {
  return marketI[(row << MARKET_I) + Market.firstBook]! as BookRow;
}

/** How many books it has. */
export function marketBooks({ marketI }: Pick<Tables, 'marketI'>, row: MarketRow): number {
  return marketI[(row << MARKET_I) + Market.bookCount]!;
}

/** The smallest order that rests, in micro-shares. */
export function marketMinSize({ marketF }: Pick<Tables, 'marketF'>, row: MarketRow): MicroShares {
  return marketF[(row << MARKET_F) + Market.minSize]! as MicroShares;
}

// Books.

/** Word of `bookI`: the version of a book, odd while it is being written; loaded by Atomics. */
export function bookVersionAt(row: BookRow): number {
  return (row << BOOK_I) + Book.version;
}

/** Its market. */
export function bookMarket({ bookI }: Pick<Tables, 'bookI'>, row: BookRow): MarketRow {
  return bookI[(row << BOOK_I) + Book.market]! as MarketRow;
}

/** The token whose prices it has; a complement follows from that one. */
export function bookFirstToken({ bookI }: Pick<Tables, 'bookI'>, row: BookRow): TokenRow {
  return bookI[(row << BOOK_I) + Book.firstToken]! as TokenRow;
}

/** Ticks per unit. */
export function bookTicks({ bookI }: Pick<Tables, 'bookI'>, row: BookRow): TicksPerUnit {
  return bookI[(row << BOOK_I) + Book.ticksPerUnit]! as TicksPerUnit;
}

// Accounts.

/** Word of `accountI`: the address of an account, ADDRESS_WORDS. */
export function addressAt(row: AccountRow): number {
  return (row << ACCOUNT_I) + Account.address;
}

/** The account whose key signs for a wallet, often its own; 0 = none has signed for it. */
export function walletSigner(t: Pick<Tables, 'accountI'>, wallet: AccountRow): AccountRow | 0 {
  return t.accountI[(wallet << ACCOUNT_I) + Account.binding]! as AccountRow | 0;
}

// Orders: rows of the table, or copies of rows (orderRowsOf).

/** Rows of orders; `Tables` are some. */
export interface OrderRows {
  readonly orderI: Int32Array;
  readonly orderF: Float64Array;
}

/** The only row of what orderRowsOf() and fillRowsOf() return. */
export const ONLY_ORDER = 0 as OrderRow;
export const ONLY_FILL = 0 as FillRow;

/** Bytes of a row, in memory and on disk. */
export const ORDER_BYTES = 4 << ORDER_I;
export const FILL_BYTES = 4 * FILL_WORDS;

/** A copy of the bytes of a stored order, with its alignment: it is row ONLY_ORDER. */
export function orderRowsOf(stored: Uint8Array): OrderRows {
  const orderI = new Int32Array(ORDER_BYTES / 4);
  new Uint8Array(orderI.buffer).set(stored);
  return { orderI, orderF: new Float64Array(orderI.buffer) };
}

/** Word of `orderI`: the id of an order, ID_WORDS. */
export function orderIdAt(row: OrderRow): number {
  return (row << ORDER_I) + Order.id;
}

/** Word of `orderI`: the API key that placed an order, API_KEY_WORDS. */
export function orderKeyAt(row: OrderRow): number {
  return (row << ORDER_I) + Order.apiKey;
}

/** Of an open order: ticks of its book. Of a closed one: pips of its own token. */
export function orderPrice({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return orderI[(row << ORDER_I) + Order.price]!;
}

/** Its own token. */
export function orderToken({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): TokenRow {
  return orderI[(row << ORDER_I) + Order.token]! as TokenRow;
}

/** The account that signs. */
export function orderOwner({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): AccountRow {
  return orderI[(row << ORDER_I) + Order.owner]! as AccountRow;
}

/** The wallet that pays. */
export function orderMaker({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): AccountRow {
  return orderI[(row << ORDER_I) + Order.maker]! as AccountRow;
}

/** Micro-shares. */
export function orderOriginal({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): MicroShares {
  return orderF[(row << ORDER_F) + Order.original]! as MicroShares;
}

/** Micro-shares that were not filled. */
export function orderRemaining({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): MicroShares {
  return orderF[(row << ORDER_F) + Order.remaining]! as MicroShares;
}

/** Unix seconds; 0 = never. */
export function orderExpiry({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): number {
  return orderF[(row << ORDER_F) + Order.expiry]!;
}

/** Unix milliseconds of the command that placed it. */
export function orderCreated({ orderF }: Pick<OrderRows, 'orderF'>, row: OrderRow): number {
  return orderF[(row << ORDER_F) + Order.created]!;
}

/** Of its own token. */
export function isSellOrder({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): boolean {
  return (orderI[(row << ORDER_I) + Order.flags]! & Flag.sell) !== 0;
}

/** OrderType (commands.ts). */
export function orderTypeOf({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return (orderI[(row << ORDER_I) + Order.flags]! >>> Flag.typeShift) & 3;
}

/** Status; none while it is being placed. */
export function statusOfOrder({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return (orderI[(row << ORDER_I) + Order.flags]! >>> Flag.statusShift) & 7;
}

/** EndReason; none while it is open. */
export function closeReason({ orderI }: Pick<OrderRows, 'orderI'>, row: OrderRow): number {
  return (orderI[(row << ORDER_I) + Order.flags]! >>> Flag.reasonShift) & 15;
}

// Fills: rows of the ring, or copies of rows (fillRowsOf).

/** Rows of fills; `Tables` are some. */
export interface FillRows {
  readonly fillI: Int32Array;
  readonly fillF: Float64Array;
}

/** Row of a fill in the ring, by its sequence. */
export function fillRow({ fillRows }: Pick<Tables, 'fillRows'>, sequence: number): FillRow {
  return (sequence % fillRows) as FillRow;
}

/** A copy of the bytes of a stored fill, with its alignment: it is row ONLY_FILL. */
export function fillRowsOf(stored: Uint8Array): FillRows {
  const fillI = new Int32Array(FILL_WORDS);
  new Uint8Array(fillI.buffer).set(stored);
  return { fillI, fillF: new Float64Array(fillI.buffer) };
}

/** Unix milliseconds; 0 where there is no fill. */
export function fillTime({ fillF }: Pick<FillRows, 'fillF'>, row: FillRow): number {
  return fillF[row * FILL_DOUBLES + Fill.time]!;
}

/** Micro-shares. */
export function fillSize({ fillF }: Pick<FillRows, 'fillF'>, row: FillRow): MicroShares {
  return fillF[row * FILL_DOUBLES + Fill.size]! as MicroShares;
}

/** Sequence of the first fill of its match. */
export function fillMatch({ fillF }: Pick<FillRows, 'fillF'>, row: FillRow): number {
  return fillF[row * FILL_DOUBLES + Fill.match]!;
}

/** Micro-units of collateral that the taker pays or gets, gross of the fee. */
export function fillTakerCollateral(
  { fillF }: Pick<FillRows, 'fillF'>,
  row: FillRow,
): MicroCollateral {
  return fillF[row * FILL_DOUBLES + Fill.takerCollateral]! as MicroCollateral;
}

/** Micro-units of collateral that the maker pays or gets. */
export function fillMakerCollateral(
  { fillF }: Pick<FillRows, 'fillF'>,
  row: FillRow,
): MicroCollateral {
  return fillF[row * FILL_DOUBLES + Fill.makerCollateral]! as MicroCollateral;
}

/** The fee of the taker: micro-shares when it buys, micro-units of collateral when it sells. */
export function fillFee({ fillF }: Pick<FillRows, 'fillF'>, row: FillRow): number {
  return fillF[row * FILL_DOUBLES + Fill.fee]!;
}

/** MatchKind. */
export function fillKind({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): number {
  return fillI[row * FILL_WORDS + Fill.kind]!;
}

/** 0 BUY, 1 SELL. */
export function fillTakerSide({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): number {
  return fillI[row * FILL_WORDS + Fill.takerSide]!;
}

/** The token of the taker's order. */
export function fillTakerToken({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): TokenRow {
  return fillI[row * FILL_WORDS + Fill.takerToken]! as TokenRow;
}

/** The token of the maker's order. */
export function fillMakerToken({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): TokenRow {
  return fillI[row * FILL_WORDS + Fill.makerToken]! as TokenRow;
}

/** Pips of the taker's token. */
export function fillTakerPrice({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): Pips {
  return fillI[row * FILL_WORDS + Fill.takerPrice]! as Pips;
}

/** Pips of the maker's token. */
export function fillMakerPrice({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): Pips {
  return fillI[row * FILL_WORDS + Fill.makerPrice]! as Pips;
}

/** The wallet of the taker. */
export function fillTaker({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.taker]! as AccountRow;
}

/** The wallet of the maker. */
export function fillMaker({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.maker]! as AccountRow;
}

/** The account that signed the taker's order. */
export function fillTakerOwner({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.takerOwner]! as AccountRow;
}

/** The account that signed the maker's order. */
export function fillMakerOwner({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): AccountRow {
  return fillI[row * FILL_WORDS + Fill.makerOwner]! as AccountRow;
}

/** Word of `fillI`: the id of the taker's order, ID_WORDS. */
export function fillTakerIdAt(row: FillRow): number {
  return row * FILL_WORDS + Fill.takerId;
}

/** Word of `fillI`: the id of the maker's order, ID_WORDS. */
export function fillMakerIdAt(row: FillRow): number {
  return row * FILL_WORDS + Fill.makerId;
}

/** True where the taker is a level or a taker of the source, or the fill is a print: it has no id. */
export function isSourceTaker({ fillI }: Pick<FillRows, 'fillI'>, row: FillRow): boolean {
  return isNoId(fillI, fillTakerIdAt(row));
}

/** True for what the source traded by itself, which moved no money (docs/paper.md#commands). */
export function isPrint(rows: Pick<FillRows, 'fillI'>, row: FillRow): boolean {
  if (fillTaker(rows, row) !== fillMaker(rows, row)) return false;
  return isSourceTaker(rows, row) && isNoId(rows.fillI, fillMakerIdAt(row));
}

function isNoId(words: Int32Array, at: number): boolean {
  for (let w = 0; w < ID_WORDS; w++) if (words[at + w] !== 0) return false;
  return true;
}
