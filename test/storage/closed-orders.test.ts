import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import { ORDER_I, Order } from '../../engine/tables/layout.ts';
import { openSequence } from '../../storage/kv/lmdb.ts';
import {
  openClosedOrdersReader,
  StoredClosedOrders,
} from '../../storage/projection/closed-orders.ts';
import { type DerivedTables, openDerivedTables } from '../../storage/projection/derived.ts';
import { IdIndex } from '../../storage/projection/id-index.ts';
import { pageKey, pagesOf } from '../../storage/projection/id-runs.ts';
import { type Random, rounds } from '../common/random.ts';
import { directoryOf, seeded } from './stored-exchange.ts';

class Orders {
  readonly dataDir: string;
  readonly derived: DerivedTables;
  readonly warnings: string[] = [];
  /** Ids by their sequence, as words of the machine. */
  readonly words: Int32Array[] = [];
  index: IdIndex;
  private readonly random: Random;

  constructor(t: TestContext, random: Random) {
    this.random = random;
    this.dataDir = directoryOf(t);
    this.derived = openDerivedTables(this.dataDir, { durability: 'committed', readOnly: false });
    t.after(() => this.derived.root.close());
    this.index = this.open();
  }

  open(): IdIndex {
    this.index = new IdIndex(this.derived, (line) => this.warnings.push(line));
    return this.index;
  }

  /** Adds so many in one transaction, which fails on request. */
  add(count: number, fails = false): void {
    const { derived, index, random, words } = this;
    const from = words.length;
    for (let i = 0; i < count; i++) {
      const word =
        random.chance(5) && words.length > 0 ? random.pick(words)[0]! : random.next() | 0;
      words.push(Int32Array.from({ length: ID_WORDS }, (_, w) => (w === 0 ? word : random.next())));
    }
    const write = (): void => {
      derived.closedOrders.put(from, words.length, (sequence, into, at) => {
        into.fill(0, at, at + (4 << ORDER_I));
        words[sequence]!.forEach((word, w) => {
          into.writeInt32LE(word, at + 4 * (Order.id + w));
        });
      });
      index.add(from, words.length, (sequence) => words[sequence]![0]!);
      if (fails) throw new Error('broken off');
    };
    if (!fails) {
      derived.root.transactionSync(write);
      return;
    }
    assert.throws(() => derived.root.transactionSync(write), /broken off/);
    words.length = from;
    this.open();
  }

  check(some: readonly number[]): void {
    const closedOrders = new StoredClosedOrders(this.derived);
    const runs = closedOrders.runs();
    for (const sequence of some) {
      const row = closedOrders.find(this.idOf(sequence), runs);
      assert.equal(row?.readInt32LE(28), this.words[sequence]![7], `order ${sequence}`);
    }
    assert.equal(closedOrders.find(Buffer.alloc(32, 3), runs), undefined);
    assert.deepEqual(
      closedOrders.runs(0),
      [],
      'where no order has left, there is nothing to look at',
    );
    const older = closedOrders.runs(1);
    assert(older.every(({ from }) => from === 0));
  }

  runs(): number {
    return new StoredClosedOrders(this.derived).runs().length;
  }

  idOf(sequence: number): Buffer {
    const id = Buffer.alloc(32);
    this.words[sequence]!.forEach((word, w) => {
      id.writeInt32BE(word, 4 * w);
    });
    return id;
  }
}

function sample(random: Random, end: number): number[] {
  return Array.from({ length: Math.min(end, 200) }, () => random.below(end));
}

test('an order is found by its id during merges, after starts and after failed transactions', (t) =>
  seeded(async (random) => {
    const orders = new Orders(t, random);
    const sizes = [1, 2, 50, 900, 7_000, 30_000];
    for (let round = 0; round < rounds(40); round++) {
      orders.add(1 + random.below(random.pick(sizes)), random.chance(10));
      if (random.chance(10)) orders.open();
      orders.check(sample(random, orders.words.length));
    }
    for (let round = 0; round < rounds(40); round++) orders.add(1_000);
    const { length } = orders.words;
    orders.check(Array.from({ length: Math.min(length, 1_000) }, (_, i) => length - 1 - i));
    assert(orders.runs() <= Math.log2(length), `${orders.runs()} runs of ${length} orders`);
    const pages = orders.derived.ids.getKeysCount();
    assert(pages < length / 30, `${pages} pages: what was merged is removed`);
    assert.deepEqual(orders.warnings, []);
  }));

