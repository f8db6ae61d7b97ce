/**
 * Looks up what the records of a flushed batch refer to: order ids in commands, fills and closed
 * orders. The rings keep these rows at least until the batch has been published.
 *
 * Thread: the I/O thread, within the call that publishes the batch.
 */
import { OrderCommand, OrderFlag } from '../../engine/commands.ts';
import { EventKind } from '../../engine/events.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import {
  FILL_WORDS,
  Fill,
  ID_WORDS,
  ORDER_I,
  Order,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { FlushedBatch } from '../orders/flushed-batch.ts';
import type { LevelCause } from './published-book.ts';

/** The id of the order that an order command places. */
function placedId({ commands }: FlushedBatch, command: number): string {
  return wordsToHex(commands, command + OrderCommand.id, ID_WORDS);
}

/** Whether the order of a command is an ask in the prices of its book. */
export function isAskOf(t: Tables, { commands }: FlushedBatch, command: number): boolean {
  const token = commands[command + OrderCommand.token]! << TOKEN_I;
  const isSell = (commands[command + OrderCommand.flags]! & OrderFlag.sell) !== 0;
  return isSell !== (t.tokenI[token + Token.mirrored] === 1);
}

/** First word of a fill in fillI, and of a closed order in orderI. */
export function fillRow(t: Tables, sequence: number): number {
  return (sequence % t.fillRows) * FILL_WORDS;
}

export function closedRow(t: Tables, sequence: number): number {
  return closedOrder(t, sequence) << ORDER_I;
}

/** The id of the order that caused a change of a level. */
export function causeId(t: Tables, batch: FlushedBatch, by: LevelCause): string {
  const { command, kind, sequence } = by;
  if (kind === EventKind.levelPlaced) return placedId(batch, command);
  if (kind === EventKind.levelFill) {
    return wordsToHex(t.fillI, fillRow(t, sequence) + Fill.makerId, ID_WORDS);
  }
  return wordsToHex(t.orderI, closedRow(t, sequence) + Order.id, ID_WORDS);
}
