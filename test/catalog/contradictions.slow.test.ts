/**
 * Catalogs that name the outcomes of registered markets in another order, or otherwise: imports,
 * pulls and loads of them, in stored files and in answers.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { commandWords } from '../../engine/commands.ts';
import { alignedCatalog, isAligned, withoutOutcomes } from '../../server/catalog/aligned.ts';
import { marketInfoLookup } from '../../server/catalog/market-info.ts';
import { marketCommands } from '../../server/catalog/market-registry.ts';
import { makeReady } from '../../server/catalog/snapshot.ts';
import { CatalogSync } from '../../server/catalog/sync.ts';
import { SYNC_LIMITS } from '../../server/catalog/sync-client.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { Catalog } from '../../storage/catalog/catalog-file.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { catalogFile } from '../common/node-harness.ts';
import { logOf } from '../storage/log-stage.ts';
import { command } from './catalog-commands.ts';
import { FakeSource, type SourceFile } from './catalog-source.ts';
import {
  catalogOf,
  mapped,
  permuted,
  type RawFile,
  type RawMarket,
  registeredIn,
  SIZES,
  withMarket,
} from './registered-stage.ts';

const THREE = ['North', 'South', 'Elsewhere'];
const FILE = catalogFile([
  { id: 1 },
  { id: 2, outcomes: THREE },
  { id: 3, negRisk: true },
  { id: 4 },
]) as RawFile;
const marketOf = (file: RawFile, id: string): RawMarket =>
  file.events.flatMap(({ markets }) => markets).find((market) => market.id === id)!;
const tokensOf = (id: string): string[] => JSON.parse(String(marketOf(FILE, id).clobTokenIds));
const places = ({ clobTokenIds }: RawMarket): number[] => [
  ...JSON.parse(String(clobTokenIds)).keys(),
];
const turned = (market: RawMarket): RawMarket => permuted(market, places(market).reverse());
const TURNED = mapped(FILE, turned);

/** Faulty markets: 1 with a token of market 4, 2 with one outcome less, 3 not neg-risk. */
const FAULTY = [
  (file: RawFile) =>
    withMarket(file, '1', (market) => ({
      ...market,
      clobTokenIds: JSON.stringify([tokensOf('1')[0], tokensOf('4')[0]]),
    })),
  (file: RawFile) =>
    withMarket(file, '2', (market) => ({
      ...market,
      outcomes: '["North","South"]',
      clobTokenIds: JSON.stringify(tokensOf('2').slice(0, 2)),
    })),
  (file: RawFile) => withMarket(file, '3', (market) => ({ ...market, negRisk: false })),
].reduce((file, change) => change(file), FILE);
const withoutFour = (file: RawFile): RawFile => ({
  ...file,
  events: file.events.filter(({ id }) => id !== '4'),
});

function directory(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'contradictions-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

async function storedIn(dataDir: string): Promise<[number | undefined, Catalog]> {
  const store = openCatalog(dataDir, { durability: 'committed' });
  const stored = [store.current(), store.load()] satisfies [unknown, unknown];
  await store.close();
  return stored;
}

const importing = (dataDir: string, file: unknown, ...options: string[]) =>
  command(['import', '-', ...options], { ...SIZES, DATA_DIR: dataDir }, JSON.stringify(file));

function namesByToken({ markets }: Catalog): Record<string, string> {
  return Object.fromEntries(
    markets.flatMap(({ outcomes, tokenIds }) => tokenIds.map((token, i) => [token, outcomes[i]!])),
  );
}
const tokenLists = ({ markets }: Catalog): (readonly string[])[] =>
  markets.map(({ tokenIds }) => tokenIds);

test('an import in another order is read by its tokens, and stored in the order of the engine', async (t) => {
  const dataDir = directory(t);
  await registeredIn(t, dataDir, FILE);
  for (const options of [[], ['--merge']]) {
    const { code, stderr, stdout } = await importing(dataDir, TURNED, ...options);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^4 markets name their outcomes in another order: they are read by their tokens$/m,
    );
    const [, stored] = await storedIn(dataDir);
    assert.deepEqual(namesByToken(stored), namesByToken(catalogOf(FILE)));
    assert.deepEqual(tokenLists(stored), tokenLists(catalogOf(FILE)));
  }
});

