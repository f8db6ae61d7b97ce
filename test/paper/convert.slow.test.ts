/** Recordings in other forms, on whole nodes, in little memory, and in Python. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/common/free-port.ts';
import { PlayedClock } from '../../client/client.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { readEvents } from '../../storage/recordings/source-message.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { fileArgs, useCompiledNodes } from '../common/forms.ts';
import { books, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { freshSeed, Random, SHORT } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';
import { randomRecording } from './recorded.ts';

useCompiledNodes();
const directory = temporaryDirectory();

async function converted(from: string, to: string): Promise<string> {
  const { code, stderr } = await cli(directory, ['record', 'convert', from, to]);
  assert.equal(code, 0, stderr);
  return to;
}

/** Books of the tokens after the whole recording, of a node that plays it. */
async function playedBooks(t: TestContext, path: string, tokens: readonly string[]) {
  const admin = await freePort();
  const node = await TestNode.start(
    directory,
    { ADMIN_PORT: String(admin) },
    ['play', path, '--speed', 'max'],
    'server/cli/cli',
  );
  t.after(() => node.end('SIGKILL'));
  const clock = new PlayedClock(`http://127.0.0.1:${admin}`);
  for (let next = await clock.step(60_000); next.next !== null; ) next = await clock.step(60_000);
  clock.close();
  const found = await books(node, tokens);
  await node.stop();
  return found;
}

test('a recording of the demo gives the same final books on a node after Parquet', async (t) => {
  const venue = await TestNode.start(temporaryDirectory(), { DEMO: 'on', DEMO_TRADERS: 'on' });
  t.after(() => venue.end('SIGKILL'));
  const rec = join(directory, 'demo.rec');
  const end = new AbortController();
  const args = ['record', `http://127.0.0.1:${venue.port}`, rec, '--markets', 'top:8'];
  const recording = cli(directory, args, { signal: end.signal });
  await sleep(5_000);
  end.abort();
  assert.equal((await recording).code, 0);
  await venue.stop();
  const { catalog } = await openRecording(rec);
  const tokens = catalog.events
    .flatMap(({ markets }) => markets as { clobTokenIds: string | string[] }[])
    .flatMap(({ clobTokenIds: ids }) => (typeof ids === 'string' ? JSON.parse(ids) : ids))
    .map(String);
  assert(tokens.length >= 8);
  const parquet = await converted(rec, join(directory, 'demo.parquet'));
  const back = await converted(parquet, join(directory, 'demo-again.rec'));
  const before = await playedBooks(t, rec, tokens);
  assert(JSON.stringify(before).includes('price'), 'books with levels');
  for (const path of [parquet, back]) assert.deepEqual(await playedBooks(t, path, tokens), before);
});

/** Messages of a long recording. Their objects need several times the memory that the conversion has. */
const MESSAGES = SHORT === false ? 1_000_000 : 100_000;
const HEAP_MB = 64;
const MARKET = `0x${'ab'.repeat(32)}`;

async function longRecording(path: string): Promise<void> {
  const started = Date.UTC(2026, 0, 5);
  const writer = await RecordingWriter.create(path, { venue: 'drawn', started, markets: ['all'] });
  const seed = freshSeed();
  const random = new Random(seed);
  for (let i = 0; i < MESSAGES; i++) {
    const at = started + 20 * i;
    const change = (asset_id: string, side: string) => ({
      asset_id,
      side,
      price: `0.${random.between(10, 99)}`,
      size: String(random.below(100_000) / 100),
      best_bid: '0.5',
      best_ask: '0.51',
    });
    const price_changes = [change('11', 'BUY'), change('22', 'SELL')];
    const of = { market: MARKET, timestamp: String(at - random.below(30)) };
    const message = { event_type: 'price_change', ...of, price_changes };
    await writer.write({ at, kind: 'message', message });
  }
  await writer.close(started + 20 * MESSAGES);
}

test('a long recording becomes Parquet, npz and a recording again with a heap that has no room for it', async () => {
  const rec = join(directory, 'long.rec');
  await longRecording(rec);
  const paths = ['.parquet', '.npz', '-again.rec'].map((end) => join(directory, `long${end}`));
  const [parquet = '', npz = '', again = ''] = paths;
  for (const [from, to] of [
    [rec, parquet],
    [rec, npz],
    [parquet, again],
  ] as const) {
    const flags = [`--max-old-space-size=${HEAP_MB}`, ...fileArgs('server/cli/cli')];
    const args = [...flags, 'record', 'convert', from, to];
    const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.match(stdout, new RegExp(`: ${MESSAGES} messages, [\\d.]+ MB\\n$`));
  }
  const [before, after] = [
    (await openRecording(rec)).batches(),
    (await openRecording(again)).batches(),
  ];
  const rest = after[Symbol.asyncIterator]();
  let left: unknown[] = [];
  for await (const batch of before) {
    while (left.length < batch.length) left = [...left, ...(await rest.next()).value];
    assert.deepEqual(left.slice(0, batch.length), batch);
    left = left.slice(batch.length);
  }
  await rest.return?.();
});

