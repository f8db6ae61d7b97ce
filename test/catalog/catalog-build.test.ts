/**
 * A prepared catalog, read back fragment by fragment and compared with the rules for raw objects.
 * Input: an invented catalog of oddities, and the recorded one where it is there.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { prepareCatalog } from '../../server/catalog/build.ts';
import { ByteCollector } from '../../server/catalog/build-objects.ts';
import {
  buffersOf,
  type PreparedCatalog,
  type PreparedObjects,
  type Relation,
  type TextIndex,
} from '../../server/catalog/prepared.ts';
import { KEY_COLUMNS } from '../../server/catalog/shape.ts';
import { keyOf, rowsNamed } from '../../server/catalog/text-index.ts';
import { SHORT, withSeed } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { oddCatalog, readWhole, WALLETS } from './catalog-odd.ts';
import { eventEntry, isSampled, samplingMarket } from './naive-answers.ts';
import { type NaiveCatalog, type NaiveEvent, type Raw, readNaive } from './naive-catalog.ts';
import { EVENT_STATISTICS, MARKET_STATISTICS } from './naive-statistics.ts';

const REAL_FILE = join(ROOT, '../shared/data/catalog-shared.json');
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(prepared: PreparedCatalog, start: number | undefined, end: number | undefined) {
  assert(start !== undefined && end !== undefined && start <= end, 'the span is there');
  return utf8.decode(prepared.bytes.subarray(start, end));
}

/** Equal as JSON texts, the order of members included. */
function assertJson(text: string, expected: unknown, name: string): void {
  assert.equal(JSON.stringify(JSON.parse(text)), JSON.stringify(expected), name);
}

function rowsOf(relation: Relation, row: number): number[] {
  return [...relation.values.subarray(relation.ends[row], relation.ends[row + 1])];
}

function found(index: TextIndex, text: string): number[] {
  return [...rowsNamed(index, text)];
}

/** Bits: 1 active, 2 closed, 4 archived. */
function flagsOf({ active, archived, closed }: Raw): number {
  return Number(active) + 2 * Number(closed) + 4 * Number(archived);
}

function assertNamed(
  { keys }: PreparedObjects,
  column: keyof typeof KEY_COLUMNS,
  shown: Raw,
  row: number,
): void {
  const value = String(shown[column]);
  const texts = column === 'slug' ? [value] : [value, value.toLowerCase(), value.toUpperCase()];
  for (const text of texts) {
    const rows = found(keys[column]!, keyOf(KEY_COLUMNS[column], text));
    assert.equal(rows.includes(row), value.trim() !== '', `${column} ${text}`);
  }
}

function checkMarkets(prepared: PreparedCatalog, expected: NaiveCatalog) {
  const { markets } = prepared;
  assert.deepEqual(
    [...markets.ids],
    expected.markets.map(({ id }) => id),
  );
  for (const [row, { id, shown: core, event }] of expected.markets.entries()) {
    const name = `market ${id}`;
    const start = markets.coreStart[row];
    assertJson(`${textOf(prepared, start, markets.coreEnd[row])}}`, core, name);
    const { ticker, slug, title } = event.shown;
    const entry = { ...core, events: [{ id: event.shown.id, ticker, slug, title }] };
    assertJson(textOf(prepared, start, markets.entryEnd[row]), entry, name);
    const { icon, description: behind } = markets.cuts;
    const member = textOf(prepared, icon![row], behind![row]);
    assertJson(`{${member.slice(1)}}`, { description: core.description }, name);
    assert(icon![row]! > start! && behind![row]! < markets.coreEnd[row]!, name);
    assert.equal(markets.event[row], expected.events.indexOf(event), name);
    assert.equal(markets.flags[row]! & 7, flagsOf(core), name);
    assertNamed(markets, 'slug', core, row);
    assertNamed(markets, 'conditionId', core, row);
    assertNamed(markets, 'questionID', core, row);
  }
}

function checkEvents(prepared: PreparedCatalog, expected: NaiveCatalog) {
  const { events } = prepared;
  assert.deepEqual(
    [...events.ids],
    expected.events.map(({ id }) => id),
  );
  for (const [row, event] of expected.events.entries()) {
    const { shown: core, metadata } = event;
    const name = `event ${core.id}`;
    const open = textOf(prepared, events.coreStart[row], events.coreEnd[row]);
    assertJson(`${open}}`, core, name);
    const entry = textOf(prepared, events.coreStart[row], events.entryEnd[row]);
    assertJson(entry, eventEntry(event), name);
    const rest = textOf(prepared, events.rest.start[row], events.rest.end[row]);
    const ofSeries = event.series.map((series) => series.shown);
    const single = { ...core, markets: [], series: ofSeries, eventMetadata: metadata };
    assertJson(`${open},"markets":[]${rest}`, single, name);
    const { id, slug, title, ticker, description } = core;
    const sampling = textOf(prepared, events.sampling.start[row], events.sampling.end[row]);
    assertJson(sampling, { id, slug, title, ticker, description }, name);
    assert.equal(events.flags[row], flagsOf(core), name);
    const rowsIn = <T>(all: readonly T[], own: readonly T[]) => own.map((one) => all.indexOf(one));
    assert.deepEqual(rowsOf(events.tags, row), rowsIn(expected.tags, event.tags), name);
    assert.deepEqual(rowsOf(events.markets, row), rowsIn(expected.markets, event.markets), name);
    assertNamed(events, 'slug', core, row);
  }
}

