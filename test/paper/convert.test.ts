/** Recordings in other forms: nothing is lost on the way to Parquet and back, and the final books are the same in each form. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { openParquet } from '../../storage/columns/parquet-reader.ts';
import { FORMS } from '../../storage/recordings/convert.ts';
import { RecordingDamaged, type RecordingEntry } from '../../storage/recordings/entries.ts';
import { RECORDING_COLUMNS } from '../../storage/recordings/parquet-form.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { understoodEvents } from '../../storage/recordings/source-message.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { freshSeed, Random, rounds } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';
import { randomRecording, sharedPaths } from './recorded.ts';

const directory = temporaryDirectory();
let files = 0;

function newPath(end: string): string {
  files += 1;
  return join(directory, `${files}${end}`);
}

async function seeded(t: TestContext, body: (random: Random) => Promise<void>): Promise<void> {
  const seed = freshSeed();
  t.diagnostic(`replay with: SEED=${seed} npm test`);
  await body(new Random(seed));
}

async function converted(from: string, to: string, ...options: readonly string[]) {
  const { code, stderr } = await cli(directory, ['record', 'convert', from, to, ...options]);
  assert.equal(code, 0, stderr);
  return { path: to, stderr };
}

async function read(path: string) {
  const { catalog, header, ...recording } = await openRecording(path);
  const entries: RecordingEntry[] = [];
  for await (const batch of recording.batches()) entries.push(...batch);
  return { header, catalog, entries };
}

/** Digest over the levels of each token after all messages. */
async function finalBooks(path: string, tokens?: readonly string[]): Promise<string> {
  const books = new Map<string, Map<string, number>>();
  for (const entry of (await read(path)).entries) {
    if (entry.kind !== 'message') continue;
    for (const event of understoodEvents(entry.message, () => undefined)) {
      if (event.kind !== 'book' && event.kind !== 'changes') continue;
      const isBook = event.kind === 'book';
      const book = (isBook ? undefined : books.get(event.token)) ?? new Map<string, number>();
      books.set(event.token, book);
      const changes = isBook
        ? [
            ...event.bids.map((level) => ({ side: 0, ...level })),
            ...event.asks.map((level) => ({ side: 1, ...level })),
          ]
        : event.changes;
      for (const { pips, side, size } of changes) {
        if (size === 0) book.delete(`${side} ${pips}`);
        else book.set(`${side} ${pips}`, size);
      }
    }
  }
  const shown = [...books]
    .filter(([token]) => tokens === undefined || tokens.includes(token))
    .map(([token, book]) => [token, [...book].sort()])
    .sort();
  assert(shown.length > 0);
  return createHash('sha256').update(JSON.stringify(shown)).digest('hex');
}

const MARKET = {
  id: '7',
  conditionId: `0x${'ab'.repeat(32)}`,
  question: 'Rain?',
  slug: 'rain',
  outcomes: ['Yes', 'No'],
  clobTokenIds: ['11', '22'],
  orderPriceMinTickSize: 0.01,
  orderMinSize: 5,
  startDate: '2026-01-05T12:00:00Z',
  feesEnabled: true,
  feeSchedule: { rate: '0.05', exponent: 1, rebateRate: '0.2', takerOnly: true },
};
const EVENT = { id: '3', title: 'Rain', markets: [MARKET] };
const STARTED = Date.UTC(2026, 0, 5, 12);

