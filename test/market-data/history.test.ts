import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { MarketRow, MicroCollateral, MicroShares } from '../../engine/tables/units.ts';
import type { HistoryService } from '../../server/market-data/history-service.ts';
import { MarketVolumes } from '../../server/market-data/volumes.ts';
import { type BinaryTable, openTable } from '../../storage/kv/lmdb.ts';
import { Projections } from '../../storage/projection/environment.ts';
import { STEP_MINUTES, type Step } from '../../storage/projection/prices.ts';
import { ProjectionUnready } from '../../storage/projection/reader.ts';
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

function checkPrices(stage: HistoryStage, service: HistoryService, random: Random): void {
  const begin = (stage.traded[0]?.time ?? stage.fixture.time) - 40 * MINUTE_MS;
  for (const token of stage.tokens) {
    for (let step = 0 as Step; step < STEP_MINUTES.length; step++) {
      const length = STEP_MINUTES[step]! * MINUTE_MS;
      const at = begin + random.below(stage.fixture.time - begin + 1);
      const first = Math.floor(at / length);
      const last = first + random.below(700);
      const found = [...service.prices.series(token, step, first, last)];
      assert.deepEqual(found, stage.series(token, step, first, last), `token ${token}`);
    }
    const first = stage.traded.find((trade) => trade.token === token);
    const minute = first && Math.floor(first.time / MINUTE_MS);
    assert.equal(service.prices.firstMinute(token), minute);
  }
}

function checkVolumes(stage: HistoryStage, service: HistoryService, nowMs: number): void {
  for (const market of MARKETS) {
    assert.equal(service.volumes.totalOf(market), stage.totalOf(market), `total of ${market}`);
    const day = service.volumes.dayOf(market, nowMs);
    assert.equal(day, stage.dayOf(market, nowMs), `day of ${market}`);
  }
}

test('prices and volumes equal those of the fills, in memory and on disk', () =>
  onStage(async (stage, random) => {
    let service = await stage.open();
    const check = (): void => {
      checkPrices(stage, service, random);
      checkVolumes(stage, service, stage.fixture.time);
    };
    for (let round = 0; round < 40; round++) {
      await stage.trade(random, random.below(60));
      service.append(stage.fills);
      check();
      stage.fixture.time += random.below(3) * MINUTE_MS;
      // The follower comes as far as it does; memory forgets what it has on disk, now or later.
      if (random.chance(60)) stage.project(random.between(0, stage.fills));
      check();
      if (random.chance(50)) service.forget();
      check();
      if (random.chance(25)) {
        service.close();
        if (random.chance(50)) await stage.reopen();
        service = await stage.open();
      }
      check();
    }
    const later = stage.fixture.time + random.below(26 * 60) * MINUTE_MS;
    checkVolumes(stage, service, later);
    service.close();
    const warnings = stage.log.filter((line) => !line.startsWith('info'));
    assert.deepEqual(warnings, []);
  }));

test('answers are whole while all rows are rebuilt in the background', () =>
  onStage(async (stage, random) => {
    await stage.trade(random, 200);
    stage.project();
    await stage.reopen(() => rmSync(join(stage.directory, 'projections'), { recursive: true }));
    const service = await stage.open();
    assert.match(stage.log.join(), /reading fills 0 to \d+/);
    for (let round = 0; round < 10; round++) {
      checkPrices(stage, service, random);
      checkVolumes(stage, service, stage.fixture.time);
      stage.project(Math.floor((stage.fills * round) / 10));
      if (random.chance(50)) service.forget();
      await stage.trade(random, 10);
      service.append(stage.fills);
    }
    stage.project();
    service.forget();
    checkPrices(stage, service, random);
    checkVolumes(stage, service, stage.fixture.time);
    service.close();
    const hours = [...openTable(stage.projections.root, 'hours').getKeys()];
    const [first, last] = [hours[0]!, hours.at(-1)!].map((key) => key.readUInt32BE(0));
    assert(last! - first! <= 24, 'hours that have left the window are removed');
  }));

