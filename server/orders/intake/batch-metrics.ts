/**
 * Counts of durable batches for the operator: orders of each market, and reasons of closed orders.
 *
 * Thread: I/O, after the answers of a batch are sent.
 */
import {
  CommandKind,
  commandKind,
  commandWords,
  isOrder,
  OrderCommand,
} from '../../../engine/commands.ts';
import { Event, EventKind, eventWords } from '../../../engine/events.ts';
import { closedOrder } from '../../../engine/orders/orders.ts';
import { closeReason, conditionAt, tokenMarket } from '../../../engine/reads.ts';
import { EndReason, ID_WORDS } from '../../../engine/tables/codes.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import type { MarketRow, TokenRow } from '../../../engine/tables/units.ts';
import { wordsToHex } from '../../common/uint256.ts';
import type { AppliedBatch } from '../worker/applied-batch.ts';
import { reasonText } from './order-states.ts';

const REASONS = Object.values(EndReason).filter((reason) => reason !== EndReason.none);

interface BusyMarket {
  readonly market: MarketRow;
  readonly condition: string;
  readonly orders: number;
}

const SOURCE_KINDS = ['level', 'print', 'fill'] satisfies (keyof typeof CommandKind)[];

export class BatchMetrics {
  private readonly tables: Tables;
  /** Accepted orders by market row. */
  private readonly orders: Float64Array;
  private readonly source = new Float64Array(SOURCE_KINDS.length);
  private readonly ended = new Float64Array(Math.max(...REASONS) + 1);

  constructor(tables: Tables) {
    this.tables = tables;
    this.orders = new Float64Array(tables.capacities.markets + 1);
  }

  count({ commands, events, eventsF }: AppliedBatch): void {
    const { tables } = this;
    for (let at = 0; at < commands.length; at += commandWords(commands, at)) {
      const kind = commandKind(commands, at);
      if (kind >= CommandKind.level && kind <= CommandKind.fill)
        this.source[kind - CommandKind.level]! += 1;
      if (!isOrder(kind)) continue;
      const token = commands[at + OrderCommand.token]! as TokenRow;
      this.orders[tokenMarket(tables, token)]! += 1;
    }
    for (let at = 0; at < events.length; at += eventWords(events, at)) {
      if (events[at + Event.kind] !== EventKind.closed) continue;
      const row = closedOrder(tables, eventsF[at / 2 + Event.sequence]!);
      this.ended[closeReason(tables, row)]! += 1;
    }
  }

  sourceCommands(): (readonly [kind: string, count: number])[] {
    return SOURCE_KINDS.map((kind, i) => [kind, this.source[i]!]);
  }

  endings(): (readonly [reason: string, count: number])[] {
    return REASONS.map((reason) => [reasonText(reason), this.ended[reason]!]);
  }

  busiest(most: number): BusyMarket[] {
    const rows: number[] = [];
    for (let row = 1; row < this.orders.length; row++) {
      const last = rows[most - 1];
      if (this.orders[row] === 0) continue;
      if (last !== undefined && this.orders[row]! <= this.orders[last]!) continue;
      rows.push(row);
      rows.sort((a, b) => this.orders[b]! - this.orders[a]!);
      rows.length = Math.min(rows.length, most);
    }
    return rows.map((row) => {
      const market = row as MarketRow;
      const condition = wordsToHex(this.tables.marketI, conditionAt(market), ID_WORDS);
      return { market, condition, orders: this.orders[row]! };
    });
  }
}
