/** Price history and volumes against a scan of every fill, through restarts, kills and rebuilds. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { MarketRow, MicroCollateral } from '../../engine/tables/units.ts';
import type { HistoryKeeper } from '../../server/market-data/history-keeper.ts';
import { STEP_MINUTES, type Step } from '../../server/market-data/price-history.ts';
import { Volumes } from '../../server/market-data/volumes.ts';
import { CRC_BYTES, withChecksum } from '../../storage/kv/checksum.ts';
import { chunkOf, priceKey } from '../../storage/projection/history-rows.ts';
import { HistoryWrites } from '../../storage/projection/history-writes.ts';
import { until } from '../common/node-harness.ts';
import type { Random } from '../common/random.ts';
import { HistoryStage, MINUTE_MS } from './history-stage.ts';
import { withSeedAsync } from './read-fixture.ts';

const MARKETS = [1, 2, 3] as MarketRow[];

async function onStage(body: (stage: HistoryStage, random: Random) => Promise<void>) {
  await withSeedAsync(async (random) => {
    const stage = new HistoryStage();
    try {
      await body(stage, random);
    } finally {
      await stage.close();
    }
  });
}

/** Random windows of every token and step, some from before the first trade to beyond the last. */
function checkPrices(stage: HistoryStage, keeper: HistoryKeeper, random: Random): void {
  const begin = (stage.traded[0]?.time ?? stage.fixture.time) - 40 * MINUTE_MS;
  for (const token of stage.tokens) {
    for (let step = 0 as Step; step < STEP_MINUTES.length; step++) {
      const length = STEP_MINUTES[step]! * MINUTE_MS;
      const at = begin + random.below(stage.fixture.time - begin + 1);
      const first = Math.floor(at / length);
      const last = first + random.below(700);
      const found = [...keeper.prices.series(token, step, first, last)];
      assert.deepEqual(found, stage.series(token, step, first, last), `token ${token}`);
    }
    const first = stage.traded.find((trade) => trade.token === token);
    const minute = first && Math.floor(first.time / MINUTE_MS);
    assert.equal(keeper.prices.firstMinute(token), minute);
  }
}

function checkVolumes(stage: HistoryStage, keeper: HistoryKeeper, nowMs: number): void {
  for (const market of MARKETS) {
    assert.equal(keeper.volumes.totalOf(market), stage.totalOf(market), `total of ${market}`);
    const day = keeper.volumes.dayOf(market, nowMs);
    assert.equal(day, stage.dayOf(market, nowMs), `day of ${market}`);
  }
}

test('prices and volumes are those of the fills, in memory and on disk', () =>
  onStage(async (stage, random) => {
    let keeper = await stage.open();
    for (let round = 0; round < 25; round++) {
      await stage.trade(random, random.below(60));
      keeper.append(stage.fills);
      checkPrices(stage, keeper, random);
      stage.fixture.time += random.below(3) * MINUTE_MS;
      checkVolumes(stage, keeper, stage.fixture.time);
      if (random.chance(60)) await keeper.save();
      if (random.chance(25)) {
        await keeper.close();
        keeper = await stage.open();
      }
      checkPrices(stage, keeper, random);
      checkVolumes(stage, keeper, stage.fixture.time);
    }
    const later = stage.fixture.time + random.below(26 * 60) * MINUTE_MS;
    checkVolumes(stage, keeper, later);
    await keeper.close();
    assert.deepEqual(
      stage.log.filter((line) => line.startsWith('warn')),
      [],
    );
  }));

test('rows that another thread writes come out the same, also those that had to wait for room', () =>
  onStage(async (stage, random) => {
    const writes = new HistoryWrites(stage.directory, 'committed');
    const keeper = await stage.open();
    let problem: string | undefined;
    // As rows are after they were handed over.
    keeper.handOver((rows) => Promise.resolve(problem ?? writes.write(structuredClone(rows))));
    for (let round = 0; round < 4; round++) {
      await stage.trade(random, 40);
      keeper.append(stage.fills);
      await keeper.save();
      checkPrices(stage, keeper, random);
    }
    for (const isOver of [true, false]) {
      problem = 'no space';
      stage.log.length = 0;
      await stage.trade(random, 40);
      keeper.append(stage.fills);
      const saving = keeper.save();
      await until(() => stage.log.length > 0);
      assert.match(stage.log.join(), /^warn price history: a write failed and is tried again: no/);
      checkPrices(stage, keeper, random);
      checkVolumes(stage, keeper, stage.fixture.time);
      // It goes through as soon as there is room, and by this thread where the other one is not there any more.
      if (isOver) problem = undefined;
      else keeper.handOver(undefined);
      await saving;
    }
    await keeper.close();
    writes.close();
    const store = stage.store();
    assert.equal(store.position()!.end, stage.fills);
    const next = await stage.open(store);
    checkPrices(stage, next, random);
    checkVolumes(stage, next, stage.fixture.time);
    await next.close();
  }));

test('a kill between any two transactions is caught up with from the fills', () =>
  onStage(async (stage, random) => {
    for (let round = 0; round < 12; round++) {
      const store = stage.store();
      const keeper = await stage.open(store);
      checkPrices(stage, keeper, random);
      checkVolumes(stage, keeper, stage.fixture.time);
      await stage.trade(random, 30);
      keeper.append(stage.fills);
      await keeper.save();
      await stage.trade(random, 30);
      keeper.append(stage.fills);
      store.left = random.below(4);
      await keeper.save();
      await store.close();
    }
    const keeper = await stage.open();
    checkPrices(stage, keeper, random);
    checkVolumes(stage, keeper, stage.fixture.time);
    await keeper.close();
  }));

