/**
 * Money of the load tool: decimal text to whole micro-units and back, and the two amounts of an
 * order as clients compute them. Everything is an integer; written independently of the node.
 * Thread: the tool's only one.
 * Non-goals: amounts above 2^53 - 1 micro-units.
 */

export const MICRO = 1_000_000;
/**
 * Sizes carry two decimals: the step of a size in micro-shares
 * (docs/protocol.md#client-rounding).
 */
export const SIZE_STEP = 10_000;

const DECIMAL = /^(0|[1-9]\d*)(?:\.(\d{1,6}))?$/;

/** '12.5' -> 12500000. Throws on anything that is not plain notation with up to 6 decimals. */
export function microFromText(text: string): number {
  const parts = DECIMAL.exec(text);
  const micro =
    parts === null
      ? Number.NaN
      : Number(parts[1]) * MICRO + Number((parts[2] ?? '').padEnd(6, '0'));
  if (!Number.isSafeInteger(micro)) throw new Error(`not an amount: ${JSON.stringify(text)}`);
  return micro;
}

/** A JSON number of up to 6 decimals, through its shortest text, so that no rounding creeps in. */
export function microFromNumber(value: number): number {
  return microFromText(String(value));
}

/** 12500000 -> '12.5': plain notation, trailing zeros trimmed (docs/protocol.md#decimal-texts). */
export function microText(micro: number): string {
  if (micro < 0) return `-${microText(-micro)}`;
  const fraction = micro % MICRO;
  const whole = (micro - fraction) / MICRO;
  if (fraction === 0) return String(whole);
  return `${whole}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`;
}

export function priceText(ticks: number, ticksPerUnit: number): string {
  return microText(ticks * (MICRO / ticksPerUnit));
}

/** floor(shares x price) in micro-units: docs/protocol.md#settlement. */
export function notional(micro: number, ticks: number, ticksPerUnit: number): number {
  const product = micro * ticks;
  if (!Number.isSafeInteger(product)) throw new Error('a fill is too large for the load tool');
  return Math.floor(product / ticksPerUnit);
}

/**
 * Decimals of an amount: two more than the tick has, which is as many as its text has
 * characters. 0.1 -> 3, 0.01 -> 4, 0.005 and 0.001 -> 5, 0.0025 and 0.0001 -> 6.
 * Rules: docs/protocol.md#client-rounding
 */
function amountDecimals(ticksPerUnit: number): number {
  return priceText(1, ticksPerUnit).length;
}

/**
 * Shares (micro) that a market BUY client signs for a collateral and a price: collateral / price,
 * rounded up at four more decimals than allowed and, if still too long, down at the allowed ones
 * (docs/protocol.md#client-rounding).
 */
export function sharesForCollateral(
  collateralMicro: number,
  ticks: number,
  ticksPerUnit: number,
): number {
  const decimals = BigInt(amountDecimals(ticksPerUnit));
  const dividend = BigInt(collateralMicro) * BigInt(ticksPerUnit) * 10n ** (decimals - 2n);
  const fine = (dividend + BigInt(ticks) - 1n) / BigInt(ticks);
  return Number((fine / 10_000n) * 10n ** (6n - decimals));
}
