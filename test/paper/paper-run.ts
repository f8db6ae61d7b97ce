/**
 * A recording played to an engine whose book mirrors it, with random paper traders. Everything is
 * checked against a naive source, a naive queue and the rules of a fill.
 */
import assert from 'node:assert/strict';
import { audit } from '../../engine/audit.ts';
import {
  CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  LevelCommand,
} from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { type Impact, MirroredBook } from '../../engine/paper/mirrored-book.ts';
import { MirroredMarket } from '../../engine/paper/mirrored-market.ts';
import { EngineOrders } from '../../engine/paper/paper-orders.ts';
import type { QueueRule } from '../../engine/paper/place.ts';
import { closedCount, fillCount, stateDigest } from '../../engine/reads.ts';
import { type SimulatedFill, Simulator } from '../../engine/simulator.ts';
import type { TicksPerUnit, TokenRow } from '../../engine/tables/units.ts';
import { readEvents } from '../../storage/recordings/source-message.ts';
import { Random } from '../common/random.ts';
import { NaiveLevel, NaivePlace } from './naive-queue.ts';
import { type MarketMessage, NaiveSource, nameOf, type Side } from './naive-source.ts';

export interface Recorded {
  readonly name: string;
  /** Token of the first outcome. */
  readonly asset: string;
  readonly second: string;
  readonly ticksPerUnit: TicksPerUnit;
  readonly infersTrades: boolean;
  readonly messages: readonly MarketMessage[];
}

export interface RunOptions {
  readonly impact: Impact;
  readonly queue: QueueRule;
  readonly seed: number;
  readonly orders: number;
}

/** Result of a run, for tests that compare runs and for those that require each case. */
export interface RunResult {
  /** Digest of all fills and of the tables. */
  readonly digest: string;
  readonly fills: {
    readonly taken: number;
    readonly level: number;
    readonly queue: number;
    readonly paper: number;
  };
  readonly books: number;
}

interface PaperOrder {
  readonly number: number;
  readonly side: Side;
  readonly pips: number;
  remaining: number;
  place: NaivePlace;
}

const SHARE = 1_000_000;
const TRADERS = [1, 2, 3, 4];
/**
 * Refusals of orders that cannot be filled, would meet forbidden orders, or cost more than is left.
 */
const EXPECTED_REASONS: ReadonlySet<number> = new Set([
  RejectReason.notEnough,
  RejectReason.postOnlyCrossesAsk,
  RejectReason.postOnlyCrossesBid,
  RejectReason.fokUnfilled,
  RejectReason.fakUnfilled,
]);
const CAPACITIES = {
  markets: 2,
  tokens: 8,
  accounts: 64,
  orders: 8_192,
  levels: 1 << 15,
  trades: 1 << 14,
  history: 4_096,
  positions: 256,
};

class PaperRun {
  private readonly sim = new Simulator(CAPACITIES, { ledger: true });
  private market: MirroredMarket;
  private readonly out = new CommandBuffer();
  private readonly naive: NaiveSource;
  private readonly levels = new Map<string, NaiveLevel>();
  private readonly open = new Map<number, PaperOrder>();
  private readonly random: Random;
  private readonly tokens: readonly TokenRow[];
  private readonly recorded: Recorded;
  private readonly options: RunOptions;
  private readonly counts = { taken: 0, level: 0, queue: 0, paper: 0 };
  private time = 1;
  private sum = 0;

  constructor(recorded: Recorded, options: RunOptions) {
    const { sim } = this;
    this.recorded = recorded;
    this.options = options;
    this.random = new Random(options.seed);
    this.naive = new NaiveSource(recorded.asset, options.impact === 'restore');
    this.tokens = sim.addMarket({ ticksPerUnit: recorded.ticksPerUnit, baseFeeBps: 20 });
    const [token] = this.tokens;
    this.market = this.newModel();
    const paid = [sim.deposit('source', 1e9 * SHARE)];
    for (const trader of TRADERS) {
      paid.push(sim.deposit(trader, 1e6 * SHARE), sim.split(trader, token!, 4e5 * SHARE));
    }
    assert(
      paid.every((reason) => reason === RejectReason.accepted),
      'everybody has money',
    );
  }

  private newModel(): MirroredMarket {
    const { asset, infersTrades } = this.recorded;
    const token = this.tokens[0]!;
    const paper = new EngineOrders(this.sim.engine.t, token);
    const book = new MirroredBook({ token, ...this.options, paper });
    return new MirroredMarket(book, asset, infersTrades);
  }

