import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { audit } from '../../engine/audit.ts';
import { matchingUse } from '../../engine/book/matching.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { FILL_WORDS, State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { SequenceTable } from '../../storage/kv/lmdb.ts';
import { PackedRows } from '../../storage/kv/packed.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { fillCopy } from '../../storage/projection/fills.ts';
import { begin, type Recovered, recover } from '../../storage/recovery/recover.ts';
import { resizeTables } from '../../storage/snapshot/resize-tables.ts';
import { SnapshotFiles, type SnapshotInfo } from '../../storage/snapshot/snapshots.ts';
import type { Random } from '../common/random.ts';
import { check } from '../engine/duel.ts';
import { type LoggedBatch, ROOMY } from '../engine/engine-driver.ts';
import { FakeLog, type FakeStore } from './fake-log.ts';
import {
  appended,
  closedRows,
  directoryOf,
  Exchange,
  recordOf,
  saved,
  seeded,
  TIGHT,
  tradingDay,
} from './stored-exchange.ts';

class Place {
  readonly store: FakeStore = { entries: [] };
  readonly snapshots: SnapshotFiles;
  readonly warnings: string[] = [];
  /** Fills like the projector's. */
  readonly fills = new Map<number, Buffer>();

  constructor(t: TestContext) {
    this.snapshots = new SnapshotFiles(directoryOf(t), 'committed');
  }

  recover(capacities: Capacities = TIGHT): Recovered {
    const warn = (line: string): void => void this.warnings.push(line);
    return recover(capacities, this.snapshots, new FakeLog(this.store), this.fillTable(), warn);
  }

  begin(capacities: Capacities, growing: readonly (keyof Capacities)[]) {
    const warn = (line: string): void => void this.warnings.push(line);
    const { snapshots } = this;
    return begin(capacities, snapshots, snapshots.list(), warn, undefined, undefined, growing);
  }

  /** Applies batches and logs them; keeps the state hash after each batch sequence on request. */
  async live(
    context: Exchange,
    batches: readonly LoggedBatch[],
    hashes?: Map<number, string>,
  ): Promise<void> {
    const log = new FakeLog(this.store);
    const { t } = context;
    let last: Promise<void> = Promise.resolve();
    for (const batch of batches) {
      const before = t.state[State.fills]!;
      const entry = context.apply(batch);
      for (let n = before; n < t.state[State.fills]!; n++) this.fills.set(n, fillCopy(t, n));
      if (entry === null) continue;
      hashes?.set(entry.sequence, stateHash(t));
      last = appended(log, entry);
    }
    await last;
  }

  save(context: Exchange): SnapshotInfo {
    return saved(this.snapshots, context.t);
  }

  trim(sequence: number): Promise<void> {
    return new FakeLog(this.store).trim(sequence);
  }

  async restart(capacities: Capacities): Promise<Exchange> {
    const context = new Exchange(this.recover(capacities).engine.t.memory);
    const entry = context.configure(context.t.state[State.time]!);
    if (entry !== null) await appended(new FakeLog(this.store), entry);
    return context;
  }

  removeBatch(sequence: number): void {
    this.store.entries = this.store.entries.filter((entry) => entry.sequence !== sequence);
  }

  damage(sequence: number, change: (stored: Buffer) => Buffer): void {
    this.store.entries = this.store.entries.map((entry) =>
      entry.sequence === sequence
        ? { ...entry, payload: change(Buffer.from(entry.payload)) }
        : entry,
    );
  }

  /** Fills like the projector's, without LMDB. */
  private fillTable(): PackedRows {
    const { fills } = this;
    const values = new Map<number, Buffer>();
    const table = { get: values.get.bind(values), put: values.set.bind(values) } as unknown;
    const rows = new PackedRows(table as SequenceTable, 'fills', 4 * FILL_WORDS);
    const end = 1 + Math.max(-1, ...fills.keys());
    let first = end;
    while (fills.has(first - 1)) first -= 1;
    rows.put(first, end, (n, into, at) => void fills.get(n)!.copy(into, at));
    return rows;
  }
}

function fillsOf(t: Tables, trades: number): Int32Array[] {
  const end = t.state[State.fills]!;
  return Array.from({ length: Math.min(end, trades) }, (_, i) => {
    const row = ((end - 1 - i) % t.fillRows) * FILL_WORDS;
    return t.fillI.slice(row, row + FILL_WORDS);
  });
}

/** No market ends early, so that a day surely has more fills than the larger ring. */
const NO_ENDS = 0;

