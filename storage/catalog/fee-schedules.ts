/**
 * Fee schedule of a raw market: `feeSchedule` {rate, exponent, rebateRate, takerOnly}, decimals as numbers or texts.
 * Only takers pay, whatever `takerOnly` says. Rules: docs/protocol.md#fees
 *
 * Pure; any thread.
 */
import type { FeeSchedule } from '../../engine/commands.ts';
import { isSchedule, type TicksPerUnit } from '../../engine/tables/units.ts';
import { isObject, type JsonObject, scaledDecimal } from './catalog-json.ts';

export const NO_FEES: FeeSchedule = { rate: 0, exponent: 0, rebate: 0 };
const RATE_DECIMALS = 6;

/** Schedule of a `feeSchedule`; `undefined` where it cannot be read. */
export function readSchedule(value: unknown): FeeSchedule | undefined {
  if (!isObject(value)) return undefined;
  const rate = scaledDecimal(value.rate, RATE_DECIMALS);
  const exponent = scaledDecimal(value.exponent ?? 1, 0);
  const rebate = scaledDecimal(value.rebateRate ?? 0, RATE_DECIMALS);
  if (rate === undefined || exponent === undefined || rebate === undefined) return undefined;
  return rate === 0 ? NO_FEES : { rate, exponent, rebate };
}

/**
 * Schedule that a raw market states, or none. One that the engine would refuse counts as
 * unreadable.
 */
export function catalogSchedule(
  { feeSchedule, feesEnabled }: JsonObject,
  ticksPerUnit: TicksPerUnit,
): FeeSchedule | 'unreadable' {
  if (feesEnabled === false || feeSchedule == null) return NO_FEES;
  const schedule = readSchedule(feeSchedule);
  if (schedule === undefined) return 'unreadable';
  const { exponent, rate, rebate } = schedule;
  return isSchedule(ticksPerUnit, rate, exponent, rebate) ? schedule : 'unreadable';
}

/** Members of a market that show a schedule. */
export function shownSchedule({ exponent, rate, rebate }: FeeSchedule): JsonObject {
  if (rate === 0) return { feesEnabled: false, feeSchedule: null };
  const parts = { rate: rate / 1e6, exponent, rebateRate: rebate / 1e6, takerOnly: true };
  return { feesEnabled: true, feeSchedule: parts };
}
