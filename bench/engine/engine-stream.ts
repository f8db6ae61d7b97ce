/**
 * Streams of encoded commands for the engine's benchmarks: fixed seed, so that two runs compare like
 * with like. The mixed stream follows the mix by which open engines are usually compared: 50 % new
 * orders, 41 % cancels, 9 % replaces (a cancel and a new order that count as one message).
 *
 * A stream can run again and again on the same engine: reset() gives its orders new ids, and
 * clear() empties the books, both outside the measured time.
 */
import {
  CancelCommand,
  CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  encodeCancel,
  encodeConfigure,
  encodeFunds,
  encodeMarket,
  encodeOrder,
  OrderCommand,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import type { Engine } from '../../engine/engine.ts';
import { type Capacities, DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  TicksPerUnit,
  TokenRow,
} from '../../engine/tables/units.ts';
import { type EngineModules, encodeClearing, OWN_MODULES } from '../common/engine-modules.ts';
import { Random } from '../random.ts';

export const ACCOUNTS = 1_000;
/** With a ledger, each has more cash and shares of each token than its orders can need. */
const CASH = 10 ** 12;
const SETS = 10 ** 8;
/** Commands of one batch: what a node applies in one turn under load. */
const BATCH = 64;

export interface Shape {
  readonly books: number;
  /** Ticks of a unit in each market. */
  readonly grid: TicksPerUnit;
}

export interface Stream {
  readonly commands: CommandBuffer;
  /** Messages: a replace is two commands and one message. */
  readonly messages: number;
}

export class EngineLoad {
  readonly engine: Engine;
  /** The commands that registered the markets. */
  readonly markets = new CommandBuffer(1 << 14);
  private readonly modules: EngineModules;
  private readonly shape: Shape;
  private readonly random: Random;
  private readonly accounts: Int32Array[];
  private readonly clearing = new CommandBuffer(1 << 14);
  private readonly apiKey = new Int32Array(API_KEY_WORDS);
  private time = 1;
  private generation = 0;

  /**
   * @param modules of the engine that is measured; streams are the same for each
   * @param hasLedger whether every account has money, and pays
   */
  constructor(
    shape: Shape,
    capacities: Capacities,
    seed: string,
    modules = OWN_MODULES,
    hasLedger = false,
  ) {
    this.shape = shape;
    this.random = new Random(seed);
    this.modules = modules;
    const { engine, events, tables } = modules;
    // As in a node, which tells its streams from the log.
    const log = events === undefined ? undefined : new events.EventBuffer(events.EVENTS_MAX);
    this.engine = new engine.Engine(tables.allocateEngine(capacities), log);
    this.accounts = Array.from({ length: ACCOUNTS }, () => this.key(ADDRESS_WORDS));
    for (const account of this.accounts) {
      encodeClearing(modules, this.clearing, account, DEFAULT_CAPACITIES.orders);
    }
    if (hasLedger) encodeConfigure(this.markets, 0, capacities.history, 0, 0, 0, true);
    for (let i = 0; i < shape.books; i++) {
      const fields = {
        flags: MarketFlag.tradable,
        ticksPerUnit: shape.grid,
        baseFeeBps: 0,
        minSize: 1 as MicroShares,
      };
      const tokens = [this.key(ID_WORDS), this.key(ID_WORDS)];
      encodeMarket(this.markets, fields, this.key(ID_WORDS), tokens);
    }
    if (hasLedger) this.fund();
    this.apply(this.markets);
  }

  /** Every account gets cash, and complete sets of every market. */
  private fund(): void {
    const out = this.markets;
    let requests = 0;
    for (const wallet of this.accounts) {
      for (let market = 0; market <= this.shape.books; market++) {
        requests += 1;
        const id = { isOperator: true, ms: 1, key: Int32Array.of(requests, 0, 0, 0) };
        if (market === 0) encodeFunds(out, 'deposit', { id, wallet, amount: CASH });
        else encodeFunds(out, 'split', { id, wallet, market: market as MarketRow, amount: SETS });
      }
    }
  }

  /** Applies a stream in batches. */
  apply(commands: CommandBuffer): void {
    const { engine, modules } = this;
    const { f64, i32 } = commands;
    // An engine from before there was reading ahead has no such method.
    const readsAhead = 'ahead' in engine;
    for (let at = 0; at < commands.words; ) {
      const end = this.batchEnd(commands, at);
      engine.begin(this.time, modules.closedCount(engine.t));
      if (readsAhead) engine.ahead(i32, at, end);
      for (; at < end; at += commandWords(i32, at)) engine.apply(i32, f64, at);
      engine.end();
      this.time += 1;
    }
  }

  private batchEnd({ i32, words }: CommandBuffer, start: number): number {
    let at = start;
    for (let i = 0; i < BATCH && at < words; i++) at += commandWords(i32, at);
    return at;
  }

  /** Cancels whatever rests. */
  clear(): void {
    this.apply(this.clearing);
  }

  /** Gives every order of a stream an id that was never used: its second word counts the runs. */
  reset(stream: Stream): void {
    this.generation += 1;
    this.stamp(stream);
  }

  /** Gives a stream of cancels the ids that its orders got last. */
  follow(cancels: Stream): void {
    this.stamp(cancels);
  }

  private stamp(stream: Stream): void {
    const { i32, words } = stream.commands;
    for (let at = 0; at < words; at += commandWords(i32, at)) {
      const id = commandKind(i32, at) === CommandKind.order ? OrderCommand.id : CancelCommand.id;
      i32[at + id + 1] = this.generation;
    }
  }

  /** Orders that rest: bids below the middle, offers above it. */
  adds(count: number): Stream {
    const commands = new CommandBuffer(count * OrderCommand.words);
    for (let i = 0; i < count; i++) this.order(commands, OrderType.GTC, 0);
    return { commands, messages: count };
  }

  /** Cancels of the orders of `adds`, in random order. */
  cancels(adds: Stream): Stream {
    const { i32, words } = adds.commands;
    const starts = Array.from(
      { length: words / OrderCommand.words },
      (_, i) => i * OrderCommand.words,
    );
    for (let i = starts.length - 1; i > 0; i--) {
      const j = this.random.below(i + 1);
      [starts[i], starts[j]] = [starts[j]!, starts[i]!];
    }
    const commands = new CommandBuffer(starts.length * CancelCommand.words);
    for (const at of starts) this.cancelOf(commands, i32, at);
    return { commands, messages: starts.length };
  }

  /** Fill-or-kill takers of a few levels' worth, on both sides. */
  foks(count: number): Stream {
    const commands = new CommandBuffer(count * OrderCommand.words);
    for (let i = 0; i < count; i++) this.order(commands, OrderType.FOK, this.shape.grid / 10);
    return { commands, messages: count };
  }

  /** The mixed stream; a tenth of its new orders cross. */
  mixed(messages: number): Stream {
    const commands = new CommandBuffer(messages * OrderCommand.words);
    const live: number[] = [];
    for (let i = 0; i < messages; i++) {
      const draw = this.random.below(100);
      if (draw >= 50 && live.length > 0) {
        const at = this.takeLive(commands, live);
        if (at !== -1) this.cancelOf(commands, commands.i32, at);
        if (draw < 91 && at !== -1) continue;
      }
      const reach = this.random.below(10) === 0 ? this.shape.grid / 20 : 0;
      live.push(this.order(commands, OrderType.GTC, reach));
    }
    this.clear();
    return { commands, messages };
  }

  /** A resting order of the stream so far, taken out of `live`; -1 when this draw was filled. */
  private takeLive(commands: CommandBuffer, live: number[]): number {
    const place = this.random.below(live.length);
    const at = live[place]!;
    live[place] = live[live.length - 1]!;
    live.pop();
    return this.modules.orders.findOrder(this.engine.t, commands.i32, at + OrderCommand.id) > 0
      ? at
      : -1;
  }

  /** Appends an order and applies it, so that the stream knows what rests; returns where it is. */
  private order(out: CommandBuffer, type: number, reach: number): number {
    const { grid } = this.shape;
    const { random } = this;
    const middle = grid / 2;
    const isBid = random.below(2) === 0;
    const away = 1 + random.below(middle - 2);
    const tick = isBid
      ? Math.min(grid - 1, middle - away + reach)
      : Math.max(1, middle + away - reach);
    const isMirrored = random.below(2) === 1;
    const isBuy = isBid !== isMirrored;
    const shares = grid * (1 + random.below(100));
    const ticks = isMirrored ? grid - tick : tick;
    const account = random.pick(this.accounts);
    const at = encodeOrder(out, {
      token: (2 * random.below(this.shape.books) + (isMirrored ? 2 : 1)) as TokenRow,
      side: isBuy ? Side.buy : Side.sell,
      type,
      postOnly: false,
      shares: shares as MicroShares,
      collateral: ((shares / grid) * ticks) as MicroCollateral,
      expiration: 0,
      feeRateBps: 0,
      signatureType: 0,
      precheck: 0,
      id: this.key(ID_WORDS),
      maker: account,
      signer: account,
      apiKey: this.apiKey,
    });
    this.applyOne(out, at);
    return at;
  }

  private cancelOf(out: CommandBuffer, i32: Int32Array, order: number): void {
    const id = i32.slice(order + OrderCommand.id, order + OrderCommand.id + ID_WORDS);
    const signerAt = order + OrderCommand.signer;
    const at = encodeCancel(out, id, i32.slice(signerAt, signerAt + ADDRESS_WORDS));
    this.applyOne(out, at);
  }

  private applyOne(out: CommandBuffer, at: number): void {
    this.engine.begin(this.time, this.modules.closedCount(this.engine.t));
    this.engine.apply(out.i32, out.f64, at);
    this.engine.end();
  }

  /** Ids are hashes in life, so random words here; the second word is left to reset(). */
  private key(words: number): Int32Array {
    const key = new Int32Array(words);
    for (let i = 0; i < words; i++) key[i] = this.random.next();
    key[1] = 0;
    return key;
  }
}