async function withHistory(
  t: TestContext,
  body: (place: Place, context: Exchange, day: readonly LoggedBatch[], random: Random) => unknown,
  ends = 0.5,
): Promise<void> {
  await seeded(async (random) => {
    await body(new Place(t), new Exchange(), tradingDay(random, 1_500, ends), random);
  });
}

test('an empty directory recovers to an empty engine', (t) => {
  const { engine, snapshot, replayed } = new Place(t).recover();
  assert.deepEqual([snapshot, replayed, engine.t.state[State.batch]], [0, 0, 0]);
});

test('a log cut after any batch recovers to the state after that batch', (t) =>
  withHistory(t, async (place, context, day) => {
    const hashes = new Map<number, string>();
    await place.live(context, day, hashes);
    assert(context.t.state[State.closed]! > 2 * TIGHT.history, 'orders left memory meanwhile');
    for (let end = hashes.size; end >= 1; end--) {
      const { engine, replayed } = place.recover();
      assert.equal(replayed, end);
      assert.equal(stateHash(engine.t), hashes.get(end), `after batch ${end}`);
      place.removeBatch(end);
    }
  }));

test('a snapshot and the log after it, cut anywhere, recover to the state after that batch', (t) =>
  withHistory(t, async (place, context, day, random) => {
    const middle = random.between(20, day.length - 20);
    const hashes = new Map<number, string>();
    await place.live(context, day.slice(0, middle), hashes);
    place.save(context);
    const at = context.t.state[State.batch]!;
    await place.live(context, day.slice(middle), hashes);
    await place.trim(at - 1);
    for (let end = hashes.size; end >= at; end--) {
      const { engine, snapshot, replayed } = place.recover();
      assert.deepEqual([snapshot, replayed], [at, end - at]);
      assert.equal(stateHash(engine.t), hashes.get(end), `after batch ${end}`);
      if (end > at) place.removeBatch(end);
    }
  }));

test('the newest fills are recovered from the snapshot, the log or both', (t) =>
  withHistory(t, async (place, context, day) => {
    const before = day.length - 40;
    await place.live(context, day.slice(0, before));
    const fills = context.t.state[State.fills]!;
    place.save(context);
    await place.live(context, day.slice(before));
    assert(context.t.state[State.fills]! > fills, 'there are fills on both sides of the snapshot');
    const live = fillsOf(context.t, TIGHT.trades);
    assert.equal(live.length, TIGHT.trades);
    assert.deepEqual(fillsOf(place.recover().engine.t, TIGHT.trades), live);
  }));

test('a gap is refused by naming the missing batch', (t) =>
  withHistory(t, async (place, context, day) => {
    await place.live(context, day.slice(0, 30));
    place.removeBatch(17);
    assert.throws(
      () => place.recover(),
      /^Error: log: batch 17: it is missing; what to do: docs\/guides\/operations\.md/,
    );
  }));

test('a damaged batch is refused by naming it and its checksum', (t) =>
  withHistory(t, async (place, context, day) => {
    await place.live(context, day.slice(0, 30));
    place.damage(12, (stored) => {
      // In its head: a batch of expiries has no commands.
      stored[20]! ^= 1;
      return stored;
    });
    assert.throws(() => place.recover(), /^Error: recovery: batch 12: its checksum is wrong$/);
  }));

test('a batch with another result than recorded is refused by naming it', (t) =>
  withHistory(t, async (place, context, day) => {
    await place.live(context, day.slice(0, 30));
    for (const [name, change] of [
      ['digest', { digest: 12_345 }],
      ['first fill', { firstFill: 1_000_000 }],
      ['last fill', { endFill: 1_000_000 }],
      ['number of finished orders', { closedEnd: 1_000_000 }],
      ['own sequence', { sequence: 22 }],
    ] as const) {
      const stored = Buffer.from(place.store.entries[20]!.payload);
      place.damage(21, (bytes) => {
        const record = recordOf(bytes);
        return encodeBatch({ ...record, ...change }, record.i32);
      });
      const line = new RegExp(`^Error: recovery: batch 21: its ${name} differs$`);
      assert.throws(() => place.recover(), line);
      place.damage(21, () => stored);
    }
    assert.equal(stateHash(place.recover().engine.t), stateHash(context.t));
  }));

test('a batch whose commands no longer change anything is refused by naming it', (t) =>
  withHistory(t, async (place, context, day) => {
    await place.live(context, day.slice(0, 30));
    // A batch in which orders only expired has no commands that it could lose.
    const { sequence } = place.store.entries.findLast(
      ({ payload }) => recordOf(payload).i32.length > 0,
    )!;
    place.damage(sequence, (bytes) => encodeBatch(recordOf(bytes), new Int32Array(0)));
    const line = new RegExp(`^Error: recovery: batch ${sequence}: its (effect|digest) differs$`);
    assert.throws(() => place.recover(), line);
  }));

