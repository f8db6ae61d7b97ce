import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import {
  type BacktestOptions,
  backtest,
  type Order,
  type Strategy,
  type Venue,
} from '../../server/backtest/backtest.ts';
import { type Latency, type LatencyChoice, latenciesOf } from '../../server/backtest/latency.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { book, catalog, change, START, trade, YES } from './entries.ts';

const BEGIN = [catalog(), book(0, { '0.40': 100 }, { '0.44': 100 })];
const directory = temporaryDirectory();

/** Runs steps at times of the strategy; returns its log: time of the strategy, what it saw. */
async function logOf(
  entries: readonly RecordingEntry[],
  options: BacktestOptions,
  steps: Readonly<Record<number, (venue: Venue) => void>> = {},
) {
  const log: [number, string][] = [];
  let now = (): number => 0;
  const note = (text: string): void => void log.push([now() - START, text]);
  const strategy: Strategy = {
    onStart(venue) {
      now = () => venue.now;
      for (const [at, step] of Object.entries(steps))
        venue.after(START + Number(at) - venue.now, () => step(venue));
    },
    onBook: (seen) => note(`book ${seen.bid}`),
    onTrade: ({ price, size }) => note(`trade ${size} @ ${price}`),
    onFill: ({ price, role, size, time }) => note(`${role} ${size} @ ${price} of ${time - START}`),
    onOrder: ({ state }) => note(state),
  };
  const result = await backtest(entries, strategy, options);
  return { log, result };
}

const buy =
  (price: number, more: object = {}) =>
  (venue: Venue) =>
    void venue.place({ token: YES, side: 'BUY', price, size: 10, ...more });

test('a latency of the feed delays what a strategy sees, and its orders leave from there', async () => {
  const entries = [
    ...BEGIN,
    change(100, 'BUY', '0.41', 50),
    change(140, 'SELL', '0.44', 70),
    change(500, 'BUY', '0.42', 50),
  ];
  const bids: unknown[] = [];
  const { log } = await logOf(
    entries,
    { feedLatencyMs: 30, latencyMs: 5 },
    {
      // Sent at 125, before the change of 100 is seen; it arrives at 130 and is seen at 160.
      125(venue) {
        bids.push(venue.book(YES).bid);
        buy(0.44)(venue);
      },
      // What happened at 100 is seen since 130.
      131: (venue) => void bids.push(venue.book(YES).bid),
    },
  );
  assert.deepEqual(bids, [0.4, 0.41]);
  assert.deepEqual(log, [
    [30, 'book 0.4'],
    [130, 'book 0.41'],
    [160, 'filled'],
    [160, 'taker 10 @ 0.44 of 130'],
    [160, 'filled'],
    [170, 'book 0.41'],
    [530, 'book 0.42'],
  ]);
});

test('latencies and timers may be parts of a millisecond; the exchange has whole ones', async () => {
  const times: number[] = [];
  const later = (venue: Venue): void =>
    venue.after(0.5, () => {
      times.push(venue.now - START);
      buy(0.44)(venue);
    });
  const entries = [...BEGIN, change(100, 'BUY', '0.41', 50)];
  const { result } = await logOf(entries, { feedLatencyMs: 0.25, latencyMs: 0.5 }, { 5: later });
  assert.deepEqual([times, result.fills.map(({ time }) => time - START)], [[5.5], [6]]);
});

test('the same latency on both ways acts as their sum on the way of an order', async () => {
  const entries = [...BEGIN];
  for (let at = 10; at < 4_000; at += 10)
    entries.push(
      at % 70 === 0
        ? trade(at, 'SELL', '0.40', 30)
        : change(at, 'SELL', at % 30 === 0 ? '0.44' : '0.45', 50 + (at % 110)),
    );
  const taker = (options: BacktestOptions) => {
    let last = Number.NEGATIVE_INFINITY;
    const strategy: Strategy = {
      onBook({ ask }, venue) {
        const { now } = venue;
        if (ask === undefined || now - last < 200) return;
        last = now;
        venue.place({ token: YES, side: 'BUY', price: ask, size: 7 });
      },
    };
    return backtest(entries, strategy, options);
  };
  const both = await taker({ feedLatencyMs: 30, latencyMs: 25 });
  const one = await taker({ latencyMs: 55 });
  assert(one.fills.length > 10);
  assert.deepEqual(both.fills, one.fills);
});

function drawn(choice: LatencyChoice, seed: number): number[] {
  const { order } = latenciesOf({ latencyMs: choice, feedLatencyMs: 0, seed }, undefined);
  return Array.from({ length: 4_000 }, () => (order as Latency)(0)).sort((a, b) => a - b);
}

test('drawn latencies follow their distribution and their seed', () => {
  const quantiles = (values: readonly number[]) =>
    [0.1, 0.5, 0.9].map((share) => values[Math.floor(share * values.length)]!);
  // Quantiles of the distributions, which the seed meets within a twentieth.
  const cases: readonly (readonly [LatencyChoice, readonly number[]])[] = [
    ['uniform:100,300', [120, 200, 280]],
    ['exponential:100,200', [121, 239, 561]],
    ['lognormal:500,0.5', [263, 500, 949]],
  ];
  for (const [choice, expected] of cases) {
    const values = drawn(choice, 7);
    assert.deepEqual(drawn(choice, 7), values, 'the same seed');
    assert.notDeepEqual(drawn(choice, 8), values, 'another seed');
    assert(values.every((ms) => Number.isInteger(ms) && ms >= 0));
    for (const [i, quantile] of quantiles(values).entries())
      assert(Math.abs(quantile / expected[i]! - 1) < 0.05, `${choice}: ${quantile}`);
  }
});

