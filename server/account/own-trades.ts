/**
 * The trades of one owner, newest first: every match in which an order that it signed was taker or
 * maker. Only flushed fills, as in GET /trades, and as far back as those reach.
 *
 * A walk over many fills pauses regularly, so that the event loop has turns. Fills may be added or
 * leave the window during a pause.
 *
 * Thread: I/O.
 */

import {
  fillMaker,
  fillMakerIdAt,
  fillMakerOwner,
  fillMakerToken,
  fillRow,
  fillTaker,
  fillTakerIdAt,
  fillTakerOwner,
  fillTakerToken,
  fillTime,
  tokenMarket,
} from '../../engine/reads.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { sameId } from '../../engine/tables/words.ts';
import { nextTurn } from '../common/next-turn.ts';
import { type FillChain, matchesOf, NONE } from '../market-data/fill-chains.ts';
import { tradeIdOf } from '../market-data/match-ids.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { OrderView } from './order-rows.ts';
import { NOBODY, PAGE_SIZE, type Page } from './pages.ts';

/** A match as its owner sees it. */
export interface OwnTrade {
  /** Sequence of its first fill. */
  readonly match: number;
  /** Whether the owner's order is the taker. */
  readonly isTaker: boolean;
  /** Fills of the match in which an order of the owner was the maker. */
  readonly made: number;
}

/** Rows: 0 = any, NOBODY = unknown. Times are unix seconds, both exclusive. */
export interface TradeFilter {
  readonly market: number;
  /** The token of the taker, or that of an own order. */
  readonly token: number;
  /** Wallets: of any order of the trade, of the taker's order, of a maker's order. */
  readonly wallet: number;
  readonly taker: number;
  readonly maker: number;
  readonly before: number;
  readonly after: number;
}

/** Fills read between two turns of the event loop: less than a millisecond. */
const FILLS_PER_TURN = 4_000;
/** How many fills of one match are searched for a wallet or a token. */
const FILLS_PER_MATCH = 20_000;
/** A page ends early when its trades have this many maker orders in total. */
const MAKERS_PER_PAGE = 2_000;
/** How far back the trades of orders are searched, in fills of the owner. */
const ASSOCIATED_FILLS = 10_000;
const ASSOCIATED_PER_TURN = 1_000;
const NO_PLACES: readonly number[] = [];
const MS = 1_000;

export class OwnTrades {
  private readonly index: TradesIndex;
  private readonly makersPerPage: number;
  private readonly associatedFills: number;

  constructor(
    index: TradesIndex,
    makersPerPage = MAKERS_PER_PAGE,
    associatedFills = ASSOCIATED_FILLS,
  ) {
    this.index = index;
    this.makersPerPage = makersPerPage;
    this.associatedFills = associatedFills;
  }

  async page(owner: number, filter: TradeFilter, offset: number): Promise<Page<OwnTrade>> {
    const rows: OwnTrade[] = [];
    const { maker, market, taker, token, wallet } = filter;
    if (owner === 0 || [maker, market, taker, token, wallet].includes(NOBODY)) {
      return { rows, more: false };
    }
    const { index } = this;
    let read = 0;
    let passed = 0;
    let makers = 0;
    for (const { isTaker, made, match } of matchesOf(
      index,
      index.takenBySigner,
      index.madeBySigner,
      owner,
    )) {
      const trade = { match, isTaker, made: made.length };
      read += 1 + made.length;
      if (read > FILLS_PER_TURN) {
        read = 0;
        await nextTurn();
      }
      if (this.secondsOf(match) <= filter.after) break;
      const fills = this.fillsOf(match);
      read += fills;
      if (!this.passes(owner, trade, fills, filter)) continue;
      passed += 1;
      if (passed <= offset) continue;
      if (rows.length === PAGE_SIZE || makers >= this.makersPerPage) return { rows, more: true };
      rows.push(trade);
      makers += fills;
    }
    return { rows, more: false };
  }

  /** The trade of a match, if the owner took part in it and it passes the filter. */
  find(owner: number, match: number, filter: TradeFilter): OwnTrade | undefined {
    const { end, first, t } = this.index;
    if (owner === 0 || match < first || match >= end) return undefined;
    if (this.index.matchOf(match) !== match) return undefined;
    const fills = this.fillsOf(match);
    let made = 0;
    for (let fill = match; fill < match + fills; fill++) {
      if (fillMakerOwner(t, fillRow(t, fill)) === owner) made += 1;
    }
    const isTaker = fillTakerOwner(t, fillRow(t, match)) === owner;
    const trade = { match, isTaker, made };
    if ((!isTaker && made === 0) || this.secondsOf(match) <= filter.after) return undefined;
    return this.passes(owner, trade, fills, filter) ? trade : undefined;
  }

