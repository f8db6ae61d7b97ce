/** Recovery: image and journal give the state from before, or a clear line says why they do not. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { FILL_WORDS, State } from '../../engine/layout.ts';
import type { Capacities } from '../../engine/limits.ts';
import { matchingUse } from '../../engine/matching/matching.ts';
import { stateHash } from '../../engine/state-hash.ts';
import type { Tables } from '../../engine/tables.ts';
import { decodeBatch, encodeBatch } from '../../storage/batch-record.ts';
import { finalCopies } from '../../storage/fills.ts';
import { Images } from '../../storage/images.ts';
import type { Journal } from '../../storage/journal.ts';
import { type Recovered, recover } from '../../storage/recover.ts';
import type { Random } from '../common/random.ts';
import type { JournalBatch } from '../engine/engine-driver.ts';
import {
  appended,
  directoryOf,
  Exchange,
  journalOf,
  QUICK,
  seeded,
  TIGHT,
  tradingDay,
} from './stored-exchange.ts';

/** A data directory, and what lived in it. */
class Place {
  readonly journal: Journal;
  readonly images: Images;
  readonly warnings: string[] = [];

  constructor(t: TestContext) {
    const directory = directoryOf(t);
    this.journal = journalOf(t, directory);
    this.images = new Images(directory, QUICK);
    t.after(() => this.images.close());
  }

  recover(capacities: Capacities = TIGHT): Recovered {
    const { tables } = this.journal;
    return recover(capacities, this.images, tables, (line) => this.warnings.push(line));
  }

  /** Applies batches and journals them; returns the state hash after each sequence. */
  async live(exchange: Exchange, batches: readonly JournalBatch[]): Promise<Map<number, string>> {
    const hashes = new Map<number, string>();
    let last: Promise<void> = Promise.resolve();
    for (const batch of batches) {
      const entry = exchange.apply(batch);
      if (entry === null) continue;
      hashes.set(entry.sequence, stateHash(exchange.t));
      last = appended(this.journal, entry);
    }
    await last;
    return hashes;
  }

  /** The next run, with these capacities. */
  async restart(capacities: Capacities): Promise<Exchange> {
    const exchange = new Exchange(this.recover(capacities).memory);
    const entry = exchange.configure(exchange.t.state[State.time]!);
    if (entry !== null) await appended(this.journal, entry);
    return exchange;
  }

  async removeBatch(sequence: number): Promise<void> {
    await this.journal.transact(() => void this.journal.tables.batches.remove(sequence));
  }
}

/** Rows of the newest fills that GET /trades can reach. */
function fillsOf(t: Tables, trades: number): Int32Array[] {
  const end = t.state[State.fills]!;
  return Array.from({ length: Math.min(end, trades) }, (_, i) => {
    const row = ((end - 1 - i) % t.fillRows) * FILL_WORDS;
    return t.fillI.slice(row, row + FILL_WORDS);
  });
}

/** The finished orders that memory keeps, oldest first. */
function finishedRows(t: Tables): string[] {
  return finalCopies(t, t.state[State.finishedFirst]!, t.state[State.finished]!).map(
    ({ id, row }) => `${id.toString('hex')} ${row.toString('hex')}`,
  );
}

async function damage(place: Place, sequence: number, bytes: (stored: Buffer) => Buffer) {
  const { batches } = place.journal.tables;
  const stored = Buffer.from(batches.get(sequence)!);
  await place.journal.transact(() => void batches.put(sequence, bytes(stored)));
}

async function withHistory(
  t: TestContext,
  body: (place: Place, exchange: Exchange, day: readonly JournalBatch[], random: Random) => unknown,
): Promise<void> {
  await seeded(async (random) => {
    await body(new Place(t), new Exchange(), tradingDay(random, 1_500), random);
  });
}

test('an empty directory recovers to an empty engine', (t) => {
  const { engine, image, replayed } = new Place(t).recover();
  assert.deepEqual([image, replayed, engine.t.state[State.batch]], [0, 0, 0]);
});

test('a journal cut after any batch recovers to the state after that batch', (t) =>
  withHistory(t, async (place, exchange, day) => {
    const hashes = await place.live(exchange, day);
    assert(exchange.t.state[State.finished]! > 2 * TIGHT.history, 'orders left memory meanwhile');
    for (let end = hashes.size; end >= 1; end--) {
      const { engine, replayed } = place.recover();
      assert.equal(replayed, end);
      assert.equal(stateHash(engine.t), hashes.get(end), `after batch ${end}`);
      await place.removeBatch(end);
    }
  }));