test('drawn orders never overtake each other, and equal seeds give equal runs', async () => {
  const entries = [
    ...BEGIN,
    ...Array.from({ length: 300 }, (_, i) => change(10 * i, 'BUY', '0.39', 10 + i)),
  ];
  const seen: number[] = [];
  const run = (seed: number) => {
    const orders: Order[] = [];
    const strategy: Strategy = {
      onBook: (_, venue) => void buy(0.41)(venue),
      onOrder: (order) => void orders.push(order),
    };
    const options = { latencyMs: 'lognormal:40,1', feedLatencyMs: 'exponential:5,20', seed };
    return backtest(entries, strategy, { ...options, cash: 1e6 }).then(({ fills }) => {
      seen.push(orders.length);
      return [orders.map(({ id }) => id), fills];
    });
  };
  const [ids] = await run(1);
  assert(seen[0]! > 200);
  assert.deepEqual(
    ids,
    (ids as number[]).toSorted((a, b) => a - b),
  );
  assert.deepEqual(await run(1), await run(1));
});

test('measured latencies hold from their time on, each for its way', async () => {
  const path = join(directory, 'measured.csv');
  writeFileSync(path, `time,feed,order\n${START},10,1\n${START + 100},20,2\n`);
  const entries = [...BEGIN, change(99, 'BUY', '0.41', 5), change(200, 'BUY', '0.42', 5)];
  const steps = { 50: buy(0.44), 150: buy(0.44) };
  const { log, result } = await logOf(entries, { latencyFile: path }, steps);
  assert.deepEqual(
    log.filter(([, text]) => text.startsWith('taker') || text.startsWith('book')),
    [
      [10, 'book 0.4'],
      [61, 'taker 10 @ 0.44 of 51'],
      [109, 'book 0.41'],
      [172, 'taker 10 @ 0.44 of 152'],
      [220, 'book 0.42'],
    ],
  );
  assert.deepEqual(
    [result.settings.latencyMs, result.settings.feedLatencyMs],
    ['measured', 'measured'],
  );
  const fixed = await logOf(entries, { latencyFile: path, latencyMs: 30 }, steps);
  assert.deepEqual(fixed.log.filter(([, text]) => text.startsWith('taker'))[0], [
    90,
    'taker 10 @ 0.44 of 80',
  ]);
});

test('a wrong file of latencies is refused with its line and column', async () => {
  const cases = [
    ['time,feed\n1,2\n', /it must have the columns time, feed, order, and rows/],
    ['time,feed,order\n', /and rows/],
    [
      `time,feed,order\n${START},1,x\n`,
      /line 2, column order: it must be milliseconds of 0 or more/,
    ],
    [`time,feed,order\n${START},1,2\n\n1,1,2\n`, /line 4, column time: it is before the row above/],
    ['time,feed,order\nnow,1,2\n', /line 2, column time: it must be unix milliseconds/],
    ['time,feed,order\n1,"1,2\n', /line 2, column time/],
  ] as const;
  for (const [text, message] of cases) {
    const path = join(directory, 'wrong.csv');
    writeFileSync(path, text);
    await assert.rejects(backtest(BEGIN, {}, { latencyFile: path }), {
      name: 'RangeError',
      message,
    });
  }
  await assert.rejects(
    backtest(BEGIN, {}, { latencyFile: join(directory, 'none.csv') }),
    RangeError,
  );
});

test('under a taker delay an order that would match waits, and then meets what stands', async () => {
  const entries = [
    ...BEGIN,
    change(200, 'SELL', '0.44', 4),
    change(400, 'SELL', '0.44', 100),
    change(900, 'BUY', '0.39', 10),
  ];
  const { log } = await logOf(entries, { takerDelayMs: 250 }, { 5: buy(0.44), 6: buy(0.41) });
  assert.deepEqual(
    log.filter(([, text]) => !text.startsWith('book')),
    [
      [5, 'delayed'],
      [6, 'open'],
      [255, 'open'],
      [255, 'taker 4 @ 0.44 of 255'],
      // It rests now, and the level of the source comes back through it.
      [400, 'maker 6 @ 0.44 of 400'],
      [400, 'filled'],
    ],
  );
});

test('a waiting order can be cancelled, and one that finds nobody ends', async () => {
  const entries = [...BEGIN, change(200, 'SELL', '0.44', 0), change(900, 'BUY', '0.39', 10)];
  const { log, result } = await logOf(
    entries,
    { takerDelayMs: 250 },
    {
      5: buy(0.44),
      100: (venue) => venue.cancelAll(),
      120: buy(0.44, { type: 'FAK' }),
    },
  );
  assert.deepEqual(
    log.filter(([, text]) => !text.startsWith('book')),
    [
      [5, 'delayed'],
      [100, 'cancelled'],
      [120, 'delayed'],
      [370, 'ended'],
    ],
  );
  assert.equal(result.fills.length, 0);
});

test('the taker delay of a recorded market holds unless an option replaces it', async () => {
  const entries = [catalog(0, { secondsDelay: 3 }), BEGIN[1]!, change(9_000, 'BUY', '0.39', 10)];
  const times = async (options: BacktestOptions) =>
    (await logOf(entries, options, { 50: buy(0.44) })).result.fills.map(({ time }) => time - START);
  assert.deepEqual(await times({}), [3_050]);
  assert.deepEqual(await times({ takerDelayMs: 0 }), [50]);
  assert.deepEqual(await times({ takerDelayMs: 500, feedLatencyMs: 40, latencyMs: 10 }), [560]);
});
