/** Orders whose every column follows from their number, so that a torn row shows. */
import { OrderType } from '../../engine/commands.ts';
import type { TestOrder } from '../market-data/read-fixture.ts';

/** Terms of order number `n`: wallets 1 and 2 are signed for by 1, 3 by itself. */
export function orderTerms(n: number): Omit<TestOrder, 'token'> {
  const wallet = 1 + (n % 3);
  return {
    wallet,
    ...(wallet === 2 ? { signer: 1 } : {}),
    ticks: 1 + (n % 7),
    shares: (1 + (n % 50)) * 1_000_000,
  };
}

/** Sells into the bids, a part at a time. */
export const TAKER = { wallet: 9, sell: true, ticks: 1, type: OrderType.FAK } as const;