test('fills come from the snapshot, and older ones that fit the ring from LMDB', (t) =>
  withHistory(
    t,
    async (place, context, day) => {
      await place.live(context, day);
      place.save(context);
      const end = context.t.state[State.fills]!;
      const larger = { ...TIGHT, trades: 2 * TIGHT.trades };
      const whole = place.recover(larger);
      assert.equal(whole.firstFill, end - larger.trades);
      assert.deepEqual(
        fillsOf(whole.engine.t, larger.trades).at(-1),
        new Int32Array(new Uint8Array(place.fills.get(end - larger.trades)!).buffer),
      );
      const lost = end - TIGHT.trades - 4;
      place.fills.delete(lost);
      const cut = place.recover(larger);
      assert.equal(cut.firstFill, lost + 1, 'as far as there are any');
      assert.deepEqual(fillsOf(cut.engine.t, TIGHT.trades), fillsOf(context.t, TIGHT.trades));
    },
    NO_ENDS,
  ));

test('a log that ends before a snapshot, or with another batch, or begins long after it, is refused with a reason', (t) =>
  withHistory(t, async (place, context, day) => {
    await place.live(context, day.slice(0, 40));
    const { sequence } = place.save(context);
    const { entries } = place.store;
    place.store.entries = entries.slice(0, -1);
    assert.throws(
      () => place.recover(),
      new RegExp(`it ends with batch ${sequence - 1}, but an image holds batch ${sequence}; what`),
    );
    place.store.entries = entries.with(-1, { ...entries.at(-1)!, after: 7 });
    assert.throws(() => place.recover(), /its batch \d+ is not the one that an image holds; what/);
    place.store.entries = [];
    assert.throws(() => place.recover(), /it ends with batch 0, but an image holds batch/);
    place.store.entries = entries;
    await place.live(context, day.slice(40));
    await place.trim(sequence + 5);
    assert.throws(() => place.recover(), new RegExp(`log: batch ${sequence + 1} is missing; what`));
  }));

test('the older snapshot is used with a warning when the newest one is damaged', (t) =>
  withHistory(t, async (place, context, day) => {
    await place.live(context, day.slice(0, 60));
    const older = place.save(context);
    await place.live(context, day.slice(60, 90));
    const newest = place.save(context);
    await place.live(context, day.slice(90));
    const load = place.snapshots.load.bind(place.snapshots);
    place.snapshots.load = (info) =>
      info.sequence === newest.sequence ? 'it is torn' : load(info);
    const { engine, snapshot } = place.recover();
    assert.equal(snapshot, older.sequence);
    assert.equal(stateHash(engine.t), stateHash(context.t));
    assert.deepEqual(place.warnings, [
      `recovery: image ${newest.sequence} cannot be used: it is torn`,
    ]);
    await place.trim(80);
    assert.throws(
      () => place.recover(),
      new RegExp(
        `batch ${older.sequence + 1} is missing \\(image ${newest.sequence}: it is torn\\)`,
      ),
      'a gap behind a damaged snapshot tells of both',
    );
  }));

const CHANGES: readonly Partial<Capacities>[] = [
  { orders: 301 },
  { history: 331 },
  { orders: 251, history: 11 },
  { orders: TIGHT.orders + 10, history: 20 },
  { trades: 200 },
  { trades: 20 },
  { markets: 11, tokens: 40, accounts: 99, levels: 210_001 },
];
for (const change of CHANGES) {
  const [from, to] = [TIGHT, { ...TIGHT, ...change }];
  test(`capacities may change between runs: ${JSON.stringify(change)}`, async (t) => {
    await seeded(async (random) => {
      const place = new Place(t);
      const day = tradingDay(random, 3_600);
      const third = Math.floor(day.length / 3);
      // As a node does it: without rows that may be used, a replay in larger tables forgets later.
      const first = await place.restart(from);
      await place.live(first, day.slice(0, third));
      place.save(first);
      await place.live(first, day.slice(third, third + 30));
      assert(first.t.state[State.closed]! > first.t.closedRows, 'the ring has come round');

      const second = await place.restart(to);
      assert.deepEqual(second.t.capacities, to);
      // Fewer rows in all: the oldest closed orders make room for what is open.
      const room = to.orders + to.history - first.t.state[State.openOrders]!;
      const closed = closedRows(first.t).slice(-room);
      assert.deepEqual(closedRows(second.t), closed, 'in the order of finishing');
      const reach = Math.min(from.trades, to.trades);
      assert.deepEqual(fillsOf(second.t, reach), fillsOf(first.t, reach));
      await place.live(second, day.slice(third + 30, 2 * third));
      const again = place.recover(to).engine.t;
      assert.equal(stateHash(again), stateHash(second.t), 'from the snapshot of the first run');
      assert.deepEqual(fillsOf(again, to.trades), fillsOf(second.t, to.trades));

      place.save(second);
      await place.live(second, day.slice(2 * third));
      const last = place.recover(to).engine.t;
      assert.equal(stateHash(last), stateHash(second.t), 'from the snapshot of the second run');
    });
  });
}

