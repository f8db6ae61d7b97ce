/** The trading page while its streams run on a slow processor: what it shows at the end, that nothing moves, and the work for a frame. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/common/figures.ts';
import { askForFrames, type FrameWork, framesOf } from '../../bench/page/frames.ts';
import { book, TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { findChromium, Reader } from './browser.ts';

/** Windows that show the whole page, because nothing outside of them counts. */
const SIZES = [
  { width: 1440, height: 1_600 },
  { width: 390, height: 3_000, isMobile: true, hasTouch: true },
];
const UPDATES = 100;
const IDLE_MS = 1_000;
/** Elements and boxes that a change may touch; the page has more than 300 elements and 600 boxes. */
const STYLED_MAX = 60;
const LAID_OUT_MAX = 100;
const LAID_OUT_WITH_TRADES_MAX = 300;
/** Work of a frame at the 95th percentile to that of an idle page's median frame. */
const WORK_MAX = 30;
const EVERY_MS = 20;
const SLOWER = 4;
/** Every tenth update is a trade. */
const TRADE_EVERY = 10;
const ROWS = 10;
const LADDER = `[...document.querySelectorAll('.ladder :is(.asks, .bids) tr:not(.none)')]
  .map(({ cells: [price, shares] }) => price.textContent + ' ' + shares.textContent.replaceAll(',', ''))`;
const SHIFTS = `{
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources, value } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node }) => node?.outerHTML ?? node?.textContent);
      shifts.push({ value, moved: moved.map((text) => String(text).slice(0, 120)) });
    }
  }).observe({ type: 'layout-shift', buffered: true });
}`;

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

test('fifty updates a second move nothing on the page, cost little a frame, and all are shown', {
  skip,
}, async (t) => {
  const directory = temporaryDirectory();
  const [market] = await withMarkets(directory, [{ id: 1 }]);
  const node = await TestNode.start(directory, { APP: 'on' });
  t.after(() => node.stop());
  const maker = await Trader.join(node, 'maker of the streams');
  const taker = await Trader.join(node, 'taker of the streams');
  const bid = (i: number, shares: number) =>
    ({ market: market!, side: 'BUY', ticks: 40 - ((7 * i) % 15), shares }) as const;
  for (let i = 0; i < 30; i++) {
    await maker.place(node, bid(i, 200 + i));
    const ticks = 59 - (i % 15);
    await maker.place(node, { market: market!, outcome: 1, side: 'BUY', ticks, shares: 100 + i });
  }
  await taker.place(node, { market: market!, side: 'SELL', ticks: 20, shares: 5 });
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  await t.test('trades that come while the page opens stand once in the tape', async () => {
    const sizes = Array.from({ length: 12 }, (_, i) => 21 + i);
    const opened = reader.page.goto(`http://127.0.0.1:${node.port}/app/market/1`);
    for (const shares of sizes) {
      await taker.place(node, { market: market!, side: 'SELL', ticks: 20, shares, type: 'FAK' });
      await sleep(5 * EVERY_MS);
    }
    await opened;
    const taped = async (): Promise<readonly string[]> =>
      (await reader.texts('.tape tbody tr td:last-child')).filter((text) => Number(text) > 20);
    const wanted = sizes.map(String).reverse();
    await until(async () => (await taped()).join() === wanted.join(), 20_000).catch(async () =>
      assert.deepEqual(await taped(), wanted),
    );
  });
  for (const size of SIZES) {
    await t.test(`${size.width} px wide`, async () => {
      await reader.look(size, 'light');
      await reader.page.goto(`http://127.0.0.1:${node.port}/app/market/1`);
      await reader.sees('.pill', /^Live$/);
      await reader.sees('.ladder .bids', /0\.3/);
      await reader.sees('.tape tbody', /Sell/);
      await reader.page.waitForSelector('.history canvas');
      await reader.page.emulateCPUThrottling(SLOWER);
      await reader.page.evaluate(SHIFTS);
      await reader.page.evaluate('shifts.length = 0');
      await askForFrames(reader.page);
      const idle = await framesOf(reader.page, () => sleep(IDLE_MS));
      const busy = await framesOf(reader.page, async () => {
        for (let i = 1; i <= UPDATES; i++) {
          const due = sleep(EVERY_MS);
          if (i % TRADE_EVERY === 0) {
            const sale = {
              market: market!,
              side: 'SELL',
              ticks: 20,
              shares: 5 + i,
              type: 'FAK',
            } as const;
            await taker.place(node, sale);
          } else await maker.place(node, bid(i, 5 + 37 * i));
          await due;
        }
      });
      checkFrames(idle, busy);
      const { asks, bids } = await book(node, market!.tokenIds[0]!);
      const best = (side: typeof bids): string[] =>
        side
          .slice(-ROWS)
          .reverse()
          .map(({ price, size: shares }) => `${Number(price).toFixed(2)} ${Number(shares)}`);
      const wanted = [...best(asks).reverse(), ...best(bids)];
      let shown: string[] = [];
      const isShown = async (): Promise<boolean> => {
        shown = (await reader.page.evaluate(LADDER)) as string[];
        return shown.join() === wanted.join();
      };
      await until(isShown, 20_000).catch(() => assert.deepEqual(shown, wanted));
      const trades = Array.from({ length: UPDATES / TRADE_EVERY }, (_, i) =>
        String(5 + UPDATES - TRADE_EVERY * i),
      );
      const taped = await reader.texts('.tape tbody tr td:last-child');
      assert.deepEqual(taped.slice(0, trades.length), trades);
      assert.deepEqual(await reader.page.evaluate('shifts'), []);
      await reader.page.emulateCPUThrottling(1);
    });
  }
  assert.deepEqual(reader.errors, []);
});

/**
 * The work of a frame is bounded by what is touched, which no machine changes. The time of the processor has a wide bound,
 * because a slowed browser stretches what other processes take; the bench page-frames has the narrow one.
 */
function checkFrames(idle: readonly FrameWork[], busy: readonly FrameWork[]): void {
  const drawn = busy.filter(({ laidOut }) => laidOut > 0);
  assert(drawn.length > 5, `${drawn.length} of ${busy.length} frames were laid out`);
  const of = (member: keyof FrameWork, frames: readonly FrameWork[], share: number): number =>
    percentile(
      frames.map((frame) => frame[member]),
      share,
    );
  const found = {
    styled: of('styled', drawn, 0.9),
    laidOut: of('laidOut', drawn, 0.5),
    laidOutWithTrades: of('laidOut', drawn, 0.9),
    work: of('processor', busy, 0.95) / of('processor', idle, 0.5),
  };
  const text = JSON.stringify(found);
  assert(found.styled <= STYLED_MAX, `styles of the whole page are resolved: ${text}`);
  assert(found.laidOut <= LAID_OUT_MAX, `more than the changed cells is laid out: ${text}`);
  assert(
    found.laidOutWithTrades <= LAID_OUT_WITH_TRADES_MAX,
    `the whole page is laid out: ${text}`,
  );
  assert(found.work <= WORK_MAX, `a frame costs much more than an idle one: ${text}`);
}
