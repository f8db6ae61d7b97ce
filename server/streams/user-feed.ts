/**
 * Makes the events of the user channel from the events of flushed batches, in an order that clients
 * can rely on: the placement of an order comes first, a trade comes before the order event that it
 * caused, and nothing follows the last event of an order.
 *
 * Thread: the I/O thread.
 */
import { OrderCommand } from '../../engine/commands.ts';
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { ACCOUNT_I, Account, Fill, ID_WORDS, Order } from '../../engine/tables/layout.ts';
import type { FlushedBatch } from '../orders/flushed-batch.ts';
import { closedRow, fillRow } from './batch-facts.ts';
import { apiKeyAt, type Names } from './names.ts';
import {
  finishedOrder,
  type OrderFacts,
  partlyOrder,
  placedOrder,
  sameWords,
} from './order-facts.ts';
import type { ReplayBuffer, User } from './replay-buffer.ts';
import { newsOfEnd, OrderNews, orderBody, type TradeFill, tradeBody } from './user-frames.ts';

/** Words of the maker's row in a record. */
const PARTLY_ROW_WORDS = 32;

/** A fill, and where the row of its maker is. */
interface NoticedFill {
  readonly sequence: number;
  makerRows: Int32Array | undefined;
  makerRow: number;
}

/** An order event that waits for the trades that must come before it. */
type Later = () => void;

/** The order placed last, while the following events may belong to it. */
interface Taker {
  readonly command: number;
  readonly user: User | undefined;
  readonly facts: OrderFacts | undefined;
  isFinished: boolean;
}

export class UserFeed {
  private readonly names: Names;
  private readonly log: ReplayBuffer;
  private batch: FlushedBatch | undefined;
  private taker: Taker | undefined;
  private fills: NoticedFill[] = [];
  private later: Later[] = [];

  constructor(names: Names, log: ReplayBuffer) {
    this.names = names;
    this.log = log;
  }

