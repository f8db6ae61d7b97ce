/**
 * Implementation of the broker: orders and their delays, cash and shares of a strategy. Notices are queued in the
 * order of events; run.ts delivers them. Times of the strategy are later than those of the exchange by the latency of
 * the feed: what it sees at a time is what the exchange did before.
 */
import { assert } from '../../engine/book/matching.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { EndReason } from '../../engine/tables/codes.ts';
import { MICRO, type TokenRow } from '../../engine/tables/units.ts';
import { REJECTS } from '../common/refusals.ts';
import { DueList } from './due.ts';
import type { Exchange, OwnFill } from './exchange.ts';
import type { Latencies } from './latency.ts';
import type { TokenBook, TradedMarket } from './markets.ts';
import { faultOf, OwnOrder, pipsOfPrice } from './orders.ts';
import type {
  Balance,
  Book,
  Conversion,
  Fill,
  Market,
  Order,
  OrderRequest,
  Venue,
} from './strategy.ts';
import { MID_PARTS } from './tally.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface NotedFill extends Fill {
  readonly market: TradedMarket;
  readonly order: OwnOrder;
  readonly outcome: 0 | 1;
  /** Price in pips, micro-shares, and micro-units of the fee. */
  readonly pips: number;
  readonly shares: number;
  readonly feeMicro: number;
  /** Micro-units received; negative if paid. */
  readonly got: number;
  /** Realized profit in units; undefined = nothing was closed. */
  readonly brought: number | undefined;
}

export interface OrderNote {
  readonly kind: 'order';
  readonly order: OwnOrder;
  /** Undefined = the token is unknown. */
  readonly market: TradedMarket | undefined;
  /** True once for an order: the exchange has just accepted it. */
  readonly isAccepted: boolean;
}

export type Note =
  | { readonly kind: 'fill'; readonly fill: NotedFill }
  | OrderNote
  /** `converted` calls no function of the strategy. */
  | { readonly kind: 'resolved' | 'converted'; readonly market: TradedMarket };

/** Close reasons of an order that was placed when its delay was over; none = it rests. */
const PLACED: ReadonlySet<number> = new Set([
  EndReason.none,
  EndReason.filled,
  EndReason.fakRemainder,
]);

export class StrategyVenue implements Venue {
  readonly markets: TradedMarket[] = [];
  /** Timers of the strategy, by its own time, and orders and cancels on their way, by that of the exchange. */
  readonly timers = new DueList();
  readonly arrivals = new DueList();
  notes: Note[] = [];
  readonly counts = { orders: 0, refused: 0, cancels: 0 };
  isClosed = false;
  private readonly exchange: Exchange;
  private readonly latencies: Latencies;
  /** Time of the newest message or timer that the strategy saw. */
  private time = 0;
  private turns = 0;
  private lastArrival = 0;
  /** Own orders that wait for a taker delay. */
  private delayed = 0;
  private readonly byToken = new Map<string, TokenBook>();
  private readonly byRow = new Map<TokenRow, TokenBook>();
  private readonly open = new Map<number, OwnOrder>();
  private nextId = 1;
  private ended: number;
  private micro: number;

  constructor(exchange: Exchange, latencies: Latencies) {
    this.exchange = exchange;
    this.latencies = latencies;
    this.ended = exchange.ended;
    this.micro = exchange.cash().total;
  }

  get now(): number {
    return Math.max(this.time, this.exchange.now);
  }

  /** Time at which the strategy sees what happens at a time, unless it sees something later before: order is kept. */
  seenAt(time: number): number {
    const { feed } = this.latencies;
    return feed === undefined ? time : time + feed(time);
  }

  get hasFeedLatency(): boolean {
    return this.latencies.feed !== undefined;
  }

  /** Moves the time of the strategy forward. */
  moveTo(time: number): void {
    if (time > this.time) this.time = time;
  }

  add(market: TradedMarket): void {
    this.markets.push(market);
    for (const book of market.books) {
      this.byToken.set(book.token, book);
      this.byRow.set(book.row, book);
    }
  }

