/** Images: the newest two that are whole, whatever happens while one is written. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { State } from '../../engine/layout.ts';
import { Header } from '../../engine/matching/memory.ts';
import { stateHash } from '../../engine/state-hash.ts';
import { copyTables, Tables } from '../../engine/tables.ts';
import { ImageKeeper } from '../../server/orders/keepers.ts';
import type { Sequencer } from '../../server/orders/sequencer.ts';
import { type ImageInfo, Images } from '../../storage/images.ts';
import {
  type BinaryTable,
  openEnvironment,
  openSequence,
  openTable,
  type SequenceTable,
} from '../../storage/lmdb.ts';
import { recover } from '../../storage/recover.ts';
import { scriptArgs } from '../common/forms.ts';
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

function imagesOf(t: TestContext, directory: string): Images {
  const images = new Images(directory, QUICK);
  t.after(() => images.close());
  return images;
}

/** The same environment, opened beside it, to do damage. */
function rawOf(
  t: TestContext,
  directory: string,
): { readonly chunks: BinaryTable; readonly headers: SequenceTable } {
  const root = openEnvironment({ path: join(directory, 'images'), ...QUICK });
  t.after(() => root.close());
  return { chunks: openTable(root, 'chunks'), headers: openSequence(root, 'headers') };
}

/** Numbers of the images that have chunks. */
function numbersOf(chunks: BinaryTable): number[] {
  return [...new Set([...chunks.getKeys()].map((key) => key.readUIntBE(0, 6)))];
}

function loaded(images: Images, info: ImageInfo): Tables {
  const found = images.load(info);
  assert(found instanceof Tables, String(found));
  return found;
}

/** An exchange after some trading, and what happens to it next. */
async function withTrading(
  body: (exchange: Exchange, trade: (batches: number) => void) => Promise<void>,
): Promise<void> {
  await seeded(async (random) => {
    const day = [...tradingDay(random, 1_000)];
    const exchange = new Exchange();
    const trade = (batches: number): void => {
      for (const batch of day.splice(0, batches)) exchange.apply(batch);
    };
    trade(30);
    await body(exchange, trade);
  });
}

test('an image loads as it was, also when its tables take many chunks', (t) =>
  withTrading(async (exchange) => {
    // Every price level of every ladder: more than two chunks.
    const { state } = exchange.t;
    const { header, rowI } = exchange.t.matching;
    assert(rowI.byteLength > 2 * 2 ** 20);
    header[Header.levelRows] = TIGHT.levels;
    rowI[rowI.length - 1] = 77;
    const images = imagesOf(t, directoryOf(t));
    const info = await images.save(exchange.t);
    assert.deepEqual(info, { number: 1, sequence: state[State.batch] });
    const copy = loaded(images, info);
    assert.equal(stateHash(copy), stateHash(exchange.t));
    assert.equal(copy.matching.rowI[rowI.length - 1], 77);
    assert.deepEqual(copy.capacities, TIGHT);
  }));

test('the newest two images are kept, each with its own sequence', (t) =>
  withTrading(async (exchange, trade) => {
    const directory = directoryOf(t);
    const images = imagesOf(t, directory);
    assert.deepEqual(images.list(), []);
    const hashes: string[] = [];
    const infos: ImageInfo[] = [];
    for (let i = 0; i < 4; i++) {
      trade(5);
      hashes.push(stateHash(exchange.t));
      infos.push(await images.save(exchange.t));
    }
    assert.deepEqual(images.list(), [infos[3], infos[2]]);
    assert.deepEqual(numbersOf(rawOf(t, directory).chunks), [3, 4], 'the others left no chunk');
    assert.equal(stateHash(loaded(images, infos[3]!)), hashes[3]);
    assert.equal(stateHash(loaded(images, infos[2]!)), hashes[2]);
  }));

test('an image without its header does not count, and its chunks go with the next one', (t) =>
  withTrading(async (exchange, trade) => {
    const directory = directoryOf(t);
    const images = imagesOf(t, directory);
    const first = await images.save(exchange.t);
    const hash = stateHash(exchange.t);
    trade(5);
    await images.save(exchange.t);
    const raw = rawOf(t, directory);
    await raw.headers.remove(2);
    assert.deepEqual(images.list(), [first]);
    assert.equal(stateHash(loaded(images, first)), hash);
    trade(5);
    const next = await images.save(exchange.t);
    assert.deepEqual(images.list(), [next, first]);
    assert.equal(stateHash(loaded(images, next)), stateHash(exchange.t));
  }));