/** Messages of every form, and with every kind of oddity. */
function messageOf(random: Random, time: number): JsonObject {
  const of = { market: MARKET.conditionId, timestamp: String(time) };
  const level = () => ({
    price: `0.${random.between(10, 99)}`,
    size: `${random.between(0, 50)}.5`,
  });
  const token = random.chance(50) ? '11' : '22';
  const side = random.chance(50) ? 'BUY' : 'SELL';
  const outcome = random.chance(20) ? { outcome: 'Yes, "really"\n' } : {};
  const odd = random.chance(10)
    ? { hash: 'ab', sequence: random.below(99), nested: [{}, null] }
    : {};
  const change = () => ({
    asset_id: token,
    ...level(),
    side,
    ...(random.chance(50) && { best_bid: '0.4', hash: `h${random.below(9)}` }),
    ...(random.chance(10) && { outcome: 'No' }),
  });
  const all: (() => JsonObject)[] = [
    () => ({
      event_type: 'book',
      ...of,
      asset_id: token,
      ...outcome,
      bids: Array.from({ length: random.below(4) }, level),
      asks: Array.from({ length: random.below(4) }, level),
      ...odd,
    }),
    () => ({ event_type: 'price_change', ...of, price_changes: [change(), change()], ...odd }),
    () => ({
      event_type: 'price_change',
      ...of,
      asset_id: token,
      ...outcome,
      changes: [{ ...level(), side }],
      ...odd,
    }),
    () => ({ event_type: 'last_trade_price', ...of, asset_id: token, ...level(), side, ...odd }),
    () => ({ event_type: 'tick_size_change', ...of, asset_id: token, new_tick_size: '0.001' }),
    () => ({
      event_type: 'market_resolved',
      ...of,
      assets_ids: ['11', '22'],
      winning_asset_id: '11',
    }),
    // Members that the columns cannot hold.
    () => ({ event_type: 'book', ...of, asset_id: token, bids: [[1, 2]], asks: 'none' }),
    () => ({ event_type: 'book', ...of, asset_id: 5, bids: [], asks: [] }),
    () => ({ event_type: 'price_change', ...of, price_changes: [] }),
    () => ({ event_type: 'price_change', ...of, asset_id: token, price_changes: [change()] }),
    () => ({ event_type: 'price_change', ...of, asset_id: token, changes: [change()] }),
    () => ({ event_type: 'price_change', ...of, price_changes: [{ ...change(), side: 'buy' }, 5] }),
    () => ({ event_type: 'last_trade_price', ...of, asset_id: token, ...level(), side: null }),
    () => ({ event_type: 'last_trade_price', ...of, timestamp: time, asset_id: '11', ...level() }),
    () => ({ event_type: 'last_trade_price', ...of, timestamp: `0${time}`, asset_id: '1\ud800' }),
    () => ({ event_type: 'book', market: null, bids: [], asks: [] }),
    () => ({}),
  ];
  return all[random.below(random.chance(20) ? all.length : 4)]!();
}

function randomEntries(random: Random, count: number): RecordingEntry[] {
  let at = STARTED;
  return Array.from({ length: count }, (): RecordingEntry => {
    at += random.below(300);
    if (random.chance(1)) return { at, kind: 'gap', from: at - 5, to: at };
    if (random.chance(1)) return { at, kind: 'catalog', event: { ...EVENT, title: `Rain ${at}` } };
    return { at, kind: 'message', message: messageOf(random, at - random.below(2_000)) };
  });
}

async function recorded(entries: readonly RecordingEntry[], hasEnd = true): Promise<string> {
  const path = newPath('.rec');
  const start = { venue: 'https://venue.example', started: STARTED, markets: ['top:1'] };
  const writer = await RecordingWriter.create(path, { ...start, inferred: ['11'] });
  await writer.write({ at: STARTED, kind: 'catalog', event: EVENT });
  for (const entry of entries) await writer.write(entry);
  await writer.close(hasEnd ? entries.at(-1)!.at : undefined);
  return path;
}

test('a recording that becomes Parquet and then a recording again has the same header, catalog and entries', async (t) => {
  await seeded(t, async (random) => {
    for (let round = 0; round < rounds(4); round++) {
      const hasEnd = random.chance(50);
      const rec = await recorded(randomEntries(random, 400), hasEnd);
      const before = await read(rec);
      const { path: parquet } = await converted(rec, newPath('.parquet'));
      assert.deepEqual(await read(parquet), before);
      const { path: again } = await converted(parquet, newPath('.rec'));
      assert.deepEqual(await read(again), before);
      assert.equal(before.entries.at(-1)?.kind === 'end', hasEnd);
      assert.equal(await finalBooks(again), await finalBooks(rec));
    }
  });
});

