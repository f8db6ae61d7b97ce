/**
 * Placement of an order at the end of its taker delay: the rules that may have changed meanwhile, then the match. An
 * order that can no longer be placed ends. Rules: docs/protocol.md#taker-delay
 */
import type * as matching from '../book/matching.ts';
import { OrderFlag } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { AMOUNT_MAX } from '../tables/capacities.ts';
import { EndReason, type EndReasonCode, MarketFlag } from '../tables/codes.ts';
import {
  BOOK_I,
  Book,
  Flag,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type { AccountRow, BookRow, MicroShares, OrderRow, Ticks } from '../tables/units.ts';
import { stopDelay } from './delayed.ts';
import { agentOf, crosses } from './match.ts';
import { closeUnrested, opening } from './orders.ts';
import { accept, checkMatch, isResting, mayRest } from './place.ts';
import { RejectReason } from './reject-reasons.ts';

const MS = 1_000;
const FEE_MASK = 0xfff;

/** Returns the function that places a delayed order which is due. */
export function placingDelayed(context: EngineContext): (row: OrderRow) => void {
  const open = opening(context);
  return (row) => {
    const { t } = context;
    const { orderI } = t;
    const offset = row << ORDER_I;
    const book = t.tokenI[(orderI[offset | Order.token]! << TOKEN_I) | Token.book]! as BookRow;
    const limit = orderI[offset | Order.price]! as Ticks;
    const side = (orderI[offset | Order.flags]! & Flag.ask) as matching.Side;
    const type = (orderI[offset | Order.flags]! >>> Flag.typeShift) & 3;
    context.changes += 1;
    context.making = 0;
    context.taking = 0;
    context.mixWord(orderI[offset | Order.id]!);
    stopDelay(context, row);
    const best = t.matching.best(book, (1 - side) as matching.Side);
    const isCrossing = crosses(side, best, limit);
    const reason = refusal(context, row, book, side, limit, type, best, isCrossing);
    if (reason !== EndReason.none) {
      closeUnrested(context, row, book, limit, reason);
      return;
    }
    context.events.due(orderI, offset, t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!);
    if (!isCrossing || accept(context, row, type, book, limit)) {
      open(row, book, side, limit, orderI[offset | Order.owner]! as AccountRow);
    }
  };
}

function refusal(
  context: EngineContext,
  row: OrderRow,
  book: BookRow,
  side: matching.Side,
  limit: Ticks,
  type: number,
  best: number,
  isCrossing: boolean,
): EndReasonCode | typeof EndReason.none {
  const { t } = context;
  const offset = row << ORDER_I;
  const d = row << ORDER_F;
  const expiry = t.orderF[d | Order.expiry]!;
  if (expiry !== 0 && expiry * MS <= context.time) return EndReason.expired;
  const market = t.bookI[(book << BOOK_I) | Book.market]! << MARKET_I;
  if ((t.marketI[market | Market.flags]! & MarketFlag.tradable) === 0) return EndReason.unmatched;
  const feeBps = (t.orderI[offset | Order.flags]! >>> Flag.feeShift) & FEE_MASK;
  if (feeBps < t.marketI[market | Market.baseFeeBps]!) return EndReason.unmatched;
  const shares = t.orderF[d | Order.remaining]! as MicroShares;
  const maker = t.orderI[offset | Order.maker]! as AccountRow;
  if (isResting(type)) {
    const owner = t.orderI[offset | Order.owner]! as AccountRow;
    if (!mayRest(context, owner, maker)) return EndReason.unmatched;
    const isTooLarge = !isCrossing && t.matching.quantityAt(book, limit) + shares > AMOUNT_MAX;
    if (isTooLarge) return EndReason.unmatched;
    if (!isCrossing) return EndReason.none;
  }
  const flags = type << OrderFlag.typeShift;
  const agent = agentOf(t, row);
  const reason = checkMatch(context, flags, book, side, limit, best, maker, agent, shares);
  if (reason === RejectReason.accepted) return EndReason.none;
  return reason === RejectReason.selfTrade ? EndReason.selfTrade : EndReason.unmatched;
}