  /**
   * A model that begins with the present tables and a snapshot: orders lose their queue positions,
   * levels are whole.
   */
  private restart(): void {
    const { naive, open, options } = this;
    this.market = this.newModel();
    this.levels.clear();
    for (const order of open.values()) {
      const ahead = naive.said.get(nameOf(order.side, order.pips)) ?? 0;
      order.place = new NaivePlace(ahead, [], options.queue);
    }
    naive.taken.clear();
    this.play(naive.snapshot(String(this.time)));
    this.compareBook();
  }

  run(): RunResult {
    const { messages } = this.recorded;
    let placed = 0;
    let books = 0;
    for (const [index, message] of messages.entries()) {
      const isOfBook = this.play(message);
      if (!isOfBook && message.event_type !== 'last_trade_price') continue;
      books += 1;
      this.compareBook();
      const due = Math.ceil((this.options.orders * (index + 1)) / messages.length);
      for (; placed < due; placed++) this.trade();
      this.compareBook();
      if (this.random.below(200) === 0) this.restart();
      if (books % 500 === 0) audit(this.sim.engine.t);
    }
    audit(this.sim.engine.t);
    const digest = `${this.sum} ${stateDigest(this.sim.engine.t)}`;
    return { digest, fills: this.counts, books };
  }

  /** Plays a message to the model and the naive source, and the model's commands to the engine. */
  private play(message: MarketMessage): boolean {
    const { engine } = this.sim;
    const { i32, f64 } = this.out;
    this.time = Math.max(this.time, Number(message.timestamp));
    this.sim.at(this.time);
    this.out.clear();
    const { asset, second } = this.recorded;
    for (const event of readEvents(message)) {
      const isOwn = 'token' in event && [asset, second].includes(event.token);
      if (isOwn) this.market.apply(event, this.out);
    }
    const before = new Map(this.naive.said);
    const prints: number[] = [];
    for (let at = 0; at < this.out.words; at += commandWords(i32, at)) {
      if (commandKind(i32, at) === CommandKind.print) prints.push(at);
    }
    const reached = this.share(prints, Number(message.timestamp));
    const isOfBook = this.naive.apply(message);
    this.moveQueues(before, Number(message.timestamp));
    if (message.event_type === 'book') this.checkInferred(prints, before);
    for (let at = 0; at < this.out.words; at += commandWords(i32, at)) {
      const from = fillCount(engine.t);
      engine.begin(this.time, closedCount(engine.t));
      const reason = engine.apply(i32, f64, at);
      engine.end();
      assert.equal(reason, RejectReason.accepted, 'the engine takes what the model says');
      const fills = this.sim.fills(from);
      const kind = commandKind(i32, at);
      if (kind === CommandKind.level) this.levelMet(at, fills);
      if (kind === CommandKind.fill) this.queueMet(fills, reached);
      if (kind === CommandKind.print) assert.equal(fills.length, 1);
      this.collect(fills);
    }
    assert.deepEqual([...reached], [], 'every order got what its place gave it');
    return isOfBook;
  }

  /** Share of each paper order in the prints of a message, computed without the engine. */
  private share(prints: readonly number[], time: number): Map<number, number> {
    const due = new Map<number, number>();
    const { i32, f64 } = this.out;
    for (const at of prints) {
      const size = f64[at / 2 + LevelCommand.size]!;
      const pips = i32[at + LevelCommand.pips]!;
      const side = i32[at + LevelCommand.side] === 0 ? 'ask' : 'bid';
      let left = size;
      const give = (order: PaperOrder, most: number): void => {
        const got = Math.min(order.remaining - (due.get(order.number) ?? 0), most);
        if (got <= 0) return;
        due.set(order.number, (due.get(order.number) ?? 0) + got);
        left -= got;
      };
      const better = [...this.open.values()]
        .filter((order) => order.side === side)
        .filter((order) => (side === 'bid' ? order.pips > pips : order.pips < pips))
        .sort(
          (a, b) => (side === 'bid' ? b.pips - a.pips : a.pips - b.pips) || a.number - b.number,
        );
      for (const order of better) give(order, left);
      for (const order of this.open.values()) {
        if (order.side !== side || order.pips !== pips) continue;
        give(order, order.place.reached(size, time) - (size - left));
        order.place.add({ kind: 'print', size, time });
      }
      this.levelOf(side, pips).print(size, time);
    }
    return due;
  }

