import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { constants, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { RecordingDamaged, type RecordingEntry } from '../../storage/recordings/entries.ts';
import { encodeMember } from '../../storage/recordings/members.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';

const directory = temporaryDirectory();
const START = { venue: 'https://venue.example', started: 1_000, markets: ['top:2'] };
let files = 0;

function newPath(): string {
  files += 1;
  return join(directory, `recording-${files}`);
}

function message(at: number, price = '0.5'): RecordingEntry {
  const level = { price, size: '10' };
  const of = { market: 'm', asset_id: '11', timestamp: String(at) };
  return { at, kind: 'message', message: { event_type: 'book', ...of, bids: [level], asks: [] } };
}

const EVENT: RecordingEntry = { at: 1_000, kind: 'catalog', event: { id: '1', markets: [] } };

async function all(path: string): Promise<RecordingEntry[]> {
  const entries: RecordingEntry[] = [];
  for await (const entry of await openRecording(path)) entries.push(entry);
  return entries;
}

/** Three members: header and catalog and two messages; one message; a gap, a message, the end. */
async function threeMembers(path: string): Promise<void> {
  const writer = await RecordingWriter.create(path, START);
  await writer.write(EVENT);
  await writer.write(message(1_001));
  await writer.write(message(1_002));
  await writer.flush();
  await writer.write(message(1_003));
  await writer.flush();
  await writer.write({ at: 1_009, kind: 'gap', from: 1_003, to: 1_009 });
  await writer.write(message(1_009));
  await writer.close(1_010);
}

test('a recording reads back as written, also by any gunzip', async () => {
  const path = newPath();
  await threeMembers(path);
  const recording = await openRecording(path);
  assert.equal(recording.header.venue, START.venue);
  assert.deepEqual(recording.catalog.events, [{ id: '1', markets: [] }]);
  const entries = [
    message(1_001),
    message(1_002),
    message(1_003),
    { at: 1_009, kind: 'gap', from: 1_003, to: 1_009 },
    message(1_009),
    { at: 1_010, kind: 'end' },
  ];
  assert.deepEqual(await all(path), entries);
  assert.equal(recording.cutAt, undefined);
  assert.equal(
    gunzipSync(readFileSync(path)).toString().split('\n').length,
    1 + 1 + entries.length + 1,
  );
  await assert.rejects(RecordingWriter.create(path, START), /EEXIST/);
});

test('a recording that another program has unpacked, or packed again, has the same entries', async () => {
  const path = newPath();
  await threeMembers(path);
  const plain = gunzipSync(readFileSync(path));
  const whole = await openRecording(path);
  for (const bytes of [plain, gzipSync(plain)]) {
    const other = newPath();
    writeFileSync(other, bytes);
    const { catalog, header, isPublic } = await openRecording(other);
    assert.deepEqual(
      { catalog, header, isPublic },
      { catalog: whole.catalog, header: whole.header, isPublic: false },
    );
    assert.deepEqual(await all(other), await all(path));
  }
  const cut = newPath();
  writeFileSync(cut, plain.subarray(0, -5));
  await assert.rejects(all(cut), { message: `${cut}: a line is no object of JSON` });
});

test('a directory is refused by its name', async () => {
  await assert.rejects(openRecording(directory), (error: Error) => {
    assert(error instanceof RecordingDamaged);
    assert.match(error.message, /it is a directory; name one file in it/);
    return error.message.startsWith(`${directory}: `);
  });
});

test('a file that was cut is read up to its last whole member', async () => {
  const path = newPath();
  await threeMembers(path);
  const whole = readFileSync(path);
  const counts = new Set<number>();
  for (let bytes = whole.length - 1; bytes >= 0; bytes--) {
    truncateSync(path, bytes);
    let count = -1;
    try {
      count = (await all(path)).length;
    } catch (error) {
      assert(error instanceof RecordingDamaged, String(error));
    }
    counts.add(count);
  }
  assert.deepEqual([...counts], [3, 2, -1]);
  truncateSync(path, 0);
  writeFileSync(path, whole.subarray(0, whole.length - 1));
  const recording = await openRecording(path);
  for await (const _ of recording.batches());
  assert(recording.cutAt! > 0);
  const { code, stdout } = await cli(directory, ['record', 'info', path]);
  assert.equal(code, 4);
  assert.match(stdout, /not whole, at byte \d+\n$/);
});

test('a changed byte is found at any place', async () => {
  const path = newPath();
  await threeMembers(path);
  const whole = readFileSync(path);
  const before = JSON.stringify(await all(path));
  for (let at = 0; at < whole.length; at += 3) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 0x40;
    writeFileSync(path, damaged);
    try {
      // A member with another length may look as if the file was cut: what is read is a part, never another text.
      const after = JSON.stringify(await all(path));
      assert(before.startsWith(after.slice(0, -1)), `byte ${at}`);
    } catch (error) {
      assert(error instanceof RecordingDamaged, `byte ${at}: ${error}`);
    }
  }
});

