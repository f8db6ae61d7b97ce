/**
 * Messages of the user channel from the events of flushed batches, in an order that clients can rely on: the
 * placement of an order comes first, a trade precedes the order message that it caused, and nothing follows the last
 * message of an order.
 *
 * Thread: the I/O thread.
 */

import { OrderCommand } from '../../engine/commands.ts';
import { decidedFill, Event, EventKind, eventWords, partlyRows } from '../../engine/events.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import {
  addressAt,
  type FillRows,
  fillMakerIdAt,
  fillMakerOwner,
  fillMatch,
  fillRow,
  fillSize,
  fillTakerOwner,
  fillTakerToken,
  isPrint,
  isSourceTaker,
  ONLY_FILL,
  ONLY_ORDER,
  type OrderRows,
  orderIdAt,
  orderKeyAt,
  orderOwner,
  wasUnsettled,
} from '../../engine/reads.ts';
import { API_KEY_WORDS } from '../../engine/tables/codes.ts';
import type { AccountRow, FillRow, OrderRow } from '../../engine/tables/units.ts';
import { sameId } from '../../engine/tables/words.ts';
import { apiKeyText } from '../market-data/account-texts.ts';
import type { TradeStatus } from '../market-data/trade-status.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import type { Names } from './names.ts';
import { closedOrderFacts, copiedOrder, type OrderFacts, placedOrder } from './order-facts.ts';
import type { ReplayBuffer, User } from './replay-buffer.ts';
import { changeOfClose, OrderChange, orderBody, type TradeFill, tradeBody } from './user-frames.ts';

/** Statuses of a trade when it is made, settled at once or later; and when a later one is decided. */
const SETTLED = ['MATCHED', 'CONFIRMED'] as const;
const UNSETTLED = ['MATCHED', 'RETRYING'] as const;
const CONFIRMED = ['CONFIRMED'] as const;
const FAILED = ['FAILED'] as const;

/** A fill, and its maker's order if a later record has it: its remainder, or its end. */
interface MatchFill {
  readonly sequence: number;
  makerRows: OrderRows | undefined;
  makerRow: OrderRow;
}

/** A fill that is settled, with the API keys of its orders. */
interface DecidedFill {
  readonly rows: FillRows;
  readonly fails: boolean;
  readonly takerKey: string;
  readonly makerKey: string;
}

/** An order message that waits for the trades before it. */
type Later = () => void;

/** Order placed last, while the following events may belong to it. */
interface Taker {
  /** Words with its id, and the place of the id in them. */
  readonly words: Int32Array;
  readonly idAt: number;
  readonly user: User | undefined;
  readonly facts: OrderFacts | undefined;
  isClosed: boolean;
}

type Recipients = Pick<ReplayBuffer, 'isEmpty' | 'find' | 'append'>;

export class UserFeed {
  private readonly names: Names;
  private readonly replayBuffer: Recipients;
  private batch: AppliedBatch | undefined;
  private taker: Taker | undefined;
  private fills: MatchFill[] = [];
  private later: Later[] = [];
  private decided: DecidedFill[] = [];

  constructor(names: Names, replayBuffer: Recipients) {
    this.names = names;
    this.replayBuffer = replayBuffer;
  }

