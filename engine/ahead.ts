/**
 * Reading ahead: what the commands of a batch will look up is fetched before the first of them is
 * applied, because a look-up in a table of many megabytes waits longer for memory than the rest of a
 * command takes, and many can wait at once. Changes nothing and decides nothing.
 */
import * as commands from './commands.ts';
import { commandKind, commandWords } from './commands.ts';
import type { Core } from './core.ts';
import { home } from './hash-index.ts';
import * as layout from './layout.ts';
import { orderTag } from './orders.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { ORDER_I, Order } = layout;
const { CancelCommand, CommandKind, OrderCommand } = commands;

/** Index entries of the ids in commands [at, end), then the rows that cancels find there. */
export function readAhead(core: Core, i32: Int32Array, at: number, end: number): void {
  const { orderI, orderIndex } = core.t;
  let fetched = 0;
  for (let command = at; command < end; command += commandWords(i32, command)) {
    const kind = commandKind(i32, command);
    if (kind === CommandKind.order) {
      fetched ^= orderIndex[2 * home(orderIndex, orderTag(i32, command + OrderCommand.id))]!;
    } else if (kind === CommandKind.cancel) {
      fetched ^= orderIndex[2 * home(orderIndex, orderTag(i32, command + CancelCommand.id))]!;
    }
  }
  for (let command = at; command < end; command += commandWords(i32, command)) {
    if (commandKind(i32, command) !== CommandKind.cancel) continue;
    const entry = 2 * home(orderIndex, orderTag(i32, command + CancelCommand.id));
    const row = orderIndex[entry + 1]! << ORDER_I;
    fetched ^= orderI[row | Order.flags]! ^ orderI[row | Order.slot]!;
  }
  core.fetched = fetched;
}
