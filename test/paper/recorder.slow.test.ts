import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { parseChoice } from '../../server/common/market-choice.ts';
import { readConfig } from '../../server/config/config.ts';
import { chosenMarkets } from '../../server/paper/chosen-markets.ts';
import { Recorder } from '../../server/paper/recorder.ts';
import { SourceApi } from '../../server/paper/source-api.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { fileArgs } from '../common/forms.ts';
import { temporaryDirectory, until } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';
import { FakeVenue } from './fake-source.ts';

/** Character that begins a command to a terminal. */
const ESC = '\u001b';

test('a venue is recorded over a lost connection, and the file is complete', async (t) => {
  const venue = await FakeVenue.start(t);
  const [{ conditionId, tokenIds } = { conditionId: '', tokenIds: [''] }] = venue.markets;
  const token = tokenIds[0]!;
  venue.change(token, [['BUY', '0.4', '100']]);
  const directory = temporaryDirectory();
  const file = join(directory, 'venue.rec.gz');
  const args = ['record', venue.url, file, '--markets', conditionId];
  const recorder = spawn(process.execPath, [...fileArgs('server/cli/cli'), ...args]);
  t.after(() => recorder.kill('SIGKILL'));
  const told = text(recorder.stdout);
  const exit = once(recorder, 'exit');
  await until(() => venue.isFollowed(token));
  venue.change(token, [['SELL', '0.6', '7']]);
  venue.print(token, 'BUY', '0.6', '2');
  venue.dropConnections();
  await until(() => !venue.isFollowed(token));
  await until(() => venue.isFollowed(token));
  venue.change(token, [['SELL', '0.6', '5']], { isOld: true });
  const kindsOf = async (): Promise<string[]> => {
    const recording = await openRecording(file).catch(() => undefined);
    const entries: RecordingEntry[] = [];
    for await (const entry of recording ?? []) entries.push(entry);
    return entries.map((entry) =>
      entry.kind === 'message' ? String(entry.message.event_type) : entry.kind,
    );
  };
  await until(async () => (await kindsOf()).filter((kind) => kind === 'price_change').length === 2);
  recorder.kill('SIGINT');
  assert.deepEqual(await exit, [0, null]);
  assert.match(await told, /, 1 gaps, [\d.]+ (bytes|KB)$/m);
  const kinds = await kindsOf();
  assert.deepEqual(
    kinds.filter((kind) => kind !== 'book'),
    ['price_change', 'last_trade_price', 'gap', 'price_change', 'end'],
  );
  // Whole books of both outcomes, at the beginning and behind the gap.
  assert.equal(kinds.indexOf('book'), 0);
  assert.equal(kinds[kinds.indexOf('gap') + 1], 'book');
  const { catalog, cutAt, header } = await openRecording(file);
  assert.deepEqual([catalog.events.length, cutAt], [1, undefined]);
  assert.deepEqual([header.venue, header.markets], [venue.url, [conditionId]]);
  const info = await cli(directory, ['record', 'info', file]);
  assert.equal(info.code, 0);
});

test('messages are soon on disk, also while the catalog does not answer', async (t) => {
  const venue = await FakeVenue.start(t);
  const [{ conditionId, tokenIds } = { conditionId: '', tokenIds: [''] }] = venue.markets;
  const token = tokenIds[0]!;
  const file = join(temporaryDirectory(), 'venue.rec.gz');
  const api = new SourceApi(venue.url, venue.url, new AbortController().signal);
  const markets = await api.marketsBy('condition_ids', [conditionId]);
  const start = { venue: venue.url, started: Date.now(), markets: [conditionId] };
  const end = new AbortController();
  const lines: string[] = [];
  const recorder = new Recorder({
    api,
    markets,
    streamUrl: venue.streamUrl,
    now: Date.now,
    signal: end.signal,
    writer: await RecordingWriter.create(file, start),
    log: (line) => void lines.push(line),
    catalogMs: 100,
  });
  const running = recorder.run();
  t.after(() => {
    end.abort();
    return running;
  });
  await until(() => venue.isFollowed(token));
  let answer = (): void => undefined;
  venue.heldEvents = new Promise((resolve) => {
    answer = resolve;
  });
  // The look at the catalog that waits began before.
  await new Promise((resolve) => setTimeout(resolve, 500));
  venue.print(token, 'BUY', '0.6', '2');
  const hasPrint = async (): Promise<boolean> => {
    // Of a file without a whole member nothing can be read yet.
    const recording = await openRecording(file).catch(() => undefined);
    for await (const entry of recording ?? []) {
      if (entry.kind === 'message' && entry.message.event_type === 'last_trade_price') return true;
    }
    return false;
  };
  await until(hasPrint);
  // The request has not been given up.
  assert.deepEqual(lines, []);
  answer();
});

