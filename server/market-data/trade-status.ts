/**
 * Status of a trade: final at once, but for fills whose settlement is decided later. Rules:
 * docs/protocol.md#unsettled-trades
 *
 * Thread: I/O.
 */
import { isUnsettled } from '../../engine/orders/unsettled.ts';
import { fillFails, wasUnsettled } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { FillRow } from '../../engine/tables/units.ts';

/** Statuses that a trade can have when it is read. */
export const TRADE_STATUSES = ['CONFIRMED', 'RETRYING', 'FAILED'] as const;
export type TradeStatus = (typeof TRADE_STATUSES)[number];

/** @param match sequence of its first fill, which is in the row */
export function tradeStatus(tables: Tables, row: FillRow, match: number): TradeStatus {
  if (!wasUnsettled(tables, row)) return 'CONFIRMED';
  if (isUnsettled(tables, match)) return 'RETRYING';
  return fillFails(tables, row) ? 'FAILED' : 'CONFIRMED';
}
