/**
 * Money without floating point: decimal texts to whole millionths (bigint) and back, and the two
 * amounts of an order from its price and size.
 * Pure. Non-goals: negative amounts.
 */

/** Millionths in a share and in a unit of collateral. */
export const MICRO = 1_000_000n;
const DECIMALS = 6;
const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/**
 * '12.5' -> 12500000n. Numbers of the data API are exact up to 2^53 millionths.
 * @throws RangeError for a text that is no plain decimal or has more than six decimals
 */
export function toMicro(value: string | number): bigint {
  const parts = DECIMAL.exec(String(value));
  const fraction = parts?.[2]?.replace(/0+$/, '') ?? '';
  if (parts === null || fraction.length > DECIMALS) {
    throw new RangeError(`not a decimal with up to ${DECIMALS} places: ${value}`);
  }
  return BigInt(parts[1]!) * MICRO + BigInt(fraction.padEnd(DECIMALS, '0'));
}

/** 12500000n -> '12.5': as the node writes decimals. */
export function fromMicro(micro: bigint): string {
  if (micro < 0n) return `-${fromMicro(-micro)}`;
  const fraction = String(micro % MICRO)
    .padStart(DECIMALS, '0')
    .replace(/0+$/, '');
  return `${micro / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}

interface Amounts {
  /** Whole millionths, as signed. */
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
}

/**
 * The amounts that an order pays and receives: collateral and shares. A size of two decimals is
 * always valid. @throws RangeError for a price or a size out of range, and when the collateral is
 * not a whole number of millionths
 */
export function amountsOf(side: 'BUY' | 'SELL', price: string, size: string): Amounts {
  const shares = toMicro(size);
  const perShare = toMicro(price);
  if (perShare === 0n || perShare >= MICRO) {
    throw new RangeError(`price must be between 0 and 1, not ${price}`);
  }
  if (shares === 0n) throw new RangeError('size must be positive');
  const product = shares * perShare;
  if (product % MICRO !== 0n) {
    throw new RangeError(`${size} shares at ${price} cost a fraction of a millionth`);
  }
  const collateral = product / MICRO;
  return side === 'BUY'
    ? { makerAmount: collateral, takerAmount: shares }
    : { makerAmount: shares, takerAmount: collateral };
}
