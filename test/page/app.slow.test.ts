/** The trading page in a real browser: a newcomer's path on a real node with a ledger. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { HTTPRequest } from 'puppeteer-core';
import { freePort } from '../../bench/common/free-port.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { click, fill, findChromium, Reader } from './browser.ts';

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const SETTINGS = { LEDGER: 'on', FAUCET: '1000', APP: 'on', DEMO: 'off' };

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

interface Stage {
  readonly reader: Reader;
  node: TestNode;
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly market: CatalogMarket;
}

test('a newcomer trades on the page', { skip }, async (t) => {
  const directory = temporaryDirectory();
  const markets = [{ id: 1 }, { id: 2 }, { id: 3, event: 3 }, { id: 4, event: 3 }];
  const [market] = await withMarkets(directory, markets);
  const settings = { ...SETTINGS, PORT: String(await freePort()) };
  const node = await TestNode.start(directory, settings);
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  const stage: Stage = { reader, node, directory, settings, market: market! };
  t.after(() => stage.node.stop());
  await makeBook(stage);
  await reader.look(DESKTOP, 'light');
  await reader.page.goto(`http://127.0.0.1:${node.port}/`);
  await joins(t, stage);
  await waitsForPreview(t, stage);
  await buys(t, stage);
  await rests(t, stage);
  await sells(t, stage);
  await saves(t, stage);
  await isAccessible(t, stage);
  await comesBack(t, stage);
  assert.deepEqual(reader.errors, []);
  await survives(t, stage);
  assert.deepEqual([...reader.origins], [`http://127.0.0.1:${node.port}`]);
});

/** Ids of all markets; the last two are in one event. */
const ALL = [1, 2, 3, 4];

/** A maker buys sets, and offers Yes at 0.40 and 0.41 and a bid at 0.38. */
async function makeBook({ market, node }: Stage): Promise<void> {
  const maker = await Trader.join(node, 'maker of the page');
  await maker.place(node, { market, side: 'BUY', ticks: 38, shares: 100 });
  await maker.place(node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 50 });
  await maker.place(node, { market, outcome: 1, side: 'BUY', ticks: 59, shares: 100 });
}

/** Controls by which screen readers and tests find their way, as role and name. */
const CONTROLS = {
  anywhere: [
    ['searchbox', 'Search markets'],
    ['link', 'Portfolio'],
    ['link', 'Leaderboard'],
  ],
  newcomer: [['button', 'Play']],
  wallet: [['status', 'Cash']],
  ticket: [
    ['radio', 'Yes'],
    ['radio', 'No'],
    ['radio', 'Buy'],
    ['radio', 'Sell'],
    ['radio', 'Market'],
    ['radio', 'Limit'],
    ['spinbutton', 'Amount'],
    ['spinbutton', 'Shares'],
    ['button', 'Buy Yes'],
  ],
  limit: [['spinbutton', 'Limit price']],
  portfolio: [
    ['table', 'Positions'],
    ['table', 'Open orders'],
    ['button', 'Cancel all'],
  ],
} as const;

async function has(
  { page }: Reader,
  ...views: readonly (readonly (readonly [string, string])[])[]
): Promise<void> {
  for (const [role, name] of views.flat()) {
    const found = await page.$$(`aria/${name}[role="${role}"]`);
    assert.equal(found.length, 1, `one ${role} ${name} on ${page.url()}`);
  }
}