test('a long recording has several members, and is read in batches', async () => {
  const path = newPath();
  const writer = await RecordingWriter.create(path, START);
  for (let i = 0; i < 20_000; i++) await writer.write(message(1_000 + i));
  await writer.close(21_000);
  let batches = 0;
  let count = 0;
  for await (const batch of (await openRecording(path)).batches()) {
    batches += 1;
    count += batch.length;
  }
  assert.equal(count, 20_001);
  assert(batches > 2);
});

const PUBLIC = [
  '{"event_type":"book","market":"game","asset_id":"11","timestamp":"5","bids":[{"price":"0.4","size":"9"}],"asks":[]}',
  '[{"event_type":"price_change","market":"game","timestamp":"6","price_changes":[{"asset_id":"11","price":"0.401","side":"BUY","size":"3"}]}]',
  '',
  '{"event_type":"book","market":"other","asset_id":"33","timestamp":"4","bids":[],"asks":[]}',
  '{"event_type":"last_trade_price","market":"other","asset_id":"44","timestamp":"8","price":"0.5","size":"1","side":"BUY"}',
];

test('a member that inflates to far more than its header says counts as damaged, and takes no memory', async () => {
  const path = newPath();
  const { Z_FULL_FLUSH: finishFlush } = constants;
  const block = deflateRawSync(Buffer.alloc(2 ** 20), { finishFlush });
  const deflated = Buffer.concat([...Array<Buffer>(768).fill(block), deflateRawSync('')]);
  const whole = await encodeMember('');
  const head = whole.subarray(0, 24);
  head.writeUInt32LE(deflated.length, 16);
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(1_000, 4);
  writeFileSync(path, Buffer.concat([head, deflated, tail]));
  const before = process.resourceUsage().maxRSS;
  await assert.rejects(all(path), /is damaged/);
  const grownKib = process.resourceUsage().maxRSS - before;
  assert(grownKib < 300_000, `${grownKib} KiB`);
});

test('the public form is read directly, plain or gzipped, with a catalog made of its messages', async () => {
  const path = newPath();
  const text = PUBLIC.join('\n');
  for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), gzipSync(`${text}\n`)]) {
    writeFileSync(path, bytes);
    const recording = await openRecording(path);
    assert.deepEqual(recording.header.markets, ['game', 'other']);
    assert.deepEqual(recording.header.inferred, ['11']);
    // No entry is before the one that came before it.
    assert.deepEqual(
      (await all(path)).map(({ at }) => at),
      [5, 6, 6, 8],
    );
    const read = readCatalog(recording.catalog);
    assert(read.ok);
    assert.deepEqual(read.report.skipped, []);
    const [game, other] = read.catalog.markets;
    assert.deepEqual([game?.ticksPerUnit, other?.ticksPerUnit], [1_000, 100]);
    assert.deepEqual(other?.tokenIds, ['33', '44']);
    // Of its second token nothing is known: its id follows from the first one's.
    assert.equal(game?.tokenIds[0], '11');
    assert.match(game?.tokenIds[1] ?? '', /^\d{70,78}$/);
  }
});

test('an incomplete last line of the public form is left out, and another incomplete line is named', async () => {
  const path = newPath();
  writeFileSync(path, `${PUBLIC[0]}\n${PUBLIC[1]!.slice(0, 50)}`);
  assert.equal((await all(path)).length, 1);
  const { code, stdout } = await cli(directory, ['record', 'info', path]);
  assert.match(stdout, /^cut +its last line, 2, is no JSON and is left out$/m);
  assert.notEqual(code, 0);
  writeFileSync(path, `${PUBLIC[0]}\n{"event_ty\n${PUBLIC[1]}`);
  await assert.rejects(all(path), /line 2 is no JSON/);
  writeFileSync(path, '{"event_type":"book","market":"m","asset_id":"1"}\n');
  await assert.rejects(all(path), /no message of a market/);
  for (const none of ['null', '[null]', '7', '"text"', '[[]]']) {
    writeFileSync(path, `${PUBLIC[0]}\n${none}\n${PUBLIC[1]}`);
    await assert.rejects(all(path), { message: `${path}: line 2 is no message` });
  }
  writeFileSync(path, '');
  await assert.rejects(all(path), /no message of a market/);
});

