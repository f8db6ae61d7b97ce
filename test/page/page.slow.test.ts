/** The page of the admin listener in a real browser, on a real node that trades and is killed. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { mergeCatalog } from '../../storage/catalog/catalog-merge.ts';
import {
  catalogFile,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { Trader } from '../common/traders.ts';
import { findChromium, Reader } from './browser.ts';

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
/** Orders of a burst, and those of one request. */
const BURST = 300;
const BATCH = 15;
const TOKEN = 'a-token-of-some-length';
const NEWEST = '.tape tbody tr:first-child';
const BEST_BID = '.ladder .bids tr:first-child';

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

interface Written {
  readonly own: number;
  readonly others: number;
}

interface Stage {
  readonly reader: Reader;
  readonly markets: readonly CatalogMarket[];
  readonly origin: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly directory: string;
  node: TestNode;
}

test('the page of a node works in a browser', { skip }, async (t) => {
  const directory = temporaryDirectory();
  const markets = await withMarkets(directory, [{ id: 1 }, { id: 2 }, { id: 3, tick: 0.001 }]);
  const adminPort = await freePort();
  const settings = {
    PORT: String(await freePort()),
    ADMIN_PORT: String(adminPort),
    VERIFY_SIGNATURES: 'off',
  };
  const node = await TestNode.start(directory, settings);
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  const origin = `http://127.0.0.1:${adminPort}`;
  const stage: Stage = { reader, markets, origin, settings, directory, node };
  await trade(stage, 0, 40);
  await reader.look(DESKTOP, 'light');
  await reader.page.goto(`${origin}/#1`);
  await loads(t, stage);
  await finds(t, stage);
  await follows(t, stage);
  await tellsStates(t, stage);
  await isAccessible(t, stage);
  if (SHORT !== false) return;
  await keepsUp(t, stage);
  await survives(t, stage);
});

/** Trades 10 shares at so many ticks, and rests orders far from it. */
async function trade({ markets, node }: Stage, index: number, ticks: number): Promise<void> {
  const [maker, taker] = await Promise.all([
    Trader.join(node, 'maker'),
    Trader.join(node, 'taker'),
  ]);
  const terms = { market: markets[index]!, ticks, shares: 10 };
  await maker.place(node, { ...terms, side: 'SELL' });
  await taker.place(node, { ...terms, side: 'BUY', type: 'FAK' });
  await maker.post(node, [
    maker.sign({ ...terms, side: 'BUY', ticks: bidOf(ticks), shares: 25 }),
    maker.sign({ ...terms, side: 'SELL', ticks: 90 + ticks / 10, shares: 15 }),
  ]);
}

/** Price of the bid that rests below a trade, in ticks. */
function bidOf(ticks: number): number {
  return 20 + ticks / 10;
}

async function loads(t: TestContext, { origin, reader, settings }: Stage): Promise<void> {
  await t.test('the page loads without an error, from its own node alone', async () => {
    await reader.sees('#connection', /^Live$/);
    await reader.sees('#question', /^Question 1\?$/);
    await reader.sees('.ladder .asks', /0\.94/);
    await reader.sees('#modes', /Durability flushed · no ledger.* faults off · no cluster/);
    // The busiest first, once its figures have been counted.
    await reader.sees('#markets li:first-child', /^Question 1\?/);
    assert.deepEqual(reader.errors, []);
    const api = `http://127.0.0.1:${settings.PORT}`;
    assert.deepEqual([...reader.origins].sort(), [origin, api].sort());
  });
}

