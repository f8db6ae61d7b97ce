/**
 * Trades of one owner, newest first: every match in which an order that it signed was taker or maker. Only flushed
 * fills in the window of GET /trades.
 *
 * A walk over many fills pauses regularly. Fills may be added or leave the window during a pause.
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
import { nextIteration } from '../common/event-loop.ts';
import { tradeIdOf } from '../common/trade-ids.ts';
import { type FillChain, matchesOf, NONE } from '../market-data/fill-chains.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { OrderView } from './order-rows.ts';
import { NOBODY, PAGE_SIZE, type Page } from './pages.ts';

export interface OwnTrade {
  /** Fill sequence of its first fill. */
  readonly match: number;
  readonly isTaker: boolean;
  /** Fills of the match with a maker order of the owner. */
  readonly made: number;
}

/** Rows: 0 = any, NOBODY = unknown. Times are unix seconds, both exclusive. */
export interface TradeFilter {
  readonly market: number;
  /** Token of the taker, or that of an own order. */
  readonly token: number;
  /** Wallets: of any order of the trade, of the taker's order, of a maker's order. */
  readonly wallet: number;
  readonly taker: number;
  readonly maker: number;
  readonly before: number;
  readonly after: number;
}

/** Fills read without a pause: less than a millisecond. */
const FILLS_PER_TURN = 4_000;
/** Fills of one match that are searched for a wallet or a token. */
const FILLS_PER_MATCH = 20_000;
/** Maker orders after which a page ends early. */
const MAKERS_PER_PAGE = 2_000;
/** Fills of the owner in which the trades of orders are searched. */
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
        await nextIteration();
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

  find(owner: number, match: number, filter: TradeFilter): OwnTrade | undefined {
    const { end, first, tables } = this.index;
    if (owner === 0 || match < first || match >= end) return undefined;
    if (this.index.matchOf(match) !== match) return undefined;
    const fills = this.fillsOf(match);
    let made = 0;
    for (let fill = match; fill < match + fills; fill++) {
      if (fillMakerOwner(tables, fillRow(tables, fill)) === owner) made += 1;
    }
    const isTaker = fillTakerOwner(tables, fillRow(tables, match)) === owner;
    const trade = { match, isTaker, made };
    if ((!isTaker && made === 0) || this.secondsOf(match) <= filter.after) return undefined;
    return this.passes(owner, trade, fills, filter) ? trade : undefined;
  }

  /**
   * Ids of the trades of each order, oldest first, from the owner's newest ASSOCIATED_FILLS fills.
   * @param end end of the index before the orders were read
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
    const { tables } = index;
    const { fillI } = tables;
    const take = (fill: number, idAt: (row: FillRow) => number): boolean => {
      if (fill >= end) return true;
      const row = fillRow(tables, fill);
      const id = idAt(row);
      for (const i of places.get(fillI[id]!) ?? NO_PLACES) {
        const match = index.matchOf(fill);
        if (sameId(fillI, id, orders[i]!.id, 0) && found[i]!.at(-1) !== match) {
          found[i]!.push(match);
        }
      }
      return fillTime(tables, row) >= oldest;
    };
    const walk = async (chain: FillChain, idAt: (row: FillRow) => number) => {
      let fill = chain.newest(owner);
      for (let read = 1; fill !== NONE && take(fill, idAt); read++) {
        if (read >= this.associatedFills) return;
        if (read % ASSOCIATED_PER_TURN === 0) await nextIteration();
        fill = chain.before(fill);
      }
    };
    // An order may be in both chains: first it was the taker, and the maker after it rested.
    await walk(index.madeBySigner, fillMakerIdAt);
    await walk(index.takenBySigner, fillTakerIdAt);
    const { first } = index;
    return found.map((matches) =>
      matches
        .filter((match) => match >= first)
        .sort((a, b) => a - b)
        .map(tradeIdOf),
    );
  }

  private secondsOf(match: number): number {
    const { tables } = this.index;
    return Math.floor(fillTime(tables, fillRow(tables, match)) / MS);
  }

  private passes(owner: number, trade: OwnTrade, fills: number, filter: TradeFilter): boolean {
    const { match } = trade;
    const { tables } = this.index;
    if (this.secondsOf(match) >= filter.before) return false;
    const row = fillRow(tables, match);
    const token = fillTakerToken(tables, row);
    const market = tokenMarket(tables, token);
    if (filter.market !== 0 && market !== filter.market) return false;
    const taker = fillTaker(tables, row);
    if (filter.taker !== 0 && taker !== filter.taker) return false;
    const wanted = {
      maker: filter.maker,
      token: filter.token === token ? 0 : filter.token,
      wallet: filter.wallet === taker ? 0 : filter.wallet,
    };
    if (wanted.token !== 0 && trade.made === 0) return false;
    return this.makersPass(owner, match, Math.min(FILLS_PER_MATCH, fills), wanted);
  }

  /** Returns true if one of the fills has each requested token and wallet; 0 = not requested. */
  private makersPass(
    owner: number,
    match: number,
    fills: number,
    wanted: { maker: number; token: number; wallet: number },
  ): boolean {
    const { tables } = this.index;
    const end = match + fills;
    let fill = match;
    while (fill < end && (wanted.maker !== 0 || wanted.token !== 0 || wanted.wallet !== 0)) {
      const row = fillRow(tables, fill);
      const isOwn = fillMakerOwner(tables, row) === owner;
      const maker = fillMaker(tables, row);
      if (isOwn && fillMakerToken(tables, row) === wanted.token) wanted.token = 0;
      if (maker === wanted.maker) wanted.maker = 0;
      if (maker === wanted.wallet) wanted.wallet = 0;
      fill += 1;
    }
    return wanted.maker === 0 && wanted.token === 0 && wanted.wallet === 0;
  }

  private fillsOf(match: number): number {
    const { end, mask, toMatch } = this.index;
    let count = 1;
    while (match + count < end && toMatch[(match + count) & mask] === count) count += 1;
    return count;
  }
}
