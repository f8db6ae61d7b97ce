import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { allocateEngine } from '../../engine/tables/tables.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { until } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { ROOMY } from '../engine/engine-driver.ts';
import { catalogEtag, FakeSource, sourceFile } from './catalog-source.ts';

const { startSync } = (await import(
  join(useCompiledNodes(), 'server/catalog/sync-service.js')
)) as typeof import('../../server/catalog/sync-service.ts');

interface Running {
  readonly lines: string[];
  readonly dataDir: string;
  close(): Promise<void>;
}

function temporary(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'catalog-sync-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

function run(t: TestContext, url: string, seconds: number, dataDir = temporary(t)): Running {
  const lines: string[] = [];
  const sync = startSync({
    ownConditions: new Set(),
    url,
    seconds,
    dataDir,
    durability: 'flushed',
    memory: allocateEngine(ROOMY),
    log: (level, line) => lines.push(`${level} ${line}`),
  });
  t.after(() => sync.close());
  return { lines, dataDir, close: sync.close };
}

test('a store that the test has open sees each new generation of the thread', {
  skip: SHORT,
}, async (t) => {
  const source = await FakeSource.start(t, sourceFile(300));
  source.etag = catalogEtag('a');
  const dataDir = temporary(t);
  const store = openCatalog(dataDir, { durability: 'flushed' });
  t.after(() => store.close());
  const { lines, close } = run(t, source.url, 0.05, dataDir);
  await until(() => store.current() === 1);
  assert.equal(store.load().events.length, 300);
  source.file = sourceFile(280, 'second');
  source.etag = catalogEtag('b');
  await until(() => store.current() === 2);
  assert.equal(store.load().events.length, 280);
  await until(() => lines.some((line) => line.startsWith('debug')));
  await close();
  assert.match(lines[0] ?? '', /^info .*generation 1: 300 events, 600 markets/);
  assert.match(lines.join('\n'), /^info .*generation 2: 280 events/m);
  assert.equal(store.load().events.length, 280);
});

test('a thread that gets the stop message ends in the middle of a pull and sends no more requests', async (t) => {
  const source = await FakeSource.start(t, sourceFile(50));
  source.fault = (path) => path.startsWith('/events/');
  const { lines, close } = run(t, source.url, 1);
  // What it sends at a time: none of these is under way when it ends.
  const lookups = () => source.requests.filter((path) => path.startsWith('/events/'));
  await until(() => lookups().length === 8);
  await close();
  const asked = source.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(source.requests.length, asked);
  assert.deepEqual(lines, []);
});

test('a stop before the thread has started, and a second stop, end it', async (t) => {
  const source = await FakeSource.start(t, sourceFile(50));
  source.fault = () => true;
  const { close } = run(t, source.url, 1);
  await close();
  await close();
});

test('a thread that dies is started again; those after it open and write one directory', async (t) => {
  const source = await FakeSource.start(t, sourceFile(5));
  const dataDir = temporary(t);
  const inTheWay = join(dataDir, 'catalog');
  writeFileSync(inTheWay, '');
  const { close, lines } = run(t, source.url, 0.05, dataDir);
  await until(() => lines.length >= 2);
  assert.match(lines[0] ?? '', /^warn .*died: .* is not a directory; starts again in 0.05 s/);
  assert.match(lines[1] ?? '', /starts again in 0.1 s/);
  rmSync(inTheWay);
  await until(() => lines.some((line) => /^info .*generation 1/.test(line)));
  await close();
  const store = openCatalog(dataDir, { durability: 'flushed' });
  t.after(() => store.close());
  const rounds = SHORT ? 2 : 5;
  for (let round = 2; round <= rounds; round++) {
    source.file = sourceFile(5 + round, `round ${round}`);
    const next = run(t, source.url, 60, dataDir);
    await until(() => store.current() === round);
    await next.close();
    assert.equal(store.load().events.length, 5 + round);
  }
});
