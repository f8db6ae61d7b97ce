/** The matching core alone: against a naive one, at its limits, and by the rules of its README. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as matching from '../../engine/book/matching.ts';
import {
  allocateMatching,
  auditMatching,
  canRescale,
  ladderRows,
  Matching,
  NO_LEVEL,
  rescale,
  Side,
} from '../../engine/book/matching.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { NaiveLevels, type NaiveOrder } from './naive-levels.ts';

const LEVELS = [2, 33, 100, 1_025];
const ORDERS = 60;

class Pair {
  readonly core: Matching;
  readonly naive = new NaiveLevels();
  /** Levels of each book; book 0 does not exist. */
  readonly levels = [0, ...LEVELS];
  private readonly slots = new Map<number, number>();
  private word = 0;

  constructor() {
    const rows = LEVELS.reduce((sum, levels) => sum + ladderRows(levels), 0);
    const capacities = { books: LEVELS.length, orders: ORDERS, levels: 3 * rows };
    this.core = new Matching(allocateMatching(capacities));
    LEVELS.forEach((levels, i) => {
      this.core.open(i + 1, levels);
    });
  }

  /** Takes; the rest of a maker is placed. */
  take(book: number, side: Side, level: number, quantity: number, isMaker: boolean): void {
    const { core, naive } = this;
    const wanted = quantity + 3;
    const expected = naive.available(book, side, level, wanted);
    assert.equal(core.available(book, side, level, wanted), expected, 'available');
    const fills = naive.match(book, side, level, quantity);
    const count = core.match(book, side, level, quantity);
    const own = Array.from({ length: count }, (_, i) => ({
      word: core.userData(core.makers[i]!),
      size: core.sizes[i]!,
    }));
    assert.deepEqual(own, fills, 'fills');
    const left = quantity - fills.reduce((sum, { size }) => sum + size, 0);
    assert.equal(core.left, left, 'what is left');
    if (left === 0 || !isMaker || !core.hasRoom(book)) return;
    this.word += 1;
    this.slots.set(this.word, core.rest(book, side, level, left, this.word));
    naive.orders.push({ book, side, level, remaining: left, word: this.word });
  }

  cancel(order: NaiveOrder): void {
    this.core.cancel(this.slots.get(order.word)!);
    this.naive.orders = this.naive.orders.filter((other) => other !== order);
  }

  resize(order: NaiveOrder, quantity: number): void {
    this.core.resize(this.slots.get(order.word)!, quantity);
    order.remaining = quantity;
  }

  /** Doubles the levels, or halves them if no order is in between. */
  rescale(book: number): void {
    const { core, levels, naive } = this;
    const isWide = levels[book]! !== LEVELS[book - 1];
    const [multiply, divide] = isWide ? [1, 2] : [2, 1];
    const own = naive.orders.filter((order) => order.book === book);
    if (own.some(({ level }) => !Number.isInteger((level * multiply) / divide))) return;
    const wide = (levels[book]! * multiply) / divide;
    assert(canRescale(core, wide, 1));
    rescale(core, book, wide, multiply, divide);
    levels[book] = wide;
    for (const order of own) order.level = (order.level * multiply) / divide;
  }

  compare(): void {
    const { core, levels, naive } = this;
    for (let book = 1; book < levels.length; book++) {
      for (const side of [Side.bid, Side.ask] as const) {
        const read: [number, number, number[]][] = [];
        for (let at = core.best(book, side); at !== NO_LEVEL; at = core.worse(book, side, at)) {
          const queue: number[] = [];
          for (let slot = core.first(book, at); slot !== 0; slot = core.next(slot)) {
            assert.deepEqual(
              [core.book(slot), core.side(slot), core.level(slot)],
              [book, side, at],
            );
            queue.push(core.userData(slot), core.remaining(slot));
          }
          read.push([at, core.quantityAt(book, at), queue]);
        }
        const expected = naive.depth(book, side).map(([level, queue]) => {
          const sum = queue.reduce((all, { remaining }) => all + remaining, 0);
          return [level, sum, queue.flatMap(({ word, remaining }) => [word, remaining])];
        });
        assert.deepEqual(read, expected, `book ${book}, side ${side}`);
      }
    }
    auditMatching(core);
  }
}

function step(random: Random, pair: Pair): void {
  const { naive } = pair;
  const book = random.between(1, LEVELS.length);
  const levels = pair.levels[book]!;
  const draw = random.below(100);
  if (draw < 60 || naive.orders.length === 0) {
    const side = random.pick([Side.bid, Side.ask]);
    // Prices meet in the middle, so that some cross, some rest and queues grow.
    const middle = Math.floor(levels / 2) + random.between(-6, 6) - (side === Side.bid ? 2 : -2);
    const near = Math.min(Math.max(middle, 0), levels - 1);
    const level = random.chance(80) ? near : random.below(levels);
    const huge = random.chance(5) ? 2 ** 45 : 0;
    pair.take(book, side, level, huge + random.between(1, 40), random.chance(85));
  } else if (draw < 85) {
    pair.cancel(random.pick(naive.orders));
  } else if (draw < 97) {
    pair.resize(random.pick(naive.orders), random.between(1, 60));
  } else {
    pair.rescale(book);
  }
}

