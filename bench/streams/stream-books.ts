/**
 * Busy books, their streams and their server, in the process that is measured: orders are applied,
 * count as flushed at once, and are published.
 *
 * Thread: the only one of the benchmark's own process.
 */

import assert from 'node:assert/strict';
import {
  CommandBuffer,
  encodeMarket,
  encodeOrder,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { EVENTS_MAX, EventBuffer } from '../../engine/events.ts';
import { closedCount, lastBatch } from '../../engine/reads.ts';
import { DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import {
  collateralOf,
  type MicroShares,
  type Ticks,
  type TokenRow,
} from '../../engine/tables/units.ts';
import { type HttpServer, listen } from '../../server/http/http.ts';
import { BookRenderer } from '../../server/market-data/books.ts';
import { TokenTexts } from '../../server/market-data/texts.ts';
import { Names } from '../../server/streams/names.ts';
import { RecentBatches } from '../../server/streams/recent-batches.ts';
import { Streams } from '../../server/streams/streams.ts';
import { Random } from '../random.ts';

const GRID = 100;
const ACCOUNTS = 50;
/** A market has one book, of two tokens. */
const TOKENS = 2;
const IDS = 3;
/** Numbers above those of all markets. */
const FIRST_ORDER = 1_000;
const SHARE = 1_000_000;

export interface StreamBooksShape {
  readonly connections: number;
  readonly books: number;
  /** Unread bytes at which a slow reader is closed. */
  readonly backpressureBytes?: number;
  /** Clock of `server_ts_ms` in the frames. */
  readonly now?: () => number;
}

export class StreamBooks {
  readonly streams: Streams;
  /** First token of each book. */
  readonly tokens: readonly string[];
  private readonly events = new EventBuffer(EVENTS_MAX);
  private readonly engine: Engine;
  private readonly commands = new CommandBuffer();
  private readonly random = new Random('streams');
  private readonly apiKey = new Int32Array(API_KEY_WORDS);
  private server: HttpServer | undefined;
  private time = 1_700_000_000_000;
  private orders = 0;

  constructor({
    backpressureBytes = 2 ** 24,
    books,
    connections,
    now = Date.now,
  }: StreamBooksShape) {
    assert(books * IDS < FIRST_ORDER, 'ids of markets and of orders differ');
    const sizes = { markets: 16 + books, tokens: 32 + TOKENS * books, levels: 2_000 + 200 * books };
    const capacities = { ...DEFAULT_CAPACITIES, ...sizes };
    this.engine = new Engine(allocateEngine(capacities), this.events);
    const { t } = this.engine;
    const texts = new TokenTexts(t, () => undefined);
    this.streams = new Streams({
      tables: t,
      texts,
      lookup: () => undefined,
      books: new BookRenderer(t, texts),
      limits: {
        idleSeconds: 900,
        subscriptionsMax: Math.max(10, books),
        connectionsMax: connections,
        backpressureBytes,
        callerFactor: 10_000,
        acks: false,
      },
      key: () => undefined,
      readOnlyKey: () => undefined,
      venue: 'bench',
      recent: new RecentBatches(new Names(t, () => undefined), 0),
      whenBatchesDone: (callback) => void setImmediate(callback),
      now,
      elapsed: () => performance.now(),
      log: (line) => void process.stderr.write(`${line}\n`),
    });
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit: GRID as 100,
      baseFeeBps: 0,
      minSize: 1 as MicroShares,
    };
    this.tokens = Array.from({ length: books }, (_, book) => {
      const [first, second, condition] = [1, 2, 3].map((n) => this.key(ID_WORDS, IDS * book + n));
      this.commands.clear();
      encodeMarket(this.commands, fields, condition!, [first!, second!]);
      this.apply([0]);
      return texts.bookHead(tokenOf(book)).toString().split('"')[7]!;
    });
  }

  async listen(): Promise<number> {
    const options = { host: '127.0.0.1', port: 0, trustProxy: 0, log: () => undefined };
    this.server = await listen([], options, this.streams.routes);
    this.streams.open(this.server.publish);
    return this.server.port;
  }

  async close(): Promise<void> {
    this.streams.close();
    await this.server?.close();
  }

  /** Orders of one book around the middle, about half of which trade, as one batch. */
  batch(count: number, book = 0): void {
    const { commands, random } = this;
    commands.clear();
    const starts: number[] = [];
    for (let i = 0; i < count; i++) {
      this.orders += 1;
      const isBuy = random.below(2) === 0;
      const ticks = (50 + (isBuy ? -1 : 1) * (random.below(12) - 3)) as Ticks;
      const size = ((5 + random.below(30)) * SHARE) as MicroShares;
      const account = this.key(ADDRESS_WORDS, random.below(ACCOUNTS));
      starts.push(
        encodeOrder(commands, {
          token: tokenOf(book),
          side: isBuy ? Side.buy : Side.sell,
          type: OrderType.GTC,
          postOnly: false,
          shares: size,
          collateral: collateralOf(size, ticks, GRID),
          expiration: 0,
          feeRateBps: 0,
          signatureType: 0,
          precheck: 0,
          id: this.key(ID_WORDS, FIRST_ORDER + this.orders),
          maker: account,
          signer: account,
          apiKey: this.apiKey,
        }),
      );
    }
    this.apply(starts);
  }

  private apply(starts: readonly number[]): void {
    const { commands, engine, events } = this;
    this.time += 1;
    engine.begin(this.time, closedCount(engine.t));
    for (const at of starts) {
      events.command = at;
      engine.apply(commands.i32, commands.f64, at);
    }
    engine.end();
    const words = events.i32.slice(0, events.words);
    this.streams.flushed({
      sequence: lastBatch(engine.t),
      endFill: 0,
      time: this.time,
      events: words,
      eventsF: new Float64Array(words.buffer),
      isWhole: true,
      commands: commands.i32,
      commandsF: commands.f64,
    });
  }

  private key(words: number, number: number): Int32Array {
    const key = new Int32Array(words);
    for (let w = 0; w < words; w++) key[w] = Math.imul(number * 8 + w + 1, 0x9e3779b1) ^ number;
    return key;
  }
}

function tokenOf(book: number): TokenRow {
  return (1 + TOKENS * book) as TokenRow;
}
