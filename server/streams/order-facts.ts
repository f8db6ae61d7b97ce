/**
 * An order as its owner sees it in stream messages. It is read from the command that placed it, the copy of a maker's
 * row in the events, or the row of a closed order.
 *
 * Thread: the I/O thread.
 */

import { OrderCommand, OrderFlag } from '../../engine/commands.ts';
import {
  closeReason,
  isMirroredToken,
  isSellOrder,
  ONLY_ORDER,
  type OrderRows,
  orderCreated,
  orderExpiry,
  orderIdAt,
  orderKeyAt,
  orderMaker,
  orderOriginal,
  orderPrice,
  orderRemaining,
  orderToken,
  orderTypeOf,
} from '../../engine/reads.ts';
import { EndReason, ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type OrderRow, PIPS_PER_UNIT, type TokenRow } from '../../engine/tables/units.ts';
import { wordsToHex } from '../common/uint256.ts';
import { addressText, apiKeyText } from '../market-data/account-texts.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import type { Names } from './names.ts';

export interface OrderFacts {
  readonly id: string;
  readonly apiKey: string;
  readonly token: TokenRow;
  /** Address with its EIP-55 checksum. */
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

function ownPips(tables: Tables, token: TokenRow, tick: number, grid: number): number {
  return (isMirroredToken(tables, token) ? grid - tick : tick) * (PIPS_PER_UNIT / grid);
}

/**
 * Order of a command, before any fill.
 * @param tick tick of its book
 */
export function placedOrder(
  tables: Tables,
  batch: AppliedBatch,
  command: number,
  tick: number,
  grid: number,
): OrderFacts {
  const { commands, commandsF, time } = batch;
  const flags = commands[command + OrderCommand.flags]!;
  const token = commands[command + OrderCommand.token]! as TokenRow;
  const shares = commandsF[command / 2 + OrderCommand.shares]!;
  return {
    id: wordsToHex(commands, command + OrderCommand.id, ID_WORDS),
    apiKey: apiKeyText(commands, command + OrderCommand.apiKey),
    token,
    maker: addressText(commands, command + OrderCommand.maker),
    isSell: (flags & OrderFlag.sell) !== 0,
    type: (flags >>> OrderFlag.typeShift) & 3,
    pips: ownPips(tables, token, tick, grid),
    original: shares,
    remaining: shares,
    expiry: commandsF[command / 2 + OrderCommand.expiration]!,
    created: time,
    reason: EndReason.none,
  };
}

/** Order whose row a record copies (partlyRows). */
export function copiedOrder(names: Names, rows: OrderRows, grid: number): OrderFacts {
  const token = orderToken(rows, ONLY_ORDER);
  const pips = ownPips(names.tables, token, orderPrice(rows, ONLY_ORDER), grid);
  return orderFacts(names, rows, ONLY_ORDER, pips, EndReason.none);
}

export function closedOrderFacts(names: Names, row: OrderRow): OrderFacts {
  const { tables } = names;
  return orderFacts(names, tables, row, orderPrice(tables, row), closeReason(tables, row));
}

function orderFacts(
  names: Names,
  rows: OrderRows,
  row: OrderRow,
  pips: number,
  reason: number,
): OrderFacts {
  return {
    id: wordsToHex(rows.orderI, orderIdAt(row), ID_WORDS),
    apiKey: apiKeyText(rows.orderI, orderKeyAt(row)),
    token: orderToken(rows, row),
    maker: names.wallet(orderMaker(rows, row)),
    isSell: isSellOrder(rows, row),
    type: orderTypeOf(rows, row),
    pips,
    original: orderOriginal(rows, row),
    remaining: orderRemaining(rows, row),
    expiry: orderExpiry(rows, row),
    created: orderCreated(rows, row),
    reason,
  };
}