async function joins(t: TestContext, { reader, market, node }: Stage): Promise<void> {
  await t.test('the first view has a link for each market, and Play gives cash', async () => {
    await reader.sees('#main', new RegExp(escaped(market.question)));
    assert.equal(reader.page.url(), `http://127.0.0.1:${node.port}/app`);
    const links = ALL.map((id) => ['link', `Question ${id}?`] as const);
    await has(reader, CONTROLS.anywhere, CONTROLS.newcomer, links, [['link', 'Event 3']]);
    await click(reader, `aria/${market.question}[role="link"]`);
    await reader.sees('h1', new RegExp(escaped(market.question)));
    await click(reader, 'aria/Play[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^1,000\.00$/);
    await reader.sees('.ladder .asks', /0\.40/);
    assert(await isChecked(reader, 'Yes'), 'the ticket opens on the first outcome');
    assert(await isChecked(reader, 'Buy'));
    assert(await isChecked(reader, 'Market'));
    await has(reader, CONTROLS.anywhere, CONTROLS.wallet, CONTROLS.ticket);
  });
}

async function waitsForPreview(t: TestContext, { reader }: Stage): Promise<void> {
  const { page } = reader;
  await t.test('nothing can be sent before the preview of what is chosen', async () => {
    await fill(reader, 'Amount', '10');
    await reader.sees('.summary', /Average price0\.4W/);
    const held: HTTPRequest[] = [];
    const hold = (request: HTTPRequest): void => {
      if (request.url().endsWith('/orders/preview')) held.push(request);
      else void request.continue();
    };
    await page.setRequestInterception(true);
    page.on('request', hold);
    await click(reader, 'aria/No[role="radio"]');
    await until(() => held.length > 0);
    assert.equal(await isDisabled(reader, 'Buy No'), true);
    page.off('request', hold);
    await page.setRequestInterception(false);
    for (const request of held) await request.continue();
    await reader.sees('.summary', /Average price0\.62W/);
    assert.equal(await isDisabled(reader, 'Buy No'), false);
    await click(reader, 'aria/Yes[role="radio"]');
  });
}

function isDisabled({ page }: Reader, name: string): Promise<boolean> {
  return page.$eval(`aria/${name}[role="button"]`, (button) => button.matches(':disabled'));
}

async function buys(t: TestContext, { reader }: Stage): Promise<void> {
  await t.test(
    'a purchase for an amount shows its price before, and is a position after',
    async () => {
      await fill(reader, 'Amount', '10');
      // 25 shares at 0.40.
      await reader.sees('.summary', /You pay10\.00/);
      await reader.sees('.summary', /Payout if right25\.00/);
      await reader.sees('.summary', /Profit if right\+15\.00/);
      assert.equal(await valueIn(reader, 'Shares'), '25');
      await click(reader, 'aria/Buy Yes[role="button"]');
      await reader.sees('[aria-label="Cash"]', /^990\.00$/);
      await click(reader, 'aria/Portfolio[role="link"]');
      await reader.sees('table', /Yes250\.4000\.4/);
    },
  );
}

async function rests(t: TestContext, { reader, market }: Stage): Promise<void> {
  await t.test(
    'a limit order rests in the table and in the ladder, until it is cancelled',
    async () => {
      await reader.page.goBack();
      await reader.sees('h1', new RegExp(escaped(market.question)));
      await click(reader, 'aria/Limit[role="radio"]');
      await has(reader, CONTROLS.limit);
      await fill(reader, 'Limit price', '0.30');
      await fill(reader, 'Shares', '10');
      await reader.sees('.summary', /Left10 rest as your offer/);
      await click(reader, 'aria/Buy Yes[role="button"]');
      await reader.sees('[aria-label="Cash"]', /^987\.00$/);
      await reader.sees('.ladder .bids', /0\.30yours/);
      await click(reader, 'aria/Portfolio[role="link"]');
      await has(reader, CONTROLS.anywhere, CONTROLS.wallet, CONTROLS.portfolio);
      await reader.sees('main', /Open orders.*Buy0\.30010/s);
      await click(reader, 'aria/Cancel all[role="button"]');
      await reader.sees('main', /No order rests/);
      await reader.sees('[aria-label="Cash"]', /^990\.00$/);
    },
  );
}

async function sells(t: TestContext, { reader, market }: Stage): Promise<void> {
  await t.test('a sale of all shares brings the bid, and the loss is seen', async () => {
    await reader.page.goBack();
    await reader.sees('h1', new RegExp(escaped(market.question)));
    await click(reader, 'aria/Sell[role="radio"]');
    await fill(reader, 'Shares', '25');
    await reader.sees('.summary', /You receive9\.50/);
    await click(reader, 'aria/Sell Yes[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^999\.50$/);
    await click(reader, 'aria/Leaderboard[role="link"]');
    await reader.sees('main', /−0\.50/);
  });
}

async function saves(t: TestContext, { reader }: Stage): Promise<void> {
  await t.test('the statement has each entry of the wallet, in decimals', async () => {
    await click(reader, 'aria/Portfolio[role="link"]');
    await reader.page.evaluate(`{
      const make = URL.createObjectURL;
      URL.createObjectURL = (blob) => {
        void blob.text().then((text) => { globalThis.statement = text; });
        return make.call(URL, blob);
      };
    }`);
    await click(reader, 'aria/Statement as CSV[role="button"]');
    await reader.page.waitForFunction("typeof statement === 'string'");
    const text = String(await reader.page.evaluate('statement'));
    const [head = '', ...rows] = text.trim().split('\r\n');
    const columns = head.split(',');
    const cells = rows.map((row) => row.split(','));
    const of = (name: string): string[] => cells.map((row) => row[columns.indexOf(name)]!);
    assert.deepEqual(of('cause'), ['TRADE', 'TRADE', 'DEPOSIT']);
    assert.deepEqual(of('cash'), ['9.5', '-10', '1000']);
    assert.deepEqual(of('cash_after'), ['999.5', '990', '1000']);
    assert.deepEqual(of('shares'), ['-25', '25', '0']);
  });
}

async function isAccessible(t: TestContext, { market, node, reader }: Stage): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    for (const size of [DESKTOP, PHONE]) {
      const look = `${size.width} px, ${scheme}`;
      await t.test(`no view has a fault of access or is too wide: ${look}`, async () => {
        await reader.look(size, scheme);
        for (const view of ['', `market/${market.id}`, 'portfolio', 'leaderboard']) {
          await reader.page.goto(`http://127.0.0.1:${node.port}/app/${view}`);
          await reader.sees('#main', /Markets|Question|Portfolio|Leaderboard/);
          await reader.page.waitForFunction("document.querySelector('.waiting') === null");
          assert.deepEqual(await reader.faults(), [], `${view}, ${look}`);
          const [wider = 0] = await reader.ask<number[]>('overflow');
          assert(wider <= 0, `${view}, ${look}: ${wider} px too wide`);
        }
      });
    }
  }
}

