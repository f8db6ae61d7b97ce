/** A result as CSV, and as a page that a browser opens from a file, without a network. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  type BacktestResult,
  backtest,
  equityCsv,
  fillsCsv,
  reportHtml,
  type Strategy,
} from '../../server/backtest/backtest.ts';
import { temporaryDirectory, until } from '../common/node-harness.ts';
import { findChromium, Reader } from '../page/browser.ts';
import { book, catalog, change, message, NO, START, trade, YES } from './entries.ts';

const chromium = findChromium();
const skip = chromium === undefined ? 'no Chromium here (apt-get install chromium)' : false;

/** A text that would end a script, make an element, be a formula, and break a line of CSV. */
const HOSTILE = '=1+1, "x"</script><img src=x onerror="document.title=1">';

const trades: Strategy = {
  onStart(venue) {
    venue.after(1_000, () => void venue.place({ token: YES, side: 'BUY', price: 0.44, size: 50 }));
    venue.after(5_000, () => void venue.place({ token: NO, side: 'BUY', price: 0.6, size: 20 }));
  },
};

function resultOf(name: string, cash = 1_000): Promise<BacktestResult> {
  const entries = [
    catalog(0, { question: HOSTILE }),
    book(0, { '0.40': 100 }, { '0.44': 100 }),
    change(2_000, 'BUY', '0.41', 10),
    trade(3_000, 'BUY', '0.44', 5),
    change(90_000_000, 'SELL', '0.45', 10),
  ];
  return backtest(entries, { ...trades, name }, { cash, feeBps: 100 });
}

test('fills and equity are CSV with quotes, without formulas, in whole micro-units', async () => {
  const result = await resultOf('one');
  const id = `0x${'1'.padStart(64, '0')}`;
  const question = `"'${HOSTILE.replaceAll('"', '""')}"`;
  assert.equal(
    fillsCsv(result),
    [
      'time,market,outcome,token,side,price,size,fee,role,order,cash_after,position_after,profit_of_closing,question',
      `2026-01-05T00:00:01.000Z,${id},Yes,1,BUY,0.44,50,0.22,taker,1,978,49.5,,${question}`,
      // 9.930509 shares for 5.9, as if as many of Yes were sold at 0.405871: they had cost 22 / 49.5 each.
      `2026-01-05T00:00:05.000Z,${id},No,2,BUY,0.59,10,0.040999,taker,2,972.1,9.930509,-0.383051,${question}`,
      `2026-01-05T00:00:05.000Z,${id},No,2,BUY,0.6,10,0.039999,taker,2,966.1,19.863843,-0.481481,${question}`,
      '',
    ].join('\r\n'),
  );
  const [head, ...rows] = equityCsv(result).split('\r\n');
  assert.equal(head, 'time,equity,cash,positions,drawdown');
  assert.equal(rows[0], '2026-01-05T00:00:00.000Z,1000,1000,0,0');
  assert.equal(rows.at(-2)?.split(',')[2], '966.1');
});

test('a page of two runs opens from a file, loads nothing, and runs no text as code', {
  skip,
}, async (t) => {
  const results = [await resultOf('one'), await resultOf('<b>two</b>', 500)];
  const file = join(temporaryDirectory(), 'report.html');
  writeFileSync(file, reportHtml(results));
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  await reader.page.setOfflineMode(true);
  for (const scheme of ['light', 'dark'] as const) {
    await reader.look({ width: 1200, height: 900 }, scheme);
    await reader.page.goto(pathToFileURL(file).href);
    await reader.chartSays('#equity', /^Equity at the end: one: [\d.,]+, <b>two<\/b>: [\d.,]+$/);
    await reader.chartSays('#drawdown', /^Drawdown at the end/);
    await reader.chartSays('#price', /^3 fills over the price of Yes$/);
    await reader.chartSays('#inventory', /: 29\.64 at the end$/);
    assert.deepEqual(await reader.texts('#runs th'), ['one', '<b>two</b>']);
    assert.deepEqual(await reader.texts('#fills td:nth-child(3)'), ['BUY', 'BUY', 'BUY']);
    assert.equal(await reader.page.title(), 'Backtest: one, <b>two</b>');
    assert(await reader.text('#market').then((text) => text.startsWith(HOSTILE)));
    const canvases = await reader.page.$$('canvas');
    assert.equal(canvases.length, 4);
    assert.deepEqual(await reader.faults(), []);
  }
  await reader.page.select('#run', '<b>two</b>');
  await reader.chartSays('#price', /^3 fills/);
  assert.deepEqual(reader.errors, []);
  assert.deepEqual([...reader.origins], ['null']);
});