async function finds(t: TestContext, { reader }: Stage): Promise<void> {
  const { keyboard } = reader.page;
  await t.test('the search finds markets, and says when nothing is found', async () => {
    await keyboard.press('/');
    await keyboard.type('question 3');
    await reader.sees('#found', /^1 found/);
    assert.equal((await reader.texts('#markets a')).length, 1);
    await keyboard.type('x');
    await reader.sees('#found', /^Nothing open is found for “question 3x”$/);
    await keyboard.press('Escape');
    await reader.sees('#found', /^Busiest first/);
    assert.equal((await reader.texts('#markets a')).length, 3);
  });

  await t.test('a link for keyboards skips the list, and keeps the market', async () => {
    await reader.page.focus('.skip');
    await keyboard.press('Enter');
    await until(() => reader.ask('hasFocus', '#main'));
    await reader.sees('#question', /^Question 1\?$/);
    await reader.sees(BEST_BID, /^0\.2425/);
    await reader.page.focus('#search');
  });

  await t.test('a market and its other outcome can be chosen with keys alone', async () => {
    await keyboard.type('question 2');
    await reader.sees('#found', /^1 found/);
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await reader.sees('#question', /^Question 2\?$/);
    for (let i = 0; i < 10 && !(await reader.ask('hasFocus', '#outcomes')); i++)
      await keyboard.press('Tab');
    await keyboard.press('ArrowRight');
    await reader.sees('#outcomes label:has(:checked)', /^No/);
    await until(() => /#2\/1$/.test(reader.page.url()));
    await keyboard.press('ArrowLeft');
    await reader.sees('#outcomes label:has(:checked)', /^Yes/);
  });
}

async function follows(t: TestContext, stage: Stage): Promise<void> {
  await t.test('a trade appears on tape, chart and ladder', async () => {
    const { reader } = stage;
    await reader.sees('.ladder .spread', /Nobody offers/);
    for (const ticks of [50, 60, 70]) {
      await trade(stage, 1, ticks);
      await reader.sees(NEWEST, new RegExp(`Buy0\\.${ticks}10$`));
      await reader.chartSays('.history .chart', new RegExp(`to 0\\.${ticks}$`));
      await reader.sees(BEST_BID, new RegExp(`^0\\.${bidOf(ticks)}25`));
    }
  });

  await t.test('trades that are read again equal the streamed ones at each price', async () => {
    const { markets, node, reader } = stage;
    const maker = await Trader.join(node, 'maker');
    const taker = await Trader.join(node, 'taker');
    const terms = { market: markets[1]!, side: 'SELL', shares: 10 } as const;
    // For the second price, 1 - 0.34, a pair is minted.
    await maker.place(node, { ...terms, ticks: 65 });
    await maker.place(node, { ...terms, ticks: 34, side: 'BUY', outcome: 1 });
    await taker.place(node, { ...terms, side: 'BUY', ticks: 66, shares: 20, type: 'FAK' });
    const newest = async () => {
      const texts = await reader.texts('.tape tbody tr');
      return texts.slice(0, 3).map((text) => text.replace(/^.*(?=▲|▼)/, ''));
    };
    await reader.sees(NEWEST, /Buy0\.6610$/);
    const told = await newest();
    await reader.page.focus('#outcomes input:checked');
    await reader.page.keyboard.press('ArrowRight');
    await reader.sees(NEWEST, /Buy0\.3410$/);
    await reader.page.keyboard.press('ArrowLeft');
    await reader.sees(NEWEST, /Buy0\.6610$/);
    assert.deepEqual(await newest(), told);
  });

  await t.test('a book shows its prices with their number of decimals', async () => {
    const { markets, node, reader } = stage;
    const maker = await Trader.join(node, 'maker');
    await maker.place(node, { market: markets[2]!, side: 'BUY', ticks: 305, shares: 7 });
    await reader.page.evaluate("location.hash = '#3'");
    await reader.sees(BEST_BID, /^0\.3057/);
    await reader.page.evaluate("location.hash = '#2'");
    await reader.sees(BEST_BID, /^0\.2725/);
  });

  await t.test('an address without a market shows a message until a market is chosen', async () => {
    const { reader } = stage;
    const { page } = reader;
    await page.evaluate("location.hash = '#999'");
    await reader.sees('#question', /^There is no such market$/);
    await page.goBack();
    await reader.sees('#question', /^Question 2\?$/);
    const answer = page.waitForResponse((response) => response.url().endsWith('/998'));
    const asked = page.waitForRequest((request) => request.url().endsWith('/998'));
    await page.evaluate("location.hash = '#998'");
    await asked;
    await page.evaluate("location.hash = '#3'");
    await answer;
    await reader.sees('#question', /^Question 3\?$/);
    await page.evaluate("location.hash = '#2'");
    await reader.sees('#question', /^Question 2\?$/);
  });
}

async function tellsStates(t: TestContext, { directory, reader }: Stage): Promise<void> {
  const { page } = reader;
  await t.test(
    'a chance is shown after a trade or with two sides, and outcomes with prices',
    async () => {
      await page.focus('#search');
      await page.keyboard.press('Escape');
      await reader.sees('#markets a[href="#1"] strong', /^40%$/);
      await reader.sees('#markets a[href="#3"] strong', /^–$/);
      await page.evaluate("location.hash = '#1'");
      await reader.sees('#outcomes label:first-of-type', /^Yes 0\.40$/);
      await reader.sees('#outcomes label:last-of-type', /^No 0\.60$/);
      await page.evaluate("location.hash = '#3'");
      await reader.sees('#outcomes label:first-of-type', /^Yes –$/);
    },
  );

  await t.test('closed, paused and past markets are labelled, and found by a filter', async () => {
    const { events } = catalogFile([{ id: 11 }, { id: 12 }, { id: 13 }]) as {
      events: { markets: Record<string, unknown>[] }[];
    };
    Object.assign(events[0]!.markets[0]!, { closed: true });
    Object.assign(events[1]!.markets[0]!, { acceptingOrders: false });
    Object.assign(events[2]!.markets[0]!, { endDate: '2026-01-01T00:00:00Z' });
    const store = openCatalog(directory, { durability: 'flushed' });
    const merged = mergeCatalog(store.load(), { events });
    assert(merged.ok);
    await store.replace(merged.catalog);
    await store.close();
    for (const [filter, id, badge, words] of [
      ['closed', '11', 'Closed', /^Closed$/],
      ['paused', '12', 'Paused', /^Paused: no orders are taken$/],
      ['ended', '13', 'End date past', /^The end date is past: orders are taken/],
    ] as const) {
      await page.select('#filter', filter);
      await reader.sees('#markets', new RegExp(`^Question ${id}\\?–${badge}`));
      assert.equal((await reader.texts('#markets a')).length, 1, filter);
      await page.evaluate(`location.hash = '#${id}'`);
      await reader.sees('#question', new RegExp(`^Question ${id}\\?$`));
      await reader.sees('.market-head .badge', words);
      await page.type('#search', `question ${id}`);
      await reader.sees('#found', /^1 found/);
      await page.keyboard.press('Escape');
    }
    await page.select('#filter', 'all');
    await reader.sees('#markets', /Question 11.*Question 12|Question 12.*Question 11/s);
    assert.equal((await reader.texts('#markets a')).length, 6);
    await page.select('#filter', 'open');
    await reader.sees('#markets', /^(?!.*Question 1[12])/s);
    await page.evaluate("location.hash = '#2'");
    await reader.sees('#question', /^Question 2\?$/);
    assert(!(await reader.ask('isShown', '.market-head .badge')), 'an open market has no badge');
  });

  await t.test('the node shows its numbers in words, and links to its documents', async () => {
    await page.evaluate("location.hash = '#node'");
    await reader.sees('#occupancy', /Markets6 \/ 64/);
    await reader.sees('#lag', /Last snapshot.*Orders in the queue.*Stream connections/s);
    const links = await page.$$eval('.links a', (all) => all.map((link) => link.href));
    const statuses = await Promise.all(links.map(async (link) => (await fetch(link)).status));
    assert.deepEqual(statuses, [200, 200, 200], String(links));
    await page.evaluate("location.hash = '#2'");
  });
}

async function keepsUp(t: TestContext, { markets, node, reader }: Stage): Promise<void> {
  await t.test(
    'a burst of orders is drawn by frames, and only changed cells are written',
    async () => {
      const maker = await Trader.join(node, 'maker');
      const terms = { market: markets[1]!, side: 'BUY', ticks: 26, shares: 1 } as const;
      await reader.sees('.ladder .bids tr:nth-child(2)', /^0\.2625/);
      await reader.ask('count', '.ladder .bids tr:first-child', '.ladder .bids tr:nth-child(2)');
      for (let sent = 0; sent < BURST; sent += BATCH) {
        await maker.post(
          node,
          Array.from({ length: BATCH }, () => maker.sign(terms)),
        );
      }
      await reader.sees('.ladder .bids tr:nth-child(2)', /^0\.26325/);
      const { others, own } = await reader.ask<Written>('counted');
      assert(own > 0 && own < BURST / 2, `the row was written ${own} times in ${BURST} orders`);
      assert.equal(others, 0, 'rows of better prices are left alone');
    },
  );
}

async function isAccessible(t: TestContext, { reader }: Stage): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    await t.test(`an automated check of accessibility passes in ${scheme}`, async () => {
      await reader.look(DESKTOP, scheme);
      await reader.page.evaluate("location.hash = '#2'");
      await reader.sees('#question', /^Question 2\?$/);
      assert.deepEqual(await reader.faults(), []);
      if (SHORT && scheme === 'dark') return;
      await reader.look(PHONE, scheme);
      for (const view of ['markets', '2', 'node', 'create']) {
        await reader.page.evaluate(`location.hash = '#${view}'`);
        await reader.sees(HEADS[view]!, /./);
        assert.deepEqual(await reader.faults(), [], view);
        const [wider = 0] = await reader.ask<number[]>('overflow');
        assert(wider <= 0, `${view} is ${wider} px too wide for a phone`);
      }
    });
  }
}