test('rows that are missing, of other formats, damaged or of another log are rebuilt', () =>
  onStage(async (stage, random) => {
    await stage.trade(random, 80);
    stage.project();
    const table = (name: string): BinaryTable => openTable(stage.projections.root, name);
    const put = (change: { end?: number; crc?: number }) => (): void => {
      const { projections } = stage;
      const position = { ...projections.position()!, ...change };
      projections.root.transactionSync(() => projections.putPosition(position));
    };
    const spoilRow = (name: string) => async (): Promise<void> => {
      const [row] = table(name).getRange({ reverse: true, limit: 1 });
      await table(name).put(row!.key, spoiled(row!.value));
    };
    const spoil: (() => void | Promise<void>)[] = [
      () => stage.reopen(() => rmSync(join(stage.directory, 'projections'), { recursive: true })),
      () => void table('meta').putSync(Buffer.from('position'), Buffer.alloc(20)),
      put({ crc: 1 }),
      put({ end: stage.fills + 1 }),
      spoilRow('totals'),
      spoilRow('hours'),
    ];
    for (const harm of spoil) {
      await harm();
      stage.projections.root.resetReadTxn();
      stage.log.length = 0;
      const service = await stage.open();
      assert.match(stage.log.join(), new RegExp(`reading fills 0 to ${stage.fills - 1}`));
      assert(!stage.projections.position()?.isWhole);
      checkPrices(stage, service, random);
      checkVolumes(stage, service, stage.fixture.time);
      stage.project();
      checkPrices(stage, service, random);
      service.close();
    }
    stage.log.length = 0;
    (await stage.open()).close();
    assert.deepEqual(stage.log, [], 'what is sound is taken up as it is');
  }));

test('a damaged row is never read as prices, and is rebuilt while the node runs', () =>
  onStage(async (stage, random) => {
    await stage.trade(random, 200);
    stage.project();
    const service = await stage.open();
    const rows = openTable(stage.projections.root, 'prices');
    const [row] = rows.getRange({ limit: 1 });
    const token = row!.key.readUInt32BE(0) as (typeof stage.tokens)[number];
    await rows.put(row!.key, spoiled(row!.value));
    await stage.trade(random, 20);
    service.append(stage.fills);
    stage.projections.root.resetReadTxn();
    assert.throws(() => service.prices.firstMinute(token), ProjectionUnready);
    while (stage.projections.position() !== undefined) await new Promise(setImmediate);
    // Until the follower has made them again answers show only what is in memory for sure.
    for (let part = 0; part < 4; part++) {
      for (const each of stage.tokens) {
        assert.throws(() => service.prices.series(each, 1, 0, 5), ProjectionUnready);
      }
      stage.project(Math.floor((stage.fills * part) / 5));
    }
    checkVolumes(stage, service, stage.fixture.time);
    stage.project();
    checkPrices(stage, service, random);
    checkVolumes(stage, service, stage.fixture.time);
    service.close();
  }));

test('history is served and continues in memory when nothing may be written', () =>
  onStage(async (stage, random) => {
    await stage.trade(random, 50);
    const alone = await stage.open('nothing');
    checkPrices(stage, alone, random);
    checkVolumes(stage, alone, stage.fixture.time);
    alone.close();
    stage.project();
    await stage.trade(random, 50);
    await stage.projections.close();
    const quick = { durability: 'committed', readOnly: true } as const;
    for (const change of [() => undefined, spoilPosition]) {
      await change(stage);
      const readOnly = new Projections(stage.directory, quick);
      const service = await stage.open(readOnly);
      checkPrices(stage, service, random);
      checkVolumes(stage, service, stage.fixture.time);
      service.forget();
      checkPrices(stage, service, random);
      service.close();
      await readOnly.close();
    }
    await stage.reopen();
  }));

/** Stores a position of another log. */
async function spoilPosition(stage: HistoryStage): Promise<void> {
  const projections = new Projections(stage.directory, {
    durability: 'committed',
    readOnly: false,
  });
  const position = { ...projections.position()!, crc: 1 };
  projections.root.transactionSync(() => projections.putPosition(position));
  await projections.close();
}

function spoiled(value: Buffer): Buffer {
  const other = Buffer.from(value);
  other.writeUInt8(other.readUInt8(other.length - 1) ^ 1, other.length - 1);
  return other;
}

test('volumes beyond the exact numbers stay at the largest one, and decrease again', () =>
  onStage(async (stage) => {
    const volumes = new MarketVolumes(stage.fixture.t);
    const now = stage.fixture.time;
    const most = Number.MAX_SAFE_INTEGER;
    const market = 1 as MarketRow;
    volumes.add(market, now, most as MicroCollateral, most as MicroShares);
    volumes.add(market, now, most as MicroCollateral, most as MicroShares);
    const day = 24 * 60 * MINUTE_MS;
    volumes.add(market, now + day - 10 * MINUTE_MS, 3 as MicroCollateral, 4 as MicroShares);
    assert.equal(volumes.totalOf(market), most);
    assert.equal(volumes.sharesOf(market), most);
    assert.equal(volumes.dayOf(market, now), most);
    assert.equal(volumes.dayOf(market, now + day), 3);
  }));