test('a page of a run that never began opens', { skip }, async (t) => {
  const file = join(temporaryDirectory(), 'empty.html');
  writeFileSync(file, reportHtml([await backtest([], { name: 'idle' })]));
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  await reader.page.goto(pathToFileURL(file).href);
  await reader.sees('#runs th', /^idle$/);
  assert.deepEqual(reader.errors, []);
});

/**
 * Collects the lines of every path that a chart draws; areas, which repeat a path, are left out.
 */
const WATCH_PATHS = `(() => {
  const strokes = (window.strokes = []);
  window.Path2D = class extends Path2D {
    constructor(path) {
      if (path === undefined) super();
      else super(path);
      this.points = [];
      if (path === undefined) strokes.push(this.points);
    }
    moveTo(x, y) {
      super.moveTo(x, y);
      this.points.push([x, y, true]);
    }
    lineTo(x, y) {
      super.lineTo(x, y);
      this.points.push([x, y, false]);
    }
  };
})()`;

test('chart lines go sideways and up or down alone, and never back, also for runs of other times', {
  skip,
}, async (t) => {
  const entries = [catalog(), book(0, { '0.40': 1_000 }, { '0.44': 1_000 })];
  for (let i = 1; i <= 6_000; i++) {
    const price = (0.3 + 0.001 * ((i * 7) % 90)).toFixed(2);
    entries.push(change(i * 2_000, 'BUY', price, 10 + (i % 9)));
  }
  const buys = (name: string, everyMs: number, count: number): Strategy => {
    let left = count;
    return {
      name,
      everyMs,
      onTime(venue) {
        left -= 1;
        if (left >= 0) venue.place({ token: YES, side: 'BUY', price: 0.44, size: 5 });
      },
    };
  };
  const results = [
    await backtest(entries, buys('often', 61_000, 50)),
    await backtest(entries, buys('late', 4_000_003, 3), { from: START + 1_000_000 }),
  ];
  const file = join(temporaryDirectory(), 'lines.html');
  writeFileSync(file, reportHtml(results));
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  await reader.page.evaluateOnNewDocument(WATCH_PATHS);
  await reader.page.goto(pathToFileURL(file).href);
  await reader.chartSays('#inventory', /at the end$/);
  await until(async () => (await reader.page.$$('canvas')).length === 4);
  const strokes = (await reader.page.evaluate('strokes')) as [number, number, boolean][][];
  const lines = strokes.filter((points) => points.length > 2);
  assert(lines.length >= 4, `${lines.length} lines`);
  const wrong = { backwards: 0, slopes: 0 };
  for (const points of lines) {
    for (const [i, [x, y, isMove]] of points.entries()) {
      const [before = x, height = y] = points[i - 1] ?? [];
      if (x < before) wrong.backwards += 1;
      if (!isMove && x !== before && y !== height) wrong.slopes += 1;
    }
  }
  assert.deepEqual(wrong, { backwards: 0, slopes: 0 });
});

test('a page reports omissions of the recording once, and those of a run by its name', {
  skip,
}, async (t) => {
  const entries = [
    ...[catalog(), book(0, { '0.40': 100 }, { '0.44': 100 })],
    message(5, { event_type: 'book', bids: [], asks: [null] }),
    { ...change(7, 'BUY', '0.41', 5), at: 1e300 },
    change(3, 'BUY', '0.40', 60),
    change(1e9, 'BUY', '0.40', 70),
  ];
  const results = [
    await backtest(entries, { name: 'calm' }),
    await backtest(entries, { name: 'busy', everyMs: 1, onTime: () => undefined }),
  ];
  const file = join(temporaryDirectory(), 'omissions.html');
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  const open = async (shown: readonly BacktestResult[]): Promise<string[]> => {
    writeFileSync(file, reportHtml(shown));
    await reader.page.goto(pathToFileURL(file).href);
    await reader.sees('#runs th', /^calm$/);
    return reader.texts('#omissions:not([hidden]) li');
  };
  const ofRecording = [
    'Damaged messages left out: 2',
    'Entries with a time before that of an earlier one: 1',
  ];
  assert.deepEqual(await open(results), [
    ...ofRecording,
    'busy: Pauses in which timers were left out: 1',
  ]);
  assert.deepEqual(await open(results.slice(0, 1)), ofRecording);
  assert.deepEqual(await open([await backtest(entries.slice(0, 2), { name: 'calm' })]), []);
});