function checkShared(prepared: PreparedCatalog, expected: NaiveCatalog) {
  const { tags, series } = prepared;
  const rowsIn = (own: readonly NaiveEvent[]) => own.map((event) => expected.events.indexOf(event));
  assert.deepEqual(
    [...tags.ids],
    expected.tags.map(({ id }) => id),
  );
  for (const [row, { shown: tag, events }] of expected.tags.entries()) {
    assertJson(textOf(prepared, tags.coreStart[row], tags.entryEnd[row]), tag, `tag ${tag.id}`);
    const { id, label, slug } = tag;
    const head = textOf(prepared, tags.coreStart[row], tags.cuts.slug![row]);
    assertJson(`${head}}`, { id, label, slug }, '');
    assert.deepEqual(rowsOf(tags.events, row), rowsIn(events), `tag ${tag.id}`);
    assertNamed(tags, 'slug', tag, row);
  }
  assert.deepEqual(
    [...series.ids],
    expected.series.map(({ id }) => id),
  );
  for (const [row, { shown: one, events }] of expected.series.entries()) {
    const name = `series ${one.id}`;
    assertJson(`${textOf(prepared, series.coreStart[row], series.coreEnd[row])}}`, one, name);
    assert.deepEqual(rowsOf(series.events, row), rowsIn(events), name);
    assertNamed(series, 'slug', one, row);
  }
}

function checkSampling(prepared: PreparedCatalog, expected: NaiveCatalog) {
  const { sampling } = prepared;
  const listed = expected.markets.filter(isSampled);
  assert.deepEqual(
    [...sampling.markets],
    listed.map((market) => expected.markets.indexOf(market)),
  );
  for (const [place, market] of listed.entries()) {
    const head = textOf(prepared, sampling.start[place], sampling.split[place]);
    const tail = textOf(prepared, sampling.split[place], sampling.end[place]);
    assertJson(`${head}${tail}}`, samplingMarket(market, false), `sampling market ${market.id}`);
    assert(tail.startsWith(',"assets_ids":'), 'the description goes before assets_ids');
    const { end, start } = sampling.metadata;
    assertJson(textOf(prepared, start[place], end[place]), market.metadata, '');
  }
}

/** Each entry follows the comma of the entry with the next higher id. */
function checkLayout({ bytes, markets, events }: PreparedCatalog): void {
  for (const { coreStart, entryEnd } of [markets, events]) {
    for (let row = 0; row < coreStart.length; row++) {
      assert.equal(bytes[entryEnd[row]!], ','.charCodeAt(0), 'a comma follows');
      if (row > 0)
        assert.equal(coreStart[row - 1], entryEnd[row]! + 1, 'the next lower id follows');
    }
  }
}

type Scalar = string | number | boolean | null;

