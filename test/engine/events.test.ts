/**
 * The events of a batch suffice: a reader that applies them to its previous state has the levels,
 * the open orders and the versions of the engine, without its tables.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Event, EventBuffer, EventKind, eventWords } from '../../engine/events.ts';
import { closedOrder, orderStatus } from '../../engine/orders/orders.ts';
import { Status } from '../../engine/tables/codes.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import {
  BOOK_F,
  BOOK_I,
  Book,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import type { OrderRow, TokenRow } from '../../engine/tables/units.ts';
import { withSeed } from '../common/random.ts';
import { EngineDriver, replay } from './engine-driver.ts';
import { BUSY, MARKETS, Stream, type StreamShape } from './stream.ts';

const RECORDS = 2 ** 16;

interface MirroredBook {
  grid: number;
  version: number;
  levels: Map<number, number>;
}

class Mirror {
  readonly books = new Map<number, MirroredBook>();
  readonly open = new Map<number, number>();
  readonly minSizes = new Map<number, number>();
  fills = 0;
  finished = 0;
  private placedLast = 0;
  private readonly driver: ToldDriver;

  constructor(driver: ToldDriver) {
    this.driver = driver;
  }

  read(log: EventBuffer): void {
    assert(!log.overflowed);
    const { i32, f64 } = log;
    let settled = false;
    for (let at = 0; at < log.words; at += eventWords(i32, at)) {
      const kind = i32[at]!;
      const sequence = f64[at / 2 + Event.sequence]!;
      assert(!settled || kind === EventKind.settled, 'versions come last');
      switch (kind) {
        case EventKind.placed:
          this.place(i32[at + Event.command]!);
          break;
        case EventKind.fill:
          this.fill(sequence);
          break;
        case EventKind.partly:
          this.compareRow(new Int32Array(i32.slice(at + Event.row, at + Event.row + 32)));
          break;
        case EventKind.closed:
          this.finish(sequence);
          break;
        case EventKind.tick:
          this.regrid(i32[at + Event.book]!, i32[at + Event.gridBefore]!, i32[at + Event.grid]!);
          break;
        case EventKind.market:
          this.minSizes.set(i32[at + Event.market]!, f64[at / 2 + Event.minSize]!);
          if (i32[at + Event.isNew] === 1) this.register(i32[at + Event.market]!);
          break;
        case EventKind.settled:
          settled = true;
          this.books.get(i32[at + Event.book]!)!.version = i32[at + Event.version]!;
          break;
        default:
          this.level(kind, i32, at, f64[at / 2 + Event.quantity]!, sequence);
      }
    }
  }

  private place(id: number): void {
    this.placedLast = id;
    this.open.set(id, this.driver.original(id));
  }

  private fill(sequence: number): void {
    assert.equal(sequence, this.fills++, 'every fill is told, in order');
    const { fillF, fillI, fillRows } = this.driver.t;
    const row = sequence % fillRows;
    const size = fillF[row * FILL_DOUBLES + Fill.size]!;
    for (const side of [Fill.takerId, Fill.makerId]) {
      const id = fillI[row * FILL_WORDS + side + 7]!;
      this.open.set(id, this.open.get(id)! - size);
    }
  }

  /** Checks the copy of a maker's row against the fills. */
  private compareRow(row: Int32Array<ArrayBuffer>): void {
    const remaining = new Float64Array(row.buffer)[Order.remaining];
    assert.equal(remaining, this.open.get(row[Order.id + 7]!));
    assert(remaining! > 0);
  }

  private finish(sequence: number): void {
    assert.equal(sequence, this.finished++, 'every end is told, in order');
    const { orderF, orderI } = this.driver.t;
    const place = closedOrder(this.driver.t, sequence);
    const id = orderI[(place << ORDER_I) + Order.id + 7]!;
    assert.equal(orderF[(place << ORDER_F) + Order.remaining], this.open.get(id));
    this.open.delete(id);
  }

  private level(
    kind: number,
    i32: Int32Array,
    at: number,
    quantity: number,
    sequence: number,
  ): void {
    const book = this.books.get(i32[at + Event.book]!)!;
    assert.equal(i32[at + Event.grid], book.grid);
    const tick = i32[at + Event.tick]!;
    if (quantity === 0) book.levels.delete(tick);
    else book.levels.set(tick, quantity);
    const cause = this.driver.causeOf(kind, sequence) ?? this.placedLast;
    assert(this.open.has(cause), 'the order behind a change is known and not yet told to be over');
  }

  private register(market: number): void {
    const { marketI } = this.driver.t;
    const row = market << MARKET_I;
    const first = marketI[row + Market.firstBook]!;
    const grid = marketI[row + Market.ticksPerUnit]!;
    for (let i = 0; i < marketI[row + Market.bookCount]!; i++) {
      this.books.set(first + i, { grid, version: 0, levels: new Map() });
    }
  }

  private regrid(number: number, before: number, grid: number): void {
    const book = this.books.get(number)!;
    assert.equal(book.grid, before);
    const moved = [...book.levels].map(([tick, quantity]) => [(tick * grid) / before, quantity]);
    book.levels = new Map(moved as [number, number][]);
    book.grid = grid;
  }
}

/** A driver that knows the orders of its stream, and the cause of each level change. */
class ToldDriver extends EngineDriver {
  readonly log: EventBuffer;
  private readonly originals = new Map<number, number>();