  flushed(batch: AppliedBatch): void {
    if (this.replayBuffer.isEmpty) return;
    this.batch = batch;
    const { events, eventsF } = batch;
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      const sequence = eventsF[at / 2 + Event.sequence]!;
      switch (events[at]) {
        case EventKind.placed:
          this.endMatch();
          this.placed(batch, at);
          break;
        case EventKind.delayed:
          this.endMatch();
          this.delayed(batch, at);
          break;
        case EventKind.due:
          this.endMatch();
          this.due(batch, at);
          break;
        case EventKind.fill:
          this.fill(sequence);
          break;
        case EventKind.partly:
          this.partly(batch, at);
          break;
        case EventKind.closed:
          this.closed(sequence);
          break;
        case EventKind.decided:
          this.decided.push(decidedOf(batch, at));
          break;
        default:
      }
    }
    this.endMatch();
    this.batch = undefined;
  }

  private placed(batch: AppliedBatch, at: number): void {
    const taker = this.taken(batch, at);
    this.taker = taker;
    const { facts, user } = taker;
    if (user !== undefined) this.publishOrder(user, facts!, OrderChange.placed, -1);
  }

  private delayed(batch: AppliedBatch, at: number): void {
    const { facts, user } = this.taken(batch, at);
    if (user !== undefined) this.publishOrder(user, facts!, OrderChange.delayed, -1);
  }

  /** Places a delayed order, which has no command in this batch. */
  private due(batch: AppliedBatch, at: number): void {
    const rows = partlyRows(batch.events, batch.eventsF, at);
    const user = this.ownerOf(orderOwner(rows, ONLY_ORDER));
    const grid = batch.events[at + Event.grid]!;
    const facts = user && copiedOrder(this.names, rows, grid);
    const idAt = orderIdAt(ONLY_ORDER);
    this.taker = { words: rows.orderI, idAt, user, facts, isClosed: false };
    if (user !== undefined) this.publishOrder(user, facts!, OrderChange.updated, -1);
  }

  /** Order of the command that a record names. */
  private taken(batch: AppliedBatch, at: number): Taker {
    const { tables } = this.names;
    const command = batch.events[at + Event.command]!;
    const user = this.replayBuffer.find(batch.commands, command + OrderCommand.signer);
    const tick = batch.events[at + Event.tick]!;
    const grid = batch.events[at + Event.grid]!;
    const facts = user && placedOrder(tables, batch, command, tick, grid);
    const idAt = command + OrderCommand.id;
    return { words: batch.commands, idAt, user, facts, isClosed: false };
  }

  /** Begins a match if the taker is a source order, which was not placed. */
  private fill(sequence: number): void {
    const { tables } = this.names;
    const row = fillRow(tables, sequence);
    if (isPrint(tables, row)) return;
    if (isSourceTaker(tables, row) && fillMatch(tables, row) === sequence) this.endMatch();
    this.fills.push({ sequence, makerRows: undefined, makerRow: ONLY_ORDER });
  }

  /** The last fill left a remainder of its maker. */
  private partly(batch: AppliedBatch, at: number): void {
    const { events, eventsF } = batch;
    const rows = partlyRows(events, eventsF, at);
    const fill = this.fills.at(-1)!;
    fill.makerRows = rows;
    fill.makerRow = ONLY_ORDER;
    const user = this.ownerOf(orderOwner(rows, ONLY_ORDER));
    if (user === undefined) return;
    const level = at + eventWords(events, at);
    const grid = events[level + Event.grid]!;
    const match = this.matchOf(fill.sequence);
    this.later.push(() => {
      this.publishOrder(user, copiedOrder(this.names, rows, grid), OrderChange.updated, match);
    });
  }

  private closed(sequence: number): void {
    const { tables } = this.names;
    const row = closedOrder(tables, sequence);
    const fill = this.fills.at(-1);
    // A maker with a remainder that is cancelled afterwards was not closed by that fill.
    const isMaker =
      fill?.makerRows === undefined &&
      fill !== undefined &&
      sameId(
        tables.fillI,
        fillMakerIdAt(fillRow(tables, fill.sequence)),
        tables.orderI,
        orderIdAt(row),
      );
    if (isMaker) {
      fill.makerRows = tables;
      fill.makerRow = row;
    }
    if (this.isTaker(row)) this.taker!.isClosed = true;
    const user = this.ownerOf(orderOwner(tables, row));
    if (user === undefined) return;
    const isOfMatch = fill !== undefined && (isMaker || this.isTaker(row));
    const match = isOfMatch ? this.matchOf(fill.sequence) : -1;
    this.later.push(() => {
      const order = closedOrderFacts(this.names, row);
      this.publishOrder(user, order, changeOfClose(order.reason), match);
    });
  }

  private isTaker(row: OrderRow): boolean {
    const { taker } = this;
    if (taker === undefined) return false;
    return sameId(taker.words, taker.idAt, this.names.tables.orderI, orderIdAt(row));
  }

  /** All events of the order placed last have been read: send its messages, then those of trades that were decided. */
  private endMatch(): void {
    this.endTaker();
    if (this.decided.length > 0) this.publishDecided();
  }

  /** Sends the trades, then the order messages. */
  private endTaker(): void {
    const { fills, later, taker } = this;
    this.fills = [];
    this.later = [];
    this.taker = undefined;
    if (fills.length > 0) this.publishTrades(fills, taker);
    for (const publish of later) publish();
    if (taker?.user === undefined || taker.isClosed || fills.length === 0) return;
    // It was partly filled and rests.
    const { tables } = this.names;
    const remaining = fills.reduce(
      (left, { sequence }) => left - fillSize(tables, fillRow(tables, sequence)),
      taker.facts!.remaining,
    );
    const match = this.matchOf(fills[0]!.sequence);
    this.publishOrder(taker.user, { ...taker.facts!, remaining }, OrderChange.updated, match);
  }

  /** @param taker undefined = a source order */
  private publishTrades(fills: readonly MatchFill[], taker: Taker | undefined): void {
    const { tables } = this.names;
    const rowOf = ({ sequence }: MatchFill): FillRow => fillRow(tables, sequence);
    const takerOwner = fillTakerOwner(tables, rowOf(fills[0]!));
    const shownTo = (owner: AccountRow): TradeFill[] =>
      fills.map((fill) => {
        const isOwn = fillMakerOwner(tables, rowOf(fill)) === owner;
        const makerKey = isOwn ? keyOf(fill) : undefined;
        return { rows: tables, row: rowOf(fill), makerKey };
      });
    const statuses = wasUnsettled(tables, rowOf(fills[0]!)) ? UNSETTLED : SETTLED;
    if (taker?.user !== undefined) {
      const all = shownTo(takerOwner);
      const reader = { apiKey: taker.facts!.apiKey, isTaker: true };
      this.publishTrade(taker.user, all, all, reader, statuses);
    }
    const notified = new Set([takerOwner]);
    for (const fill of fills) {
      const owner = fillMakerOwner(tables, rowOf(fill));
      if (notified.has(owner)) continue;
      notified.add(owner);
      const user = this.ownerOf(owner);
      if (user === undefined) continue;
      // A maker sees only its own orders: a list of all orders for each of many makers would grow
      // with the square.
      const all = shownTo(owner);
      const own = all.filter(({ makerKey }) => makerKey !== undefined);
      this.publishTrade(user, all, own, { apiKey: keyOf(fill), isTaker: false }, statuses);
    }
  }

  /** Tells how trades ended whose settlement was decided later. */
  private publishDecided(): void {
    const matches = new Map<number, DecidedFill[]>();
    for (const fill of this.decided) {
      const match = fillMatch(fill.rows, ONLY_FILL);
      const known = matches.get(match);
      if (known === undefined) matches.set(match, [fill]);
      else known.push(fill);
    }
    this.decided = [];
    for (const fills of matches.values()) {
      const { fails, rows, takerKey } = fills[0]!;
      const statuses = fails ? FAILED : CONFIRMED;
      const takerOwner = fillTakerOwner(rows, ONLY_FILL);
      const owners = new Set(fills.map((fill) => fillMakerOwner(fill.rows, ONLY_FILL)));
      for (const owner of new Set([takerOwner, ...owners])) {
        const user = this.ownerOf(owner);
        if (user === undefined) continue;
        const all = fills.map((fill) => {
          const isOwn = fillMakerOwner(fill.rows, ONLY_FILL) === owner;
          return { rows: fill.rows, row: ONLY_FILL, makerKey: isOwn ? fill.makerKey : undefined };
        });
        const isTaker = owner === takerOwner;
        const own = all.filter(({ makerKey }) => makerKey !== undefined);
        const apiKey = isTaker ? takerKey : own[0]!.makerKey!;
        this.publishTrade(user, all, isTaker ? all : own, { apiKey, isTaker }, statuses);
      }
    }
  }

  private publishTrade(
    user: User,
    fills: readonly TradeFill[],
    shown: readonly TradeFill[],
    reader: { readonly apiKey: string; readonly isTaker: boolean },
    statuses: readonly ('MATCHED' | TradeStatus)[],
  ): void {
    const { names } = this;
    const { sequence, time } = this.batch!;
    const { row, rows } = fills[0]!;
    const token = names.token(fillTakerToken(rows, row));
    for (const status of statuses) {
      const body = tradeBody(names, fills, shown, reader, status, time);
      this.replayBuffer.append(user, token.condition, body, sequence);
    }
  }

  private publishOrder(user: User, order: OrderFacts, change: OrderChange, match: number): void {
    const { names } = this;
    const body = orderBody(names, order, change, match, this.batch!.time);
    const { condition } = names.token(order.token);
    this.replayBuffer.append(user, condition, body, this.batch!.sequence);
  }

  private ownerOf(account: AccountRow): User | undefined {
    return this.replayBuffer.find(this.names.tables.accountI, addressAt(account));
  }

  private matchOf(sequence: number): number {
    const { tables } = this.names;
    return fillMatch(tables, fillRow(tables, sequence));
  }
}

function decidedOf({ events, eventsF }: AppliedBatch, at: number): DecidedFill {
  const keys = at + Event.keys;
  return {
    rows: decidedFill(events, eventsF, at),
    fails: events[at + Event.fails] === 1,
    takerKey: apiKeyText(events, keys),
    makerKey: apiKeyText(events, keys + API_KEY_WORDS),
  };
}

function keyOf({ makerRow, makerRows }: MatchFill): string {
  return apiKeyText(makerRows!.orderI, orderKeyAt(makerRow));
}