  /** Publishes what a batch did. Its events are complete. */
  flushed(batch: FlushedBatch): void {
    if (this.log.isEmpty) return;
    this.batch = batch;
    const { events, eventsF } = batch;
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      const sequence = eventsF[at / 2 + Event.sequence]!;
      switch (events[at]) {
        case EventKind.placed:
          this.endMatch();
          this.placed(batch, at);
          break;
        case EventKind.fill:
          this.fills.push({ sequence, makerRows: undefined, makerRow: 0 });
          break;
        case EventKind.partly:
          this.partly(batch, at + Event.row);
          break;
        case EventKind.closed:
          this.finished(sequence);
          break;
        default:
      }
    }
    this.endMatch();
    this.batch = undefined;
  }

  private placed(batch: FlushedBatch, at: number): void {
    const { t } = this.names;
    const command = batch.events[at + Event.command]!;
    const user = this.log.find(batch.commands, command + OrderCommand.signer);
    const tick = batch.events[at + Event.tick]!;
    const grid = batch.events[at + Event.grid]!;
    const facts = user && placedOrder(t, batch, command, tick, grid);
    this.taker = { command, user, facts, isFinished: false };
    if (user !== undefined) this.tell(user, facts!, OrderNews.placed, -1);
  }

  /** The last fill left a remainder of its maker. */
  private partly(batch: FlushedBatch, row: number): void {
    const { events } = batch;
    const fill = this.fills.at(-1)!;
    fill.makerRows = events;
    fill.makerRow = row;
    const user = this.ownerOf(events[row + Order.owner]!);
    if (user === undefined) return;
    const level = row + PARTLY_ROW_WORDS;
    const grid = events[level + Event.grid]!;
    const match = this.matchOf(fill.sequence);
    this.later.push(() => {
      this.tell(user, partlyOrder(this.names, batch, row, grid), OrderNews.updated, match);
    });
  }

  private finished(sequence: number): void {
    const { t } = this.names;
    const row = closedRow(t, sequence);
    const fill = this.fills.at(-1);
    const id = row + Order.id;
    // A maker with a remainder that is cancelled afterwards was not closed by that fill.
    const isMaker =
      fill?.makerRows === undefined &&
      fill !== undefined &&
      sameWords(t.fillI, fillRow(t, fill.sequence) + Fill.makerId, t.orderI, id, ID_WORDS);
    if (isMaker) {
      fill.makerRows = t.orderI;
      fill.makerRow = row;
    }
    if (this.isTaker(row)) this.taker!.isFinished = true;
    const user = this.ownerOf(t.orderI[row + Order.owner]!);
    if (user === undefined) return;
    const isOfMatch = fill !== undefined && (isMaker || this.isTaker(row));
    const match = isOfMatch ? this.matchOf(fill.sequence) : -1;
    this.later.push(() => {
      const order = finishedOrder(this.names, row);
      this.tell(user, order, newsOfEnd(order.reason), match);
    });
  }

  private isTaker(row: number): boolean {
    const { batch, taker } = this;
    if (taker === undefined) return false;
    const id = taker.command + OrderCommand.id;
    return sameWords(batch!.commands, id, this.names.t.orderI, row + Order.id, ID_WORDS);
  }

  /** All events of the order placed last have been read: send the trades, then the order events. */
  private endMatch(): void {
    const { fills, later, taker } = this;
    this.fills = [];
    this.later = [];
    this.taker = undefined;
    if (fills.length > 0 && taker !== undefined) this.tellTrades(fills, taker);
    for (const tell of later) tell();
    if (taker?.user === undefined || taker.isFinished || fills.length === 0) return;
    // It was partly filled and rests.
    const remaining = fills.reduce((left, { sequence }) => {
      return left - this.names.t.fillF[fillRow(this.names.t, sequence) / 2 + Fill.size]!;
    }, taker.facts!.remaining);
    const match = this.matchOf(fills[0]!.sequence);
    this.tell(taker.user, { ...taker.facts!, remaining }, OrderNews.updated, match);
  }

  private tellTrades(fills: readonly NoticedFill[], taker: Taker): void {
    const { fillI } = this.names.t;
    const rowOf = ({ sequence }: NoticedFill): number => fillRow(this.names.t, sequence);
    const takerOwner = fillI[rowOf(fills[0]!) + Fill.takerOwner]!;
    const shownTo = (owner: number): TradeFill[] =>
      fills.map((fill) => {
        const isOwn = fillI[rowOf(fill) + Fill.makerOwner] === owner;
        return { sequence: fill.sequence, makerKey: isOwn ? keyOf(fill) : undefined };
      });
    if (taker.user !== undefined) {
      const all = shownTo(takerOwner);
      this.tellTrade(taker.user, all, all, { apiKey: taker.facts!.apiKey, isTaker: true });
    }
    const told = new Set([takerOwner]);
    for (const fill of fills) {
      const owner = fillI[rowOf(fill) + Fill.makerOwner]!;
      if (told.has(owner)) continue;
      told.add(owner);
      const user = this.ownerOf(owner);
      if (user === undefined) continue;
      // A maker sees only its own orders: a list of all orders for each of many makers would grow
      // with the square.
      const all = shownTo(owner);
      const own = all.filter(({ makerKey }) => makerKey !== undefined);
      this.tellTrade(user, all, own, { apiKey: keyOf(fill), isTaker: false });
    }
  }

  private tellTrade(
    user: User,
    fills: readonly TradeFill[],
    shown: readonly TradeFill[],
    reader: { readonly apiKey: string; readonly isTaker: boolean },
  ): void {
    const { names } = this;
    const { time } = this.batch!;
    const token = names.token(
      names.t.fillI[fillRow(names.t, fills[0]!.sequence) + Fill.takerToken]!,
    );
    for (const status of ['MATCHED', 'CONFIRMED'] as const) {
      const body = tradeBody(names, fills, shown, reader, status, time);
      this.log.tell(user, token.condition, body);
    }
  }

  private tell(
    user: User,
    order: OrderFacts,
    news: (typeof OrderNews)[keyof typeof OrderNews],
    match: number,
  ): void {
    const { names } = this;
    const body = orderBody(names, order, news, match, this.batch!.time);
    this.log.tell(user, names.token(order.token).condition, body);
  }

  private ownerOf(account: number): User | undefined {
    return this.log.find(this.names.t.accountI, (account << ACCOUNT_I) + Account.address);
  }

  /** The sequence of the first fill of a fill's match. */
  private matchOf(sequence: number): number {
    const { t } = this.names;
    return t.fillF[fillRow(t, sequence) / 2 + Fill.match]!;
  }
}

/** The API key of the maker's order. */
function keyOf({ makerRow, makerRows }: NoticedFill): string {
  return apiKeyAt(makerRows!, makerRow + Order.apiKey);
}