test('an import of markets that contradict fails whole: each is named, and nothing is written', async (t) => {
  const dataDir = directory(t);
  await registeredIn(t, dataDir, FILE);
  const before = await storedIn(dataDir);
  // With market 4, two markets of the file claim one token.
  const options = [[], ['--merge'], ['--force'], ['--dry-run'], ['--strict']];
  const tries = options.map((some) => [withoutFour(FAULTY), some] as const);
  for (const [file, options] of [...tries, [FAULTY, []] as const]) {
    const { code, stderr, stdout } = await importing(dataDir, file, ...options);
    assert.deepEqual([code, stdout], [1, ''], options.join());
    for (const [id, why] of [
      ['1', 'its token ids are not those'],
      ['2', 'its token ids are not those'],
      ['3', 'its neg-risk flag is not the one'],
    ] as const) {
      const { conditionId } = marketOf(FILE, id);
      assert.match(stderr, new RegExp(`^market ${id} \\(${conditionId}\\): ${why}`, 'm'));
    }
    assert.match(
      stderr,
      /^3 markets of standard input are not as they are registered: nothing is written/m,
    );
    assert.deepEqual(await storedIn(dataDir), before);
  }
});

test('--skip-changed leaves contradicting markets unchanged, and imports the rest', async (t) => {
  const dataDir = directory(t);
  await registeredIn(t, dataDir, FILE);
  const renamed = withMarket(FAULTY, '4', (market) => ({ ...market, question: 'Another?' }));
  const dry = await importing(dataDir, renamed, '--skip-changed', '--dry-run');
  assert.equal(dry.code, 0);
  assert.equal((await storedIn(dataDir))[0], 1, 'a dry run writes nothing');
  const { code, stderr } = await importing(dataDir, renamed, '--skip-changed');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^3 markets of standard input are not as they are registered: they stay/m);
  const [, { markets }] = await storedIn(dataDir);
  const expected = catalogOf(FILE).markets.map((market) =>
    market.id === '4' ? { ...market, question: 'Another?' } : market,
  );
  assert.deepEqual(markets, expected);
});