async function comesBack(t: TestContext, { reader }: Stage): Promise<void> {
  await t.test('the wallet is there again after the page is loaded again', async () => {
    await reader.look(DESKTOP, 'light');
    await reader.page.reload();
    await reader.sees('[aria-label="Cash"]', /^999\.50$/);
  });
}

async function survives(t: TestContext, stage: Stage): Promise<void> {
  const { directory, market, reader, settings } = stage;
  await t.test('after a kill of the node the page goes on, and trades again', async () => {
    await reader.page.goto(`http://127.0.0.1:${settings.PORT}/app/market/${market.id}`);
    await reader.sees('.pill', /^Live$/);
    await stage.node.end('SIGKILL');
    await reader.sees('.pill', /^Reconnecting$/);
    stage.node = await TestNode.start(directory, settings);
    await reader.sees('.pill', /^Live$/);
    await fill(reader, 'Amount', '4');
    await reader.sees('.summary', /You pay4\.00/);
    await click(reader, 'aria/Buy Yes[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^995\.50$/);
  });
}

function valueIn(reader: Reader, name: string): Promise<string> {
  const found = `[...document.querySelectorAll('label')].find((l) => l.textContent === ${JSON.stringify(name)})`;
  return reader.page.evaluate(`${found}.querySelector('input').value`) as Promise<string>;
}

function isChecked(reader: Reader, name: string): Promise<boolean> {
  const found = `[...document.querySelectorAll('label')].find((l) => l.textContent === ${JSON.stringify(name)})`;
  return reader.page.evaluate(`${found}.querySelector('input').checked`) as Promise<boolean>;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