test('damage to any chunk or header is found, and the older image is kept for it', (t) =>
  withTrading(async (exchange, trade) => {
    const directory = directoryOf(t);
    const first = await imagesOf(t, directory).save(exchange.t);
    trade(5);
    const second = await imagesOf(t, directory).save(exchange.t);
    const raw = rawOf(t, directory);
    const keys = [...raw.chunks.getKeys()].filter((key) => key.readUIntBE(0, 6) === 2);
    assert(keys.length >= 9, 'every table has its chunk');
    const reason = async (): Promise<string> => {
      const images = new Images(directory, QUICK);
      const found = images.load(second);
      await images.close();
      return String(found);
    };
    for (const key of keys) {
      const good = Buffer.from(raw.chunks.get(key)!);
      const bad = Buffer.from(good);
      bad[bad.length >> 1]! ^= 16;
      await raw.chunks.put(key, bad);
      assert.match(await reason(), /^the checksum of its table \w+ is wrong$/);
      await raw.chunks.put(key, good.subarray(1));
      assert.match(await reason(), /^a part of \w+ is missing$/);
      await raw.chunks.remove(key);
      assert.match(await reason(), /^a part of \w+ is missing$/);
      await raw.chunks.put(key, good);
    }
    const images = imagesOf(t, directory);
    const header = Buffer.from(raw.headers.get(2)!);
    for (let at = 0; at < header.length; at++) {
      const bad = Buffer.from(header);
      bad[at]! ^= 1;
      await raw.headers.put(2, bad);
      assert.deepEqual(images.list(), [first], `byte ${at} of the header`);
    }
    await raw.headers.put(2, header);
    await raw.chunks.remove(keys[0]!);
    assert.equal(typeof images.load(second), 'string');
    trade(5);
    const third = await images.save(exchange.t);
    assert.deepEqual(images.list(), [third, first], 'two that can be used');
    loaded(images, first);
  }));

const SAVER = `
import { readFileSync } from 'node:fs';
import { Images } from './storage/images.ts';
import { Exchange } from './test/storage/stored-exchange.ts';
const [directory] = process.argv.slice(-1);
const images = new Images(directory, { durability: 'committed' });
const { t } = new Exchange();
t.matching.header[2] = t.capacities.levels;
for (;;) {
  t.state[1] += 1;
  t.matching.rowF.fill(t.state[1]);
  await images.save(t);
  process.send(t.state[1]);
}
`;

test('a process killed while it writes images leaves a whole one, and the newest announced', async (t) => {
  assert.deepEqual([State.batch, Header.levelRows], [1, 2], 'as the child writes them');
  const directory = directoryOf(t);
  for (let round = 0; round < 3; round++) {
    const { args, cwd } = scriptArgs(SAVER);
    const child = spawn(process.execPath, [...args, directory], {
      cwd,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let announced = 0;
    child.on('message', (sequence: number) => {
      announced = sequence;
    });
    await once(child, 'message');
    await sleep(Math.random() * 40);
    child.kill('SIGKILL');
    await once(child, 'close');
    const images = imagesOf(t, directory);
    const [newest] = images.list();
    assert(newest !== undefined && newest.sequence >= announced, 'what was announced is there');
    for (const info of images.list()) {
      const found = loaded(images, info);
      assert.equal(found.matching.rowF.at(-1), info.sequence, 'and of one piece');
    }
  }
});

test('a full disk fails the image with its reason, and the older one stays', async (t) => {
  const disk = join(directoryOf(t), 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk], { stdio: 'pipe' });
  } catch {
    t.skip('mounting a tmpfs is not allowed here');
    return;
  }
  const unheard: unknown[] = [];
  const listener = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', listener);
  t.mock.method(console, 'error', () => undefined);
  try {
    await withTrading(async (exchange) => {
      const images = new Images(disk, QUICK);
      const first = await images.save(exchange.t);
      const hash = stateHash(exchange.t);
      exchange.t.matching.header[Header.levelRows] = TIGHT.levels;
      exchange.t.matching.rowF.fill(Math.PI);
      await assert.rejects(images.save(exchange.t), ({ message }: Error) => message !== '');
      await sleep(20);
      assert.deepEqual(images.list(), [first]);
      assert.equal(stateHash(loaded(images, first)), hash);
      await images.close();
    });
    assert.deepEqual(unheard, []);
  } finally {
    process.off('unhandledRejection', listener);
    execFileSync('umount', ['--lazy', disk]);
  }
});

/** The part of a sequencer that images need: it copies between two batches. */
function copier(from: Tables, spare: Tables, fails = (): boolean => false): Sequencer {
  const requestImage = (): Promise<void> => {
    if (fails()) return Promise.reject(new Error('the worker that was to copy it failed'));
    copyTables(from, spare);
    return Promise.resolve();
  };
  return { requestImage } as Partial<Sequencer> as Sequencer;
}