  constructor(log: EventBuffer) {
    super(undefined, log);
    this.log = log;
  }

  override run(command: Parameters<EngineDriver['run']>[0]) {
    if (command.kind !== 'order') return super.run(command);
    this.log.command = command.id;
    const outcome = super.run(command);
    if (outcome.reason === 0) this.originals.set(command.id, Number(command.shares));
    return outcome;
  }

  original(id: number): number {
    return this.originals.get(id)!;
  }

  /** Number of the order; `undefined`: the order that was placed last. */
  causeOf(kind: number, sequence: number): number | undefined {
    const { fillI, fillRows, orderI } = this.t;
    if (kind === EventKind.levelFill) {
      return fillI[(sequence % fillRows) * FILL_WORDS + Fill.makerId + 7];
    }
    if (kind === EventKind.levelPlaced) return undefined;
    return orderI[(closedOrder(this.t, sequence) << ORDER_I) + Order.id + 7];
  }
}

function sideLevels(side: DepthSide): [number, number][] {
  return Array.from({ length: side.count }, (_, i) => [side.ticks[i]!, side.sizes[i]!]);
}

function compare(driver: ToldDriver, mirror: Mirror): void {
  const { t } = driver;
  const depth = new Depth();
  assert.equal(mirror.books.size, t.state[State.books]);
  for (const [slot, book] of mirror.books) {
    const row = slot << BOOK_I;
    const token = t.bookI[row + Book.firstToken]! as TokenRow;
    assert.equal(t.tokenI[(token << TOKEN_I) + Token.mirrored], 0);
    assert(readDepth(t, token, depth));
    assert.equal(book.version, depth.version);
    assert.equal(book.grid, depth.ticksPerUnit);
    assert(t.bookF[(slot << BOOK_F) + Book.changedAt]! > 0);
    assert.equal(mirror.minSizes.get(t.bookI[row + Book.market]!), depth.minSize);
    const all = [...sideLevels(depth.bids), ...sideLevels(depth.asks).reverse()];
    assert.deepEqual(
      [...book.levels].sort(([a], [b]) => a - b),
      all,
    );
  }
  const open = new Map<number, number>();
  for (let orderRow = 1 as OrderRow; orderRow <= t.state[State.orderRows]!; orderRow++) {
    if (orderStatus(t, orderRow) !== Status.live) continue;
    open.set(
      t.orderI[(orderRow << ORDER_I) + Order.id + 7]!,
      t.orderF[(orderRow << ORDER_F) + Order.remaining]!,
    );
  }
  const byNumber = ([a]: [number, number], [b]: [number, number]): number => a - b;
  assert.deepEqual([...mirror.open].sort(byNumber), [...open].sort(byNumber));
}

const shapes: readonly (readonly [string, Partial<StreamShape>])[] = [
  ['on a busy stream', {}],
  ['on markets that keep changing their terms', { changes: 4, policies: 2, sweeps: 2 }],
];
for (const [where, shape] of shapes) {
  test(`${where} the log of each batch leads from the state before to the state after it`, () => {
    withSeed((random) => {
      const driver = new ToldDriver(new EventBuffer(RECORDS));
      const mirror = new Mirror(driver);
      const stream = new Stream(random, { ...BUSY, ...shape }, MARKETS);
      for (let batches = 0; batches < 1_500; ) {
        const command = stream.next();
        if (command.kind === 'at') {
          driver.close();
          mirror.read(driver.log);
          // Each comparison reads every table: after the first hundred, now and then.
          if (batches < 100 || batches % 20 === 0) compare(driver, mirror);
          batches += 1;
        }
        driver.run(command);
      }
      driver.close();
      mirror.read(driver.log);
      compare(driver, mirror);
      assert(mirror.fills > 500);
      const again = replay(driver.logged);
      assert.equal(stateHash(again.t), stateHash(driver.t), 'a log changes nothing');
    });
  });
}

test('a log that is too small says so, and the next batch has a whole one again', () => {
  const driver = new ToldDriver(new EventBuffer(6));
  const order = {
    kind: 'order' as const,
    token: 1,
    side: 'BUY' as const,
    type: 'GTC' as const,
    postOnly: false,
    shares: 100n,
    collateral: 50n,
    expiration: 0,
    feeRateBps: 1_000,
    maker: 1,
    signer: 1,
    signatureType: 0,
    faults: [],
  };
  const terms = { grid: 100, baseFeeBps: 0, minSize: 0n, tradable: true, ended: false };
  driver.run({ kind: 'at', time: 1_000 });
  driver.run({ kind: 'market', condition: 1, outcomes: 2, ...terms, negRisk: false });
  driver.close();
  assert.deepEqual([driver.log.words / 8, driver.log.overflowed], [1, false]);
  driver.run({ kind: 'at', time: 2_000 });
  for (const id of [1, 2, 3]) driver.run({ ...order, id });
  driver.close();
  // Two records each, and one for the book.
  assert.deepEqual([driver.log.words / 8, driver.log.overflowed], [6, true]);
  driver.run({ kind: 'at', time: 3_000 });
  driver.run({ ...order, id: 4 });
  driver.close();
  assert.deepEqual([driver.log.words / 8, driver.log.overflowed], [3, false]);
});
