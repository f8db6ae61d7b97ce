/**
 * Types of a strategy and of what it sees; nothing of the engine. Prices are decimals from 0 to 1, sizes are shares,
 * amounts are units of collateral, times are unix milliseconds of the recording.
 */

export type Side = 'BUY' | 'SELL';
/** Rules of each type: docs/protocol.md#order-types. */
export type OrderType = 'GTC' | 'GTD' | 'FOK' | 'FAK';

/** Every function is optional. All run in the order of the recording's time. */
export interface Strategy {
  /** Name in reports; `strategy` if absent. */
  readonly name?: string;
  /** Milliseconds of the recording between calls of onTime. */
  readonly everyMs?: number;
  onStart?(venue: Venue): void;
  /** A market can be traded from now on. onStart sees no market that the recording has not named yet. */
  onMarket?(market: Market, venue: Venue): void;
  /** A message of the source changed the book of a market. It is the book of the first outcome. */
  onBook?(book: Book, venue: Venue): void;
  onTrade?(trade: Trade, venue: Venue): void;
  onFill?(fill: Fill, venue: Venue): void;
  /** An order of the strategy reached the venue, was refused, or ended. */
  onOrder?(order: Order, venue: Venue): void;
  onTime?(venue: Venue): void;
  onResolved?(market: Market, venue: Venue): void;
  /** Called after the last message. Orders are no longer accepted. */
  onEnd?(venue: Venue): void;
}

export interface Venue {
  /** Time of the strategy, which is later than that of the exchange by the latency of the feed. */
  readonly now: number;
  readonly markets: readonly Market[];
  /** Places an order. It arrives after the latency of orders; `state` of the result changes once that is seen. */
  place(request: OrderRequest): Order;
  cancel(order: Order): void;
  /** Cancels all open orders, or those of one token, after the latency of orders. */
  cancelAll(token?: string): void;
  /** Exchanges cash for complete sets of a market, or back (`merge`), after the latency of orders. */
  split(market: Market, size: number): Conversion;
  merge(market: Market, size: number): Conversion;
  /** The book of a token, own orders included, as the strategy sees it now. */
  book(token: string): Book;
  market(token: string): Market;
  cash(): Balance;
  position(token: string): Balance;
  openOrders(token?: string): readonly Order[];
  /** Calls `act` after so many milliseconds of the recording. */
  after(ms: number, act: () => void): void;
}

export interface Market {
  /** Condition id, or its name where the recording has none. */
  readonly id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly state: 'open' | 'halted' | 'closed' | 'resolved';
  /** Payout of a share of each outcome, once it is resolved. */
  readonly payout: readonly number[] | undefined;
  readonly minSize: number;
}

export interface Level {
  readonly price: number;
  readonly size: number;
}

export interface Book {
  readonly token: string;
  readonly market: Market;
  /** Price step, as in 0.01. */
  readonly tick: number;
  /** Best price of each side; undefined = the side is empty. */
  readonly bid: number | undefined;
  readonly ask: number | undefined;
  /** Halfway between the source's best prices, without own orders; undefined before the first pair. */
  readonly mid: number | undefined;
  /** Best first, own orders included. Built anew at each use. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export interface Trade {
  readonly token: string;
  /** Side of the taker. */
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
  /** GTC if absent. */
  readonly type?: OrderType;
  readonly postOnly?: boolean;
  /** Unix seconds, only for GTD. */
  readonly expiration?: number;
  /** Probability of the outcome by the strategy, for its Brier score; the price of the fill if absent. */
  readonly probability?: number;
}

/** `delayed`: it waits for the taker delay of its market, in no book. */
export type OrderState =
  | 'sent'
  | 'delayed'
  | 'open'
  | 'filled'
  | 'cancelled'
  | 'expired'
  | 'ended'
  | 'refused';

export interface Order {
  readonly id: number;
  readonly token: string;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly filled: number;
  readonly state: OrderState;
  /** Text of the reject reason; '' if accepted. */
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
  /** Collateral. A fee in shares counts at the price of the fill. */
  readonly fee: number;
  readonly role: 'maker' | 'taker';
  /** Cash after the fill. */
  readonly cash: number;
  readonly position: number;
}

export interface Conversion {
  readonly state: 'sent' | 'done' | 'refused';
  readonly reason: string;
}

export interface Balance {
  readonly total: number;
  /** Reserved by open orders. */
  readonly reserved: number;
  readonly free: number;
}
