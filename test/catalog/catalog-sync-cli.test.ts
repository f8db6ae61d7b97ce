import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { SHORT } from '../common/random.ts';
import { command, startCommand } from './catalog-commands.ts';
import { FakeSource, sourceFile } from './catalog-source.ts';

function temporary(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'catalog-sync-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

test('`catalog sync` pulls, prints the result, and says when nothing has changed', async (t) => {
  const file = sourceFile(12);
  const source = await FakeSource.start(t, { ...file, events: [...file.events, { id: 'odd' }] });
  const DATA_DIR = temporary(t);
  const first = await command(['sync', source.url], { DATA_DIR });
  assert.deepEqual([first.code, first.stderr], [0, '']);
  assert.match(first.stdout, /^pulled 12 events, 24 markets \(24 with order books, 24 open for/);
  assert.match(
    first.stdout,
    /^ {2}1 events without a usable id: left out \(events\[12\]\); the field is `id`$/m,
  );
  assert.match(first.stdout, /^now in .*: generation 1$/m);
  const second = await command(['sync', source.url], { DATA_DIR });
  assert.deepEqual([second.code, second.stderr], [0, '']);
  assert.match(second.stdout, /^nothing has changed at http/);
});

test('a pull that fails prints the reason, and exits with 1', async (t) => {
  const source = await FakeSource.start(t, sourceFile(2));
  source.fault = (_, response) => {
    response.writeHead(403).end();
    return true;
  };
  const { code, stdout, stderr } = await command(['sync', source.url], { DATA_DIR: temporary(t) });
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^cannot pull from http.*, the catalog stays: GET \/events.*: status 403$/m);
});

test('wrong usage has texts of its own, and exits with 2', async () => {
  const wrong: readonly [args: string[], env: Record<string, string>, message: RegExp][] = [
    [[], {}, /Usage: prediction-market-node catalog \[options\] \[command\]/],
    [['sync'], {}, /^error: missing required argument 'URL'/],
    [['sync', 'http://a.example', 'more'], {}, /^error: too many arguments/],
    [['sync', 'file:///etc'], {}, /^URL must be an http or https URL/],
    [['sync', 'http://a.example'], { DURABILITY: 'no' }, /^DURABILITY must be flushed or/],
  ];
  const ended = await Promise.all(wrong.map(([args, env]) => command(args, env)));
  for (const [index, { code, stdout, stderr }] of ended.entries()) {
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, wrong[index]![2]);
  }
});

test('a kill anywhere in a pull leaves one whole catalog, the old or the new', {
  skip: SHORT,
}, async (t) => {
  const DATA_DIR = temporary(t);
  const source = await FakeSource.start(t, sourceFile(400, 'round 0'));
  assert.equal((await command(['sync', source.url], { DATA_DIR })).code, 0);
  // In the first half of the pull, then around the moments in which the catalog is written.
  const kills: readonly [lookups: number, ms: number][] = [
    [150, 0],
    [400, 8],
    [400, 16],
    [400, 24],
  ];
  for (const [round, [killAt, ms]] of kills.entries()) {
    source.file = sourceFile(400, `round ${round + 1}`);
    const child = startCommand(['sync', source.url], { DATA_DIR });
    const closed = once(child, 'close');
    let lookups = 0;
    source.fault = (path) => {
      if (path.startsWith('/events/') && ++lookups === killAt) {
        setTimeout(() => child.kill('SIGKILL'), ms);
      }
      return false;
    };
    await closed;
    const store = openCatalog(DATA_DIR, { durability: 'flushed' });
    const labels = new Set(store.load().tags.map(({ label }) => String(label).slice(0, -2)));
    const { length } = store.load().events;
    await store.close();
    assert.equal(length, 400);
    assert.equal(labels.size, 1, [...labels].join());
  }
  source.fault = () => false;
  source.file = sourceFile(401, 'last');
  assert.match((await command(['sync', source.url], { DATA_DIR })).stdout, /^pulled 401 events/);
});
