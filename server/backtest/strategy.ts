/**
 * What a strategy is, and what it sees: types alone, without anything of the engine. Prices are decimals from
 * 0 to 1, sizes are shares, amounts are units of collateral, times are unix milliseconds of the recording.
 */

export type Side = 'BUY' | 'SELL';
/** What each type does: docs/protocol.md#order-types. */
export type OrderType = 'GTC' | 'GTD' | 'FOK' | 'FAK';

/** Every function is optional, and all run in the order of the recording's time. */
export interface Strategy {
  /** In reports; otherwise `strategy`. */
  readonly name?: string;
  /** Calls onTime as often, in milliseconds of the recording. */
  readonly everyMs?: number;
  /** Before the first message. */
  onStart?(venue: Venue): void;
  /** A market can be traded from now on: onStart sees none that the recording has not named yet. */
  onMarket?(market: Market, venue: Venue): void;
  /** The book of a market has changed by a message of the source. It is the book of the first outcome. */
  onBook?(book: Book, venue: Venue): void;
  /** The source traded. */
  onTrade?(trade: Trade, venue: Venue): void;
  /** An order of the strategy traded. */
  onFill?(fill: Fill, venue: Venue): void;
  /** An order of the strategy reached the venue, was refused, or ended. */
  onOrder?(order: Order, venue: Venue): void;
  onTime?(venue: Venue): void;
  /** A market has resolved, and has paid. */
  onResolved?(market: Market, venue: Venue): void;
  /** After the last message; orders are not taken any more. */
  onEnd?(venue: Venue): void;
}

/** The venue as one account sees it. */
export interface Venue {
  /** Unix milliseconds of the recording. */
  readonly now: number;
  readonly markets: readonly Market[];
  /** Places an order. It arrives after `latencyMs`; `state` of what is returned changes as it goes on. */
  place(request: OrderRequest): Order;
  /** Cancels an order, after `latencyMs`. */
  cancel(order: Order): void;
  /** Cancels all open orders, or those of one token, after `latencyMs`. */
  cancelAll(token?: string): void;
  /** Makes complete sets of a market out of cash, after `latencyMs`. */
  split(market: Market, size: number): Conversion;
  /** Makes cash out of complete sets, after `latencyMs`. */
  merge(market: Market, size: number): Conversion;
  /** The book of a token, own orders included; it always shows the present. */
  book(token: string): Book;
  market(token: string): Market;
  cash(): Balance;
  /** Shares of a token. */
  position(token: string): Balance;
  openOrders(token?: string): readonly Order[];
  /** Calls `act` in so many milliseconds of the recording. */
  after(ms: number, act: () => void): void;
}

export interface Market {
  /** Its condition id, or its name where the recording has none. */
  readonly id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  /** Of each outcome. */
  readonly tokens: readonly string[];
  /** 'open', or how it ended. */
  readonly state: 'open' | 'halted' | 'closed' | 'resolved';
  /** What a share of each outcome was paid, once it has resolved. */
  readonly payout: readonly number[] | undefined;
  /** The smallest size of an order. */
  readonly minSize: number;
}

export interface Level {
  readonly price: number;
  readonly size: number;
}

export interface Book {
  readonly token: string;
  readonly market: Market;
  /** Such as 0.01. */
  readonly tick: number;
  /** The best price of each side; undefined = the side is empty. */
  readonly bid: number | undefined;
  readonly ask: number | undefined;
  /** Halfway between the source's best prices, without own orders; undefined = it never had any. */
  readonly mid: number | undefined;
  /** Best first, own orders included. Made anew at each use. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export interface Trade {
  readonly token: string;
  /** Of the taker. */
  readonly side: Side;
  readonly price: number;
  readonly size: number;
}

export interface OrderRequest {
  readonly token: string;
  readonly side: Side;
  /** A multiple of the tick, after rounding to four decimals. */
  readonly price: number;
  /** Rounded down to a hundredth of a share, as clients do. */
  readonly size: number;
  /** GTC unless it says otherwise. */
  readonly type?: OrderType;
  readonly postOnly?: boolean;
  /** Unix seconds, of a GTD alone. */
  readonly expiration?: number;
}

export type OrderState = 'sent' | 'open' | 'filled' | 'cancelled' | 'expired' | 'ended' | 'refused';

export interface Order {
  /** Counted from 1. */
  readonly id: number;
  readonly token: string;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly filled: number;
  readonly state: OrderState;
  /** Why it was refused, in the words of the node; otherwise ''. */
  readonly reason: string;
}

export interface Fill {
  readonly time: number;
  readonly order: Order;
  readonly market: Market;
  readonly token: string;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  /** In collateral: what a buyer pays in shares is taken at the price of the fill. */
  readonly fee: number;
  readonly role: 'maker' | 'taker';
  /** After the fill. */
  readonly cash: number;
  readonly position: number;
}

/** A split or a merge on its way; `state` changes as it goes on. */
export interface Conversion {
  readonly state: 'sent' | 'done' | 'refused';
  /** Why it was refused; otherwise ''. */
  readonly reason: string;
}

export interface Balance {
  readonly total: number;
  /** By open orders. */
  readonly reserved: number;
  readonly free: number;
}
