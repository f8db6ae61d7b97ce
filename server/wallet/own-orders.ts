/**
 * Orders of one owner: any order by its id, open or closed, and the list of open orders, newest first.
 *
 * An owner may have a hundred thousand open orders, and a page may begin at any of them (cursors are offsets), so the
 * walk pauses after each piece. A piece begins at the order that followed the previous piece. If that order was
 * closed in the meantime, the walk goes back by one piece.
 *
 * Thread: I/O, while workers write.
 */

import { agentOpenOrders, agentsOfWallet } from '../../engine/ledger/agents.ts';
import { findAccount, newestOwned, nextOwned } from '../../engine/orders/accounts.ts';
import { delayedOf } from '../../engine/orders/delayed.ts';
import { findOrder, orderStatus } from '../../engine/orders/orders.ts';
import {
  isDelayedOrder,
  orderCreated,
  orderIdAt,
  orderMaker,
  orderOwner,
  orderToken,
  tokenMarket,
  walletSigner,
} from '../../engine/reads.ts';
import { ADDRESS_WORDS, ID_WORDS, Status } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, OrderRow, TokenRow } from '../../engine/tables/units.ts';
import { sameId } from '../../engine/tables/words.ts';
import { nextIteration } from '../common/event-loop.ts';
import { bytesToWords } from '../common/uint256.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { closedOrderRow, type OrderView, openOrderRow, storedOrderRow } from './order-rows.ts';
import { NOBODY, PAGE_SIZE, type Page } from './pages.ts';

/** Rows of a market, a token and a wallet that open orders must have; 0 = any, NOBODY = none. */
export interface OrderFilter {
  readonly market: number;
  readonly token: number;
  readonly maker: number;
}

/** Orders that a list has. */
export interface OrderScope {
  readonly owner: AccountRow | 0;
  readonly filter: OrderFilter;
  /** Wallet whose agents' orders it has too, before the others; 0 = none. */
  readonly agentsOf: AccountRow | 0;
}

/** Orders of one piece: some 50 us, less time than applying a batch of orders. */
const PIECE_ORDERS = 1_000;
/** More than the open orders of the largest table need, even when a few pieces are walked twice. */
const PIECES_MAX = 65_536;

interface OwnOrdersCursor {
  /** 0 = the head of the list. */
  readonly orderRow: OrderRow | 0;
  readonly id: Int32Array;
  /** Numbers of orders before this one: those that pass the filter, and those of them on the page. */
  readonly passed: number;
  readonly taken: number;
}

interface Piece {
  readonly rows: OrderView[];
  readonly passed: number;
  /** `undefined` at the end of the list, or when the page is complete. */
  readonly next: { readonly orderRow: OrderRow; readonly id: Int32Array } | undefined;
}

const HEAD: OwnOrdersCursor = { orderRow: 0, id: new Int32Array(ID_WORDS), passed: 0, taken: 0 };

export interface OwnOrdersParts {
  readonly tables: Tables;
  readonly sequenceLock: SequenceLockReader;
  /** Closed order on disk by the 32 bytes of its id, as a row of closed orders. */
  readonly storedClosedOrder: (id: Buffer) => Buffer | undefined;
}

export class OwnOrders {
  private readonly tables: Tables;
  private readonly sequenceLock: SequenceLockReader;
  private readonly storedClosedOrder: (id: Buffer) => Buffer | undefined;
  private readonly piecesMax: number;

  constructor(parts: OwnOrdersParts, piecesMax = PIECES_MAX) {
    this.tables = parts.tables;
    this.sequenceLock = parts.sequenceLock;
    this.storedClosedOrder = parts.storedClosedOrder;
    this.piecesMax = piecesMax;
  }

  /** Account row of a 20-byte address; 0 = none of its orders was ever accepted. */
  owner(address: Uint8Array): AccountRow | 0 {
    return findAccount(this.tables, bytesToWords(address, new Int32Array(ADDRESS_WORDS)), 0);
  }

  /** Accepted order by its id (32 bytes), if this owner signed it or signs for its wallet. */
  async find(owner: number, id: Buffer): Promise<OrderView | undefined> {
    if (owner === 0) return undefined;
    const key = bytesToWords(id, new Int32Array(ID_WORDS));
    const { tables } = this;
    let row = await this.sequenceLock.read(() => {
      const slot = findOrder(tables, key, 0);
      if (slot === 0) return undefined;
      return slot > 0
        ? openOrderRow(tables, slot as OrderRow)
        : closedOrderRow(tables, -slot as OrderRow);
    });
    if (row === undefined) {
      // An order leaves memory only after it is on disk.
      const stored = this.storedClosedOrder(id);
      row = stored === undefined ? undefined : storedOrderRow(stored);
    }
    const isOwn = row?.owner === owner || (row && walletSigner(tables, row.maker) === owner);
    return isOwn ? row : undefined;
  }