test('a store that is missing, of another format or of another journal is derived again', () =>
  onStage(async (stage, random) => {
    await stage.trade(random, 80);
    const spoil: (() => Promise<void>)[] = [
      async () => rmSync(join(stage.directory, 'history'), { recursive: true }),
      async () => {
        const store = stage.store();
        await store.write(({ meta }) => meta.put(Buffer.from('position'), Buffer.alloc(20)));
        await store.close();
      },
      async () => {
        const store = stage.store();
        await store.write((into) => store.putPosition({ end: stage.fills, crc: 1 }, into));
        await store.close();
      },
      async () => {
        const store = stage.store();
        const { end, crc } = store.position()!;
        await store.write((into) => store.putPosition({ end: end + 1, crc }, into));
        await store.close();
      },
      async () => {
        const store = stage.store();
        const [key] = store.tables!.totals.getKeys();
        await store.write(({ totals }) => totals.put(key!, Buffer.alloc(24)));
        await store.close();
      },
      // Ahead of the position after a kill, of fills that a cut of the log gave up since.
      ...(['totals', 'hours'] as const).map((name) => async () => {
        const store = stage.store();
        const [row] = store.tables![name].getRange({ reverse: true, limit: 1 });
        const value = Buffer.from(row!.value);
        value.writeDoubleLE(stage.fills + 1, CRC_BYTES);
        await store.write((into) => into[name].put(row!.key, withChecksum(row!.key, value)));
        await store.close();
      }),
    ];
    await (await stage.open()).close();
    for (const harm of spoil) {
      await harm();
      stage.log.length = 0;
      const keeper = await stage.open();
      assert.match(stage.log.join(), new RegExp(`deriving fills 0 to ${stage.fills - 1}`));
      checkPrices(stage, keeper, random);
      checkVolumes(stage, keeper, stage.fixture.time);
      await keeper.close();
    }
    stage.log.length = 0;
    await (await stage.open()).close();
    assert.deepEqual(stage.log, [], 'a sound store is taken up as it is');
  }));

test('a damaged row is never read as prices, and the next start derives it again', () =>
  onStage(async (stage, random) => {
    await stage.trade(random, 200);
    await (await stage.open()).close();
    const [token] = stage.traded.map((trade) => trade.token as (typeof stage.tokens)[number]);
    const store = stage.store();
    const { prices } = store.tables!;
    const start = priceKey(token!, 1, 0);
    const [row] = prices.getRange({ start, limit: 1 });
    const value = Buffer.from(row!.value);
    value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1);
    await store.write((tables) => tables.prices.put(row!.key, value));

    const keeper = await stage.open(store);
    const first = chunkOf(row!.key) * 256;
    assert.throws(() => keeper.prices.series(token!, 1, first, first + 300), /damaged/);
    await stage.trade(random, 20);
    keeper.append(stage.fills);
    await keeper.close();
    assert.match(stage.log.join(), /the next start derives it again/);

    const next = await stage.open();
    checkPrices(stage, next, random);
    checkVolumes(stage, next, stage.fixture.time);
    await next.close();
  }));

test('where nothing may be written, history is served and goes on in memory', () =>
  onStage(async (stage, random) => {
    await stage.trade(random, 50);
    const alone = await stage.open(stage.store(true));
    checkPrices(stage, alone, random);
    await alone.close();
    await (await stage.open()).close();
    await stage.trade(random, 50);
    const keeper = await stage.open(stage.store(true));
    checkPrices(stage, keeper, random);
    checkVolumes(stage, keeper, stage.fixture.time);
    await keeper.close();
    const store = stage.store();
    assert(store.position()!.end < stage.fills, 'nothing was written');
    await store.close();
  }));

test('the markets whose figures changed are told, also when trades leave the 24 hours', () =>
  onStage(async (stage) => {
    const store = stage.store();
    const volumes = new Volumes(stage.fixture.t, store);
    const now = stage.fixture.time;
    const hour = 60 * MINUTE_MS;
    const add = (market: number, sequence: number, time: number, micro: number): void =>
      volumes.add(market as MarketRow, sequence, time, micro as MicroCollateral);
    add(1, 0, now, 1_500_000);
    add(2, 1, now + 2 * hour, 700_000);
    const seen = volumes.changes;
    assert.deepEqual(volumes.changedSince(0, now), [1, 2]);
    assert.deepEqual(volumes.changedSince(seen, now), []);
    assert.deepEqual(volumes.changedSince(seen, now + 23 * hour), []);
    assert.deepEqual(volumes.changedSince(seen, now + 25 * hour), [1]);
    assert.equal(volumes.dayOf(1 as MarketRow, now + 25 * hour), 0);
    assert.equal(volumes.totalOf(1 as MarketRow), 1_500_000);
    assert.equal(volumes.dayOf(2 as MarketRow, now + 25 * hour), 700_000);
    await store.close();
  }));

test('volumes beyond the exact numbers stay at the largest one, and come down again', () =>
  onStage(async (stage) => {
    const store = stage.store();
    const volumes = new Volumes(stage.fixture.t, store);
    const now = stage.fixture.time;
    const most = Number.MAX_SAFE_INTEGER;
    const market = 1 as MarketRow;
    volumes.add(market, 0, now, most as MicroCollateral);
    volumes.add(market, 1, now, most as MicroCollateral);
    const day = 24 * 60 * MINUTE_MS;
    volumes.add(market, 2, now + day - 10 * MINUTE_MS, 3 as MicroCollateral);
    assert.equal(volumes.totalOf(market), most);
    assert.equal(volumes.dayOf(market, now), most);
    assert.equal(volumes.dayOf(market, now + day), 3);
    await store.close();
  }));
