/**
 * Derives price history and volumes from fills, and keeps them in LMDB: catches up
 * at start, takes each flushed fill while the node runs, and writes what changed every few seconds.
 *
 * A write goes out in transactions of a bounded size, the position with the last of them. A kill
 * between two leaves rows ahead of the position: prices come out the same when they are derived
 * again, and rows of volumes say which fills they count.
 *
 * Thread: I/O. None of this stands between an order and its answer, and none of its failures loses
 * anything: the fills are kept elsewhere.
 */

import { crc32 } from 'node:zlib';
import { assert } from '../../engine/book/matching.ts';
import { MatchKind } from '../../engine/tables/codes.ts';
import { FILL_DOUBLES, FILL_WORDS, Fill, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, MicroCollateral, Pips, TokenRow } from '../../engine/tables/units.ts';
import type { StoredFills } from '../../storage/projection/fills.ts';
import type { HistoryHand, HistoryStore } from '../../storage/projection/history.ts';
import { nextTurn } from '../common/next-turn.ts';
import { PriceHistory } from './price-history.ts';
import { Volumes } from './volumes.ts';

export interface HistoryOptions {
  readonly tables: Tables;
  /** All fills that were recovered. */
  readonly fills: StoredFills;
  readonly store: HistoryStore;
  readonly log: (level: 'info' | 'warn', line: string) => void;
  /** Gives up catching up. */
  readonly signal?: AbortSignal | undefined;
}

/** Between the first fill that is not written and the write: a kill costs this much catching up. */
const WRITE_MS = 5_000;
/**
 * Of one transaction, which is put together without a pause: each token has five rows or more to read
 * and to write, 3 us each.
 */
const TOKENS_PER_COMMIT = 128;
const VOLUMES_PER_COMMIT = 256;
/** The same while catching up, when nobody is served yet. */
const CATCH_UP_FACTOR = 32;
/** Fills between two writes while catching up: what is in memory meanwhile stays bounded. */
const FILLS_PER_WRITE = 2 ** 17;

const FILL_BYTES = 4 * FILL_WORDS;
const MINUTE_MS = 60_000;

export class HistoryKeeper {
  prices: PriceHistory;
  volumes: Volumes;
  private readonly o: HistoryOptions;
  private readonly store: HistoryStore;
  /** Fills before it are derived. */
  private end = 0;
  private written = 0;
  /** A fill, for catching up. */
  private readonly bytes = new Uint8Array(FILL_BYTES);
  private readonly oneI = new Int32Array(this.bytes.buffer);
  private readonly oneF = new Float64Array(this.bytes.buffer);
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private hasComplained = false;

  private constructor(options: HistoryOptions) {
    this.o = options;
    this.store = options.store;
    this.store.onWait = (problem) => {
      if (problem === undefined) options.log('info', 'price history: it is written again');
      else options.log('warn', `price history: a write failed and is tried again: ${problem}`);
    };
    this.prices = this.newPrices();
    this.volumes = new Volumes(options.tables, options.store);
  }

  /** Opens what is kept, or begins anew, and catches up with the first `end` fills. */
  static async open(options: HistoryOptions, end: number): Promise<HistoryKeeper> {
    const keeper = new HistoryKeeper(options);
    try {
      await keeper.resume(end);
      await keeper.catchUp(end);
    } catch (error) {
      await keeper.close();
      throw error;
    }
    return keeper;
  }

  /** The fills before `end` are on disk, and lie in the ring; they follow those of the last call. */
  append(end: number): void {
    const { fillF, fillI, fillRows } = this.o.tables;
    for (let fill = this.end; fill < end; fill++) this.take(fill, fillI, fillF, fill % fillRows);
    this.end = end;
    this.arm();
  }

  /** From here on another thread writes, or this one again. */
  handOver(hand: HistoryHand | undefined): void {
    this.store.hand = hand;
  }

  /** Writes what is not written; resolves when it is on disk, or could not be. */
  async save(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.writing;
    if (this.end !== this.written) await this.write(this.crcInRing());
    this.arm();
  }

  async close(): Promise<void> {
    await this.save();
    clearTimeout(this.timer);
    await this.store.close();
  }

  private arm(): void {
    const isDue = this.timer === undefined && this.writing === undefined;
    if (!isDue || this.end === this.written) return;
    this.timer = setTimeout(() => void this.save(), WRITE_MS).unref();
  }

  private newPrices(): PriceHistory {
    return new PriceHistory(this.o.tables, this.store, () => void this.condemn());
  }

