/**
 * The orders of one owner: any by its id, wherever it is by now, and the open ones, newest first.
 *
 * An owner may have a hundred thousand open orders, and a page may begin anywhere among them
 * (cursors are offsets), so the list is walked a piece at a time, with turns of the event
 * loop between. A piece begins at an order that the one before it saw next; when that one has ended
 * meanwhile, the walk goes back by a piece.
 *
 * Thread: I/O, while workers write.
 */

import { findAccount, newestOwned, nextOwned } from '../../engine/orders/accounts.ts';
import { findOrder, orderStatus } from '../../engine/orders/orders.ts';
import { orderIdAt, orderMaker, orderOwner, orderToken, tokenMarket } from '../../engine/reads.ts';
import { ADDRESS_WORDS, ID_WORDS, Status } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, OrderRow, TokenRow } from '../../engine/tables/units.ts';
import { sameId } from '../../engine/tables/words.ts';
import { nextTurn } from '../common/next-turn.ts';
import { bytesToWords } from '../common/uint256.ts';
import type { SeqlockReader } from '../orders/seqlock-reader.ts';
import { closedOrderRow, type OrderView, openOrderRow, storedOrderRow } from './order-rows.ts';
import { NOBODY, PAGE_SIZE, type Page } from './pages.ts';

/** Which open orders are meant: slots of a market, a token and a wallet; 0 = any, NOBODY = none. */
export interface OrderFilter {
  readonly market: number;
  readonly token: number;
  readonly maker: number;
}

/** Orders of one piece: some 50 us, less than a batch of orders takes to apply. */
const PIECE_ORDERS = 1_000;
/** Above the open orders of the largest table even when a few pieces are walked twice. */
const PIECES_MAX = 65_536;

/** Where a walk goes on: an order, and what lay before it. */
interface OwnOrdersCursor {
  /** 0 = the head of the list. */
  readonly orderRow: OrderRow | 0;
  readonly id: Int32Array;
  /** Orders before it that pass the filter. */
  readonly passed: number;
  /** Those of them that belong to the page. */
  readonly taken: number;
}

interface Piece {
  readonly rows: OrderView[];
  readonly passed: number;
  /** Undefined when the list is at its end, or the page has what it wants. */
  readonly next: { readonly orderRow: OrderRow; readonly id: Int32Array } | undefined;
}

const HEAD: OwnOrdersCursor = { orderRow: 0, id: new Int32Array(ID_WORDS), passed: 0, taken: 0 };

export interface OwnOrdersParts {
  readonly tables: Tables;
  readonly seqlock: SeqlockReader;
  /** The final state of an order (32 bytes) on disk, as a row of finished orders. */
  readonly storedFinal: (id: Buffer) => Buffer | undefined;
}

export class OwnOrders {
  private readonly t: Tables;
  private readonly seqlock: SeqlockReader;
  private readonly storedFinal: (id: Buffer) => Buffer | undefined;
  private readonly piecesMax: number;

  constructor(parts: OwnOrdersParts, piecesMax = PIECES_MAX) {
    this.t = parts.tables;
    this.seqlock = parts.seqlock;
    this.storedFinal = parts.storedFinal;
    this.piecesMax = piecesMax;
  }

  /** Account slot of a 20-byte address; 0 = it never had an order accepted. */
  owner(address: Uint8Array): number {
    return findAccount(this.t, bytesToWords(address, new Int32Array(ADDRESS_WORDS)), 0);
  }

  /** An order that was accepted, by its id (32 bytes), when it is of this owner. */
  async find(owner: number, id: Buffer): Promise<OrderView | undefined> {
    if (owner === 0) return undefined;
    const key = bytesToWords(id, new Int32Array(ID_WORDS));
    const { t } = this;
    let row = await this.seqlock.read(() => {
      const slot = findOrder(t, key, 0);
      if (slot === 0) return undefined;
      return slot > 0 ? openOrderRow(t, slot as OrderRow) : closedOrderRow(t, -slot as OrderRow);
    });
    if (row === undefined) {
      // What has left memory is on disk: it leaves only then.
      const stored = this.storedFinal(id);
      row = stored === undefined ? undefined : storedOrderRow(stored);
    }
    return row?.owner === owner ? row : undefined;
  }

  /**
   * The page of open orders from an offset on; undefined when so many of them ended meanwhile that
   * the walk did not come to an end.
   */
  async page(
    owner: number,
    filter: OrderFilter,
    offset: number,
  ): Promise<Page<OrderView> | undefined> {
    const rows: OrderView[] = [];
    if (owner === 0 || [filter.maker, filter.market, filter.token].includes(NOBODY)) {
      return { rows, more: false };
    }
    const places: OwnOrdersCursor[] = [HEAD];
    for (let pieces = 0; pieces < this.piecesMax; pieces++) {
      if (pieces > 0) await nextTurn();
      const cursor = places.at(-1) ?? HEAD;
      rows.length = cursor.taken;
      const piece = await this.seqlock.read(() => this.walk(owner, filter, offset, cursor));
      if (piece === undefined) {
        places.pop();
        continue;
      }
      rows.push(...piece.rows);
      if (rows.length > PAGE_SIZE) return { rows: rows.slice(0, PAGE_SIZE), more: true };
      if (piece.next === undefined) return { rows, more: false };
      places.push({ ...piece.next, passed: piece.passed, taken: rows.length });
    }
    return undefined;
  }

  /** One piece, up to one row more than the page holds; undefined when its place is gone. */
  private walk(
    owner: number,
    filter: OrderFilter,
    offset: number,
    cursor: OwnOrdersCursor,
  ): Piece | undefined {
    const { orderI } = this.t;
    let orderRow = cursor.orderRow;
    if (orderRow === 0) orderRow = newestOwned(this.t, owner as AccountRow);
    else if (!this.isStillOpen(owner, orderRow, cursor.id)) return undefined;
    const rows: OrderView[] = [];
    let passed = cursor.passed;
    for (let walked = 0; orderRow !== 0; walked++) {
      if (walked === PIECE_ORDERS) {
        const id = orderIdAt(orderRow);
        return { rows, passed, next: { orderRow, id: orderI.slice(id, id + ID_WORDS) } };
      }
      if (this.passes(orderRow, filter)) {
        if (passed >= offset) rows.push(openOrderRow(this.t, orderRow));
        passed += 1;
        if (cursor.taken + rows.length > PAGE_SIZE) return { rows, passed, next: undefined };
      }
      orderRow = nextOwned(this.t, orderRow);
    }
    return { rows, passed, next: undefined };
  }

  private isStillOpen(owner: number, orderRow: OrderRow, id: Int32Array): boolean {
    const { orderI } = this.t;
    if (orderStatus(this.t, orderRow) !== Status.live) return false;
    return orderOwner(this.t, orderRow) === owner && sameId(orderI, orderIdAt(orderRow), id, 0);
  }

  private passes(orderRow: OrderRow, filter: OrderFilter): boolean {
    const { t } = this;
    return this.matches(filter, orderToken(t, orderRow), orderMaker(t, orderRow));
  }

  /** Whether a token and a wallet are what a filter means. */
  matches({ maker, market, token }: OrderFilter, ofToken: TokenRow, ofMaker: AccountRow): boolean {
    if (maker !== 0 && ofMaker !== maker) return false;
    if (token !== 0 && ofToken !== token) return false;
    return market === 0 || tokenMarket(this.t, ofToken) === market;
  }
}
