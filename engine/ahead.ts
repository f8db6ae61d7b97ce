/**
 * Reading ahead: what the next commands of a buffer will look up is fetched while the present one is
 * applied, because a look-up in a table of many megabytes waits longer for memory than the rest of
 * a command takes. Changes nothing, decides nothing; a wrong guess costs a load.
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

/** `at`: the present command. Behind the last one lie old commands or zeros, which do no harm. */
export function readAhead(core: Core, i32: Int32Array, at: number): void {
  const next = at + commandWords(i32, at);
  const nextButOne = next + commandWords(i32, next);
  if (nextButOne + OrderCommand.words > i32.length) return;
  const { orderI, orderIndex } = core.t;
  // The index entry of the one, which takes its time; the row of the other, whose entry is here now.
  const far = 2 * home(orderIndex, orderTag(i32, nextButOne + idOf(i32, nextButOne))) + 1;
  const near = 2 * home(orderIndex, orderTag(i32, next + idOf(i32, next))) + 1;
  const row = orderIndex[near]! << ORDER_I;
  core.fetched = orderIndex[far]! ^ orderI[row + Order.flags]! ^ orderI[row + Order.slot]!;
}

function idOf(i32: Int32Array, at: number): number {
  return commandKind(i32, at) === CommandKind.cancel ? CancelCommand.id : OrderCommand.id;
}