  /** Takes up what is kept where it is sound and of this journal. */
  private async resume(end: number): Promise<void> {
    const { damage } = this.store;
    if (damage !== undefined) this.o.log('warn', `price history: ${damage}; it is derived again`);
    const position = this.store.position();
    const isOurs =
      position !== undefined &&
      position.end <= end &&
      position.crc === this.crcOf(position.end - 1);
    if (isOurs && this.volumes.load(end)) {
      this.end = position.end;
      this.written = position.end;
      return;
    }
    await this.store.empty();
    this.prices = this.newPrices();
    this.volumes = new Volumes(this.o.tables, this.store);
  }

  private async catchUp(end: number): Promise<void> {
    const { fills, log } = this.o;
    const start = this.end;
    if (start === end) return;
    log('info', `price history: deriving fills ${start} to ${end - 1}`);
    for (let first = start; first < end; first = this.end) {
      const last = Math.min(end, first + FILLS_PER_WRITE);
      let missing = last - first;
      for (const [key, value] of fills.range(first, last, ({ message }) => log('warn', message))) {
        if (value.length !== FILL_BYTES) continue;
        this.bytes.set(value);
        this.take(key, this.oneI, this.oneF, 0);
        missing -= 1;
      }
      if (missing > 0) log('warn', `price history: ${missing} fills are gone`);
      this.end = last;
      await this.write(this.crcOf(last - 1), CATCH_UP_FACTOR);
      // A signal is heard, and what is waited for is told.
      await nextTurn();
      this.o.signal?.throwIfAborted();
    }
  }

  /** Counts one fill, which lies in this row. */
  private take(sequence: number, fillI: Int32Array, fillF: Float64Array, row: number): void {
    const i = row * FILL_WORDS;
    const f = row * FILL_DOUBLES;
    const time = fillF[f + Fill.time]!;
    const token = fillI[i + Fill.takerToken]! as TokenRow;
    const minute = Math.floor(time / MINUTE_MS);
    this.prices.add(token, minute, fillI[i + Fill.takerPrice]! as Pips);
    // A mint or merge is a trade of both tokens (docs/protocol.md#match-kinds).
    if (fillI[i + Fill.kind] !== MatchKind.complementary) {
      const other = fillI[i + Fill.makerToken]! as TokenRow;
      this.prices.add(other, minute, fillI[i + Fill.makerPrice]! as Pips);
    }
    const market = this.o.tables.tokenI[(token << TOKEN_I) + Token.market]! as MarketRow;
    this.volumes.add(market, sequence, time, fillF[f + Fill.takerCollateral]! as MicroCollateral);
  }

  /**
   * @param crc checksum of the newest fill
   * @param factor by which transactions are larger than usual
   */
  private write(crc: number, factor = 1): Promise<void> {
    assert(this.writing === undefined, 'one write at a time');
    this.writing = this.writeAll(this.end, crc, factor).finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  private async writeAll(end: number, crc: number, factor: number): Promise<void> {
    const { prices, store, volumes } = this;
    if (store.failure === undefined && store.tables !== undefined) {
      for (const some of slices(prices.beginWrite(), factor * TOKENS_PER_COMMIT)) {
        await store.write((into) => {
          for (const token of some) prices.put(token, into);
        });
      }
      for (const some of slices(volumes.beginWrite(), factor * VOLUMES_PER_COMMIT)) {
        await store.write((into) => {
          for (const row of some) volumes.put(row, this.end, into);
        });
      }
      await store.write((into) => store.putPosition({ end, crc }, into));
    }
    this.written = end;
    if (store.failure === undefined || this.hasComplained) return;
    this.hasComplained = true;
    this.o.log('warn', `price history: not written any more: ${store.failure}`);
  }

  /** A row that was read back is wrong: the next start derives all of it again. */
  private async condemn(): Promise<void> {
    if (this.hasComplained) return;
    this.hasComplained = true;
    this.o.log('warn', 'price history: a stored row is damaged; the next start derives it again');
    await this.store.condemn();
  }

  private crcInRing(): number {
    const row = ((this.end - 1) % this.o.tables.fillRows) * FILL_BYTES;
    const { fills } = this.o.tables.memory.buffers;
    return crc32(Buffer.from(fills.subarray(row, row + FILL_BYTES)));
  }

  /** 0 for a fill that is not there, or is damaged. */
  private crcOf(fill: number): number {
    try {
      const value = this.o.fills.get(fill);
      return value === undefined ? 0 : crc32(value);
    } catch {
      return 0;
    }
  }
}

function* slices<T>(items: readonly T[], length: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += length) yield items.slice(at, at + length);
}
