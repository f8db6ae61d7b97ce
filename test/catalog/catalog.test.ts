/**
 * The catalog on disk and the demo, over real LMDB in temporary directories, with a second process.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { isPosition } from '../../server/common/position-ids.ts';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { creatorOf } from '../../storage/catalog/catalog-market.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { scriptArgs } from '../common/forms.ts';

function temporary(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'catalog-test-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function opened(t: TestContext, dataDir: string): CatalogStore {
  const store = openCatalog(dataDir, { durability: 'committed' });
  t.after(() => store.close());
  return store;
}

function read(json: unknown): Catalog {
  const result = readCatalog(json);
  assert.ok(result.ok, result.ok ? '' : result.error);
  return result.catalog;
}

function generated(count: number, bytes: number, title: string): Catalog {
  const events = Array.from({ length: count }, (_, index) => ({
    id: String(index + 1),
    title,
    description: 'x'.repeat(bytes),
  }));
  return read({ events });
}

async function storedGenerations(dataDir: string): Promise<Record<number, number>> {
  const root = openEnvironment({ path: join(dataDir, 'catalog'), durability: 'committed' });
  const found: Record<number, number> = {};
  for (const key of openTable(root, 'objects').getKeys()) {
    const generation = key.readUIntBE(0, 6);
    found[generation] = (found[generation] ?? 0) + 1;
  }
  await root.close();
  return found;
}

function runNode(script: string, env: Record<string, string>): ChildProcess {
  const { args, cwd } = scriptArgs(script);
  return spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('an empty directory has no generation and an empty catalog', (t) => {
  const store = opened(t, temporary(t));
  assert.equal(store.current(), undefined);
  const empty = { events: [], tags: [], series: [], sites: [], markets: [], endedConditions: [] };
  assert.deepEqual(store.load(), empty);
});

test('a catalog reads back as it was written, also after reopening', async (t) => {
  const dataDir = join(temporary(t), 'not', 'yet', 'there');
  const catalog = read(demoCatalog());
  const store = openCatalog(dataDir, { durability: 'flushed' });
  assert.equal(await store.replace(catalog), 1);
  assert.equal(store.current(), 1);
  assert.deepEqual(store.load(), catalog);
  await store.close();
  const again = opened(t, dataDir);
  assert.equal(again.current(), 1);
  assert.deepEqual(again.load(), catalog);
});

test('every field survives: unicode, lone surrogates, null, nested and strange names', async (t) => {
  const store = opened(t, temporary(t));
  const strange =
    '{"id":"1","title":"Zürich 伊朗 🌒","odd":"\\ud800","a":{"b":[null,1.5]},"__proto__":1}';
  const catalog = read({ events: [JSON.parse(strange)] });
  await store.replace(catalog);
  assert.deepEqual(store.load(), catalog);
  assert.ok(Object.hasOwn(store.load().events[0] as JsonObject, '__proto__'));
});

test('a new generation replaces the old one and leaves nothing of it', async (t) => {
  const dataDir = temporary(t);
  const store = opened(t, dataDir);
  await store.replace(generated(5000, 10, 'many keys'));
  const second = generated(40, 200_000, 'many chunks');
  assert.equal(await store.replace(second), 2);
  assert.equal(store.current(), 2);
  assert.deepEqual(store.load(), second);
  assert.deepEqual(await storedGenerations(dataDir), { 2: 40 });
});

test('overlapping replacements end with one whole catalog, the one that began last', async (t) => {
  const dataDir = temporary(t);
  const store = opened(t, dataDir);
  const other = opened(t, dataDir);
  const slow = generated(30, 300_000, 'slow');
  const quick = generated(3, 10, 'quick');
  const numbers = await Promise.all([
    store.replace(slow),
    new Promise((resolve) => setImmediate(resolve)).then(() => other.replace(quick)),
  ]);
  const last = numbers[0] > numbers[1] ? slow : quick;
  assert.equal(store.current(), Math.max(...numbers));
  assert.deepEqual(store.load(), last);
  assert.deepEqual(Object.keys(await storedGenerations(dataDir)), [String(store.current())]);
});

test('a process killed in the middle of a replacement leaves the old generation', async (t) => {
  const dataDir = temporary(t);
  const old = generated(20, 1000, 'old');
  const first = openCatalog(dataDir, { durability: 'flushed' });
  await first.replace(old);
  await first.close();

  // The last event signals the parent that it is its turn, and then never gets written.
  const child = runNode(
    `import { openCatalog } from './storage/catalog/catalog.ts';
     import { writeSync } from 'node:fs';
     const events = Array.from({ length: 12 }, (_, i) => ({ id: String(i), text: 'y'.repeat(400000) }));
     events.push({ id: '99', toJSON() {
       writeSync(1, 'half');
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     } });
     const store = openCatalog(process.env.DATA_DIR, { durability: 'flushed' });
     await store.replace({ events, tags: [], series: [], sites: [], markets: [] });`,
    { DATA_DIR: dataDir },
  );
  const [line] = await once(child.stdout!, 'data');
  assert.equal(String(line), 'half');
  child.kill('SIGKILL');
  await once(child, 'exit');

  const left = await storedGenerations(dataDir);
  assert.equal(left[1], 20);
  assert.ok((left[2] ?? 0) > 0, 'the new generation was half written');
  const store = opened(t, dataDir);
  assert.equal(store.current(), 1);
  assert.deepEqual(store.load(), old);

  const next = generated(7, 10, 'next');
  assert.equal(await store.replace(next), 3);
  assert.deepEqual(store.load(), next);
  assert.deepEqual(await storedGenerations(dataDir), { 3: 7 });
});

test('a full disk fails the replacement, with the reason, and the old generation stays', async (t) => {
  const dataDir = temporary(t);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', dataDir]).status !== 0) {
    t.skip('mounting a small file system is not allowed here');
    return;
  }
  const store = openCatalog(dataDir, { durability: 'flushed' });
  try {
    const old = generated(5, 1000, 'old');
    await store.replace(old);
    const large = generated(40, 200_000, 'large');
    await assert.rejects(
      store.replace(large),
      (error: Error) => !/see commitError/.test(error.message),
    );
    assert.equal(store.current(), 1);
    assert.deepEqual(store.load(), old);
  } finally {
    await store.close();
    spawnSync('umount', [dataDir]);
  }
});

test('an environment of another format is refused, naming found and expected', async (t) => {
  const dataDir = temporary(t);
  const store = opened(t, dataDir);
  await store.replace(generated(1, 1, 'ours'));
  const root = openEnvironment({ path: join(dataDir, 'catalog'), durability: 'committed' });
  const header = JSON.stringify({ format: 99, generation: 1, counts: [1, 0, 0, 0] });
  await openTable(root, 'state').put(Buffer.from('current'), Buffer.from(header));
  await root.close();
  assert.throws(() => store.load(), /its format is 99, this node reads 3/);
  await assert.rejects(store.replace(generated(1, 1, 'more')), /this node reads 3/);
});

test('stored objects come from one LMDB snapshot, for any slow reader', async (t) => {
  const dataDir = temporary(t);
  const store = opened(t, dataDir);
  const first = generated(500, 1000, 'first');
  await store.replace(first);
  const taken: string[] = [];
  let rounds = 0;
  for (const { kind, json } of store.objects()) {
    assert.equal(kind, 'events');
    taken.push(json.toString());
    if (taken.length % 100 !== 0) continue;
    await opened(t, dataDir).replace(generated(300, 1000, `round ${rounds++}`));
  }
  assert.deepEqual(
    taken,
    first.events.map((one) => JSON.stringify(one)),
  );
  assert.equal(store.current(), 1 + rounds);
  for (const { json } of store.objects()) {
    assert.equal(JSON.parse(json.toString()).title, `round ${rounds - 1}`);
    break;
  }
  assert.equal(store.load().events.length, 300);
});

test('a store opened only to read makes no directory where there is none', (t) => {
  const dataDir = temporary(t);
  const open = () => openCatalog(dataDir, { durability: 'flushed', readOnly: true });
  assert.throws(open, /there is no directory .*catalog/);
  assert.deepEqual(readdirSync(dataDir), []);
});

test('the demo has every kind of market, whole and open for trading', () => {
  const result = readCatalog(demoCatalog());
  assert.ok(result.ok);
  const { catalog, report } = result;
  assert.equal(report.events, 14);
  assert.equal(report.marketsTradable, report.markets);
  assert.deepEqual(report.skipped, []);
  assert.equal(report.series, 2);
  assert.equal(report.sites, 2);
  assert.equal(report.creators, 2);
  const ticks = new Set(catalog.markets.map((one) => one.ticksPerUnit));
  assert.deepEqual([...ticks].sort(), [10, 100, 200, 400, 1000, 10000].sort());
  assert.ok(new Set(catalog.markets.map((one) => one.minSizeMicro)).size >= 3);
  assert.equal(catalog.markets.filter((one) => one.outcomes.length === 3).length, 1);
  const negRiskEvents = catalog.markets.filter((one) => one.negRisk).map((one) => one.eventId);
  assert.equal(new Set(negRiskEvents).size, 2);
  const positions = catalog.markets.filter((one) => one.tokenIds.every(isPosition));
  assert.deepEqual(
    positions.map((one) => one.negRisk),
    [false, true],
  );
  assert.ok(negRiskEvents.length > 1);
  const first = catalog.markets.find((one) => one.id === '1001');
  assert.equal(first?.ticksPerUnit, 100);
  assert.equal(first?.outcomes.length, 2);
  for (const one of catalog.markets) {
    for (const id of one.tokenIds) assert.match(id, /^[0-9]{70,78}$/);
  }
});

test('every creator of the demo belongs to one of its sites, and every site has markets', () => {
  const { events, sites } = read(demoCatalog());
  const creators = events.flatMap((one) =>
    (one.markets as JsonObject[]).map((market) => creatorOf(market, one)),
  );
  assert.deepEqual([...new Set(creators)].sort(), sites.flatMap((site) => site.creators).sort());
});

test('the demo is the same on every call, with distinct slugs and all fields of the catalog', () => {
  assert.deepEqual(demoCatalog(), demoCatalog());
  assert.notEqual(demoCatalog(), demoCatalog());
  const catalog = read(demoCatalog());
  const markets = catalog.events.flatMap((one) => one.markets as JsonObject[]);
  for (const list of [catalog.events, catalog.series, catalog.tags, markets]) {
    assert.equal(new Set(list.map((one) => one.slug)).size, list.length);
    for (const one of list) assert.match(String(one.slug), /^[a-z0-9]+(-[a-z0-9]+)*$/);
  }
  const shared = 'id slug description resolutionSource startDate endDate image icon'.split(' ');
  const states = 'active closed archived createdAt updatedAt'.split(' ');
  for (const one of [...catalog.events, ...markets]) {
    for (const name of [...shared, ...states]) assert.ok(name in one, `${name} of ${one.slug}`);
    assert.ok(String(one.endDate) >= '2027', 'open for a while');
    assert.equal(one.endDate, new Date(String(one.endDate)).toISOString().replace('.000', ''));
  }
  for (const one of markets) assert.match(String(one.questionID), /^0x[0-9a-f]{64}$/);
  for (const one of catalog.events) assert.ok('tags' in one && 'series' in one);
});