  /**
   * The ids of the trades of each order, oldest first. Searched are the owner's newest
   * ASSOCIATED_FILLS fills, up to the end that the index had before the orders were read.
   */
  async tradesOf(owner: number, orders: readonly OrderView[], end: number): Promise<string[][]> {
    const found = orders.map((): number[] => []);
    const places = new Map<number, number[]>();
    let oldest = Number.POSITIVE_INFINITY;
    orders.forEach((order, i) => {
      if (order.remaining === order.original) return;
      places.set(order.id[0]!, [...(places.get(order.id[0]!) ?? []), i]);
      oldest = Math.min(oldest, order.created);
    });
    if (places.size === 0) return orders.map(() => []);
    const { index } = this;
    const { t } = index;
    const { fillI } = t;
    const take = (fill: number, idAt: (row: FillRow) => number): boolean => {
      if (fill >= end) return true;
      const row = fillRow(t, fill);
      const id = idAt(row);
      for (const i of places.get(fillI[id]!) ?? NO_PLACES) {
        const match = index.matchOf(fill);
        if (sameId(fillI, id, orders[i]!.id, 0) && found[i]!.at(-1) !== match) {
          found[i]!.push(match);
        }
      }
      return fillTime(t, row) >= oldest;
    };
    const walk = async (chain: FillChain, idAt: (row: FillRow) => number) => {
      let fill = chain.newest(owner);
      for (let read = 1; fill !== NONE && take(fill, idAt); read++) {
        if (read >= this.associatedFills) return;
        if (read % ASSOCIATED_PER_TURN === 0) await nextTurn();
        fill = chain.before(fill);
      }
    };
    // An order may be in both chains: first it was the taker, and the maker after it rested.
    await walk(index.madeBySigner, fillMakerIdAt);
    await walk(index.takenBySigner, fillTakerIdAt);
    return found.map((matches) => matches.sort((a, b) => a - b).map(tradeIdOf));
  }

  private secondsOf(match: number): number {
    const { t } = this.index;
    return Math.floor(fillTime(t, fillRow(t, match)) / MS);
  }

  private passes(owner: number, trade: OwnTrade, fills: number, filter: TradeFilter): boolean {
    const { match } = trade;
    const { t } = this.index;
    if (this.secondsOf(match) >= filter.before) return false;
    const row = fillRow(t, match);
    const token = fillTakerToken(t, row);
    const market = tokenMarket(t, token);
    if (filter.market !== 0 && market !== filter.market) return false;
    const taker = fillTaker(t, row);
    if (filter.taker !== 0 && taker !== filter.taker) return false;
    const wanted = {
      maker: filter.maker,
      token: filter.token === token ? 0 : filter.token,
      wallet: filter.wallet === taker ? 0 : filter.wallet,
    };
    if (wanted.token !== 0 && trade.made === 0) return false;
    return this.makersPass(owner, match, Math.min(FILLS_PER_MATCH, fills), wanted);
  }

  /** Whether one of the fills has each wanted token and wallet; 0 = not wanted. */
  private makersPass(
    owner: number,
    match: number,
    fills: number,
    wanted: { maker: number; token: number; wallet: number },
  ): boolean {
    const { t } = this.index;
    const end = match + fills;
    let fill = match;
    while (fill < end && (wanted.maker !== 0 || wanted.token !== 0 || wanted.wallet !== 0)) {
      const row = fillRow(t, fill);
      const isOwn = fillMakerOwner(t, row) === owner;
      const maker = fillMaker(t, row);
      if (isOwn && fillMakerToken(t, row) === wanted.token) wanted.token = 0;
      if (maker === wanted.maker) wanted.maker = 0;
      if (maker === wanted.wallet) wanted.wallet = 0;
      fill += 1;
    }
    return wanted.maker === 0 && wanted.token === 0 && wanted.wallet === 0;
  }

  /** The number of fills of a match. */
  private fillsOf(match: number): number {
    const { end, mask, toMatch } = this.index;
    let count = 1;
    while (match + count < end && toMatch[(match + count) & mask] === count) count += 1;
    return count;
  }
}