test('fees, times and results of a market are in the recording, again whenever they change', async (t) => {
  const venue = await FakeVenue.start(t);
  const [{ conditionId } = { conditionId: '' }] = venue.markets;
  const file = join(temporaryDirectory(), 'venue.rec.gz');
  const said: Readonly<Record<string, unknown>>[] = [
    {
      feesEnabled: true,
      feeSchedule: { rate: '0.05', exponent: 1 },
      startDate: '2026-01-05T12:00:00Z',
    },
    { gameStartTime: '2026-01-05 19:00:00+00' },
    { takerBaseFee: 30 },
    { secondsDelay: 3 },
    { endDate: '2026-01-06T00:00:00Z' },
    { closed: true, outcomePrices: ['1', '0'], umaResolutionStatus: 'resolved' },
  ];
  venue.said.set(conditionId, said[0]!);
  const api = new SourceApi(venue.url, venue.url, new AbortController().signal);
  const markets = await api.marketsBy('condition_ids', [conditionId]);
  const start = { venue: venue.url, started: Date.now(), markets: [conditionId] };
  const end = new AbortController();
  const running = new Recorder({
    api,
    markets,
    streamUrl: venue.streamUrl,
    now: Date.now,
    signal: end.signal,
    writer: await RecordingWriter.create(file, start),
    log: () => undefined,
    catalogMs: 20,
  }).run();
  const recorded = async (): Promise<JsonObject[]> => {
    const recording = await openRecording(file).catch(() => undefined);
    const events = [...(recording?.catalog.events ?? [])];
    for await (const entry of recording ?? [])
      if (entry.kind === 'catalog') events.push(entry.event);
    return events.flatMap((event) => event.markets as JsonObject[]);
  };
  let all: Readonly<Record<string, unknown>> = {};
  for (const [i, more] of said.entries()) {
    all = { ...all, ...more };
    venue.said.set(conditionId, all);
    await until(async () => (await recorded()).length === i + 1);
    const market = (await recorded())[i]!;
    for (const [name, value] of Object.entries(all)) assert.deepEqual(market[name], value, name);
  }
  end.abort();
  await running;
});

test('a recording is not begun without a market, or over a file', async (t) => {
  const venue = await FakeVenue.start(t);
  const directory = temporaryDirectory();
  const file = join(directory, 'venue.rec.gz');
  const wrong = await cli(directory, ['record', venue.url, file, '--markets', 'top:0']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--markets must be/);
  venue.said.set(venue.markets[0]!.conditionId, { closed: true });
  const none = await cli(directory, ['record', venue.url, file]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /has no open market of top:20/);
});

test('a source without an answer is reported with its address and the reason', async (t) => {
  const directory = temporaryDirectory();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const refused = new RegExp(`${url}/markets: connect ECONNREFUSED 127\\.0\\.0\\.1:${port}\n$`);
  const none = await cli(directory, ['record', url, join(directory, 'none.rec')]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, refused);

  // A name with several addresses: each of them is tried.
  const local = await cli(directory, [
    'record',
    `http://localhost:${port}`,
    join(directory, 'n.rec'),
  ]);
  assert.match(local.stderr, new RegExp(`^http://localhost:${port}/markets: connect ECONNREFUSED`));

  const elsewhere = createServer((_, response) => response.writeHead(404).end('{}'));
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  t.after(() => elsewhere.close());
  const trading = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  const other = await cli(directory, ['record', trading, join(directory, 'other.rec')]);
  assert.match(
    other.stderr,
    /\/markets: status 404; where the catalog is at another address, --catalog/,
  );

  const venue = await FakeVenue.start(t);
  const end = new AbortController();
  const stream = `ws://127.0.0.1:${port}/ws/market`;
  const args = ['record', venue.url, join(directory, 'mute.rec'), '--stream', stream];
  const running = cli(directory, args, { signal: end.signal });
  setTimeout(() => end.abort(), 1_500);
  const { code, stderr } = await running;
  assert.equal(code, 0);
  const lines = stderr.split('\n').filter((line) => line.includes(stream));
  // Tried again and again, and said once.
  assert.deepEqual(lines, [`${stream}: no connection: connect ECONNREFUSED 127.0.0.1:${port}`]);
});

