/** The catalog command in processes of their own, beside a store that stays open here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { SHORT } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { command, commandProcess, startCommand } from './catalog-commands.ts';

const REAL_FILE = join(ROOT, '../shared/data/catalog-shared.json');

function temporary(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'catalog-cli-'));
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

test('a switch made by another process is seen without reopening', async (t) => {
  const dataDir = temporary(t);
  const file = join(dataDir, 'demo.json');
  writeFileSync(file, JSON.stringify(demoCatalog()));
  const store = opened(t, dataDir);
  await store.replace(read({ events: [{ id: 1 }] }));
  assert.equal(store.current(), 1);
  const done = await commandProcess(['import', file], { DATA_DIR: dataDir });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(store.current(), 2);
  assert.deepEqual(store.load(), read(demoCatalog()));
});

test('import prints the contents of the file and the unusable rest', async (t) => {
  const dataDir = temporary(t);
  const file = join(dataDir, 'catalog.json');
  const catalog = demoCatalog() as { events: { markets: { clobTokenIds?: string }[] }[] };
  delete catalog.events[0]?.markets[0]?.clobTokenIds;
  writeFileSync(file, `\ufeff${JSON.stringify(catalog)}`);
  const done = await command(['import', file], { DATA_DIR: dataDir });
  assert.equal(done.stderr, '');
  assert.equal(done.code, 0);
  assert.match(done.stdout, /imported 14 events, 19 markets \(18 with order books, 18 open/);
  assert.match(done.stdout, /, 5 tags, 2 series, 2 creators, 2 sites$/m);
  assert.match(done.stdout, /1 markets without token ids: no book \(1001\)/);
  assert.match(done.stdout, /generation 1\n$/);
  assert.equal(opened(t, dataDir).load().markets.length, 18);
});

test('a mistake in the command gets a plain message and a non-zero exit', async (t) => {
  const dataDir = temporary(t);
  const path = (name: string, content: string | Buffer): string => {
    writeFileSync(join(dataDir, name), content);
    return join(dataDir, name);
  };
  const demo = path('demo.json', JSON.stringify(demoCatalog()));
  const twice = demoCatalog() as { events: { markets: JsonObject[] }[] };
  twice.events[1]?.markets.push({ ...twice.events[0]?.markets[0], id: '5000' });
  const cases: [string[], Record<string, string>, number, RegExp][] = [
    [[], {}, 2, /^Usage: /],
    [['exprot'], {}, 2, /^error: unknown command 'exprot'\n\(Did you mean export\?\)/],
    [['import'], {}, 2, /^error: missing required argument 'FILE'/],
    [['import', ''], {}, 2, /which FILE/],
    [['toString', demo], {}, 2, /^error: unknown command 'toString'/],
    [['import', demo, 'more'], {}, 2, /^error: too many arguments/],
    [['import', demo], { DURABILITY: 'maybe' }, 2, /^DURABILITY must be flushed or committed/],
    [['import', join(dataDir, 'none.json')], {}, 1, /^cannot read .*none\.json: ENOENT/],
    [['import', dataDir], {}, 1, /^cannot read .*: EISDIR/],
    [['import', path('bad.json', '{"events": [')], {}, 1, /^cannot read .*bad\.json: .*JSON/],
    [['import', path('latin.json', Buffer.from([0x22, 0xe9, 0x22]))], {}, 1, /utf-8/i],
    [['import', path('shape.json', '[]')], {}, 1, /^cannot import .*one JSON object/],
    [['import', path('two.json', JSON.stringify(twice))], {}, 1, /1001 and 5000 both claim/],
    [['export', demo], {}, 1, /^cannot open the catalog in .*: there is no directory/],
    [['import', demo], { DATA_DIR: demo }, 1, /^cannot open the catalog in .*demo\.json/],
  ];
  const results = await Promise.all(
    cases.map(([args, env]) => command(args, { DATA_DIR: dataDir, ...env })),
  );
  for (const [index, [args, , code, message]] of cases.entries()) {
    const result = results[index];
    assert.equal(result?.code, code, args.join(' '));
    assert.match(result?.stderr ?? '', message);
    assert.doesNotMatch(result?.stderr ?? '', /^\s+at /m, 'no stack trace');
    assert.equal(result?.stdout, '');
  }
  assert.equal(existsSync(join(dataDir, 'catalog')), false, 'nothing was written');
  assert.equal(readFileSync(demo, 'utf8'), JSON.stringify(demoCatalog()), 'nor over the file');
});

async function filled(t: TestContext, json: unknown): Promise<string> {
  const dataDir = temporary(t);
  await opened(t, dataDir).replace(read(json));
  return dataDir;
}

async function checkCopy(t: TestContext, dataDir: string): Promise<void> {
  const copyDir = temporary(t);
  const file = join(copyDir, 'catalog.json');
  const exported = await command(['export', file], { DATA_DIR: dataDir });
  assert.deepEqual(exported, { code: 0, stdout: '', stderr: '' });
  const imported = await command(['import', file], { DATA_DIR: copyDir });
  assert.equal(imported.code, 0, imported.stderr);
  assert.deepEqual(opened(t, copyDir).load(), opened(t, dataDir).load());
  assert.deepEqual(readdirSync(copyDir).sort(), ['catalog', 'catalog.json']);
}

test('import reads an exported demo', async (t) => {
  await checkCopy(t, await filled(t, demoCatalog()));
});

const realMissing = existsSync(REAL_FILE) ? false : 'the shared data is not here';
test('import reads an exported real catalog', {
  skip: SHORT || realMissing,
}, async (t) => {
  await checkCopy(t, await filled(t, JSON.parse(readFileSync(REAL_FILE, 'utf8'))));
});

test('export writes through standard output, import reads standard input', async (t) => {
  const dataDir = await filled(t, demoCatalog());
  const exported = await commandProcess(['export', '-'], { DATA_DIR: dataDir });
  assert.equal(exported.stderr, '');
  assert.equal(exported.code, 0);
  const copyDir = temporary(t);
  const imported = await commandProcess(['import', '-'], { DATA_DIR: copyDir }, exported.stdout);
  assert.equal(imported.code, 0, imported.stderr);
  assert.deepEqual(opened(t, copyDir).load(), opened(t, dataDir).load());
  const bad = await commandProcess(
    ['import', '-'],
    { DATA_DIR: copyDir },
    exported.stdout.slice(0, -3),
  );
  assert.match(bad.stderr, /^cannot read standard input: /);
  assert.equal(bad.code, 1);
});

test('an export that fails leaves the file of that name as it was, and no other file', async (t) => {
  const dataDir = await filled(t, demoCatalog());
  const place = temporary(t);
  mkdirSync(join(place, 'folder'));
  const [folder, nowhere] = await Promise.all([
    command(['export', join(place, 'folder')], { DATA_DIR: dataDir }),
    command(['export', join(place, 'none', 'file')], { DATA_DIR: dataDir }),
  ]);
  assert.equal(folder.code, 1);
  assert.match(folder.stderr, /^cannot write .*folder: it is there and is not a file/);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /^cannot write .*: ENOENT/);
  const empty = temporary(t);
  await opened(t, empty).close();
  const nothing = await command(['export', join(place, 'file')], { DATA_DIR: empty });
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /^there is no catalog in /);
  assert.deepEqual(readdirSync(place), ['folder']);
});

test('a reader that closes early gets no stack trace, and the exit code shows it', async (t) => {
  const long = 'x'.repeat(100_000);
  const events = Array.from({ length: 40 }, (_, index) => ({ id: index, description: long }));
  const dataDir = await filled(t, { events });
  const child = startCommand(['export', '-'], { DATA_DIR: dataDir });
  let stderr = '';
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(stderr, /^cannot write standard output: .*EPIPE\n$/);
});