/** Dates by instant, to the microsecond that real ones carry; numbers of JSON and ids by value. */
function comparable(column: string, value: Scalar): string | number | null {
  if (column === 'id') return Number(value);
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  if (!/(Date|At)$/.test(column)) return value;
  const [seconds = '', fraction = ''] = value.replace('Z', '').split('.');
  return Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

function checkOrders(
  orders: PreparedCatalog['markets']['orders'],
  objects: readonly Raw[],
  columns: readonly string[],
): void {
  assert.deepEqual(Object.keys(orders), columns, 'one order per scalar member, in their order');
  for (const column of columns) {
    const values = objects.map((object) => comparable(column, object[column] as Scalar));
    const rows = [...objects.keys()];
    const present = rows.filter((row) => values[row] !== null);
    present.sort((a, b) => (values[a]! < values[b]! ? -1 : values[a]! > values[b]! ? 1 : a - b));
    const expected = [...present, ...rows.filter((row) => values[row] === null)];
    const order = orders[column]!;
    assert.deepEqual([...order.rows], expected, column);
    assert.equal(order.present, present.length, column);
    for (const [place, row] of expected.entries()) assert.equal(order.places[row], place, column);
  }
}

function still(object: Raw | undefined, statistics: readonly string[]): string[] {
  return Object.keys(object ?? {}).filter((name) => !statistics.includes(name));
}

function checkAll(prepared: PreparedCatalog, json: Raw): void {
  const expected = readNaive(json);
  checkMarkets(prepared, expected);
  checkEvents(prepared, expected);
  checkShared(prepared, expected);
  checkSampling(prepared, expected);
  checkLayout(prepared);
  const markets = expected.markets.map(({ shown }) => shown);
  checkOrders(prepared.markets.orders, markets, still(markets[0], MARKET_STATISTICS));
  const events = expected.events.map(({ shown }) => shown);
  checkOrders(prepared.events.orders, events, still(events[0], EVENT_STATISTICS));
  for (const [row, { id, creator }] of expected.markets.entries()) {
    const numbers = found(prepared.creators, creator);
    const number = prepared.markets.creator[row]!;
    assert.deepEqual(numbers, number === 0 ? [] : [number], `creator of market ${id}`);
    assert.equal(number === 0, creator === '');
    assert(number <= prepared.creatorCount);
  }
}

test('every fragment and index of an odd catalog follows the rules for the raw objects', () => {
  const prepared = prepareCatalog(readWhole(oddCatalog()));
  assert.deepEqual([...prepared.markets.ids], [5, 7, 8, 61, 99, 100, 1000]);
  checkAll(prepared, oddCatalog());
});

test('every fragment and index of the real catalog follows the rules', { skip: SHORT }, (t) => {
  if (!existsSync(REAL_FILE)) return t.skip('no real catalog here');
  const json = JSON.parse(readFileSync(REAL_FILE, 'utf8'));
  const prepared = prepareCatalog(readWhole(json));
  assert(prepared.markets.ids.length > 2000);
  checkAll(prepared, json);
});

test('an empty catalog is prepared', () => {
  const prepared = prepareCatalog(readWhole({ events: [] }));
  assert.equal(prepared.markets.ids.length, 0);
  assert.equal(prepared.sampling.markets.length, 0);
  assert.equal(prepared.creatorCount, 0);
  assert.match(prepared.etag, /^W\/"catalog-[0-9a-f]{40}"$/);
});

test('a site stands for those of its creators that have a market', () => {
  const { creators, creatorCount } = prepareCatalog(readWhole(oddCatalog()));
  const [a, b, c] = WALLETS.map((wallet) => found(creators, wallet.toLowerCase()));
  assert.deepEqual([a, b, c], [[1], [2], [3]]);
  assert.equal(creatorCount, 3);
  assert.deepEqual(found(creators, 'a.example'), [1, 2]);
  assert.deepEqual(found(creators, 'b.example'), [2, 3]);
  assert.deepEqual(found(creators, 'c.example'), [], 'a site without any is as an unknown one');
});

test('every buffer is as long as its content, and passes to another thread', () => {
  const prepared = prepareCatalog(readWhole(oddCatalog()));
  const buffers = buffersOf(prepared);
  const { bytes, etag } = prepared;
  const { byteLength } = bytes;
  assert.equal(byteLength, bytes.buffer.byteLength);
  const moved = structuredClone(prepared, { transfer: buffers });
  assert.equal(bytes.byteLength, 0, 'moved, not copied');
  assert.equal(moved.etag, etag);
  checkAll(moved, oddCatalog());
  const sum = buffersOf(moved).reduce((total, buffer) => total + buffer.byteLength, 0);
  assert(sum < byteLength + 64 * 1024, 'indexes of a small catalog are small');
});

test('collected texts are whole at their offsets, for any amount of memory', () => {
  withSeed((random) => {
    const bytes = new ByteCollector(0);
    const texts: string[] = [];
    const ends: number[] = [];
    while (bytes.place < 10_000_000) {
      // The first ones end a piece of memory in the middle of what a text may need.
      const length = texts.length < 2 ? 1_000_000 : random.below(300_000);
      const text = (texts.length < 2 ? '伊' : random.pick(['a', 'é', '🎉'])).repeat(length);
      texts.push(text);
      ends.push(bytes.add(text));
    }
    const all = bytes.take();
    assert.equal(all.length, ends.at(-1));
    for (const [index, text] of texts.entries()) {
      const found = utf8.decode(all.subarray(ends[index - 1] ?? 0, ends[index]));
      assert(found === text, `text ${index}`);
    }
  });
});

test('random texts are in order by every column, for any common prefixes', () => {
  withSeed((random) => {
    const units = ['a', 'b', '\u0000', '伊', '\ud83d', '\uffff'];
    const common = 'c'.repeat(random.below(400));
    const text = () => {
      if (random.chance(10)) return '';
      const tail = Array.from({ length: random.below(8) }, () => random.pick(units)).join('');
      return random.chance(80) ? common + tail : tail;
    };
    const date = () => {
      const fraction = random.pick(['', '.1', '.100', '.1001', '.100200', '.101', '.10010001']);
      return random.chance(20) ? null : `2024-01-0${random.between(1, 3)}T00:00:00${fraction}Z`;
    };
    const events = Array.from({ length: random.between(1, 600) }, (_, index) => ({
      id: String(index * 3 + random.below(3)),
      slug: text(),
      title: text(),
      description: common,
      endDate: date(),
      createdAt: date(),
      active: random.chance(50),
      markets: [],
    }));
    const prepared = prepareCatalog(readWhole({ events }));
    const expected = readNaive({ events }).events.map(({ shown }) => shown);
    checkOrders(prepared.events.orders, expected, still(expected[0], EVENT_STATISTICS));
  });
});
