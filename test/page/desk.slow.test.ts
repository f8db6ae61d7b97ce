/** The operator's desk in a real browser: an operator's path, with two traders on the trading page. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { catalogFile, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { click, fill, findChromium, Reader } from './browser.ts';

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const SETTINGS = { LEDGER: 'on', FAUCET: '1000', APP: 'on', DEMO: 'off', FAULTS: 'on' };
const QUESTION = 'Will <img src=x onerror=alert(1)> sail?';
const NOTE = 'It has <b>sailed</b>.';
/** Pattern of a day and a time in any time zone. */
const MOMENT = String.raw`\w+ \d+, 20\d\d, \d\d:\d\d`;
const RESOLVED = new RegExp(`^Resolved: Yes ${MOMENT}${NOTE.replaceAll('.', '\\.')}$`);
const CREATE = 'form[aria-label="Create a market"]';
const ADD = 'form[aria-label="Add liquidity"]';
const PAY = 'form[aria-label="Pay it out"]';

/** Orders of a wallet that need a second page, and those of one request. */
const ORDERS = 103;
const BATCH = 15;

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

interface Stage {
  readonly operator: OperatorNode;
  /** Market that is there from the beginning. */
  readonly known: CatalogMarket;
  readonly desk: Reader;
  /** A maker and a taker. */
  readonly traders: readonly [Reader, Reader];
  /** Id of the market that the operator makes. */
  market: string;
}

/** A file field; types of the page are not those of tests. */
interface Uploading {
  uploadFile(path: string): Promise<void>;
}

test('an operator runs a market on the desk', { skip }, async (t) => {
  const directory = temporaryDirectory();
  const [known] = await withMarkets(directory, [{ id: 1 }]);
  const operator = await OperatorNode.start(directory, SETTINGS);
  t.after(() => operator.node.stop());
  const open = async (): Promise<Reader> => {
    const reader = await Reader.open(chromium!);
    t.after(() => reader.close());
    await reader.look(DESKTOP, 'light');
    return reader;
  };
  const stage: Stage = {
    operator,
    known: known!,
    desk: await open(),
    traders: [await open(), await open()],
    market: '',
  };
  await stage.desk.page.goto(`${operator.base}/#create`);
  await signsIn(t, stage);
  await creates(t, stage);
  await trades(t, stage);
  await halts(t, stage);
  await resolves(t, stage);
  await paysIn(t, stage);
  await pagesThrough(t, stage);
  await quotes(t, stage);
  await imports(t, stage);
  await isAccessible(t, stage);
  // A wrong token, and rate limits, which are off.
  const refusals = stage.desk.errors.filter((line) => !/401|409/.test(line));
  assert.deepEqual(refusals, []);
  assert.equal(await stage.desk.page.evaluate('document.cookie'), '');
});

async function signsIn(t: TestContext, { desk, operator }: Stage): Promise<void> {
  await t.test('a wrong token is told, and the right one opens the desk', async () => {
    const { page } = desk;
    await page.locator('#token').fill('wrong');
    await page.locator('#operator').fill('ada');
    await click(desk, 'aria/Sign in[role="button"]');
    await desk.sees('.sign-in [role=alert]', /^This token is wrong\.$/);
    await page.locator('#token').fill(operator.token);
    await click(desk, 'aria/Sign in[role="button"]');
    await desk.sees('.desk-top', /Sign out \(operator\)/);
    await desk.sees('#modes', /ledger on · faults on, 0 in force · no cluster/);
  });
}