  /** Checks that inferred trades equal the decrease of the book. */
  private checkInferred(prints: readonly number[], before: ReadonlyMap<string, number>): void {
    for (const at of prints) {
      const side = this.out.i32[at + LevelCommand.side] === 0 ? 'ask' : 'bid';
      const name = nameOf(side, this.out.i32[at + LevelCommand.pips]!);
      const lacks = (before.get(name) ?? 0) - (this.naive.said.get(name) ?? 0);
      assert.equal(this.out.f64[at / 2 + LevelCommand.size], lacks);
    }
  }

  private moveQueues(before: ReadonlyMap<string, number>, time: number): void {
    for (const name of new Set([...before.keys(), ...this.naive.said.keys()])) {
      const from = before.get(name) ?? 0;
      const to = this.naive.said.get(name) ?? 0;
      if (from === to) continue;
      const [side, pips] = name.split(' ');
      this.levelOf(side as Side, Number(pips)).resized(from, to, time);
      for (const order of this.open.values()) {
        if (nameOf(order.side, order.pips) === name) {
          order.place.add({ kind: 'size', from, to, time });
        }
      }
    }
  }

  private levelOf(side: Side, pips: number): NaiveLevel {
    const name = nameOf(side, pips);
    const level = this.levels.get(name) ?? new NaiveLevel();
    this.levels.set(name, level);
    return level;
  }

  /** Checks a level that met paper orders: never beyond its size, at prices no better for them. */
  private levelMet(at: number, fills: readonly SimulatedFill[]): void {
    const pips = this.out.i32[at + LevelCommand.pips]!;
    const side = this.out.i32[at + LevelCommand.side] === 0 ? 'bid' : 'ask';
    let total = 0;
    for (const fill of fills) {
      const order = this.paperOf(fill.maker);
      assert.notEqual(order.side, side);
      assert(side === 'bid' ? order.pips <= pips : order.pips >= pips, 'not better than offered');
      assert.equal(this.pipsOf(fill.makerToken, fill.makerPips), order.pips);
      total += fill.size;
      this.reduce(order, fill.size);
      this.counts.level += 1;
    }
    assert(total <= this.out.f64[at / 2 + LevelCommand.size]!, 'not more than offered');
    if (total > 0) this.naive.take(nameOf(side, pips), total);
  }

  private queueMet(fills: readonly SimulatedFill[], due: Map<number, number>): void {
    assert.equal(fills.length, 1);
    const { maker, makerPips, makerToken, size } = fills[0]!;
    const order = this.paperOf(maker);
    assert.equal(this.pipsOf(makerToken, makerPips), order.pips, 'at the price of the order');
    const left = (due.get(maker) ?? 0) - size;
    assert(left >= 0, `order ${maker} gets ${size} and not ${left + size}`);
    if (left === 0) due.delete(maker);
    else due.set(maker, left);
    this.reduce(order, size);
    this.counts.queue += 1;
  }

  private trade(): void {
    const { random, sim } = this;
    if (this.open.size > 0 && random.chance(30)) {
      const order = random.pick([...this.open.keys()]);
      assert.equal(sim.cancel(order), RejectReason.accepted);
      this.open.delete(order);
    }
    const outcome = random.below(2);
    const side = random.pick(['buy', 'sell'] as const);
    const bookSide = (side === 'buy') === (outcome === 0) ? 'bid' : 'ask';
    const joins = random.chance(40);
    const ticks = this.ticksFor(bookSide, joins);
    const isLarge = !joins && random.chance(10);
    const size = isLarge ? random.between(1, 3) * 10_000 * SHARE : random.between(5, 500) * SHARE;
    const type = joins ? 'GTC' : random.pick(['GTC', 'FOK', 'FAK'] as const);
    const grid = this.recorded.ticksPerUnit;
    const from = fillCount(sim.engine.t);
    const { order, reason } = sim.place({
      account: random.pick(TRADERS),
      token: this.tokens[outcome]!,
      side,
      type,
      ticks: outcome === 0 ? ticks : grid - ticks,
      size,
      postOnly: type === 'GTC' && random.chance(50),
    });
    const fills = sim.fills(from);
    this.collect(fills);
    const left = size - this.takerMet(bookSide, ticks * (10_000 / grid), fills);
    if (reason !== RejectReason.accepted) {
      assert(EXPECTED_REASONS.has(reason), `reason ${reason}`);
      assert.equal(fills.length, 0);
      return;
    }
    if (type === 'FOK') assert.equal(left, 0);
    if (type === 'GTC' && left > 0) this.rests(order, bookSide, ticks * (10_000 / grid), left);
  }

