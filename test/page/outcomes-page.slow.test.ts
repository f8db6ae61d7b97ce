import assert from 'node:assert/strict';
import test from 'node:test';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { findChromium, Reader } from './browser.ts';

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const CLUBS = ['Harbor Comets', 'Draw', 'Northgate Owls'];
/** Pattern of a day and a time in any time zone, such as "26 Nov 2026, 18:50". */
const MOMENT = String.raw`\w+ \d+, 20\d\d, \d\d:\d\d`;

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

test('the page of a node shows outcomes', { skip }, async (t) => {
  const directory = temporaryDirectory();
  const [three, yes, halves, pair] = (await withMarkets(directory, [
    { id: 1, outcomes: CLUBS },
    { id: 2 },
    { id: 3 },
    { id: 4 },
  ])) as [CatalogMarket, CatalogMarket, CatalogMarket, CatalogMarket];
  const operator = await OperatorNode.start(directory, {
    LEDGER: 'on',
    VERIFY_SIGNATURES: 'off',
    ADMIN_AUTH: 'off',
  });
  const { node } = operator;
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  const { page } = reader;
  const maker = await Trader.join(node, 'maker');
  const taker = await Trader.join(node, 'taker');
  for (const { address } of [maker, taker]) {
    await operator.done('POST /admin/ledger/deposit', { wallet: address, amount: '1000' });
  }
  const bid = { market: three, side: 'BUY', shares: 10 } as const;
  await maker.place(node, { ...bid, outcome: 1, ticks: 20 });
  await reader.look(DESKTOP, 'light');
  await page.goto(`${operator.base}/#1`);
  const row = (id: number, part: string): string => `#markets a[href="#${id}"] ${part}`;
  const shows = (selector: string, text: string): Promise<void> =>
    reader.sees(selector, new RegExp(`^${text}$`));

  const fits = async (): Promise<void> => {
    const [wider = 0] = await reader.ask<number[]>('overflow');
    assert(wider <= 0, `${wider} px too wide`);
  };

  await t.test('a market of three outcomes shows each with its price in the list', async () => {
    await shows(row(1, '.outcomes'), 'Harbor Comets –Draw –Northgate Owls –');
    assert(!(await reader.ask('isShown', row(1, '.question + strong'))));
    // Both sides, the last trade, and a bid alone, which is no price.
    for (const trader of [maker, taker]) await trader.split(node, three, 100);
    await maker.place(node, { ...bid, outcome: 0, ticks: 40 });
    await maker.place(node, { ...bid, outcome: 0, ticks: 50, side: 'SELL' });
    await taker.place(node, { ...bid, outcome: 1, ticks: 20, side: 'SELL', type: 'FAK' });
    await maker.place(node, { ...bid, outcome: 2, ticks: 35 });
    await shows(row(1, '.outcomes'), 'Harbor Comets 45%Draw 20%Northgate Owls –');
    assert(!(await reader.ask('isShown', row(2, '.outcomes'))));
  });

  await t.test('a chosen outcome of three has its price beside those of the others', async () => {
    await shows('#outcomes label:nth-of-type(1)', 'Harbor Comets 0\\.45');
    await shows('#outcomes label:nth-of-type(2)', 'Draw 0\\.20');
    await shows('#outcomes label:nth-of-type(3)', 'Northgate Owls –');
    await fits();
    assert.deepEqual(await reader.faults(), []);
  });

  await t.test('a market that resolves while it is shown says to what, and when', async () => {
    await page.evaluate("location.hash = '#2'");
    await shows('#question', 'Question 2\\?');
    await shows('.ladder .spread', 'Nobody offers anything now');
    assert(!(await reader.ask('isShown', '.resolution')));
    const { conditionId: condition } = yes;
    await operator.done('POST /admin/markets/resolve', { condition, payout: [0, 1] });
    await shows('.resolution', `Resolved: No ${MOMENT}`);
    await shows('#outcomes label:first-of-type', 'Yes pays 0');
    await shows('#outcomes label:last-of-type', 'No pays 1');
    assert.equal(await page.title(), 'Resolved · Question 2?');
  });

  await t.test(
    'void markets and other payouts are labelled, in the list and beside the book',
    async () => {
      await operator.done('POST /admin/markets/void', { condition: halves.conditionId });
      const { conditionId: condition } = pair;
      await operator.done('POST /admin/markets/resolve', { condition, payout: [3, 1] });
      await operator.done('POST /admin/markets/void', { condition: three.conditionId });
      await page.select('#filter', 'closed');
      await shows(row(2, '.badge'), 'Resolved: No');
      await shows(row(3, '.badge'), 'Resolved: void');
      await shows(row(4, '.badge'), 'Resolved: by weights');
      await shows(row(1, '.badge'), 'Resolved: void');
      await page.evaluate("location.hash = '#3'");
      await shows('.resolution', `Resolved: void, a share pays Yes 0\\.5, No 0\\.5 ${MOMENT}`);
      assert.deepEqual(await reader.faults(), []);
      await page.evaluate("location.hash = '#4'");
      await shows('.resolution', `Resolved: a share pays Yes 0\\.75, No 0\\.25 ${MOMENT}`);
      await page.evaluate("location.hash = '#1'");
      await shows(
        '.resolution',
        `Resolved: void, a share pays Harbor Comets 0\\.333333, .* ${MOMENT}`,
      );
    },
  );

  await t.test('a phone shows the page without sideways scrolling', async () => {
    await reader.look(PHONE, 'dark');
    for (const view of ['markets', '1']) {
      await page.evaluate(`location.hash = '#${view}'`);
      await fits();
      await page.waitForSelector('h1');
      assert.deepEqual(await reader.faults(), [], view);
    }
    assert.deepEqual(reader.errors, []);
  });
  await node.stop();
});