test('on a terminal recording and importing show messages, rate and size; elsewhere they are quiet', async (t) => {
  const venue = await FakeVenue.start(t);
  const [token = ''] = venue.markets[0]!.tokenIds;
  const directory = temporaryDirectory();
  const end = new AbortController();
  const running = [true, false].map(async (isTerminal) => {
    const file = join(directory, `shown-${isTerminal}.rec`);
    return await cli(directory, ['record', venue.url, file], { signal: end.signal, isTerminal });
  });
  await until(() => venue.isFollowed(token));
  const sending = setInterval(() => venue.print(token, 'BUY', '0.6', '2'), 20);
  setTimeout(() => end.abort(), 2_500);
  const shown = /\rESC\[Krecorded: [\d,]+ messages, [\d,]+ a second, [\d.]+ (bytes|KB)/;
  for (const [i, { stderr, stdout }] of (await Promise.all(running)).entries()) {
    assert.equal(shown.test(stderr.replaceAll(ESC, 'ESC')), i === 0, stderr);
    assert.equal(stderr.includes('\r'), i === 0);
    assert.match(stdout, /: \d+ messages, 0 gaps, [\d.]+ (bytes|KB)\n$/);
  }
  clearInterval(sending);
  const level = { price: '0.4', size: '9' };
  const long = { event_type: 'book', market: 'm', asset_id: '1', bids: [level], asks: [] };
  const path = join(directory, 'long.jsonl');
  const lines = Array.from({ length: 20_000 }, (_, i) =>
    JSON.stringify({ ...long, timestamp: String(i) }),
  );
  writeFileSync(path, lines.join('\n'));
  for (const isTerminal of [true, false]) {
    const out = join(directory, `long-${isTerminal}.rec`);
    const imported = await cli(directory, ['record', 'import', path, '-o', out], { isTerminal });
    for (const verb of ['reading', 'writing']) {
      const shown = new RegExp(`\\rESC\\[K${verb} \\S+: [\\d,]+ messages.*, [\\d.]+ (KB|MB)`);
      assert.equal(shown.test(imported.stderr.replaceAll(ESC, 'ESC')), isTerminal, imported.stderr);
    }
    assert.match(imported.stdout, /: 20000 messages of 1 files\n$/);
  }
});

test('markets without two outcomes take no place among the largest volumes', async (t) => {
  const venue = await FakeVenue.start(t, 5);
  const [first, second, third] = venue.markets;
  for (const market of [first!, third!])
    venue.said.set(market.conditionId, { clobTokenIds: '["1","2","3"]' });
  const api = new SourceApi(venue.url, venue.url, new AbortController().signal);
  const chosen = await chosenMarkets(api, parseChoice('top:2')!);
  const conditions = (markets: readonly { condition: string }[]) =>
    markets.map((one) => one.condition);
  assert.deepEqual(conditions(chosen.top), [second!.conditionId, venue.markets[3]!.conditionId]);
  assert.deepEqual(conditions(chosen.notBinary), [first!.conditionId, third!.conditionId]);
});

/** A host with these routes of another one, and no others. */
async function hostOf(t: TestContext, url: string, routes: RegExp): Promise<string> {
  const host = createServer(async (request, response) => {
    if (!routes.test(request.url ?? '')) {
      response.writeHead(404).end('{}');
      return;
    }
    const { method = 'GET' } = request;
    const body = method === 'GET' ? {} : { body: await text(request) };
    const answer = await fetch(`${url}${request.url}`, { method, ...body });
    response.end(await answer.text());
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  t.after(() => host.close().closeAllConnections());
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
}

test('a venue with one address for trading, one for the catalog and one for the stream is recorded', async (t) => {
  const venue = await FakeVenue.start(t);
  const [token = ''] = venue.markets[0]!.tokenIds;
  venue.change(token, [['BUY', '0.4', '100']]);
  const trading = await hostOf(t, venue.url, /^\/books$/);
  const catalog = await hostOf(t, venue.url, /^\/(markets|events)/);
  const directory = temporaryDirectory();
  const file = join(directory, 'three.rec');
  const end = new AbortController();
  const args = ['record', trading, file, '--catalog', catalog, '--stream', venue.streamUrl];
  const running = cli(directory, args, { signal: end.signal });
  await until(() => venue.isFollowed(token) && venue.snapshots > 0);
  venue.print(token, 'BUY', '0.6', '2');
  await new Promise((resolve) => setTimeout(resolve, 300));
  end.abort();
  const { code, stderr } = await running;
  assert.deepEqual([code, stderr.split('\n').length], [0, 2], stderr);
  const info = await cli(directory, ['record', 'info', file, '--json']);
  const { markets, messages } = JSON.parse(info.stdout);
  assert.deepEqual([markets, messages.last_trade_price], [1, 1]);
});

test('the addresses in the documents are accepted as settings and options', () => {
  for (const page of ['docs/guides/paper-and-backtests.md']) {
    const shown = readFileSync(join(ROOT, page), 'utf8').replaceAll('\\\n', '');
    const lines = shown.split('\n').filter((line) => line.includes('MIRROR_URL=https:'));
    assert.equal(lines.length, 1, page);
    const env = Object.fromEntries(
      [...lines[0]!.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    const read = readConfig(env, [], 2);
    assert(read.ok, page);
    const { catalogSyncUrl, mirrorStreamUrl, mirrorUrl } = read.config;
    const record = shown.split('\n').find((line) => /cli -- record https:/.test(line)) ?? '';
    const [, url] = /record (\S+)/.exec(record) ?? [];
    const [, catalog] = /--catalog (\S+)/.exec(record) ?? [];
    const [, stream] = /--stream (\S+)/.exec(record) ?? [];
    assert.deepEqual([url, catalog, stream], [mirrorUrl, catalogSyncUrl, mirrorStreamUrl], page);
  }
});