test('an image and the journal after it, cut anywhere, recover to the state after that batch', (t) =>
  withHistory(t, async (place, exchange, day, random) => {
    const middle = random.between(20, day.length - 20);
    const hashes = await place.live(exchange, day.slice(0, middle));
    await place.images.save(exchange.t);
    const at = exchange.t.state[State.batch]!;
    for (const [n, hash] of await place.live(exchange, day.slice(middle))) hashes.set(n, hash);
    await place.journal.trim(at);
    for (let end = hashes.size; end >= at; end--) {
      const { engine, image, replayed } = place.recover();
      assert.deepEqual([image, replayed], [1, end - at]);
      assert.equal(stateHash(engine.t), hashes.get(end), `after batch ${end}`);
      if (end > at) await place.removeBatch(end);
    }
  }));

test('the newest fills are what they were before, from the image, the journal or both', (t) =>
  withHistory(t, async (place, exchange, day) => {
    const before = day.length - 40;
    await place.live(exchange, day.slice(0, before));
    const fills = exchange.t.state[State.fills]!;
    await place.images.save(exchange.t);
    await place.live(exchange, day.slice(before));
    assert(exchange.t.state[State.fills]! > fills, 'there are fills on both sides of the image');
    const live = fillsOf(exchange.t, TIGHT.trades);
    assert.equal(live.length, TIGHT.trades);
    assert.deepEqual(fillsOf(place.recover().engine.t, TIGHT.trades), live);
  }));

test('a gap is refused by naming the missing batch', (t) =>
  withHistory(t, async (place, exchange, day) => {
    await place.live(exchange, day.slice(0, 30));
    await place.removeBatch(17);
    assert.throws(() => place.recover(), /^Error: recovery: batch 17 is missing from the journal$/);
  }));

test('a damaged batch is refused by naming it and its checksum', (t) =>
  withHistory(t, async (place, exchange, day) => {
    await place.live(exchange, day.slice(0, 30));
    await damage(place, 12, (stored) => {
      stored[70]! ^= 1;
      return stored;
    });
    assert.throws(() => place.recover(), /^Error: recovery: batch 12: its checksum is wrong$/);
  }));

test('a batch that does not do again what was recorded is refused by naming it', (t) =>
  withHistory(t, async (place, exchange, day) => {
    await place.live(exchange, day.slice(0, 30));
    for (const [name, change] of [
      ['digest', { digest: 12_345 }],
      ['first fill', { firstFill: 1_000_000 }],
      ['last fill', { endFill: 1_000_000 }],
      ['number of finished orders', { endFinished: 1_000_000 }],
      ['own sequence', { sequence: 22 }],
    ] as const) {
      const stored = Buffer.from(place.journal.tables.batches.get(21)!);
      await damage(place, 21, (bytes) => {
        const record = decodeBatch(bytes);
        assert(typeof record === 'object');
        return encodeBatch({ ...record, ...change }, record.i32);
      });
      const line = new RegExp(`^Error: recovery: batch 21: its ${name} differs$`);
      assert.throws(() => place.recover(), line);
      await damage(place, 21, () => stored);
    }
    assert.equal(stateHash(place.recover().engine.t), stateHash(exchange.t));
  }));

test('a batch whose commands no longer change anything is refused by naming it', (t) =>
  withHistory(t, async (place, exchange, day) => {
    await place.live(exchange, day.slice(0, 30));
    await damage(place, 30, (bytes) => {
      const record = decodeBatch(bytes);
      assert(typeof record === 'object');
      return encodeBatch(record, new Int32Array(0));
    });
    assert.throws(
      () => place.recover(),
      /^Error: recovery: batch 30: its (effect|digest) differs$/,
    );
  }));

test('a fill that the journal lost is refused by naming it', (t) =>
  withHistory(t, async (place, exchange, day) => {
    await place.live(exchange, day);
    await place.images.save(exchange.t);
    const lost = exchange.t.state[State.fills]! - 3;
    await place.journal.transact(() => void place.journal.tables.fills.remove(lost));
    const line = new RegExp(`^Error: recovery: fill ${lost} is missing from the journal$`);
    assert.throws(() => place.recover(), line);
  }));

test('where the newest image is damaged the older one serves, and a warning says so', (t) =>
  withHistory(t, async (place, exchange, day) => {
    await place.live(exchange, day.slice(0, 60));
    await place.images.save(exchange.t);
    await place.live(exchange, day.slice(60, 90));
    await place.images.save(exchange.t);
    await place.live(exchange, day.slice(90));
    const load = place.images.load.bind(place.images);
    place.images.load = (info) => (info.number === 2 ? 'it is torn' : load(info));
    const { engine, image } = place.recover();
    assert.equal(image, 1);
    assert.equal(stateHash(engine.t), stateHash(exchange.t));
    assert.deepEqual(place.warnings, ['recovery: image 2 cannot be used: it is torn']);
    await place.journal.trim(80);
    assert.throws(
      () => place.recover(),
      /^Error: recovery: batch 61 is missing from the journal \(image 2: it is torn\)$/,
      'a gap behind a damaged image tells of both',
    );
  }));

