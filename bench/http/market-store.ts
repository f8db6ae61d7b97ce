/**
 * A data directory with a catalog whose markets have been traded: resting orders on many levels, and
 * fills. The commands go through an engine into the log, as those of a node do, so that a node
 * started on the directory recovers them, checks them, and serves them.
 *
 * Thread: any. Pure but for the files: the same size and seed give the same books and fills.
 * Non-goals: signatures, which nobody asks for again.
 */

import assert from 'node:assert/strict';
import {
  CommandBuffer,
  commandWords,
  encodeConfigure,
  encodeFeeSchedule,
  encodeOrder,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import {
  closedCount,
  conditionAt,
  engineSettings,
  fillCount,
  lastBatch,
  marketCount,
  marketFirstToken,
  marketFlags,
  marketTicks,
  stateDigest,
} from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import { allocateEngine, type Tables } from '../../engine/tables/tables.ts';
import {
  type MarketRow,
  MICRO,
  type MicroCollateral,
  type MicroShares,
  type TokenRow,
} from '../../engine/tables/units.ts';
import { marketCommands } from '../../server/catalog/market-registry.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import type { Log } from '../../storage/log/log.ts';
import { generateCatalog } from '../catalog/catalog-generator.ts';
import { storeCatalog } from '../catalog/catalog-store.ts';
import { Random } from '../random.ts';

export interface TradedMarkets {
  /** Decimal ids of the tokens that have been traded, both outcomes of each market. */
  readonly tokenIds: readonly string[];
  readonly conditionIds: readonly string[];
  readonly wallets: readonly string[];
  /** Fills of all markets. */
  readonly fills: number;
}

export interface MarketStoreOptions {
  readonly dataDir: string;
  readonly markets: number;
  readonly seed: string;
  readonly capacities: Capacities;
  /** Markets that are traded, the first of those that can be; all of them unless said. */
  readonly traded?: number;
  /** Number of traded markets that have a price level on every tick. */
  readonly deep?: number;
  /** Ticks behind the middle that takers go; few unless said, so that few levels are eaten up. */
  readonly reach?: number;
  /** Address of a wallet that places every second order; nobody does unless said. */
  readonly whale?: string;
  /** True: takers owe the fee of a schedule, and their makers a part of it. */
  readonly hasRebates?: boolean;
}

const WALLETS = 300;
/** Levels of one side of a book, by market: a thin one to a busy one. */
const LEVELS_LEAST = 8;
const LEVELS_MOST = 40;
const TAKERS_LEAST = 20;
const TAKERS_MOST = 60;
const REACH = 3;
const ORDERS_PER_BATCH = 500;
const SCHEDULE = { rate: 70_000, exponent: 1, rebate: 200_000 };
export const START_MS = Date.UTC(2026, 10, 1);
const BATCH_MS = 60_000;
const SEGMENT_BYTES = 2 ** 24;

export async function storeTradedMarkets(options: MarketStoreOptions): Promise<TradedMarkets> {
  const { dataDir, seed } = options;
  const generated = generateCatalog(options.markets, seed);
  await storeCatalog(dataDir, generated);
  const read = readCatalog(generated);
  assert(read.ok, 'a generated catalog can be read');
  const { catalog } = read;
  const log = await FileLog.open({
    dataDir,
    durability: 'committed',
    segmentBytes: SEGMENT_BYTES,
    log: () => undefined,
  });
  try {
    const engine = new Engine(allocateEngine(options.capacities));
    return await new Trading(engine, log, options).run(catalog);
  } finally {
    await log.close();
  }
}

class Trading {
  private readonly engine: Engine;
  private readonly t: Tables;
  private readonly log: Log;
  private readonly random: Random;
  private readonly wallets: readonly Int32Array[];
  private readonly whale: Int32Array | undefined;
  private readonly out = new CommandBuffer();
  private orders = 0;
  private batches = 0;
  private readonly options: MarketStoreOptions;

  constructor(engine: Engine, log: Log, options: MarketStoreOptions) {
    const { seed, whale } = options;
    this.options = options;
    this.engine = engine;
    this.t = engine.t;
    this.log = log;
    this.random = new Random(`trading ${seed}`);
    this.wallets = Array.from({ length: WALLETS }, () => this.words(ADDRESS_WORDS));
    this.whale = whale === undefined ? undefined : wordsOf(whale);
  }

  async run(catalog: Catalog): Promise<TradedMarkets> {
    const { t } = this;
    encodeConfigure(this.out, engineSettings(t).selfTrade, t.capacities.history, 0, t.orderRows);
    await this.finishBatch();
    const warn = (line: string): void => assert.fail(line);
    for (const words of marketCommands(t, catalog.markets, warn)) await this.apply(words);
    const traded: { tokenIds: string[]; conditionIds: string[] } = {
      tokenIds: [],
      conditionIds: [],
    };
    const { deep = 0, traded: most = catalog.markets.length } = this.options;
    for (let slot = 1; slot <= marketCount(t); slot += 1) {
      if (traded.conditionIds.length === most) break;
      const market = catalog.markets[slot - 1]!;
      if ((marketFlags(t, slot as MarketRow) & MarketFlag.tradable) === 0) continue;
      traded.tokenIds.push(...market.tokenIds);
      traded.conditionIds.push(market.conditionId);
      if (this.options.hasRebates) this.setSchedule(slot as MarketRow);
      this.trade(slot, traded.conditionIds.length <= deep);
      if (this.orders >= ORDERS_PER_BATCH) await this.finishBatch();
    }
    await this.finishBatch();
    const wallets = this.wallets.map((words) => `0x${hexOf(words)}`);
    return { ...traded, wallets, fills: fillCount(t) };
  }

  private setSchedule(market: MarketRow): void {
    const condition = conditionAt(market);
    const words = this.t.marketI.slice(condition, condition + ID_WORDS);
    encodeFeeSchedule(this.out, words, SCHEDULE);
  }

  /** A book of two outcomes: levels on both sides of a price, then takers, then what they left. */
  private trade(market: number, isDeep: boolean): void {
    const { random, t } = this;
    const row = market as MarketRow;
    const grid = marketTicks(t, row);
    const first = marketFirstToken(t, row);
    const middle = random.between(Math.ceil(grid / 5), Math.floor((4 * grid) / 5));
    const levels = isDeep ? grid : random.between(LEVELS_LEAST, LEVELS_MOST);
    const makers = (): void => {
      for (let level = 1; level <= levels; level += 1) {
        // Levels lie the thinner the farther they are from the middle.
        const away = isDeep ? level : level + random.below(1 + (level >> 3));
        this.place(first, grid, true, middle - away, OrderType.GTC);
        this.place(first, grid, false, middle + away, OrderType.GTC);
      }
    };
    makers();
    const { reach = REACH } = this.options;
    const takers = random.between(TAKERS_LEAST, TAKERS_MOST);
    for (let taker = 0; taker < takers; taker += 1) {
      const isBuy = random.below(2) === 0;
      this.place(first, grid, isBuy, isBuy ? middle + reach : middle - reach, OrderType.FAK);
    }
    makers();
  }

  /** Half of the orders are the same wish in terms of the other outcome. */
  private place(first: number, grid: number, isBuy: boolean, ticks: number, type: number): void {
    if (ticks < 1 || ticks >= grid) return;
    const { random } = this;
    const isOther = random.below(2) === 0;
    const price = isOther ? grid - ticks : ticks;
    const isBid = isOther ? !isBuy : isBuy;
    const shares = random.between(500, 200_000) * (MICRO / 100);
    const exact = shares * price;
    const isWhale = this.whale !== undefined && random.below(2) === 0;
    const wallet = isWhale ? this.whale : random.pick(this.wallets);
    this.orders += 1;
    encodeOrder(this.out, {
      token: (first + (isOther ? 1 : 0)) as TokenRow,
      side: isBid ? Side.buy : Side.sell,
      type,
      postOnly: false,
      shares: shares as MicroShares,
      collateral: (isBid ? Math.ceil(exact / grid) : Math.floor(exact / grid)) as MicroCollateral,
      expiration: 0,
      feeRateBps: 0,
      signatureType: 0,
      precheck: 0,
      id: this.words(ID_WORDS),
      maker: wallet,
      signer: wallet,
      apiKey: new Int32Array(API_KEY_WORDS),
    });
  }

  private async finishBatch(): Promise<void> {
    const words = this.out.i32.slice(0, this.out.words);
    this.out.clear();
    this.orders = 0;
    if (words.length > 0) await this.apply(words);
  }

  /** Applies one batch and resolves when it is in the log. */
  private async apply(words: Int32Array): Promise<void> {
    const { engine, log, t } = this;
    const firstFill = fillCount(t);
    const time = START_MS + this.batches * BATCH_MS;
    this.batches += 1;
    const persistedClosedSequence = closedCount(t);
    engine.begin(time, persistedClosedSequence);
    const taken = this.applyAll(words);
    assert(engine.end(), 'a batch changes something');
    const sequence = lastBatch(t);
    const endFill = fillCount(t);
    const facts = {
      sequence,
      time,
      persistedClosedSequence,
      firstFill,
      endFill,
      closedEnd: closedCount(t),
      digest: stateDigest(t),
    };
    const payload = encodeBatch(facts, taken);
    await log.append([{ sequence, time, after: facts.digest, payload }], sequence - 1);
  }

  /** The commands that changed something, which alone are recorded. */
  private applyAll(words: Int32Array): Int32Array {
    const { engine } = this;
    const f64 = new Float64Array(words.buffer);
    const taken = new Int32Array(words.length);
    let length = 0;
    for (let at = 0; at < words.length; ) {
      const next = at + commandWords(words, at);
      const { changes } = engine.context;
      engine.apply(words, f64, at);
      if (engine.context.changes !== changes) {
        taken.set(words.subarray(at, next), length);
        length += next - at;
      }
      at = next;
    }
    return taken.subarray(0, length);
  }

  private words(count: number): Int32Array {
    return Int32Array.from({ length: count }, () => this.random.next() | 0);
  }
}

function wordsOf(hex: string): Int32Array {
  const bytes = Buffer.from(hex.slice(2), 'hex');
  return Int32Array.from({ length: ADDRESS_WORDS }, (_, i) => bytes.readInt32BE(4 * i));
}

function hexOf(words: Int32Array): string {
  return [...words].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}