const RECIPE = join(ROOT, 'docs/recipes/load_recording.py');
const LINES = 42;
const pythonWith = (imports: string) =>
  ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', imports], { stdio: 'ignore' }).status === 0,
  );
const PYTHON = pythonWith('import json');
const NUMPY = pythonWith('import numpy');

function loaded(python: string, path: string): readonly string[] {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stderr, stdout } = spawnSync(python, [RECIPE, path], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout.trim().split('\n');
}

/** A recording in the public form. */
function drawnLines(t: TestContext): string {
  const seed = freshSeed();
  t.diagnostic(`replay with: SEED=${seed} npm test`);
  const path = join(directory, 'drawn.jsonl');
  const { messages } = randomRecording(new Random(seed), 2_000);
  writeFileSync(path, messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  return path;
}

/** Best prices of each token after all messages, in the words of the recipe. */
async function bestPrices(path: string): Promise<readonly string[]> {
  const books = new Map<string, readonly [Map<number, number>, Map<number, number>]>();
  for await (const entry of await openRecording(path)) {
    if (entry.kind !== 'message') continue;
    for (const event of readEvents(entry.message)) {
      if (event.kind !== 'book' && event.kind !== 'changes') continue;
      const isBook = event.kind === 'book';
      const book =
        (isBook ? undefined : books.get(event.token)) ?? ([new Map(), new Map()] as const);
      books.set(event.token, book);
      const sides = isBook
        ? [event.bids, event.asks]
        : [0, 1].map((of) => event.changes.filter(({ side }) => side === of));
      for (const [side, levels] of sides.entries()) {
        for (const { pips, size } of levels) {
          if (size === 0) book[side]!.delete(pips);
          else book[side]!.set(pips, size);
        }
      }
    }
  }
  const text = (pips: number) => (Number.isFinite(pips) ? String(pips / 10_000) : '-');
  return [...books].sort().map(([token, [bids, asks]]) => {
    const [bid, ask] = [Math.max(...bids.keys()), Math.min(...asks.keys())];
    return `${token} bid ${text(bid)} ask ${text(ask)}`;
  });
}

test('some forty lines of Python read a recording alone, and an array with numpy, with the same best prices', {
  skip: PYTHON === undefined && 'no python3',
}, async (t) => {
  const lines = drawnLines(t);
  const shown = loaded(PYTHON!, lines);
  assert.deepEqual(shown.slice(0, 2), await bestPrices(lines));
  const rec = await converted(lines, join(directory, 'drawn.rec'));
  assert.deepEqual(loaded(PYTHON!, rec), shown);
  assert.equal(readFileSync(RECIPE, 'utf8').trimEnd().split('\n').length, LINES);
  if (NUMPY === undefined) return t.diagnostic('no python3 with numpy');
  const npz = await converted(rec, join(directory, 'drawn.npz'));
  const found = readdirSync(npz).flatMap((name) => loaded(NUMPY, join(npz, name)));
  assert.deepEqual(found.filter((line) => !line.startsWith('trades')).sort(), shown.slice(0, 2));
});

test('arrays that numpy has written, packed and not, are read', {
  skip: NUMPY === undefined && 'no python3 with numpy',
}, async (t) => {
  const rec = await converted(drawnLines(t), join(directory, 'source.rec'));
  const npz = await converted(rec, join(directory, 'source.npz'));
  const code = `import numpy, sys
data = numpy.load(sys.argv[1])["data"]
numpy.savez(sys.argv[2], other=numpy.zeros(3), data=data)
numpy.savez_compressed(sys.argv[3], data=data)`;
  const paths = ['plain.npz', 'packed.npz'].map((name) => join(directory, name));
  const args = ['-c', code, join(npz, '11.npz'), ...paths];
  const { status, stderr } = spawnSync(NUMPY!, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const of = async (path: string) => {
    const found: unknown[] = [];
    for await (const entry of await openRecording(path)) {
      if (entry.kind !== 'message') continue;
      const { asset_id, market, price_changes, ...message } = entry.message;
      const changes = (price_changes as { asset_id: string }[] | undefined)?.map((change) => ({
        ...change,
        asset_id: '',
      }));
      found.push([entry.at, message, changes]);
    }
    return found;
  };
  const wanted = await of(join(npz, '11.npz'));
  assert(wanted.length > 100);
  for (const path of paths) assert.deepEqual(await of(path), wanted);
});