test('a market whose tokens another condition id claims is refused, with any other markets in the file', async (t) => {
  const dataDir = directory(t);
  await registeredIn(t, dataDir, FILE);
  const other = `0x${'e'.repeat(64)}`;
  const moved = withMarket(FILE, '4', (market) => ({ ...market, conditionId: other }));
  const { code, stderr } = await importing(dataDir, moved);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^market 4 \\(${other}\\): it lists a token id that is registered`, 'm'),
  );
});

test('a market under another condition id stays unchanged when an import leaves it out', async (t) => {
  const dataDir = directory(t);
  const { t: tables } = await registeredIn(t, dataDir, FILE);
  const [, before] = await storedIn(dataDir);
  const moved = withMarket(FILE, '4', (market) => ({
    ...turned(market),
    conditionId: `0x${'e'.repeat(64)}`,
  }));
  for (const options of [[], ['--merge']]) {
    const { code, stdout } = await importing(dataDir, moved, '--skip-changed', ...options);
    assert.equal(code, 0);
    assert.match(stdout, /^opens, changes, closes and removes no market$/m);
    const [, after] = await storedIn(dataDir);
    assert.deepEqual(after.markets, before.markets);
    assert.deepEqual(marketCommands(tables, after.markets, assert.fail), []);
  }
});

test('a file may say anything when nothing is registered', async (t) => {
  const dataDir = directory(t);
  for (const file of [FILE, withoutFour(FAULTY), TURNED]) {
    const { code, stderr } = await importing(dataDir, file);
    assert.deepEqual([code, stderr], [0, '']);
  }
  const [, stored] = await storedIn(dataDir);
  assert.deepEqual(tokenLists(stored), tokenLists(catalogOf(TURNED)));
});

async function damageLog(t: TestContext, dataDir: string): Promise<void> {
  const log = await logOf(t, dataDir);
  const facts = { time: 3_000, persistedClosedSequence: 0, firstFill: 0, endFill: 0, closedEnd: 0 };
  const sequence = log.last + 1;
  const payload = encodeBatch({ ...facts, sequence, digest: 7 }, new Int32Array(0));
  await log.append([{ sequence, time: 3_000, after: 7, payload }], log.last);
  await log.close();
}

test('an engine that cannot be read is reported, and does not keep the catalog from being mended', async (t) => {
  const dataDir = directory(t);
  await registeredIn(t, dataDir, FILE);
  await damageLog(t, dataDir);
  const { code, stderr, stdout } = await importing(dataDir, FILE);
  assert.equal(code, 0);
  assert.match(
    stderr,
    /^the markets and orders of .* cannot be compared with it: recovery: batch 3: /m,
  );
  assert.doesNotMatch(stdout, /resting orders/);
});

const ready = (catalog: Catalog) => makeReady(catalog, () => undefined);

const withLists = (file: RawFile): SourceFile => ({ ...file, tags: [], series: [] });

test('a pull reads by tokens, skips contradictions, and names them until the source is right', async (t) => {
  const dataDir = directory(t);
  const { t: tables } = await registeredIn(t, dataDir, FILE);
  const store = openCatalog(dataDir, { durability: 'committed' });
  t.after(() => store.close());
  const source = await FakeSource.start(t, withLists(TURNED));
  const limits = { ...SYNC_LIMITS, retryMs: 1, tries: 2 };
  const catalogSync = new CatalogSync({
    url: source.url,
    store,
    limits,
    tables,
    ownConditions: new Set(),
  });
  const sync = async () => {
    const { kind } = await catalogSync.pull(new AbortController().signal);
    return [kind, catalogSync.contradictions.map(({ id, reason }) => [id, reason])];
  };
  assert.deepEqual(await sync(), ['unchanged', []], 'the order alone is no change');
  assert.deepEqual(namesByToken(store.load()), namesByToken(catalogOf(FILE)));

  // The fault of market 1 would make the whole file unreadable: market 4 lists the same token.
  source.file = withLists(withMarket(FAULTY, '4', (market) => ({ ...market, question: 'New?' })));
  const three = [
    ['1', 'tokens'],
    ['2', 'tokens'],
    ['3', 'negRisk'],
  ];
  assert.deepEqual(await sync(), ['replaced', three]);
  const expected = catalogOf(FILE).markets.map((market) =>
    market.id === '4' ? { ...market, question: 'New?' } : market,
  );
  assert.deepEqual(store.load().markets, expected);
  assert.deepEqual(await sync(), ['unchanged', three]);

  source.file = withLists(withMarket(FILE, '4', (market) => ({ ...market, question: 'New?' })));
  assert.deepEqual((await sync())[1], []);
  assert.deepEqual(store.load().markets, expected);
});

test('a pull over a catalog of an earlier release skips markets that are unknown now', async (t) => {
  const dataDir = directory(t);
  const { t: tables } = await registeredIn(t, dataDir, FILE);
  const store = openCatalog(dataDir, { durability: 'committed' });
  t.after(() => store.close());
  await store.replace(catalogOf(withoutFour(FAULTY)));
  const source = await FakeSource.start(t, withLists(FAULTY));
  const limits = { ...SYNC_LIMITS, retryMs: 1, tries: 2 };
  const catalogSync = new CatalogSync({
    url: source.url,
    store,
    limits,
    tables,
    ownConditions: new Set(),
  });
  const idsOf = () =>
    [store.load(), withoutOutcomes(tables, ready(store.load())).map(({ id }) => id)] as const;
  for (const kind of ['replaced', 'unchanged']) {
    assert.equal((await catalogSync.pull(new AbortController().signal)).kind, kind);
    const [{ markets }, unknown] = idsOf();
    assert.deepEqual(
      [markets.map(({ id }) => id), unknown],
      [
        ['3', '4'],
        ['1', '2'],
      ],
    );
    assert(isAligned(tables, ready(store.load())));
  }
  source.file = withLists(TURNED);
  assert.equal((await catalogSync.pull(new AbortController().signal)).kind, 'replaced');
  assert.deepEqual(idsOf()[1], []);
  assert.deepEqual(namesByToken(store.load()), namesByToken(catalogOf(FILE)));
});

test('the command for a pull skips contradictions, and names them', async (t) => {
  const dataDir = directory(t);
  await registeredIn(t, dataDir, FILE);
  const source = await FakeSource.start(t, withLists(FAULTY));
  const { code, stderr } = await command(['sync', source.url], { ...SIZES, DATA_DIR: dataDir });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^market 3 \(0x[0-9a-f]{64}\): its neg-risk flag .*: it stays as it is$/m);
  assert.deepEqual((await storedIn(dataDir))[1].markets, catalogOf(FILE).markets);
});

test('a catalog of an earlier release is loaded in the order of the engine, without tokens of other markets', async (t) => {
  const { t: tables } = await registeredIn(t, directory(t), FILE);
  const first = catalogOf(FILE);
  assert(isAligned(tables, ready(first)));
  assert.deepEqual(alignedCatalog(first, tables), {
    catalog: first,
    contradictions: [],
    mended: 0,
  });

  const other = alignedCatalog(catalogOf(TURNED), tables);
  assert.equal(isAligned(tables, ready(catalogOf(TURNED))), false);
  assert.deepEqual([other.contradictions, other.mended], [[], 4]);
  assert.deepEqual(other.catalog.markets, first.markets);
  const lookup = marketInfoLookup(ready(other.catalog).prepared);
  for (const { conditionId, outcomes } of first.markets) {
    assert.deepEqual(lookup(conditionId)?.outcomes, outcomes);
  }

  const faulty = catalogOf(withoutFour(FAULTY));
  assert.equal(isAligned(tables, ready(faulty)), false);
  const { catalog, contradictions, mended } = alignedCatalog(faulty, tables);
  assert.deepEqual(
    contradictions.map(({ id }) => id),
    ['1', '2', '3'],
  );
  assert.equal(mended, 3);
  const three = first.markets.find(({ id }) => id === '3');
  assert.deepEqual(catalog.markets, [three], 'its neg-risk flag is known');
  const shown = catalog.events.flatMap(({ markets }) => markets as RawMarket[]);
  for (const id of ['1', '2']) {
    const { clobTokenIds, outcomes, question } = shown.find((market) => market.id === id)!;
    assert.deepEqual([clobTokenIds, outcomes], [undefined, undefined], 'nobody knows its outcomes');
    assert.equal(question, marketOf(FILE, id).question);
  }
  const served = ready(catalog);
  assert(isAligned(tables, served), 'and is so from then on');
  const unknown = withoutOutcomes(tables, served);
  assert.deepEqual(
    unknown.map(({ id, reason }) => [id, reason]),
    [
      ['1', 'tokens'],
      ['2', 'tokens'],
    ],
  );
  const untouched = unknown.map(({ conditionId }) => conditionId);
  const { endedConditions, terms } = served;
  const commands = marketCommands(tables, terms, assert.fail, endedConditions, untouched);
  const four = commands.flatMap((words) => [...words]);
  assert(four.length > 0, 'market 4, which is not listed, is halted');
  assert.equal(commandWords(commands[0]!, 0), four.length, 'and no other one');
  assert.equal(alignedCatalog(catalog, tables).mended, 0);
});

test('a market without a book is compared too', async (t) => {
  const { t: tables } = await registeredIn(t, directory(t), FILE);
  const bookless = { orderPriceMinTickSize: 0.3 };
  const fine = withMarket(FILE, '1', (market) => ({ ...market, ...bookless }));
  assert(isAligned(tables, ready(catalogOf(fine))));
  const thief = { ...marketOf(FILE, '1'), conditionId: 'none' };
  for (const market of [turned({ ...marketOf(FILE, '1'), ...bookless }), thief]) {
    const other = catalogOf(withMarket(FILE, '1', () => market));
    assert.equal(isAligned(tables, ready(other)), false);
  }
});