  place(request: OrderRequest): Order {
    const order = new OwnOrder(this.nextId, request);
    this.nextId += 1;
    this.counts.orders += 1;
    const fault = this.byToken.has(request.token) ? faultOf(request) : RejectReason.tokenUnknown;
    if (fault !== RejectReason.accepted) {
      this.refuse(order, fault);
      return order;
    }
    this.open.set(order.id, order);
    this.later(() => this.arrive(order));
    return order;
  }

  cancel(order: Order): void {
    const own = this.open.get(order.id);
    if (own === undefined) return;
    this.counts.cancels += 1;
    this.later(() => {
      if (own.state === 'open' || own.state === 'delayed') this.exchange.cancel(own.id);
    });
  }

  cancelAll(token?: string): void {
    for (const order of this.openOrders(token)) this.cancel(order);
  }

  split(market: Market, size: number): Conversion {
    return this.convert('split', market, size);
  }

  merge(market: Market, size: number): Conversion {
    return this.convert('merge', market, size);
  }

  book(token: string): Book {
    return this.bookOf(token);
  }

  market(token: string): Market {
    return this.bookOf(token).market;
  }

  cash(): Balance {
    return balanceOf(this.exchange.cash());
  }

  position(token: string): Balance {
    return balanceOf(this.exchange.position(this.bookOf(token).row));
  }

  openOrders(token?: string): Order[] {
    const orders = [...this.open.values()];
    return token === undefined ? orders : orders.filter((order) => order.token === token);
  }

  after(ms: number, act: () => void): void {
    if (!(ms >= 0)) throw new RangeError(`after(ms): ms must be 0 or more, not ${ms}`);
    const time = this.now + ms;
    this.turns += 1;
    this.timers.add({ time, seen: time, turn: this.turns, act });
  }

  /** Micro-units. */
  get cashTotal(): number {
    return this.micro;
  }

  audit(): void {
    assert(this.micro === this.exchange.cash().total, 'cash was counted as the ledger counts it');
    for (const { books, shares } of this.markets) {
      for (const [outcome, { row }] of books.entries()) {
        const { total } = this.exchange.position(row);
        assert(shares[outcome] === total, 'shares were counted as the ledger counts them');
      }
    }
  }

  settle(): void {
    if (this.delayed > 0) this.noteReleased();
    for (const fill of this.exchange.takeFills()) this.noteFill(fill);
    if (this.exchange.ended === this.ended) return;
    this.ended = this.exchange.ended;
    for (const order of this.open.values()) {
      if (order.state !== 'open' && order.state !== 'delayed') continue;
      const reason = this.exchange.endOf(order.id);
      if (reason === 0) continue;
      if (order.state === 'delayed') this.delayed -= 1;
      order.end(reason);
      this.open.delete(order.id);
      const { resting } = this.bookOf(order.token).market;
      if (resting.includes(order)) resting.splice(resting.indexOf(order), 1);
      this.noteOrder(order);
    }
  }

  /**
   * Pays out a market.
   * @param payout units a share of each outcome
   */
  settleMarket(market: TradedMarket, payout: readonly number[]): number | undefined {
    this.settle();
    market.state = 'resolved';
    market.payout = payout;
    market.mids = payout[0]! * MID_PARTS;
    const { total } = this.exchange.cash();
    market.flow += total - this.micro;
    this.micro = total;
    market.shares.fill(0);
    const brought = market.holding.take(-market.holding.net, payout[0]!);
    this.notes.push({ kind: 'resolved', market });
    return brought === undefined ? undefined : brought / MICRO;
  }

  private later(act: () => void): void {
    if (this.isClosed) throw new Error('the recording has ended: the venue takes nothing any more');
    const arrive = (): void => {
      act();
      this.settle();
    };
    const { feed, order } = this.latencies;
    if (feed === undefined && order === undefined) {
      arrive();
      return;
    }
    const { now } = this;
    // One connection: nothing overtakes what was sent before.
    this.lastArrival = Math.max(this.lastArrival, now + (order?.(now) ?? 0));
    const time = this.lastArrival;
    this.turns += 1;
    this.arrivals.add({ time, seen: this.seenAt(time), turn: this.turns, act: arrive });
  }

