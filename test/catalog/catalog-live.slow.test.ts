/**
 * A node that trades while its catalog changes. The import command writes a new catalog generation,
 * the node takes it up by itself, and no request is dropped.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CatalogMarket, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  books,
  catalogFile,
  get,
  levels,
  type MarketTerms,
  TestNode,
  temporaryDirectory,
  until,
} from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { command, startCommand } from './catalog-commands.ts';

useCompiledNodes();
const CLOSED = 'the market is not yet ready to process new orders';
const dataDir = temporaryDirectory();
let node = await TestNode.start(dataDir);

function written(terms: readonly MarketTerms[]): string {
  const file = join(dataDir, `catalog-${terms.length}.json`);
  writeFileSync(file, JSON.stringify(catalogFile(terms)));
  return file;
}

async function importCatalog(terms: readonly MarketTerms[], option = '--force'): Promise<string> {
  const args = ['import', written(terms), option];
  const { code, stderr, stdout } = await command(args, { DATA_DIR: dataDir });
  assert.equal(code, 0, stderr);
  return stdout;
}

function marketsOf(terms: readonly MarketTerms[]): readonly CatalogMarket[] {
  const read = readCatalog(catalogFile(terms));
  assert(read.ok);
  return read.catalog.markets;
}

async function slugs(path: string): Promise<string[]> {
  const { json, status } = await get(node, path);
  assert.equal(status, 200);
  return (json as { readonly slug: string }[]).map(({ slug }) => slug);
}

async function untilServed(path: string, expected: readonly string[]): Promise<void> {
  await until(async () => String(await slugs(path)) === String(expected));
}

test('a node without a catalog answers empty lists', async () => {
  assert.deepEqual(await slugs('/markets'), []);
  assert.deepEqual((await get(node, '/sampling-markets')).json, { data: [], next_cursor: 'LTE=' });
  assert.equal((await get(node, '/events/1')).status, 404);
});

test('markets that are imported while the node runs can be traded, without a request lost', async () => {
  const terms = [{ id: 1 }, { id: 2, tick: 0.1 }, { id: 3 }];
  let isOver = false;
  let answered = 0;
  const reading = (async () => {
    while (!isOver) {
      assert.equal((await get(node, '/markets?limit=2')).status, 200);
      answered += 1;
      await sleep(5);
    }
  })();
  await importCatalog(terms);
  await untilServed('/markets', ['market-3', 'market-2', 'market-1']);
  isOver = true;
  await reading;
  assert(answered > 0);
  const maker = await Trader.join(node, 'maker');
  const [first, second] = marketsOf(terms);
  await maker.place(node, { market: first!, side: 'BUY', ticks: 40, shares: 10 });
  await maker.place(node, { market: second!, side: 'BUY', ticks: 4, shares: 10 });
  const taker = await Trader.join(node, 'taker');
  await taker.place(node, { market: second!, side: 'SELL', ticks: 4, shares: 5, type: 'FOK' });
  const { json } = await get(node, '/trades');
  const [trade] = json as { readonly slug: string; readonly eventSlug: string }[];
  assert.deepEqual([trade?.slug, trade?.eventSlug], ['market-2', 'event-2']);
  await until(async () => (await slugs('/markets?order=volume&limit=1'))[0] === 'market-2');
  const { json: traded } = await get(node, '/events/slug/event-2');
  const { markets, ...event } = traded as { readonly markets: readonly object[] };
  const statistics = { volume: 2, volume24hr: 2, liquidity: 2 };
  assert.deepEqual({ ...event, ...statistics }, event);
  const prices = { outcomePrices: '["0.4","0.6"]', bestBid: 0.4, bestAsk: 1, lastTradePrice: 0.4 };
  assert.deepEqual({ ...markets[0], ...prices, volume: '2', liquidity: '2' }, markets[0]);
});

test('ticks follow the catalog, an ended market loses its orders, and ended and missing ones refuse orders', async () => {
  const terms = [
    { id: 1, closed: true },
    { id: 2, tick: 0.01 },
    { id: 4, outcomes: ['A', 'B', 'C'] },
  ];
  const [first, second, fourth] = marketsOf(terms);
  const third = marketsOf([{ id: 3 }])[0]!;
  const maker = await Trader.join(node, 'maker');
  await maker.place(node, { market: third, side: 'BUY', ticks: 10, shares: 7 });
  // Orders of a market that is only removed are not cancelled: it may return.
  const text =
    /^opens 1 markets: 4\nchanges 1 markets: 2\ncloses 1 markets: 1\nremoves 1 markets: 3\ncancels 1 resting orders$/m;
  assert.match(await importCatalog(terms, '--dry-run'), text, 'counted beside a node that runs');
  assert.deepEqual(await slugs('/markets'), ['market-3', 'market-2', 'market-1']);
  assert.match(await importCatalog(terms), text);
  await untilServed('/markets', ['market-4', 'market-2', 'market-1']);
  assert.match(await importCatalog(terms), /^cancels 0 resting orders$/m);

  const results = await maker.post(
    node,
    [first!, second!, third, fourth!].map((market) =>
      maker.sign({ market, side: 'BUY', ticks: 37, shares: 10 }),
    ),
  );
  assert.deepEqual(
    results.map(({ errorMsg }) => errorMsg),
    [CLOSED, '', CLOSED, ''],
  );
  assert.deepEqual((await book(node, first!.tokenIds[0]!)).bids, [], 'cancelled');
  assert.deepEqual(levels((await book(node, second!.tokenIds[0]!)).bids), ['10@0.37', '5@0.4']);
  assert.deepEqual(levels((await book(node, third.tokenIds[0]!)).bids), ['7@0.1'], 'it may return');
});

test('books and catalog are unchanged after a kill -9, and an ended market stays ended', async () => {
  const terms = [{ id: 1, closed: true }, { id: 2 }, { id: 4, outcomes: ['A', 'B', 'C'] }];
  const all = [...marketsOf(terms), ...marketsOf([{ id: 3 }])];
  const tokens = all.flatMap(({ tokenIds }) => tokenIds);
  const before = await books(node, tokens);
  // Live statistics follow the books within a second, and are there from the start afterwards.
  let page = '';
  await until(async () => {
    page = (await get(node, '/markets')).text;
    return ['5.7', '3.7'].every((value) => page.includes(`"liquidity":"${value}"`));
  });
  await node.end('SIGKILL');
  const ends = terms.map((market) => ({ ...market, closed: true }));
  const text = /^closes 2 markets: 2, 4\ncancels 3 resting orders$/m;
  assert.match(await importCatalog(ends, '--dry-run'), text, 'counted without a node');
  node = await TestNode.start(dataDir);
  assert.deepEqual(await books(node, tokens), before);
  assert.equal((await get(node, '/markets')).text, page);
  // Opened again it starts empty: its orders were cancelled once and for all.
  const reopened = [{ id: 1 }, { id: 2 }];
  await importCatalog(reopened);
  await untilServed('/markets?slug=market-1&closed=false', ['market-1']);
  const maker = await Trader.join(node, 'maker');
  const [first] = marketsOf(reopened);
  assert.deepEqual((await book(node, first!.tokenIds[0]!)).bids, []);
  await maker.place(node, { market: first!, side: 'BUY', ticks: 12, shares: 10 });
  assert.deepEqual(levels((await book(node, first!.tokenIds[0]!)).bids), ['10@0.12']);
});

test('a market that ends with unsupported terms loses its orders once', async () => {
  const open = [{ id: 1 }, { id: 2 }];
  const [first, second] = marketsOf(open);
  const maker = await Trader.join(node, 'maker');
  await maker.place(node, { market: second!, side: 'BUY', ticks: 33, shares: 10 });
  const tokens = [first!.tokenIds[0]!, second!.tokenIds[0]!];
  assert.deepEqual(levels((await book(node, tokens[0]!)).bids), ['10@0.12']);
  // No ladder has this tick.
  const ended = [{ id: 1, closed: true, tick: 0.05 }, { id: 2 }];
  assert.deepEqual(marketsOf(ended).length, 1);
  await importCatalog(ended);
  await untilServed('/markets?slug=market-1&closed=true', ['market-1']);
  const after = await books(node, tokens);
  assert.deepEqual(after[0]?.bids, [], 'cancelled');
  assert.notDeepEqual(after[1]?.bids, [], 'the other market keeps its own');
  const late = await maker.order(node, { market: first!, side: 'BUY', ticks: 12, shares: 10 });
  assert.equal(late.errorMsg, CLOSED);

  await importCatalog([...ended, { id: 4, outcomes: ['A', 'B', 'C'] }]);
  await untilServed('/markets?slug=market-4', ['market-4']);
  assert.deepEqual(await books(node, tokens), after, 'no change the second time');
});

test('markets beyond the room for them are named in the log, and the others trade', async () => {
  const many = Array.from({ length: 80 }, (_, i) => ({ id: 100 + i }));
  await importCatalog(many);
  await untilServed('/markets?limit=1', ['market-179']);
  await until(() => /no room for 20 markets of the catalog.*MARKETS_MAX/.test(node.log));
  const maker = await Trader.join(node, 'maker');
  const market = marketsOf(many)[3]!;
  await maker.place(node, { market, side: 'BUY', ticks: 50, shares: 5 });
  const last = await maker.order(node, {
    market: marketsOf(many)[79]!,
    side: 'BUY',
    ticks: 50,
    shares: 5,
  });
  assert.equal(last.errorMsg, 'condition is not registered');
  const refused = await command(['import', '-'], { DATA_DIR: dataDir }, '{"events":[]}');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /would remove 80 of 80 markets/);
  assert.deepEqual(await slugs('/markets?limit=1'), ['market-179'], 'the node has what it had');
  await node.stop();
  node = await TestNode.start(dataDir);
  assert.deepEqual(await slugs('/markets?limit=1'), ['market-179'], 'and it starts again so');
});

test('an import that is killed in the middle leaves the old catalog', async () => {
  const many = Array.from({ length: 1_000 }, (_, i) => ({ id: 5_000 + i }));
  const child = startCommand(['import', written(many), '--force'], { DATA_DIR: dataDir });
  await once(child, 'spawn');
  // Anywhere between reading the file and the switch; the moment is not the same twice.
  await new Promise((resolve) => setTimeout(resolve, 60 + 120 * Math.random()));
  child.kill('SIGKILL');
  await once(child, 'close');
  const [served] = await slugs('/markets?limit=1');
  assert(served === 'market-179' || served === 'market-5999', served);
  await importCatalog([{ id: 9 }]);
  await untilServed('/markets', ['market-9']);
  await node.stop();
});