test('a damaged page never gives an unknown id, and is rebuilt from the rows', (t) =>
  seeded(async (random) => {
    const orders = new Orders(t, random);
    for (let i = 0; i < 5; i++) orders.add(3_000);
    const closedOrders = new StoredClosedOrders(orders.derived);
    const transact = (write: () => void): void => void orders.derived.root.transactionSync(write);
    const [run] = closedOrders.runs();
    const harm = (): void => {
      const key = pageKey(run!, random.below(pagesOf(run!)));
      const value = Buffer.from(orders.derived.ids.get(key)!);
      value[random.below(value.length)]! ^= 1 << random.below(8);
      transact(() => void orders.derived.ids.put(key, value));
    };
    const all = orders.words.map((_, sequence) => sequence);
    harm();
    assert.throws(() => orders.check(all), /page \d+ of the ids of finished orders .* is damaged/);
    for (const _ of orders.index.check(transact));
    orders.check(all);
    assert.match(orders.warnings[0]!, /^derived: a page of the ids .* is made again$/);
    harm();
    orders.add(20_000);
    for (let i = 0; i < 12; i++) orders.add(3_000);
    orders.check(all);
    assert(orders.warnings.length >= 2, 'a merge makes it again as well');
  }));

test('a damaged value of rows is named, and intact ones beside it are read', (t) =>
  seeded(async (random) => {
    const orders = new Orders(t, random);
    orders.add(1_000);
    const { closedOrders } = orders.derived;
    const { blockRows } = closedOrders;
    const [table] = [
      orders.derived.root.openDB<Buffer, number>({
        name: 'finals',
        encoding: 'binary',
        keyEncoding: 'ordered-binary',
      }),
    ];
    const value = Buffer.from(table.get(1)!);
    value[random.below(value.length)]! ^= 4;
    orders.derived.root.transactionSync(() => void table.put(1, value));
    const what = `a value of final states ${blockRows} to ${2 * blockRows - 1} is damaged`;
    assert.throws(() => closedOrders.get(blockRows + 3), new RegExp(`^Error: derived: ${what}$`));
    assert.throws(() => [...closedOrders.range(0, 1_000)], new RegExp(what));
    assert.equal([...closedOrders.range(0, blockRows)].length, blockRows);
    assert.equal([...closedOrders.range(2 * blockRows, 2_000)].length, 1_000 - 2 * blockRows);
    assert.equal(closedOrders.get(1_000), undefined);
  }));

test('an order whose row is in a damaged value never counts as unknown', (t) =>
  seeded(async (random) => {
    const orders = new Orders(t, random);
    orders.add(10);
    const { closedOrders, root } = orders.derived;
    const table = openSequence(root, 'finals');
    const value = Buffer.from(table.get(0)!);
    value[random.below(value.length)]! ^= 4;
    root.transactionSync(() => void table.put(0, value));
    // Only the rows that come are in memory: the value is made again without what preceded them.
    orders.add(10);
    assert.equal(closedOrders.get(3), undefined);
    // Ids may begin alike: it may name another one that went.
    assert.throws(() => orders.check([3]), /derived: final state \d is damaged/);
    orders.check([10, 19]);
  }));

test('a reader that sleeps after a lookup keeps no page from reuse', (t) =>
  seeded(async (random) => {
    const orders = new Orders(t, random);
    const bytes = (): number => statSync(join(orders.dataDir, 'derived/data.mdb')).size;
    const reader = openClosedOrdersReader(orders.dataDir);
    orders.add(2_000);
    reader.refresh(Number.POSITIVE_INFINITY);
    assert(reader.rowOf(orders.idOf(7)) !== undefined);
    reader.release();
    for (let i = 0; i < 10; i++) orders.add(5);
    const before = bytes();
    // The thread has no turn of its event loop meanwhile, as a worker has none.
    for (let i = 0; i < 300; i++) orders.add(5);
    assert(bytes() - before < 2 ** 20, `${bytes() - before} bytes for 1,500 orders`);
    reader.refresh(Number.POSITIVE_INFINITY);
    assert(reader.rowOf(orders.idOf(3_000)) !== undefined, 'the next look is at what is there');
  }));
