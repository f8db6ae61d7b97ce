/**
 * Looks up what the records of a flushed batch refer to: order ids in commands, fills and closed
 * orders. The rings keep these rows at least until the batch has been published.
 *
 * Thread: the I/O thread, within the call that publishes the batch.
 */

import { OrderCommand, OrderFlag } from '../../engine/commands.ts';
import { EventKind } from '../../engine/events.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import { fillMakerIdAt, fillRow, isMirroredToken, orderIdAt } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';
import type { LevelCause } from './published-book.ts';

/** The id of the order that an order command places. */
function placedId({ commands }: AppliedBatch, command: number): string {
  return wordsToHex(commands, command + OrderCommand.id, ID_WORDS);
}

/** Whether the order of a command is an ask in the prices of its book. */
export function isAskOf(t: Tables, { commands }: AppliedBatch, command: number): boolean {
  const token = commands[command + OrderCommand.token]! as TokenRow;
  const isSell = (commands[command + OrderCommand.flags]! & OrderFlag.sell) !== 0;
  return isSell !== isMirroredToken(t, token);
}

/** The id of the order that caused a change of a level. */
export function causeId(t: Tables, batch: AppliedBatch, by: LevelCause): string {
  const { command, kind, sequence } = by;
  if (kind === EventKind.levelPlaced) return placedId(batch, command);
  if (kind === EventKind.levelFill) {
    return wordsToHex(t.fillI, fillMakerIdAt(fillRow(t, sequence)), ID_WORDS);
  }
  return wordsToHex(t.orderI, orderIdAt(closedOrder(t, sequence)), ID_WORDS);
}