  /** A price around the best one of the other side, or one at which it waits behind the source. */
  private ticksFor(side: Side, joins: boolean): number {
    const grid = this.recorded.ticksPerUnit;
    const facing = side === 'bid' ? 'ask' : 'bid';
    const best = (joins ? this.best(side) : this.best(facing)) ?? 5_000;
    const away = joins ? this.random.between(0, 2) : this.random.between(-3, 6);
    const ticks = Math.round((best * grid) / 10_000) + (side === 'bid' ? -away : away);
    return Math.min(grid - 1, Math.max(1, ticks));
  }

  private rests(number: number, side: Side, pips: number, remaining: number): void {
    const name = nameOf(side, pips);
    const ahead = this.naive.said.get(name) ?? 0;
    const recent = this.levelOf(side, pips).recent(this.time);
    const place = new NaivePlace(ahead, recent, this.options.queue);
    this.open.set(number, { number, side, pips, remaining, place });
  }

  /**
   * Checks a paper taker: prices within its limit, sizes within those of levels and paper orders.
   */
  private takerMet(side: Side, limit: number, fills: readonly SimulatedFill[]): number {
    const facing = side === 'bid' ? 'ask' : 'bid';
    let total = 0;
    for (const { maker, makerPips, makerToken, size } of fills) {
      const pips = this.pipsOf(makerToken, makerPips);
      assert(side === 'bid' ? pips <= limit : pips >= limit, 'within the limit');
      total += size;
      if (maker === 0) {
        const name = nameOf(facing, pips);
        assert(size <= this.naive.stands(name), 'not more than the source offers');
        this.naive.take(name, size);
        this.counts.taken += 1;
      } else {
        const order = this.paperOf(maker);
        assert.equal(order.pips, pips);
        this.reduce(order, size);
        this.counts.paper += 1;
      }
    }
    return total;
  }

  /** Checks the public book: offers of the source, less taken parts, and the paper orders. */
  private compareBook(): void {
    const expected = new Map<string, number>();
    const add = (name: string, size: number): void => {
      if (size > 0) expected.set(name, (expected.get(name) ?? 0) + size);
    };
    for (const name of this.naive.offered.keys()) add(name, this.naive.stands(name));
    for (const { pips, remaining, side } of this.open.values()) add(nameOf(side, pips), remaining);
    const { asks, bids } = this.sim.book(this.tokens[0]!);
    const step = 10_000 / this.recorded.ticksPerUnit;
    const found = bids.length + asks.length;
    for (const [ticks, size] of bids) assert.equal(size, expected.get(nameOf('bid', ticks * step)));
    for (const [ticks, size] of asks) assert.equal(size, expected.get(nameOf('ask', ticks * step)));
    assert.equal(found, expected.size);
  }

  private best(side: Side): number | undefined {
    const { asks, bids } = this.sim.book(this.tokens[0]!);
    const best = (side === 'bid' ? bids : asks).at(-1);
    return best === undefined ? undefined : best[0] * (10_000 / this.recorded.ticksPerUnit);
  }

  private paperOf(number: number): PaperOrder {
    const order = this.open.get(number);
    assert(order !== undefined, `${number} is an open paper order`);
    return order;
  }

  private reduce(order: PaperOrder, size: number): void {
    order.remaining -= size;
    assert(order.remaining >= 0);
    if (order.remaining === 0) this.open.delete(order.number);
  }

  private pipsOf(token: TokenRow, pips: number): number {
    return token === this.tokens[0] ? pips : 10_000 - pips;
  }

  private collect(fills: readonly SimulatedFill[]): void {
    for (const { maker, makerPips, size, taker } of fills) {
      for (const word of [maker, taker, makerPips, size]) {
        this.sum = (Math.imul(this.sum, 31) + word) | 0;
      }
    }
  }
}

export function runPaper(recorded: Recorded, options: RunOptions): RunResult {
  return new PaperRun(recorded, options).run();
}