test('a wrong message of the public form counts as damaged, and is not in the catalog', async () => {
  const path = newPath();
  const damaged = [
    '{"event_type":"book","market":"game","asset_id":"77","timestamp":"5","bids":[{"price":0.4001,"size":"9"}],"asks":[]}',
    '{"event_type":"price_change","market":"game","timestamp":"6","price_changes":{}}',
    '{"event_type":"last_trade_price","market":7,"asset_id":["11"],"timestamp":"6"}',
  ];
  writeFileSync(path, [...damaged, ...PUBLIC].join('\n'));
  const { catalog, header } = await openRecording(path);
  assert.deepEqual([header.markets, header.inferred], [['game', 'other'], ['11']]);
  const read = readCatalog(catalog);
  assert(read.ok);
  assert.deepEqual(
    read.catalog.markets.map(({ ticksPerUnit, tokenIds }) => [ticksPerUnit, tokenIds[0]]),
    [
      [1_000, '11'],
      [100, '33'],
    ],
  );
  const { stdout } = await cli(directory, ['record', 'info', path]);
  assert.match(stdout, /^damaged messages +3$/m);
});

test('a line that is no entry is named, also when its member is whole', async () => {
  for (const entry of [null, 7, { kind: 'end' }, { at: 1, kind: 'message', message: null }]) {
    const path = newPath();
    const writer = await RecordingWriter.create(path, START);
    await writer.write(entry as never);
    await writer.close(1_010);
    await assert.rejects(all(path), RecordingDamaged, JSON.stringify(entry));
  }
});

test('a recording with invalid messages can be opened', async () => {
  const path = newPath();
  const common = { market: 'game', asset_id: '11', timestamp: '9' };
  const damaged = [
    { ...common, event_type: 'book', bids: 7, asks: [null, { price: 1 }] },
    { ...common, event_type: 'price_change', changes: {} },
    { ...common, event_type: 'price_change', price_changes: [4, { asset_id: 5, price: null }] },
    { ...common, event_type: 'tick_size_change', old_tick_size: 4 },
    { ...common, event_type: 'last_trade_price', market: { name: 'game' } },
  ];
  writeFileSync(path, [...PUBLIC, ...damaged.map((each) => JSON.stringify(each))].join('\n'));
  const { catalog, header } = await openRecording(path);
  assert.deepEqual(header.markets, ['game', 'other']);
  const read = readCatalog(catalog);
  assert(read.ok);
  assert.deepEqual(read.report.skipped, []);
  assert.equal((await all(path)).length, 4 + damaged.length);
});

test('record import merges files by time, and record info says what they are', async () => {
  const one = newPath();
  const two = newPath();
  const out = newPath();
  writeFileSync(one, `${PUBLIC[0]}\n${PUBLIC[1]}\n`);
  writeFileSync(two, `${PUBLIC[3]}\n${PUBLIC[4]}\n`);
  const imported = await cli(directory, ['record', 'import', one, two, '-o', out]);
  assert.equal(imported.stderr, '');
  assert.equal(imported.stdout, `${out}: 4 messages of 2 files\n`);
  const recording = await openRecording(out);
  assert.deepEqual(
    recording.catalog.events.map(({ id }) => id),
    ['1', '2'],
  );
  assert.deepEqual(
    (await all(out)).map(({ at, kind }) => [at, kind]),
    [
      [4, 'message'],
      [5, 'message'],
      [6, 'message'],
      [8, 'message'],
      [8, 'end'],
    ],
  );
  const info = await cli(directory, ['record', 'info', out, '--json']);
  assert.equal(info.code, 0);
  const { entries, from, hasEnd, markets, marketsWithoutPrints, messages } = JSON.parse(
    info.stdout,
  );
  assert.deepEqual(
    { entries, from, hasEnd, markets, marketsWithoutPrints, messages },
    {
      entries: { message: 4, end: 1 },
      from: '1970-01-01T00:00:00.004Z',
      hasEnd: true,
      markets: 2,
      marketsWithoutPrints: 1,
      messages: { book: 2, price_change: 1, last_trade_price: 1 },
    },
  );
  const onto = await cli(directory, ['record', 'import', one, two, '-o', out]);
  assert.equal(onto.code, 2);
  assert.match(onto.stderr, new RegExp(`^${out} is there`));
  const again = await cli(directory, ['record', 'import', one, one, '-o', newPath()]);
  assert.match(again.stderr, /another file has books of the market game at the same time/);
  assert.equal(again.code, 1);
});