  /** Opens orders whose taker delay is over. */
  private noteReleased(): void {
    for (const order of this.open.values()) {
      if (order.state !== 'delayed' || this.exchange.isDelayed(order.id)) continue;
      if (!PLACED.has(this.exchange.endOf(order.id))) continue;
      this.delayed -= 1;
      this.rest(order);
      this.noteOrder(order);
    }
  }

  private rest(order: OwnOrder): void {
    order.state = 'open';
    this.bookOf(order.token).market.resting.push(order);
  }

  private noteOrder(order: OwnOrder, isAccepted = false): void {
    const market = this.byToken.get(order.token)?.market;
    this.notes.push({ kind: 'order', order, market, isAccepted });
  }

  private arrive(order: OwnOrder): void {
    const { expiration, postOnly, side, type } = order.request;
    const reason = this.exchange.place({
      number: order.id,
      token: this.bookOf(order.token).row,
      isSell: side === 'SELL',
      type: type ?? 'GTC',
      postOnly: postOnly ?? false,
      pips: pipsOfPrice(order.price),
      size: order.wanted,
      expiration: expiration ?? 0,
    });
    if (reason !== RejectReason.accepted) {
      this.open.delete(order.id);
      this.refuse(order, reason);
      return;
    }
    if (this.exchange.isDelayed(order.id)) {
      this.delayed += 1;
      order.state = 'delayed';
    } else this.rest(order);
    this.noteOrder(order, true);
  }

  private refuse(order: OwnOrder, reason: Parameters<OwnOrder['refuse']>[0] | 0): void {
    assert(reason !== RejectReason.accepted, 'a refusal has a reason');
    order.refuse(reason);
    this.counts.refused += 1;
    this.noteOrder(order);
  }

  private noteFill(fill: OwnFill): void {
    const order = this.open.get(fill.number);
    assert(order !== undefined, 'a fill is of an open order');
    const book = this.byRow.get(fill.token)!;
    const { market } = book;
    const outcome = fill.token === market.first ? 0 : 1;
    order.done += fill.size;
    this.micro += fill.cash;
    market.shares[outcome] += fill.shares;
    market.flow += fill.cash;
    // Net of the fee, which a buyer pays in shares.
    const price = Math.abs(fill.cash / fill.shares);
    const brought =
      outcome === 0
        ? market.holding.take(fill.shares, price)
        : market.holding.take(-fill.shares, 1 - price);
    const noted: NotedFill = {
      time: this.exchange.now,
      order,
      market,
      outcome,
      pips: fill.pips,
      shares: fill.size,
      feeMicro: fill.fee,
      token: book.token,
      side: fill.isSell ? 'SELL' : 'BUY',
      price: fill.pips / 10_000,
      size: fill.size / MICRO,
      fee: fill.fee / MICRO,
      role: fill.isMaker ? 'maker' : 'taker',
      cash: this.micro / MICRO,
      position: market.shares[outcome] / MICRO,
      got: fill.cash,
      brought: brought === undefined ? undefined : brought / MICRO,
    };
    this.notes.push({ kind: 'fill', fill: noted });
  }

  private convert(kind: 'split' | 'merge', { tokens }: Market, size: number): Conversion {
    const { market } = this.bookOf(tokens[0]!);
    const amount = Math.floor(size * MICRO);
    const conversion: Writable<Conversion> = { state: 'sent', reason: '' };
    this.later(() => {
      const reason = this.exchange.fund(kind, market.row, amount);
      if (reason !== RejectReason.accepted) {
        conversion.state = 'refused';
        conversion.reason = REJECTS[reason].text;
        return;
      }
      conversion.state = 'done';
      const sets = kind === 'split' ? amount : -amount;
      market.shares[0] += sets;
      market.shares[1] += sets;
      market.flow -= sets;
      this.micro -= sets;
      this.notes.push({ kind: 'converted', market });
    });
    return conversion;
  }

  private bookOf(token: string): TokenBook {
    const book = this.byToken.get(token);
    if (book === undefined) throw new RangeError(`the recording has no token ${token}`);
    return book;
  }
}

function balanceOf({ reserved, total }: { total: number; reserved: number }): Balance {
  return { total: total / MICRO, reserved: reserved / MICRO, free: (total - reserved) / MICRO };
}
