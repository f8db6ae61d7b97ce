/**
 * A trading day in a log: resting orders and fills by the hundred thousand, in batches of 15, as a node
 * would have logged them.
 */

import {
  CommandBuffer,
  commandWords,
  encodeConfigure,
  encodeFunds,
  encodeMarket,
  encodeOrder,
  FundsCommand,
  OrderCommand,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { ledgerTotals } from '../../engine/ledger/reads.ts';
import { closedCount, fillCount, lastBatch, openOrders, stateDigest } from '../../engine/reads.ts';
import { type Capacities, DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  TokenRow,
} from '../../engine/tables/units.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import type { Log, NewEntry } from '../../storage/log/log.ts';
import { Random } from '../random.ts';

export interface DayShape {
  readonly restingOrders: number;
  readonly fills: number;
  /** With a ledger: every wallet has cash, and positions in both tokens of every book. */
  readonly hasLedger?: boolean;
  /** A thousand without it. */
  readonly books?: number;
}

export interface Day {
  readonly batches: number;
  readonly orders: number;
  readonly fills: number;
  readonly resting: number;
  readonly positions: number;
}

export const BATCH = 15;
const BOOKS = 1_000;
const GRID = 100;
const ROUND = 50_000;
const WALLETS = 1_000;
/** Cash of each wallet: more than its orders can need. */
const CASH = 10 ** 12;
const SETS = 10 ** 8;
/** Closed orders that the follower has not derived yet. */
const BEHIND = 100_000;
const SEED = 'a trading day';
export const CAPACITIES: Capacities = DEFAULT_CAPACITIES;

/** Writes the day into the log of a data directory. */
export async function writeDay(dataDir: string, shape: DayShape): Promise<Day> {
  const log = await FileLog.open({
    dataDir,
    durability: 'committed',
    segmentBytes: 2 ** 24,
    log: () => undefined,
  });
  const day = new DayWriter(log);
  const { books = BOOKS, hasLedger = false } = shape;
  await day.write(marketsOf(books, hasLedger));
  const orders = new Orders(SEED, books);
  for (let wallet = 0; hasLedger && wallet < WALLETS; wallet++) {
    await day.write(orders.funds(wallet));
  }
  for (let done = 0; done < shape.fills; done += ROUND) {
    await day.write(orders.pairs(Math.min(ROUND, shape.fills - done)));
  }
  for (let done = 0; done < shape.restingOrders; done += ROUND) {
    await day.write(orders.bids(Math.min(ROUND, shape.restingOrders - done)));
  }
  await log.close();
  const { t } = day.engine;
  return {
    batches: lastBatch(t),
    orders: day.orders,
    fills: fillCount(t),
    resting: openOrders(t),
    positions: ledgerTotals(t).positions,
  };
}

/** Orders of a thousand wallets in a thousand books. */
export class Orders {
  private readonly random: Random;
  private readonly wallets: readonly Int32Array[];
  private readonly apiKey = new Int32Array(API_KEY_WORDS);

  private readonly books: number;

  /** @param seed another one gives other ids: an id is taken once. */
  constructor(seed = SEED, books = BOOKS) {
    this.random = new Random(seed);
    this.books = books;
    this.wallets = Array.from({ length: WALLETS }, () => this.words(ADDRESS_WORDS));
  }

  /** Cash of one wallet, and complete sets of every market. */
  funds(index: number): CommandBuffer {
    const out = new CommandBuffer((this.books + 1) * FundsCommand.words);
    const wallet = this.wallets[index]!;
    for (let market = 0; market <= this.books; market++) {
      const key = Int32Array.of(index * (this.books + 1) + market, 0, 0, 0);
      const id = { isOperator: true, ms: 1, key };
      if (market === 0) encodeFunds(out, 'deposit', { id, wallet, amount: CASH });
      else encodeFunds(out, 'split', { id, wallet, market: market as MarketRow, amount: SETS });
    }
    return out;
  }

  /** A sale and a purchase each, which meet. */
  pairs(count: number): CommandBuffer {
    const out = new CommandBuffer(2 * count * OrderCommand.words);
    for (let i = 0; i < count; i++) {
      const book = this.random.below(this.books);
      const shares = GRID * (1 + this.random.below(100));
      this.order(out, book, Side.sell, 70, shares);
      this.order(out, book, Side.buy, 70, shares);
    }
    return out;
  }

  /** Bids that rest. */
  bids(count: number): CommandBuffer {
    const out = new CommandBuffer(count * OrderCommand.words);
    for (let i = 0; i < count; i++) {
      const tick = 1 + this.random.below(60);
      const shares = GRID * (1 + this.random.below(100));
      this.order(out, this.random.below(this.books), Side.buy, tick, shares);
    }
    return out;
  }

  private order(out: CommandBuffer, book: number, side: number, tick: number, shares: number) {
    const wallet = this.random.pick(this.wallets);
    encodeOrder(out, {
      token: (2 * book + 1) as TokenRow,
      side,
      type: OrderType.GTC,
      postOnly: false,
      shares: shares as MicroShares,
      collateral: ((shares / GRID) * tick) as MicroCollateral,
      expiration: 0,
      feeRateBps: 0,
      signatureType: 0,
      precheck: 0,
      id: this.words(ID_WORDS),
      maker: wallet,
      signer: wallet,
      apiKey: this.apiKey,
    });
  }

  /** Ids are hashes in life, so random words here. */
  private words(count: number): Int32Array {
    return Int32Array.from({ length: count }, () => this.random.next() | 0);
  }
}

class DayWriter {
  readonly engine = new Engine(allocateEngine(CAPACITIES));
  orders = 0;
  private readonly log: Log;
  private time = 1;

  constructor(log: Log) {
    this.log = log;
  }

  async write(commands: CommandBuffer): Promise<void> {
    const { engine } = this;
    const { t } = engine;
    for (let at = 0; at < commands.words; ) {
      // As on a node whose follower is a second behind.
      const derived = Math.max(0, closedCount(t) - BEHIND);
      this.time += 1;
      const applied = applyBatch(engine, commands, at, this.time, derived);
      at = applied.end;
      this.orders += applied.orders;
      if (applied.entry === undefined) continue;
      const { sequence } = applied.entry;
      const durable = this.log.append([applied.entry], sequence - 1);
      if (sequence % 1_000 === 0) await durable;
    }
    await this.log.whenDurable();
  }
}

interface Applied {
  /** Undefined: nothing changed. */
  readonly entry: NewEntry | undefined;
  readonly orders: number;
  /** The word after its last command. */
  readonly end: number;
}

/**
 * Applies the next batch of `commands`, as a worker does.
 * @param derived closed orders that the follower has written
 */
export function applyBatch(
  engine: Engine,
  { f64, i32, words }: CommandBuffer,
  start: number,
  time: number,
  derived: number,
): Applied {
  const { t } = engine;
  const firstFill = fillCount(t);
  engine.begin(time, derived);
  const taken: number[] = [];
  let at = start;
  let orders = 0;
  for (; orders < BATCH && at < words; orders++) {
    const { changes } = engine.context;
    const length = commandWords(i32, at);
    engine.apply(i32, f64, at);
    if (engine.context.changes !== changes) taken.push(...i32.subarray(at, at + length));
    at += length;
  }
  if (!engine.end()) return { entry: undefined, orders, end: at };
  const facts = {
    sequence: lastBatch(t),
    time,
    persistedClosedSequence: derived,
    firstFill,
    endFill: fillCount(t),
    closedEnd: closedCount(t),
    digest: stateDigest(t),
  };
  const { digest: after, sequence } = facts;
  const payload = encodeBatch(facts, Int32Array.from(taken));
  return { entry: { sequence, time, after, payload }, orders, end: at };
}

export function marketsOf(books: number, hasLedger = false): CommandBuffer {
  const out = new CommandBuffer(1 << 14);
  if (hasLedger) encodeConfigure(out, 0, CAPACITIES.history, 0, 0, 0, true);
  const id = (n: number): Int32Array => new Int32Array([n, 1, 1, 1, 1, 1, 1, 1]);
  for (let i = 0; i < books; i++) {
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit: GRID,
      baseFeeBps: 0,
      minSize: 1 as MicroShares,
    } as const;
    encodeMarket(out, fields, id(3 * i + 1), [id(3 * i + 2), id(3 * i + 3)]);
  }
  return out;
}
