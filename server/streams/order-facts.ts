/**
 * An order as its owner is shown it in events. It is read from where the batch left it: the command
 * that placed it, the copy of a maker's row in the events, or the row of a closed order.
 *
 * Thread: the I/O thread.
 */
import { OrderCommand, OrderFlag } from '../../engine/commands.ts';
import {
  type ADDRESS_WORDS,
  type API_KEY_WORDS,
  EndReason,
  Flag,
  ID_WORDS,
  Order,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { FlushedBatch } from '../orders/flushed-batch.ts';
import { addressText, apiKeyAt, type Names } from './names.ts';

export interface OrderFacts {
  readonly id: string;
  readonly apiKey: string;
  readonly token: number;
  /** With its EIP-55 checksum. */
  readonly maker: string;
  readonly isSell: boolean;
  /** OrderType of engine/commands.ts. */
  readonly type: number;
  /** Pips of its own token. */
  readonly pips: number;
  /** Micro-shares. */
  readonly original: number;
  readonly remaining: number;
  /** Unix seconds; 0 = never. */
  readonly expiry: number;
  /** Unix milliseconds. */
  readonly created: number;
  /** EndReason; unset while the order is open. */
  readonly reason: number;
}

const REASON_MASK = 15;

/** Pips in a token's own price, from ticks of its book. */
function ownPips(t: Tables, token: number, tick: number, grid: number): number {
  const isMirrored = t.tokenI[(token << TOKEN_I) + Token.mirrored] === 1;
  return (isMirrored ? grid - tick : tick) * (PIPS_PER_UNIT / grid);
}

/** The order that a command placed, before any fill; `tick` is a tick of its book. */
export function placedOrder(
  t: Tables,
  batch: FlushedBatch,
  command: number,
  tick: number,
  grid: number,
): OrderFacts {
  const { commands, commandsF, time } = batch;
  const flags = commands[command + OrderCommand.flags]!;
  const token = commands[command + OrderCommand.token]!;
  const shares = commandsF[command / 2 + OrderCommand.shares]!;
  return {
    id: wordsToHex(commands, command + OrderCommand.id, ID_WORDS),
    apiKey: apiKeyAt(commands, command + OrderCommand.apiKey),
    token,
    maker: addressText(commands, command + OrderCommand.maker),
    isSell: (flags & OrderFlag.sell) !== 0,
    type: (flags >>> OrderFlag.typeShift) & 3,
    pips: ownPips(t, token, tick, grid),
    original: shares,
    remaining: shares,
    expiry: commandsF[command / 2 + OrderCommand.expiration]!,
    created: time,
    reason: EndReason.none,
  };
}

/**
 * The maker whose row is copied in the record at `row - 8`; the record of its level follows and
 * contains the grid.
 */
export function partlyOrder(names: Names, batch: FlushedBatch, row: number, grid: number) {
  const { events, eventsF } = batch;
  const token = events[row + Order.token]!;
  const pips = ownPips(names.t, token, events[row + Order.price]!, grid);
  return orderFacts(names, events, eventsF, row, pips, EndReason.none);
}

/** `row`: first word of the closed order in orderI. */
export function finishedOrder(names: Names, row: number): OrderFacts {
  const { orderF, orderI } = names.t;
  const reason = (orderI[row + Order.flags]! >>> Flag.reasonShift) & REASON_MASK;
  return orderFacts(names, orderI, orderF, row, orderI[row + Order.price]!, reason);
}

function orderFacts(
  names: Names,
  i32: Int32Array,
  f64: Float64Array,
  row: number,
  pips: number,
  reason: number,
): OrderFacts {
  const flags = i32[row + Order.flags]!;
  return {
    id: wordsToHex(i32, row + Order.id, ID_WORDS),
    apiKey: apiKeyAt(i32, row + Order.apiKey),
    token: i32[row + Order.token]!,
    maker: names.wallet(i32[row + Order.maker]!),
    isSell: (flags & Flag.sell) !== 0,
    type: (flags >>> Flag.typeShift) & 3,
    pips,
    original: f64[row / 2 + Order.original]!,
    remaining: f64[row / 2 + Order.remaining]!,
    expiry: f64[row / 2 + Order.expiry]!,
    created: f64[row / 2 + Order.created]!,
    reason,
  };
}

/** Whether the words at two places are the same address, or the same key. */
export function sameWords(
  a: Int32Array,
  atA: number,
  b: Int32Array,
  atB: number,
  count: typeof ADDRESS_WORDS | typeof API_KEY_WORDS | typeof ID_WORDS,
): boolean {
  for (let w = 0; w < count; w++) if (a[atA + w] !== b[atB + w]) return false;
  return true;
}
