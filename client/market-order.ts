/**
 * Market orders by amount: limit and size of an immediate order, from the book. The node counts shares for every
 * order type, so the amount to pay becomes shares at the worst price that is needed.
 * Pure.
 */
import { fromMicro, MICRO, toMicro } from './decimal.ts';
import { LiquidityError } from './errors.ts';
import type { BookAnswer } from './types.ts';

export interface MarketTerms {
  readonly tokenId: string;
  readonly side: 'BUY' | 'SELL';
  /** BUY: collateral to pay at most; SELL: shares to sell. Decimal text. */
  readonly amount: string;
  /** The worst price, as decimal text; absent: any price of the book. */
  readonly price?: string;
  /** FAK (when absent): what the book has now; FOK: all of it or nothing. */
  readonly type?: 'FAK' | 'FOK';
}

export interface Sweep {
  readonly price: string;
  readonly size: string;
}

/** A size with two decimals costs whole millionths at any price. */
const SIZE_STEP = MICRO / 100n;

/**
 * @param book of the token, best level last @throws LiquidityError where the book has no level within the
 * price, or, for FOK, too little; RangeError for an amount that buys nothing
 */
export function sweepOf(book: BookAnswer, terms: MarketTerms): Sweep {
  const { amount, price: worst, side, type = 'FAK' } = terms;
  const isBuy = side === 'BUY';
  const wanted = toMicro(amount);
  if (wanted === 0n) throw new RangeError('amount must be positive');
  const bound = worst === undefined ? undefined : toMicro(worst);
  let limit: bigint | undefined;
  let shares = 0n;
  let spent = 0n;
  for (const level of (isBuy ? book.asks : book.bids).toReversed()) {
    const price = toMicro(level.price);
    const isWithin = bound === undefined || (isBuy ? price <= bound : price >= bound);
    if (!isWithin || spent >= wanted) break;
    const size = toMicro(level.size);
    limit = price;
    shares += size;
    spent += isBuy ? (size * price) / MICRO : size;
  }
  if (limit === undefined || (type === 'FOK' && spent < wanted)) {
    const within = worst === undefined ? '' : ` within ${worst}`;
    const offered = `${fromMicro(shares)} shares${within}`;
    throw new LiquidityError(`the book has ${offered}`, book.asset_id, fromMicro(shares));
  }
  const size = isBuy ? ((wanted * MICRO) / limit / SIZE_STEP) * SIZE_STEP : wanted;
  if (size === 0n)
    throw new RangeError(`${amount} buys less than 0.01 shares at ${fromMicro(limit)}`);
  return { price: fromMicro(limit), size: fromMicro(size) };
}
