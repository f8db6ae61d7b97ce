/**
 * End of a market: from this time on it takes no orders. Its resting orders end, it never trades again, and it may
 * still resolve. Rules: docs/protocol.md#end-of-a-market
 */
import type { EngineContext } from '../context.ts';
import { eachOrder } from '../orders/books.ts';
import { delayedIn } from '../orders/delayed.ts';
import { closeOrder } from '../orders/orders.ts';
import { EndReason, type EndReasonCode, MarketFlag } from '../tables/codes.ts';
import { MARKET_F, MARKET_I, Market, State } from '../tables/layout.ts';
import type { BookRow, MarketRow, MicroShares, OrderRow } from '../tables/units.ts';

/** Sets the end of a market, 0 = none. A reached end or a resolution makes it final. */
export function setEnd(context: EngineContext, market: MarketRow, end: number): void {
  const { ending, marketF, marketI } = context.t;
  const offset = market << MARKET_I;
  const at = (market << MARKET_F) + Market.end;
  const isOver = (marketI[offset + Market.flags]! & MarketFlag.endReached) !== 0;
  if (isOver || marketI[offset + Market.resolution] !== 0) return;
  if (ending.has(market)) ending.remove(market);
  marketF[at] = end;
  context.mix(end);
  if (end === 0) return;
  ending.add(market);
  if (end <= context.time) endMarket(context, market);
}

export function endMarket(context: EngineContext, market: MarketRow): void {
  const { marketF, marketI, state } = context.t;
  const offset = market << MARKET_I;
  dropEnd(context, market);
  context.mixWord(market);
  endOrders(context, market, EndReason.endReached);
  marketI[offset + Market.flags] =
    (marketI[offset + Market.flags]! & ~MarketFlag.tradable) |
    MarketFlag.ended |
    MarketFlag.endReached;
  state[State.endsReached]! += 1;
  const minSize = marketF[(market << MARKET_F) + Market.minSize]! as MicroShares;
  context.events.market(market, false, marketI[offset + Market.baseFeeBps]!, minSize);
}

/** Removes a market from the heap of ends; its column stays. */
export function dropEnd({ t: { ending } }: EngineContext, market: MarketRow): void {
  if (ending.has(market)) ending.remove(market);
}

/** Ends all resting and delayed orders of a market. Its books count as changed even without orders. */
export function endOrders(context: EngineContext, market: MarketRow, reason: EndReasonCode): void {
  const { marketI } = context.t;
  const firstBook = marketI[(market << MARKET_I) + Market.firstBook]!;
  const endBook = firstBook + marketI[(market << MARKET_I) + Market.bookCount]!;
  for (let book = firstBook; book < endBook; book++) {
    context.touch(book as BookRow);
    eachOrder(context.t, book as BookRow, (row) => closeOrder(context, row, reason));
  }
  endDelayed(context, market, reason);
}

export function endDelayed(context: EngineContext, market: MarketRow, reason: EndReasonCode): void {
  for (const row of delayedIn(context, market)) closeOrder(context, row as OrderRow, reason);
}