test('each form has the same final books, those of hftbacktest for each token', async (t) => {
  await seeded(t, async (random) => {
    const { messages } = randomRecording(random, 600);
    const path = newPath('.jsonl');
    const bids = ['5', '7'].map((size) => ({ price: '0.40', size }));
    const of = { event_type: 'book', market: 'random', timestamp: messages.at(-1)!.timestamp };
    const odd = [
      { ...of, asset_id: '22', bids: [], asks: [] },
      { ...of, asset_id: '11', bids, asks: [] },
    ];
    const lines = [...messages, ...odd].map((message) => `${JSON.stringify(message)}\n`);
    writeFileSync(path, lines.join(''));
    const books = await finalBooks(path);
    const { path: rec } = await converted(path, newPath('.rec'));
    for (const from of [path, rec]) {
      for (const end of ['.rec', '.rec.gz', '.parquet', '.jsonl', '.csv'])
        assert.equal(await finalBooks((await converted(from, newPath(end))).path), books, end);
    }
    const { path: arrays } = await converted(rec, newPath('.npz'));
    const names = readdirSync(arrays);
    assert.deepEqual(names.sort(), ['11.npz', '22.npz']);
    for (const name of names) {
      const token = name.replace('.npz', '');
      const file = join(arrays, name);
      assert.equal(await finalBooks(file), await finalBooks(rec, [token]));
      const alone = newPath('.npz');
      await converted(rec, alone, '--token', token);
      assert.deepEqual(readFileSync(alone), readFileSync(file));
      const { path: back } = await converted(file, newPath('.rec'));
      assert.equal(await finalBooks(back), await finalBooks(rec, [token]));
      assert.deepEqual((await read(back)).catalog, (await read(rec)).catalog);
    }
  });
});

for (const path of sharedPaths()) {
  test(`the messages of ${path.split('/').at(-1)} are the same after Parquet`, async () => {
    const { path: parquet } = await converted(path, newPath('.parquet'));
    const [before, after] = [await read(path), await read(parquet)];
    assert.deepEqual(after.entries, before.entries);
    assert.deepEqual(after.catalog, before.catalog);
    const rows = (await openParquet(parquet)).rows;
    assert(rows > before.entries.length);
  });
}

test('fees, ticks, start and result of a market are in its recording, and stay through Parquet', async () => {
  const resolved = { ...MARKET, closed: true, outcomePrices: ['1', '0'] };
  const changed = {
    at: STARTED + 5,
    kind: 'catalog',
    event: { ...EVENT, markets: [resolved] },
  } as const;
  const rec = await recorded([{ at: STARTED, kind: 'message', message: {} }, changed]);
  const { path } = await converted(rec, newPath('.parquet'));
  const { catalog, entries } = await read(path);
  assert.deepEqual(catalog.events, [EVENT]);
  assert.deepEqual(entries[1], changed);
});

test('recordings of one market become a recording with that market once', async () => {
  const message = (time: number) => {
    const trade = {
      market: MARKET.conditionId,
      asset_id: '11',
      price: '0.5',
      size: '5',
      side: 'BUY',
    };
    return { event_type: 'last_trade_price', timestamp: String(time), ...trade };
  };
  const entry = (at: number): RecordingEntry => ({ at, kind: 'message', message: message(at) });
  const days = [await recorded([entry(STARTED + 1)]), await recorded([entry(STARTED + 2)])];
  const both = newPath('.rec');
  const { code, stderr } = await cli(directory, ['record', 'import', ...days, '-o', both]);
  assert.equal(code, 0, stderr);
  const { catalog, entries, header } = await read(both);
  const event = { ...EVENT, id: '1', markets: [{ ...MARKET, id: '1' }] };
  assert.deepEqual(catalog.events, [event]);
  assert.deepEqual([header.markets, header.inferred], [['top:1'], ['11']]);
  assert.equal(entries.filter(({ kind }) => kind === 'message').length, 2);
});

test('the columns of a price have its text, and whole millionths', async () => {
  const message = {
    event_type: 'last_trade_price',
    market: 'rain',
    timestamp: String(STARTED),
    asset_id: '11',
    price: '.4801',
    size: '12.3456789',
    side: 'BUY',
  };
  const rec = await recorded([{ at: STARTED + 7, kind: 'message', message }]);
  const file = await openParquet((await converted(rec, newPath('.parquet'))).path);
  const columns = Object.keys(RECORDING_COLUMNS).flatMap((name) =>
    RECORDING_COLUMNS[name as keyof typeof RECORDING_COLUMNS].type === 'decimal'
      ? [name, `${name}_micros`]
      : [name],
  );
  assert.deepEqual(file.columns, columns);
  for await (const { columns: values } of file.groups(columns)) {
    const row = Object.fromEntries(columns.map((name) => [name, values.get(name)![1] ?? null]));
    assert.deepEqual(row, {
      entry: 1n,
      kind: 'trade',
      at: new Date(STARTED + 7),
      time: new Date(STARTED),
      market: 'rain',
      token: '11',
      outcome: null,
      side: 'BUY',
      price: '.4801',
      price_micros: 480_100n,
      size: '12.3456789',
      size_micros: 12_345_678n,
      json: null,
      more: null,
    });
  }
});