test('the core agrees with a naive one on every query, in books of all sizes', () => {
  withSeed((random) => {
    for (let run = 0; run < rounds(4); run++) {
      const pair = new Pair();
      for (let i = 0; i < 1_500; i++) {
        step(random, pair);
        if (i % 5 === 0) pair.compare();
      }
      pair.compare();
    }
  });
});

test('rows of orders and ladders are reused, and a caller checks for room', () => {
  const core = new Matching(allocateMatching({ books: 2, orders: 2, levels: ladderRows(10) }));
  core.open(1, 10);
  core.open(2, 10);
  assert(core.hasRoom(1) && core.hasRoom(2), 'there is one ladder for whoever comes first');
  const first = core.rest(1, Side.bid, 4, 5, 0);
  assert(core.hasRoom(1));
  assert(!core.hasRoom(2), 'the ladder is taken');
  const second = core.rest(1, Side.ask, 5, 5, 0);
  assert(!core.hasRoom(1), 'two orders rest');
  assert.throws(
    () => core.rest(1, Side.ask, 6, 5, 0),
    /broken: the caller of rest\(\) has checked for room/,
  );
  core.cancel(first);
  assert.throws(() => core.cancel(first), /broken: what is cancelled rests/);
  core.cancel(second);
  assert.equal(core.rest(1, Side.bid, 0, 1, 0), second, 'the row that was left last comes first');
  auditMatching(core);
});

test('a ladder that a rescale gives back serves the next book of that size', () => {
  const levels = ladderRows(10) + ladderRows(20);
  const core = new Matching(allocateMatching({ books: 3, orders: 9, levels }));
  for (const book of [1, 2, 3]) core.open(book, 10);
  core.rest(1, Side.bid, 4, 5, 0);
  assert(!core.hasRoom(2) || core.hasRoom(3));
  assert(canRescale(core, 20, 1) && !canRescale(core, 20, 2));
  rescale(core, 1, 20, 2, 1);
  assert.equal(core.best(1, Side.bid), 8);
  assert(core.hasRoom(2));
  core.rest(2, Side.ask, 4, 5, 0);
  assert(!core.hasRoom(3));
  auditMatching(core);
});

test('an order that crosses, or has no quantity or level, fails an assertion', () => {
  const core = new Matching(allocateMatching({ books: 1, orders: 9, levels: ladderRows(10) }));
  core.open(1, 10);
  core.rest(1, Side.ask, 5, 5, 0);
  assert.throws(() => core.rest(1, Side.bid, 5, 1, 0), /what crosses does not rest/);
  assert.throws(() => core.rest(1, Side.bid, 10, 1, 0), /a quantity and a level/);
  assert.throws(() => core.rest(1, Side.bid, 1, 0, 0), /a quantity and a level/);
  assert.throws(() => core.match(1, Side.bid, 10, 1), /a limit is a level/);
  assert.throws(() => core.open(1, 10), /opened once/);
  assert.throws(() => ladderRows(1), /two levels/);
  assert.throws(() => ladderRows(2 ** 20 + 1), /at most 2\^20/);
  auditMatching(core);
});

test('the example of engine/book/README.md prints its documented output', (t) => {
  const readme = readFileSync(join(ROOT, 'engine/book/README.md'), 'utf8');
  const code = /```ts\n([\s\S]*?)```/.exec(readme)![1]!;
  const lines = code.split('\n').filter((line) => line !== '' && !line.startsWith('import'));
  assert(lines.length <= 20, 'it has twenty lines');
  const comments = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)];
  const expected = comments.flatMap((match) => match[1]!.split(', then '));
  const printed: string[] = [];
  t.mock.method(console, 'log', (...values: unknown[]) => printed.push(values.join(' ')));
  const names = Object.keys(matching);
  new Function(...names, lines.join('\n'))(...Object.values(matching));
  assert(printed.length > 3);
  assert.deepEqual(printed, expected);
});

test('simulator and matching core can be imported from the package', async () => {
  // Compiled by `npm test` before the tests run.
  const { Simulator } = await import('prediction-market-node/simulator');
  const { Matching: Exported } = await import('prediction-market-node/matching');
  assert.equal(typeof Simulator, 'function');
  const core = new Exported(allocateMatching({ books: 1, orders: 1, levels: ladderRows(2) }));
  core.open(1, 2);
  assert.equal(core.best(1, Side.bid), NO_LEVEL);
});
