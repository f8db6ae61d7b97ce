/**
 * Own orders and trades that a user stream has reported, so that after a gap the difference from the node's lists
 * can be reported as events. Non-goals: an order placed and cancelled within a gap without a trade, which no list
 * of the node has; its sender has the answer.
 */
import { toMicro } from '../decimal.ts';
import type { Orders, OwnTrade } from '../orders.ts';
import type { OrderEvent, OwnOrderAnswer, TradeEvent } from '../types.ts';

export type OwnEvent = OrderEvent | TradeEvent;

interface Reported {
  readonly matched: bigint;
  readonly hasEnded: boolean;
}

interface Lists {
  readonly orders: readonly OwnOrderAnswer[];
  readonly trades: readonly OwnTrade[];
}

/** Trades that are remembered: far more than one second has. */
const TRADES_MAX = 10_000;

export class OwnState {
  readonly #lists: Pick<Orders, 'open' | 'get' | 'trades'>;
  readonly #open = new Map<string, Reported>();
  readonly #trades = new Set<string>();
  /** Unix seconds: trades from then on may not have been reported. */
  #since: number;

  constructor(lists: Pick<Orders, 'open' | 'get' | 'trades'>, since: number) {
    this.#lists = lists;
    this.#since = since;
  }

  note(event: OwnEvent): void {
    this.#since = Math.max(this.#since, Math.floor(Number(event.timestamp) / 1_000));
    if (event.event_type === 'trade') this.#noteTrade(tradeKey(event, event.status));
    else this.#noteOrder(event.id, reportedOf(event));
  }

  /** Takes what the node lists now as reported. */
  async begin(): Promise<void> {
    this.#differences(await this.#read());
  }

  /**
   * Reads the lists, and returns the events that lead to them.
   * @returns `covers`: whether an event of the stream is older than the lists
   */
  async catchUp(): Promise<{ events: readonly OwnEvent[]; covers: (event: OwnEvent) => boolean }> {
    const lists = await this.#read();
    const orders = new Map(lists.orders.map((order) => [order.id, reportedOf(order)]));
    const events = this.#differences(lists);
    const covers = (event: OwnEvent): boolean => {
      if (event.event_type === 'trade') return this.#trades.has(tradeKey(event, event.status));
      const listed = orders.get(event.id);
      if (listed === undefined || listed.hasEnded) return listed !== undefined;
      const { hasEnded, matched } = reportedOf(event);
      return !hasEnded && matched <= listed.matched;
    };
    return { events, covers };
  }

  /** Open orders, and those that have ended since they were reported, or traded since. */
  async #read(): Promise<Lists> {
    const orders = new Map<string, OwnOrderAnswer>();
    for await (const order of this.#lists.open()) orders.set(order.id, order);
    const trades: OwnTrade[] = [];
    // The node lists trades after a second, without that second itself.
    for await (const trade of this.#lists.trades({ after: this.#since - 1 })) trades.push(trade);
    const traded = trades
      .filter((trade) => !this.#trades.has(tradeKey(trade, 'MATCHED')))
      .flatMap(ordersOfTrade);
    for (const id of new Set([...this.#open.keys(), ...traded])) {
      if (orders.has(id)) continue;
      const order = await this.#lists.get(id);
      if (order !== undefined) orders.set(id, order);
    }
    return { orders: [...orders.values()], trades: trades.reverse() };
  }

  #differences({ orders, trades }: Lists): OwnEvent[] {
    const events: OwnEvent[] = [];
    for (const order of orders) {
      const before = this.#open.get(order.id);
      const now = reportedOf(order);
      if (before !== undefined && !now.hasEnded && before.matched === now.matched) continue;
      events.push(orderEvent(order, before === undefined && !now.hasEnded));
      this.#noteOrder(order.id, now);
    }
    for (const trade of trades) {
      for (const status of ['MATCHED', trade.status] as const) {
        const key = tradeKey(trade, status);
        if (!this.#trades.has(key)) events.push(tradeEvent(trade, status));
        this.#noteTrade(key);
      }
      this.#since = Math.max(this.#since, Number(trade.match_time));
    }
    return events;
  }

  #noteOrder(id: string, reported: Reported): void {
    if (reported.hasEnded) this.#open.delete(id);
    else this.#open.set(id, reported);
  }

  #noteTrade(key: string): void {
    this.#trades.add(key);
    const [oldest] = this.#trades;
    if (this.#trades.size > TRADES_MAX && oldest !== undefined) this.#trades.delete(oldest);
  }
}

function reportedOf({ size_matched, status }: OrderEvent | OwnOrderAnswer): Reported {
  return { matched: toMicro(size_matched), hasEnded: status.toUpperCase() !== 'LIVE' };
}

/** A wallet that traded with itself has a trade on both sides. */
function tradeKey(
  { id, trader_side }: TradeEvent | OwnTrade,
  status: TradeEvent['status'],
): string {
  return `${id} ${trader_side} ${status}`;
}

function ordersOfTrade({ maker_orders, taker_order_id, trader_side }: OwnTrade): string[] {
  const makers = maker_orders.map(({ order_id }) => order_id);
  return trader_side === 'TAKER' ? [taker_order_id] : makers;
}

/** Stream fields of an event that belongs to no stream. */
const NO_PLACE = { stream_id: '', sequence: '', previous: '' };

function orderEvent(order: OwnOrderAnswer, isNew: boolean): OrderEvent {
  const { associate_trades, created_at, order_type, owner, reason, ...rest } = order;
  const status = order.status.toUpperCase() as OrderEvent['status'];
  const now = String(Date.now());
  return {
    event_type: 'order',
    ...NO_PLACE,
    server_ts_ms: now,
    timestamp: now,
    ...rest,
    status,
    owner,
    order_owner: owner,
    created_at: String(created_at),
    associate_trades,
    order_type: order_type as OrderEvent['order_type'],
    type: isNew ? 'PLACEMENT' : status === 'CANCELED' ? 'CANCELLATION' : 'UPDATE',
    ...(reason === '' ? {} : { reason }),
  };
}

function tradeEvent(trade: OwnTrade, status: TradeEvent['status']): TradeEvent {
  const { match_time, owner } = trade;
  const time = `${match_time}000`;
  return {
    ...trade,
    event_type: 'trade',
    ...NO_PLACE,
    server_ts_ms: time,
    timestamp: time,
    type: 'TRADE',
    status,
    trade_owner: owner,
    matchtime: match_time,
  };
}