test('the guide has the forms and the columns of the code', () => {
  const page = readFileSync(join(ROOT, 'docs/guides/data.md'), 'utf8');
  const forms = Object.values(FORMS).map(({ does, ends, lacks = '' }) => {
    const names = ends.map((end) => `\`${end}\``).join(', ');
    return `| ${names} | ${does} | ${lacks} |`;
  });
  const columns = Object.entries(RECORDING_COLUMNS).map(
    ([name, { means, type }]) => `| \`${name}\` | ${type} | ${means} |`,
  );
  const missing = [...forms, ...columns].filter((row) => !page.includes(`\n${row}\n`));
  assert.deepEqual(missing, []);
});

test('a changed byte in the row groups of a Parquet file, or in an array, is damage that names the file', async (t) => {
  await seeded(t, async (random) => {
    const rec = await recorded(randomEntries(random, 60));
    const { path: parquet } = await converted(rec, newPath('.parquet'));
    const { path: npz } = await converted(rec, newPath('.npz'), '--token', '11');
    for (const path of [parquet, npz]) {
      const whole = readFileSync(path);
      const before = await read(path);
      // Neither the metadata at the end of Parquet nor the name of the first member of a zip has a checksum.
      const begin = path === npz ? 44 : 0;
      const end =
        path === parquet ? whole.length - 8 - whole.readUInt32LE(whole.length - 8) : whole.length;
      const damage = new Set<string>();
      for (let round = 0; round < 40; round++) {
        const bytes = Buffer.from(whole);
        if (random.chance(20)) bytes.fill(0, random.below(bytes.length));
        else bytes[random.between(begin, end - 1)]! ^= 1 << random.below(8);
        writeFileSync(path, bytes);
        try {
          assert.deepEqual(await read(path), before);
        } catch (error) {
          assert(error instanceof RecordingDamaged, `${(error as Error).stack}`);
          assert(error.message.startsWith(path), error.message);
          damage.add(error.message);
        }
      }
      assert(damage.size > 0, path);
    }
  });
});

test('a token that is no number names no file of an array', async () => {
  const level = { price: '0.5', size: '1', side: 'BUY' };
  const of = { event_type: 'last_trade_price', market: '', timestamp: String(STARTED) };
  const rec = await recorded(
    ['11', '../22', '/tmp/33', '', '1'.repeat(79)].map((asset_id) => ({
      at: STARTED,
      kind: 'message',
      message: { ...of, asset_id, ...level },
    })),
  );
  const before = readdirSync(directory);
  const { path, stderr } = await converted(rec, newPath('.npz'));
  assert.match(stderr, /messages left out: 4\n/);
  assert.deepEqual(readdirSync(path), ['11.npz']);
  assert.deepEqual(readdirSync(directory).length, before.length + 1);
  assert.equal((await read(join(path, '11.npz'))).entries.length, 1);
});

test('a wrong OUT, one that is there, and a token that is not there change nothing', async () => {
  const rec = await recorded([
    {
      at: STARTED,
      kind: 'message',
      message: {
        event_type: 'book',
        market: 'm',
        asset_id: '11',
        timestamp: '5',
        bids: [],
        asks: [],
      },
    },
  ]);
  const cases: readonly (readonly [args: string[], code: number, message: RegExp])[] = [
    [
      [rec, 'out.zip'],
      2,
      /^OUT must end in one of \.rec, \.rec\.gz, \.parquet, .*, not "out\.zip"/,
    ],
    [[rec, rec], 2, /is there/],
    [[rec, newPath('.parquet'), '--token', '11'], 2, /^--token is for an OUT\.npz/],
    [[rec, newPath('.npz'), '--token', '12'], 1, /no books or trades of the token 12/],
    [[rec, join(directory, 'no/where.parquet')], 1, /ENOENT/],
  ];
  const before = readdirSync(directory);
  for (const [args, code, message] of cases) {
    const ended = await cli(directory, ['record', 'convert', ...args]);
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, message);
    assert(args[1] === rec || !existsSync(args[1]!));
  }
  assert.deepEqual(readdirSync(directory), before);
});