test('a page of a sweep has its table, a heat map of two parameters, and the best runs', {
  skip,
}, async (t) => {
  const rows = [1, 2, 3].flatMap((away) =>
    [10, 20].flatMap((size) =>
      [5, 6].map((third) => ({
        values: [away, size, third],
        all: [away * size - third - 50, size],
        each: [
          [away, 0],
          [away * size - third - 50 - away, size],
        ],
      })),
    ),
  );
  const best = rows.toSorted((one, other) => other.all[0]! - one.all[0]!);
  const file = join(temporaryDirectory(), 'sweep.html');
  const page = reportHtml([await resultOf('best')], {
    kind: 'sweep',
    rank: 'profit',
    names: ['away', 'size', HOSTILE],
    figures: ['profit', 'fills'],
    recordings: ['a.rec', 'b.rec'],
    combinations: 900,
    rows: best,
  });
  writeFileSync(file, page);
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  for (const scheme of ['light', 'dark'] as const) {
    await reader.look({ width: 1200, height: 900 }, scheme);
    await reader.page.goto(pathToFileURL(file).href);
    await reader.sees(
      '#sweep-note',
      /^the best 12 of 900 combinations over 2 recordings, by profit/,
    );
    assert.deepEqual(await reader.faults(), []);
  }
  const first = await reader.texts('#sweep-rows tr:first-child td');
  assert.deepEqual(first, ['3', '20', '5', '5', '20']);
  assert.deepEqual(await reader.texts('#heat-head th'), ['size \\ away', '1', '2', '3']);
  const cells = () => reader.texts('#heat-rows td');
  // The third parameter is the one that ranks first: 5.
  assert.deepEqual(await cells(), ['-45', '-35', '-25', '-35', '-15', '5']);
  assert.deepEqual(await reader.texts('#heat .is-best'), ['5']);
  await reader.page.select('#heat-recording', 'a.rec');
  assert.deepEqual(await cells(), ['1', '2', '3', '1', '2', '3']);
  await reader.page.select('#heat-figure', 'fills');
  await reader.page.select('#heat-recording', 'all together');
  await reader.page.select('#heat-down', 'away');
  assert.deepEqual(await cells(), ['20', '20', '20']);
  assert.deepEqual(await reader.texts('#runs th'), ['best']);
  assert.deepEqual(reader.errors, []);
});

test('a page of walk-forward windows has their table alone', { skip }, async (t) => {
  const file = join(temporaryDirectory(), 'windows.html');
  const times = [START, START + 1_000, START + 2_000];
  const row = {
    recording: HOSTILE,
    times,
    values: 'away=2',
    trained: 3.25,
    tested: null,
    profit: -1,
  };
  writeFileSync(file, reportHtml([], { kind: 'windows', rank: 'sharpe', rows: [row, row] }));
  const reader = await Reader.open(chromium!);
  t.after(() => reader.close());
  await reader.page.goto(pathToFileURL(file).href);
  await reader.sees('#sweep-note', /^2 windows, profit -2$/);
  const cells = await reader.texts('#sweep-rows tr:first-child td');
  const shown = ['2026-01-05 00:00:00', '2026-01-05 00:00:01', '2026-01-05 00:00:02'];
  assert.deepEqual(cells, [HOSTILE, ...shown, 'away=2', '3.25', '–', '-1']);
  const isShown = (selector: string) =>
    reader.page.$eval(selector, (element) => element.checkVisibility());
  assert.deepEqual([await isShown('#sweep'), await isShown('#equity')], [true, false]);
  assert.deepEqual(await reader.faults(), []);
  assert.deepEqual(reader.errors, []);
});