/** Elements of views that are there once they are. */
const HEADS: Readonly<Record<string, string>> = {
  markets: '#markets li',
  '2': '#question',
  node: '#occupancy li',
  create: '.sign-in',
};

async function survives(t: TestContext, stage: Stage): Promise<void> {
  await t.test(
    'the page says that the node is unreachable, and continues when it is back',
    async () => {
      const { directory, reader, settings } = stage;
      // The browser loads the page again when it is no phone any more.
      await reader.look(DESKTOP, 'light');
      await reader.page.evaluate("location.hash = '#2'");
      await reader.sees('#question', /^Question 2\?$/);
      await reader.sees('#connection', /^Live$/);
      await stage.node.end('SIGKILL');
      await reader.sees('#connection', /^Away since .*, trying again$/);
      await reader.sees('#question', /^Question 2\?$/);
      stage.node = await TestNode.start(directory, settings);
      await reader.sees('#connection', /^Live$/);
      await reader.sees(NEWEST, /Buy0\.6610$/);
      await trade(stage, 1, 80);
      await reader.sees(NEWEST, /Buy0\.8010$/);
      await reader.chartSays('.history .chart', /to 0\.80$/);
      const others = reader.errors.filter((line) => !/ERR_|WebSocket|40[14]/.test(line));
      assert.deepEqual(others, [], 'nothing but refusals');
    },
  );

  await t.test('the page asks for the token of a listener that requires one now', async () => {
    const { directory, reader, settings } = stage;
    await stage.node.stop();
    stage.node = await TestNode.start(directory, { ...settings, ADMIN_TOKEN: TOKEN });
    await reader.page.waitForSelector('#token');
    assert.deepEqual(await reader.faults(), []);
    await reader.page.type('#token', 'another');
    await reader.page.keyboard.press('Enter');
    await reader.sees('.sign-in [role=alert]', /^This token is wrong\.$/);
    await reader.page.evaluate("document.querySelector('#token').select()");
    await reader.page.type('#token', TOKEN);
    await reader.page.keyboard.press('Enter');
    await reader.sees('#question', /^Question 2\?$/);
    await reader.page.reload();
    await reader.page.evaluate("location.hash = '#node'");
    await reader.sees('#occupancy', /Markets6 \/ 64/);
    await reader.sees('#connection', /^Live$/);
    assert.equal(await reader.page.evaluate('document.cookie'), '');
  });
}