  /** Page of the open order with an id, where the page of the same arguments lists it. */
  async pageOfOne(
    id: Buffer,
    { agentsOf, filter, owner }: OrderScope,
    offset: number,
  ): Promise<Page<OrderView>> {
    const row = await this.find(owner, id);
    const isListed =
      row?.status === Status.live &&
      offset === 0 &&
      (row.owner === owner || row.maker === agentsOf) &&
      this.matches(filter, row.token, row.maker);
    return { rows: isListed ? [row] : [], more: false };
  }

  /**
   * Page of open orders from an offset on; undefined if the walk did not finish because too many orders were closed.
   * @param agentsOf wallet whose agents' orders come first
   */
  async page(
    owner: number,
    filter: OrderFilter,
    offset: number,
    agentsOf: AccountRow | 0 = 0,
  ): Promise<Page<OrderView> | undefined> {
    const rows: OrderView[] = [];
    if (owner === 0 || [filter.maker, filter.market, filter.token].includes(NOBODY)) {
      return { rows, more: false };
    }
    const places: OwnOrdersCursor[] = [HEAD];
    for (let pieces = 0; pieces < this.piecesMax; pieces++) {
      if (pieces > 0) await nextIteration();
      const cursor = places.at(-1) ?? HEAD;
      rows.length = cursor.taken;
      const piece = await this.sequenceLock.read(() =>
        this.walk(owner, filter, offset, cursor, agentsOf),
      );
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

  /** Walks one piece, up to one row more than the page has; undefined if its first order was closed. */
  private walk(
    owner: number,
    filter: OrderFilter,
    offset: number,
    cursor: OwnOrdersCursor,
    agentsOf: AccountRow | 0,
  ): Piece | undefined {
    const { orderI } = this.tables;
    let orderRow = cursor.orderRow;
    const rows: OrderView[] = [];
    let passed = cursor.passed;
    if (orderRow === 0) {
      // Those of agents are in lists of others; those that wait for a taker delay are in none.
      const first = [...this.ofAgents(agentsOf), ...delayedOf(this.tables, owner as AccountRow)];
      for (const row of first) {
        if (!this.passes(row, filter)) continue;
        if (passed >= offset) rows.push(openOrderRow(this.tables, row));
        passed += 1;
        if (cursor.taken + rows.length > PAGE_SIZE) return { rows, passed, next: undefined };
      }
      orderRow = newestOwned(this.tables, owner as AccountRow);
    } else if (!this.isStillOpen(owner, orderRow, cursor.id)) return undefined;
    for (let walked = 0; orderRow !== 0; walked++) {
      if (walked === PIECE_ORDERS) {
        const id = orderIdAt(orderRow);
        return { rows, passed, next: { orderRow, id: orderI.slice(id, id + ID_WORDS) } };
      }
      if (this.passes(orderRow, filter)) {
        if (passed >= offset) rows.push(openOrderRow(this.tables, orderRow));
        passed += 1;
        if (cursor.taken + rows.length > PAGE_SIZE) return { rows, passed, next: undefined };
      }
      orderRow = nextOwned(this.tables, orderRow);
    }
    return { rows, passed, next: undefined };
  }

  /** Open orders of the agents of a wallet, newest first. */
  private ofAgents(wallet: AccountRow | 0): OrderRow[] {
    const { tables } = this;
    return agentsOfWallet(tables, wallet)
      .flatMap((agent) => agentOpenOrders(tables, agent))
      .sort((a, b) => orderCreated(tables, b) - orderCreated(tables, a) || b - a);
  }

  /** Orders of a wallet: those of its agents, and those of its signer. */
  ofWallet(wallet: AccountRow | 0, filter: OrderFilter): OrderScope {
    const owner = wallet === 0 ? 0 : walletSigner(this.tables, wallet);
    const isOther = filter.maker !== 0 && filter.maker !== wallet;
    return { owner, filter: { ...filter, maker: isOther ? NOBODY : wallet }, agentsOf: wallet };
  }

  private isStillOpen(owner: number, orderRow: OrderRow, id: Int32Array): boolean {
    const { orderI } = this.tables;
    if (orderStatus(this.tables, orderRow) !== Status.live) return false;
    return (
      !isDelayedOrder(this.tables, orderRow) &&
      orderOwner(this.tables, orderRow) === owner &&
      sameId(orderI, orderIdAt(orderRow), id, 0)
    );
  }

  private passes(orderRow: OrderRow, filter: OrderFilter): boolean {
    const { tables } = this;
    return this.matches(filter, orderToken(tables, orderRow), orderMaker(tables, orderRow));
  }

  matches({ maker, market, token }: OrderFilter, ofToken: TokenRow, ofMaker: AccountRow): boolean {
    if (maker !== 0 && ofMaker !== maker) return false;
    if (token !== 0 && ofToken !== token) return false;
    return market === 0 || tokenMarket(this.tables, ofToken) === market;
  }
}
