/** `record`: what a venue says until it is interrupted, and the gaps between. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { Recorder } from '../../server/paper/recorder.ts';
import { SourceApi } from '../../server/paper/source-api.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { fileArgs } from '../common/forms.ts';
import { temporaryDirectory, until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { FakeVenue } from './fake-source.ts';

test('a venue is recorded over a lost connection, and the file ends in order', async (t) => {
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
  assert.match(await told, /, 1 gaps$/m);
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

test('what was sent is soon on disk, even while the catalog does not answer', async (t) => {
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
    ...{ api, markets, streamUrl: venue.streamUrl, now: Date.now, signal: end.signal },
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