const CHANGES: readonly Partial<Capacities>[] = [
  { orders: 301 },
  { history: 331 },
  { orders: 251, history: 11 },
  { history: 20 },
  { trades: 200 },
  { trades: 20 },
  { markets: 11, tokens: 40, accounts: 99, levels: 210_001 },
];
for (const change of CHANGES) {
  const [from, to] = [TIGHT, { ...TIGHT, ...change }];
  test(`capacities may change between runs: ${JSON.stringify(change)}`, async (t) => {
    await seeded(async (random) => {
      const place = new Place(t);
      const day = tradingDay(random, 2_400);
      const third = Math.floor(day.length / 3);
      const first = new Exchange(from);
      await place.live(first, day.slice(0, third));
      await place.images.save(first.t);
      await place.live(first, day.slice(third, third + 30));
      assert(first.t.state[State.finished]! > first.t.finishedRows, 'the ring has come round');

      const second = await place.restart(to);
      assert.deepEqual(second.t.capacities, to);
      assert.deepEqual(finishedRows(second.t), finishedRows(first.t), 'in the order of finishing');
      const reach = Math.min(from.trades, to.trades);
      assert.deepEqual(fillsOf(second.t, reach), fillsOf(first.t, reach));
      await place.live(second, day.slice(third + 30, 2 * third));
      const again = place.recover(to).engine.t;
      assert.equal(stateHash(again), stateHash(second.t), 'from the image of the first run');
      assert.deepEqual(fillsOf(again, to.trades), fillsOf(second.t, to.trades));

      await place.images.save(second.t);
      await place.live(second, day.slice(2 * third));
      const last = place.recover(to).engine.t;
      assert.equal(stateHash(last), stateHash(second.t), 'from the image of the second run');
    });
  });
}

test('without any image, batches of several runs with different capacities replay as they ran', (t) =>
  seeded(async (random) => {
    const place = new Place(t);
    const day = tradingDay(random, 2_400);
    // As a node does it, which says its configuration first of all.
    let exchange = await place.restart(TIGHT);
    for (let run = 0; run < 4; run++) {
      const part = day.slice((day.length * run) / 4, (day.length * (run + 1)) / 4);
      await place.live(exchange, part);
      const hash = stateHash(exchange.t);
      assert.equal(stateHash(place.recover(exchange.t.capacities).engine.t), hash);
      const history = random.between(40, 300);
      const orders = random.between(400, 600);
      exchange = await place.restart({ ...TIGHT, orders, history });
    }
  }));

test('capacities below what is in use are refused by naming the variable', (t) =>
  withHistory(t, async (place, exchange, day) => {
    await place.live(exchange, day);
    const { levels, orders: rows } = matchingUse(exchange.t.matching);
    const tooSmall: readonly (readonly [string, number, Partial<Capacities>])[] = [
      ['markets (MARKETS_MAX)', 6, { markets: 5 }],
      ['tokens (TOKENS_MAX)', 12, { tokens: 11 }],
      ['accounts (ACCOUNTS_MAX)', 7, { accounts: 6 }],
      ['price levels (LEVELS_MAX)', levels, { levels: 1_024 }],
      ['rows of open orders (ORDERS_MAX)', rows, { orders: rows - 1 }],
    ];
    for (const [, , change] of tooSmall) {
      assert.throws(
        () => place.recover({ ...TIGHT, ...change }),
        /^Error: recovery: batch \d+: a table is full; MARKETS_MAX, .* may grow, but not shrink/,
        'the journal alone tells that something is too small',
      );
    }
    await place.images.save(exchange.t);
    for (const [what, used, change] of tooSmall) {
      assert.throws(
        () => place.recover({ ...TIGHT, ...change }),
        ({ message }: Error) =>
          message.startsWith(`recovery: ${used} ${what} are in use, more than the configured `),
      );
    }
    assert.deepEqual(place.warnings, [], 'an image is not given up for that');
    assert.equal(stateHash(place.recover().engine.t), stateHash(exchange.t));
  }));

test('finished orders that memory still needs are not forgotten for smaller capacities', (t) =>
  seeded(async (random) => {
    const place = new Place(t);
    const exchange = new Exchange({ ...TIGHT, history: 300 });
    await place.live(exchange, tradingDay(random, 1_500));
    await place.images.save(exchange.t);
    assert.throws(
      () => place.recover(),
      /^Error: recovery: \d+ rows of open and kept orders \(ORDERS_MAX \+ ORDER_HISTORY\) are in use, /,
    );
  }));
