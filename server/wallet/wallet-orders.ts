/**
 * Open orders of a wallet as its operator sees them: signed by it or paid by it. Lists of orders are by signer, and
 * the signer of a wallet may change, so a walk reads all rows of orders, in pieces.
 *
 * Thread: I/O, while workers write.
 */
import { findAccount } from '../../engine/orders/accounts.ts';
import { orderStatus } from '../../engine/orders/orders.ts';
import { isLevel } from '../../engine/orders/source-rows.ts';
import {
  addressAt,
  orderCreated,
  orderIdAt,
  orderMaker,
  orderOwner,
  orderRowCount,
} from '../../engine/reads.ts';
import { ADDRESS_WORDS, ID_WORDS, Status } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, OrderRow } from '../../engine/tables/units.ts';
import { CANCEL_IDS_MIN } from '../common/cancel-ids.ts';
import { nextIteration } from '../common/event-loop.ts';
import { bytesToWords, hexToBytes, wordsToHex } from '../common/uint256.ts';
import { submitCancels } from '../orders/cancel/cancels.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { RequestKind } from '../orders/exchange-memory/slots.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import { type OrderView, openOrderRow } from './order-rows.ts';

interface FoundOrder {
  readonly row: OrderRow;
  readonly id: string;
  readonly signer: AccountRow;
  readonly created: number;
}

interface WalletOrdersParts {
  readonly tables: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly sequencer: Sequencer;
}

/** Rows of a piece: a fraction of a millisecond. */
const PIECE_ROWS = 20_000;
const ADDRESS_BYTES = 20;
const NO_KEY = new Uint8Array(16);

export class WalletOrders {
  private readonly parts: WalletOrdersParts;

  constructor(parts: WalletOrdersParts) {
    this.parts = parts;
  }

  /** Page of the open orders of a wallet from an offset on, newest first, and their number. */
  async page(
    wallet: Uint8Array,
    offset: number,
    limit: number,
  ): Promise<{ readonly total: number; readonly rows: OrderView[] }> {
    const { sequenceLock, tables } = this.parts;
    const found = await this.find([wallet]);
    found.sort((a, b) => b.created - a.created || b.row - a.row);
    const wanted = found.slice(offset, offset + limit);
    const rows = await sequenceLock.read(() =>
      wanted.filter((order) => this.isStill(order)).map(({ row }) => openOrderRow(tables, row)),
    );
    return { total: found.length, rows };
  }

  /**
   * Cancels all open orders of wallets, or the one of an id. Resolves with their number once that is on disk;
   * undefined if some could not be cancelled.
   */
  async cancel(wallets: readonly Uint8Array[], id?: string): Promise<number | undefined> {
    const bySigner = new Map<AccountRow, string[]>();
    for (const order of await this.find(wallets)) {
      if (id !== undefined && order.id !== id) continue;
      const ids = bySigner.get(order.signer);
      if (ids === undefined) bySigner.set(order.signer, [order.id]);
      else ids.push(order.id);
    }
    let canceled = 0;
    for (const [signer, ids] of bySigner) {
      for (let from = 0; from < ids.length; from += CANCEL_IDS_MIN) {
        const count = await this.cancelIds(signer, ids.slice(from, from + CANCEL_IDS_MIN));
        if (count === undefined) return undefined;
        canceled += count;
      }
    }
    return canceled;
  }

  private cancelIds(signer: AccountRow, ids: readonly string[]): Promise<number | undefined> {
    const address = new Uint8Array(ADDRESS_BYTES);
    const { tables } = this.parts;
    hexToBytes(wordsToHex(tables.accountI, addressAt(signer), ADDRESS_WORDS), 20, address, 0);
    const owner = { address, apiKeyBytes: NO_KEY };
    const body = Buffer.from(JSON.stringify(ids));
    return new Promise((resolve) => {
      submitCancels(
        this.parts.sequencer,
        RequestKind.cancelOrders,
        owner,
        body,
        (status, answer) => {
          if (status !== 200) return resolve(undefined);
          const { canceled } = JSON.parse(String(Buffer.from(answer))) as { canceled: string[] };
          resolve(canceled.length);
        },
      );
    });
  }

  private async find(wallets: readonly Uint8Array[]): Promise<FoundOrder[]> {
    const { sequenceLock, tables } = this.parts;
    const accounts = new Set<number>();
    const words = new Int32Array(ADDRESS_WORDS);
    for (const wallet of wallets) accounts.add(findAccount(tables, bytesToWords(wallet, words), 0));
    accounts.delete(0);
    const found: FoundOrder[] = [];
    if (accounts.size === 0) return found;
    for (let first = 1; first <= orderRowCount(tables); first += PIECE_ROWS) {
      if (first > 1) await nextIteration();
      found.push(...(await sequenceLock.read(() => this.piece(accounts, first))));
    }
    return found;
  }

  private piece(accounts: ReadonlySet<number>, first: number): FoundOrder[] {
    const { tables } = this.parts;
    const found: FoundOrder[] = [];
    const end = Math.min(first + PIECE_ROWS, orderRowCount(tables) + 1);
    for (let row = first as OrderRow; row < end; row++) {
      if (orderStatus(tables, row) !== Status.live || isLevel(tables, row)) continue;
      const signer = orderOwner(tables, row);
      if (!accounts.has(signer) && !accounts.has(orderMaker(tables, row))) continue;
      const id = wordsToHex(tables.orderI, orderIdAt(row), ID_WORDS);
      found.push({ row, id, signer, created: orderCreated(tables, row) });
    }
    return found;
  }

  private isStill({ id, row }: FoundOrder): boolean {
    const { tables } = this.parts;
    return (
      orderStatus(tables, row) === Status.live &&
      wordsToHex(tables.orderI, orderIdAt(row), ID_WORDS) === id
    );
  }
}