async function creates(t: TestContext, stage: Stage): Promise<void> {
  await t.test('a market is previewed and made, and its texts are text', async () => {
    const { desk } = stage;
    await desk.page.locator(`${CREATE} [name=question]`).fill(QUESTION);
    await desk.sees(`${CREATE} .preview`, /Will <img src=x.*sail\?.*Yes.*No/s);
    await click(desk, `${CREATE} button[type=submit]`);
    await desk.sees(`${CREATE} .answer`, /Condition0x[0-9a-f]{64}/);
    await click(desk, 'aria/Markets[role="link"]');
    await desk.page.locator('#search').fill('sail');
    await desk.sees('#markets', /^Will <img src=x/);
    await click(desk, '#markets a');
    await desk.sees('#question', /^Will <img src=x onerror=alert\(1\)> sail\?$/);
    await until(() => /#\d+$/.test(desk.page.url()));
    stage.market = /#(\d+)$/.exec(desk.page.url())![1]!;
  });
}

async function trades(t: TestContext, { market, operator, traders }: Stage): Promise<void> {
  await t.test('two traders trade in it', async () => {
    const [maker, taker] = traders;
    for (const reader of traders) {
      await reader.page.goto(`http://127.0.0.1:${operator.node.port}/app/market/${market}`);
      await click(reader, 'aria/Play[role="button"]');
      await reader.sees('[aria-label="Cash"]', /^1,000\.00$/);
    }
    await click(maker, 'aria/Limit[role="radio"]');
    await fill(maker, 'Limit price', '0.40');
    await fill(maker, 'Shares', '10');
    await maker.sees('.summary', /Left10 rest as your offer/);
    await click(maker, 'aria/Buy Yes[role="button"]');
    await maker.sees('[aria-label="Cash"]', /^996\.00$/);
    await click(taker, 'aria/No[role="radio"]');
    await fill(taker, 'Amount', '6');
    await taker.sees('.summary', /Payout if right10\.00/);
    await click(taker, 'aria/Buy No[role="button"]');
    await taker.sees('[aria-label="Cash"]', /^994\.00$/);
  });
}

async function halts(t: TestContext, { desk }: Stage): Promise<void> {
  await t.test('the market is halted and resumed', async () => {
    await click(desk, 'aria/Halt[role="button"]');
    await desk.sees('.market-head', /Paused: no orders are taken/);
    await click(desk, 'aria/Resume[role="button"]');
    await desk.sees('.market-head', /^(?!.*Paused)/s);
  });
}

async function resolves(t: TestContext, { desk, market, traders }: Stage): Promise<void> {
  await t.test('who is paid is seen before the name is typed, and balances are right', async () => {
    await click(desk, 'aria/Resolve…[role="link"]');
    await click(desk, 'aria/Yes[role="radio"]');
    await click(desk, 'aria/Show who is paid[role="button"]');
    const payees = '[aria-label="Who is paid"]';
    await desk.sees(payees, /Paid in all10.*Wallets2/s);
    await desk.sees(`${payees} [aria-label="Payments"]`, /0x[0-9a-f]{40}.*Yes1010/is);
    const isLocked = (): Promise<unknown> =>
      desk.page.evaluate(`document.querySelector('${PAY} button').disabled`);
    await desk.page.locator('#typed-name').fill('sail?');
    assert.equal(await isLocked(), true, 'a part of the name is not enough');
    await desk.page.locator('#typed-name').fill(QUESTION);
    await desk.page.locator(`${PAY} input[type=text]`).fill(NOTE);
    await click(desk, `${PAY} button`);
    await desk.sees('.resolution', RESOLVED);
    const [maker, taker] = traders;
    await maker.sees('[aria-label="Cash"]', /^1,006\.00$/);
    await taker.sees('[aria-label="Cash"]', /^994\.00$/);
    await taker.sees('.resolution', RESOLVED);
    await click(taker, 'aria/Markets[role="link"]');
    await click(taker, 'aria/Ended[role="radio"]');
    await taker.sees('.cards .ended', new RegExp(`^Resolved: Yes${MOMENT}$`));
    await desk.page.evaluate(`location.hash = '#${market}'`);
    await desk.sees('#outcomes', /Yes pays 1.*No pays 0/s);
  });
}

async function paysIn(t: TestContext, { desk }: Stage): Promise<void> {
  await t.test('a deposit is in the balance, in the statement and in the audit log', async () => {
    await click(desk, 'aria/Wallets[role="link"]');
    await click(desk, '[aria-label="Wallets"] td a');
    await desk.sees('[aria-label="Balance"]', /Cash(?:1006|994)/);
    await desk.page.locator('form[aria-label="Deposit"] [name=amount]').fill('0.5');
    await click(desk, 'form[aria-label="Deposit"] button');
    await desk.sees('[aria-label="Balance"]', /Cash(?:1006|994)\.5/);
    await desk.sees('section[aria-label="Statement"]', /DEPOSIT.*0\.5/s);
    await desk.sees('section[aria-label="Keys"]', /api.*active/s);
    await click(desk, 'aria/Audit[role="link"]');
    await desk.sees('main table', /ada, .*operator.*POST \/admin\/ledger\/deposit.*0\.5.*200/s);
    await desk.sees('main table', /POST \/admin\/markets\/resolve.*POST \/admin\/markets\/halt/s);
  });
}

async function pagesThrough(t: TestContext, { desk, known, operator }: Stage): Promise<void> {
  await t.test('all open orders of a wallet are read, a page after the other', async () => {
    const { node } = operator;
    const trader = await Trader.join(node, 'of many orders');
    const order = trader.sign.bind(trader, { market: known, side: 'BUY', ticks: 1, shares: 5 });
    for (let sent = 0; sent < ORDERS; sent += BATCH) {
      await trader.post(node, Array.from({ length: Math.min(BATCH, ORDERS - sent) }, order));
    }
    await desk.page.evaluate(`location.hash = '#wallet/${trader.address}'`);
    const orders = 'section[aria-label="Open orders"] tbody tr';
    await until(async () => (await desk.texts(orders)).length === 100);
    await click(desk, 'main .card:has([aria-label="Open orders"]) > button');
    await until(async () => (await desk.texts(orders)).length === ORDERS);
    const ids = await desk.texts(`${orders} td:first-child`);
    assert.equal(new Set(ids).size, ORDERS, 'each order once');
    await click(desk, 'form[aria-label="Issue an API key"] button');
    await desk.sees('form[aria-label="Issue an API key"] .answer', /Api key[0-9a-f-]{36}Secret/);
  });
}

async function quotes(t: TestContext, { desk, operator, traders }: Stage): Promise<void> {
  await t.test('a market gets liquidity, and everybody sees its account and cost', async () => {
    const [reader] = traders;
    await desk.page.evaluate("location.hash = '#1'");
    await click(desk, 'aria/Liquidity of the house');
    await desk.page.locator(`${ADD} [name=amount]`).fill('50');
    await click(desk, `${ADD} button`);
    await desk.sees('.house', /both outcomes.*Paid in50\.00.*Balance50\.00.*Cost if Yes0\.00/s);
    await reader.page.goto(`http://127.0.0.1:${operator.node.port}/app/market/1`);
    await reader.sees('.house', /Paid in50\.00/);
    await fill(reader, 'Amount', '3');
    await reader.sees('.summary', /You pay(?:3\.0|2\.9)/);
    await click(reader, 'aria/Buy Yes[role="button"]');
    await reader.sees('[aria-label="Cash"]', /^1,003\.[05]\d$/);
    await reader.page.reload();
    await reader.sees('.house', /Paid in50\.00.*Cost if Yes2\.\d\d.*Gain if No(?:3\.0|2\.9)/s);
    await click(desk, 'aria/Venue[role="link"]');
    const table = 'section[aria-label="Liquidity of the house"] tbody';
    await desk.sees(
      table,
      /^Question 1\?quoted50\.000\.00.*Cost if Yes: 2.*, Gain if No: (?:3\.0|2\.9)/,
    );
  });
}

async function imports(t: TestContext, { desk }: Stage): Promise<void> {
  await t.test('a catalog file is applied after its report has been read', async () => {
    const form = 'form[aria-label="Import a catalog"]';
    const path = join(temporaryDirectory(), 'catalog.json');
    writeFileSync(path, JSON.stringify(catalogFile([{ id: 21 }])));
    await click(desk, 'aria/Create[role="link"]');
    const field = await desk.page.waitForSelector(`${form} input[type=file]`);
    await (field as unknown as Uploading).uploadFile(path);
    await click(desk, `${form} button`);
    await desk.sees(`${form} .answer`, /nothing is written yet/);
    await click(desk, `${form} button`);
    await desk.sees(`${form} .answer`, /It is applied/);
    await desk.page.evaluate("location.hash = '#21'");
    await desk.sees('#question', /^Question 21\?$/);
  });
}

/** Views with elements that are there once they are. */
function viewsOf({ market }: Stage): readonly (readonly [view: string, part: string])[] {
  return [
    ['markets', '#markets li'],
    [market, '#question'],
    ['1', '.edit'],
    ['resolve/1', 'form'],
    ['node', '#occupancy li'],
    ['create', CREATE],
    ['wallets', 'td a'],
    ['venue', '[aria-label="Sums of the ledger"] .answer'],
    ['audit', 'td'],
  ];
}

async function isAccessible(t: TestContext, stage: Stage): Promise<void> {
  const { desk } = stage;
  for (const scheme of ['light', 'dark'] as const) {
    for (const size of [DESKTOP, PHONE]) {
      const look = `${size.width} px, ${scheme}`;
      await t.test(`no view has a fault of access or is too wide: ${look}`, async () => {
        await desk.look(size, scheme);
        for (const [view, part] of viewsOf(stage)) {
          await desk.page.evaluate(`location.hash = '#${view}'`);
          await desk.sees(part, /./);
          assert.deepEqual(await desk.faults(), [], `${view}, ${look}`);
          const [wider = 0] = await desk.ask<number[]>('overflow');
          assert(wider <= 0, `${view}, ${look}: ${wider} px too wide`);
        }
      });
    }
  }
}