interface Kept {
  readonly exchange: Exchange;
  readonly keeper: ImageKeeper;
  readonly images: Images;
  readonly lines: string[];
  /** Applies, journals and announces this many batches. */
  go(batches: number): Promise<void>;
  recover(): string;
}

async function withKeeper(
  t: TestContext,
  options: { batches: number; keepsJournal: boolean; fails?: () => boolean },
  body: (kept: Kept) => Promise<void>,
): Promise<void> {
  await seeded(async (random) => {
    const directory = directoryOf(t);
    const journal = journalOf(t, directory);
    const images = imagesOf(t, directory);
    const exchange = new Exchange();
    const spare = new Exchange().t;
    const lines: string[] = [];
    const keeper = new ImageKeeper({
      sequencer: copier(exchange.t, spare, options.fails),
      images,
      journal,
      spare,
      seconds: 3_600,
      batches: options.batches,
      keepsJournal: options.keepsJournal,
      sequence: 0,
      durable: 0,
      log: (line) => lines.push(line),
    });
    t.after(() => keeper.stop());
    const day = [...tradingDay(random, 1_000)];
    const go = async (batches: number): Promise<void> => {
      for (const batch of day.splice(0, batches)) {
        const entry = exchange.apply(batch);
        if (entry === null) continue;
        await appended(journal, entry);
        keeper.reach(entry.sequence);
      }
    };
    const state = (): string => {
      const { engine } = recover(TIGHT, images, journal.tables, () => undefined);
      return stateHash(engine.t);
    };
    await body({ exchange, keeper, images, lines, go, recover: state });
    assert.equal(state(), stateHash(exchange.t));
    const batches = [...journal.tables.batches.getKeys()];
    const older = images.list()[1];
    const first = options.keepsJournal || older === undefined ? 1 : older.sequence + 1;
    assert.equal(batches[0], first, 'the journal begins where the older image ends');
  });
}

test('the journal is trimmed to the older image, which can still be recovered from', (t) =>
  withKeeper(t, { batches: 10_000, keepsJournal: false }, async (kept) => {
    await kept.go(20);
    await kept.keeper.take();
    await kept.keeper.take();
    assert.equal(kept.images.list().length, 1, 'no second image of the same state');
    await kept.go(20);
    await kept.keeper.take();
    await kept.go(20);
    await kept.keeper.take();
    await kept.go(20);
    assert.equal(kept.images.list().length, 2);
    const [newest] = kept.images.list();
    const load = kept.images.load.bind(kept.images);
    t.mock.method(kept.images, 'load', (info: ImageInfo) =>
      info.number === newest!.number ? 'it is torn' : load(info),
    );
    assert.equal(kept.recover(), stateHash(kept.exchange.t), 'from the older one');
  }));

test('with JOURNAL_KEEP=all every batch stays, and recovery needs no image', (t) =>
  withKeeper(t, { batches: 10_000, keepsJournal: true }, async (kept) => {
    for (let i = 0; i < 3; i++) {
      await kept.go(20);
      await kept.keeper.take();
    }
    t.mock.method(kept.images, 'load', () => 'it is torn');
    assert.equal(kept.recover(), stateHash(kept.exchange.t));
  }));

test('while an image is written, more batches do not pile up more images', (t) =>
  withKeeper(t, { batches: 10, keepsJournal: true }, async (kept) => {
    const saved: number[] = [];
    const save = kept.images.save.bind(kept.images);
    let finish: () => void = () => undefined;
    t.mock.method(kept.images, 'save', async (spare: Tables) => {
      saved.push(spare.state[State.batch]!);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return save(spare);
    });
    await kept.go(50);
    finish();
    await sleep(50);
    assert.deepEqual(saved, [10], 'one image, and no other before the next ten batches');
    t.mock.restoreAll();
    await kept.go(20);
    await kept.keeper.take();
  }));

test('an image that failed is not tried again at once, and counts for nothing', (t) => {
  let attempts = 0;
  const fails = (): boolean => ++attempts < 3;
  return withKeeper(t, { batches: 10, keepsJournal: false, fails }, async (kept) => {
    await kept.go(25);
    await sleep(20);
    assert.equal(attempts, 2);
    assert.deepEqual(kept.images.list(), []);
    assert.deepEqual(kept.lines, Array(2).fill('image: the worker that was to copy it failed'));
    await kept.go(10);
    await kept.keeper.take();
    const sequences = kept.images.list().map(({ sequence }) => sequence);
    assert.deepEqual(sequences, [35, 30], 'when due again, and when asked');
  });
});