test('batches of several runs with different capacities replay as they ran without any snapshot', (t) =>
  seeded(async (random) => {
    const place = new Place(t);
    const day = tradingDay(random, 2_400);
    // As a node does it, which says its configuration first of all.
    let context = await place.restart(TIGHT);
    for (let run = 0; run < 4; run++) {
      const part = day.slice((day.length * run) / 4, (day.length * (run + 1)) / 4);
      await place.live(context, part);
      const hash = stateHash(context.t);
      assert.equal(stateHash(place.recover(context.t.capacities).engine.t), hash);
      const history = random.between(40, 300);
      const orders = random.between(400, 600);
      context = await place.restart({ ...TIGHT, orders, history });
    }
  }));

test('capacities below the used ones are refused by naming the variable', (t) =>
  withHistory(t, async (place, _, day) => {
    // As a node does it, which says its configuration first of all.
    const context = await place.restart(TIGHT);
    await place.live(context, day);
    const { levels, orders: rows } = matchingUse(context.t.matching);
    // More than at first where some have ended and were followed by others.
    const markets = context.t.state[State.markets]!;
    const tokens = context.t.state[State.tokens]!;
    const tooSmall: readonly (readonly [string, number, Partial<Capacities>])[] = [
      ['markets (MARKETS_MAX)', markets, { markets: markets - 1 }],
      ['tokens (TOKENS_MAX)', tokens, { tokens: tokens - 1 }],
      ['accounts (ACCOUNTS_MAX)', 7, { accounts: 6 }],
      ['price levels (LEVELS_MAX)', levels, { levels: 1_024 }],
      ['rows of open orders (ORDERS_MAX)', rows, { orders: rows - 1 }],
    ];
    for (const [, , change] of tooSmall) {
      assert.throws(
        () => place.recover({ ...TIGHT, ...change }),
        /^Error: recovery: batch \d+: a table is full; MARKETS_MAX, .* may grow, but not shrink/,
        'the log alone shows that something is too small',
      );
    }
    place.save(context);
    for (const [what, used, change] of tooSmall) {
      assert.throws(
        () => place.recover({ ...TIGHT, ...change }),
        ({ message }: Error) =>
          message.startsWith(`recovery: ${used} ${what} are in use, more than the configured `),
      );
    }
    assert.deepEqual(place.warnings, [], 'a snapshot is not given up for that');
    assert.equal(stateHash(place.recover().engine.t), stateHash(context.t));
  }));

test('a table of orders that is too small for those that wait for a taker delay is refused', () => {
  const { driver } = check(`
    sell #1 5 @ 0.60            rests
    buy #2 5 @ 0.60 delay 2     waits
    buy #3 5 @ 0.60 delay 2     waits
  `);
  driver.close();
  const smaller = (orders: number) => resizeTables(driver.t, { ...ROOMY, orders });
  assert.throws(() => smaller(2), /3 open and delayed orders \(ORDERS_MAX\) are in use/);
  audit(smaller(3));
});

test('a size that may grow is at least that of the snapshot, and others are as configured', (t) =>
  withHistory(t, async (place, _, day) => {
    const context = await place.restart({ ...TIGHT, markets: 40, accounts: 30 });
    await place.live(context, day);
    place.save(context);
    const growing = ['markets', 'tokens'] as const;
    const given = { ...TIGHT, markets: 8, tokens: 500, accounts: 20 };
    const { engine } = place.begin(given, growing);
    const { accounts, markets, tokens } = engine.t.capacities;
    assert.deepEqual([markets, tokens, accounts], [40, 500, 20]);
    assert.equal(stateHash(engine.t), stateHash(context.t));
  }));

test('closed orders that memory still needs are not dropped for smaller capacities', (t) =>
  seeded(async (random) => {
    const place = new Place(t);
    const context = new Exchange({ ...TIGHT, history: 300 });
    await place.live(context, tradingDay(random, 1_500));
    place.save(context);
    assert.throws(
      () => place.recover(),
      /^Error: recovery: \d+ rows of open and kept orders \(ORDERS_MAX \+ ORDER_HISTORY\) are in use, /,
    );
  }));
