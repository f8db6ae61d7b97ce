/**
 * Payout of a market as it would be now, to the micro-unit, without making it. Ends on inconsistent tables too, so
 * that a reader beside a writer can call and repeat it.
 */
import { NO_LEVEL, Side } from '../book/matching.ts';
import {
  BOOK_I,
  Book,
  Flag,
  HOLDER_F,
  HOLDER_I,
  Holder,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_I,
  Order,
  POSITION_F,
  POSITION_I,
  POSITION_LINK_I,
  Position,
  PositionLink,
  State,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, MarketRow, OrderRow } from '../tables/units.ts';
import { payoutByWeight } from './payout.ts';
import { reservedCash } from './reservations.ts';

export interface OutcomePreview {
  readonly wallets: number;
  readonly shares: number;
  readonly paid: number;
  /** Shares that the venue has from buyers' fees. */
  readonly venueShares: number;
  readonly venuePaid: number;
}

export interface HolderPreview {
  readonly account: AccountRow;
  readonly outcome: number;
  readonly shares: number;
  readonly paid: number;
}

/** Rows from a place on, at most so many. */
interface Page {
  readonly from: number;
  readonly limit: number;
}

export interface PayoutPreview {
  readonly outcomes: readonly OutcomePreview[];
  /** Holders of the page, by outcome; every other member is about all. */
  readonly rows: readonly HolderPreview[];
  readonly wallets: number;
  readonly paid: number;
  readonly venuePaid: number;
  readonly rounding: number;
  /** Open orders of clients, which end, and the cash that their BUYs reserve. */
  readonly orders: number;
  readonly released: number;
}

/** @param weights of each outcome; their sum is not 0 */
export function previewPayout(
  t: Tables,
  market: MarketRow,
  weights: readonly number[],
  page: Page,
): PayoutPreview {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const first = t.marketI[(market << MARKET_I) + Market.firstToken]!;
  const accounts = new Set<number>();
  const rows: HolderPreview[] = [];
  let place = 0;
  const outcomes = weights.map((weight, outcome) => {
    const payout = (shares: number) => payoutByWeight(shares, weight, sum);
    return previewOutcome(t, first + outcome, payout, (account, shares) => {
      accounts.add(account);
      const isOnPage = place >= page.from && rows.length < page.limit;
      if (isOnPage) rows.push({ account, outcome, shares, paid: payout(shares) });
      place += 1;
    });
  });
  const paid = outcomes.reduce((total, each) => total + each.paid, 0);
  const venuePaid = outcomes.reduce((total, each) => total + each.venuePaid, 0);
  const collateral = t.marketF[(market << MARKET_F) + Market.collateral]!;
  const rounding = collateral - paid - venuePaid;
  return {
    outcomes,
    rows,
    wallets: accounts.size,
    paid,
    venuePaid,
    rounding,
    ...previewOrders(t, market),
  };
}

function previewOutcome(
  t: Tables,
  token: number,
  payout: (shares: number) => number,
  visit: (account: AccountRow, shares: number) => void,
): OutcomePreview {
  let [wallets, shares, paid] = [0, 0, 0];
  let row = t.holderI[(token << HOLDER_I) + Holder.head]!;
  for (let left = t.holderI[(token << HOLDER_I) + Holder.count]!; row !== 0 && left > 0; left--) {
    const total = t.positionF[(row << POSITION_F) + Position.total]!;
    // An order that buys has its position before it has shares.
    if (total > 0) {
      wallets += 1;
      shares += total;
      paid += payout(total);
      visit(t.positionI[(row << POSITION_I) + Position.account]! as AccountRow, total);
    }
    row = t.positionLinkI[(row << POSITION_LINK_I) + PositionLink.tokenNext]!;
  }
  const venueShares = t.holderF[(token << HOLDER_F) + Holder.venue]!;
  return { wallets, shares, paid, venueShares, venuePaid: payout(venueShares) };
}

function previewOrders(t: Tables, market: MarketRow): Pick<PayoutPreview, 'orders' | 'released'> {
  const { marketI, matching } = t;
  const firstBook = marketI[(market << MARKET_I) + Market.firstBook]!;
  const endBook = firstBook + marketI[(market << MARKET_I) + Market.bookCount]!;
  let [orders, released] = [0, 0];
  let left = t.state[State.openOrders]! + t.state[State.sourceLevels]!;
  const visit = (order: OrderRow): void => {
    const flags = t.orderI[(order << ORDER_I) + Order.flags]!;
    if ((flags & Flag.source) !== 0) return;
    orders += 1;
    if ((flags & Flag.sell) === 0) released += reservedCash(t, order);
  };
  for (let book = firstBook; book < endBook; book++) {
    for (const side of [Side.bid, Side.ask]) {
      let levels = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]!;
      let level = matching.best(book, side);
      for (; level !== NO_LEVEL && levels > 0; levels--) {
        for (let slot = matching.first(book, level); slot !== 0 && left > 0; left--) {
          visit(matching.userData(slot) as OrderRow);
          slot = matching.next(slot);
        }
        level = matching.worse(book, side, level);
      }
    }
  }
  return { orders, released };
}
