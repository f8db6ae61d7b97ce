import assert from 'node:assert/strict';
import test from 'node:test';
import { MICRO } from '../../bench/load/load-amounts.ts';
import { chooseMarkets } from '../../bench/load/load-market.ts';
import { signOrder } from '../../bench/load/load-orders.ts';
import { arrivalsOf } from '../../bench/measure/arrivals.ts';
import { FigureCollector } from '../../bench/measure/figures.ts';
import { takerOrder } from '../../bench/measure/ladder.ts';
import {
  MEASURE_USAGE,
  type MeasureOptions,
  parseMeasureOptions,
} from '../../bench/measure/measure-options.ts';
import { kindAt, parseMix } from '../../bench/measure/mix.ts';
import { Outcomes } from '../../bench/measure/outcomes.ts';
import { picture } from '../../bench/measure/picture.ts';
import { reportLines, warningsOf } from '../../bench/measure/report.ts';
import type { Figures, Result } from '../../bench/measure/result.ts';
import { Fate, type Sample, SampleRows } from '../../bench/measure/samples.ts';
import { unsignedBy } from '../../bench/measure/unsigned.ts';
import { Random } from '../../bench/random.ts';
import { Wallet } from '../../client/wallet.ts';

const DOMAIN = { name: 'CTF Exchange', version: '1', chainId: 137 } as const;
const EXCHANGE = {
  version: 1 as const,
  normal: { ...DOMAIN, verifyingContract: `0x${'5'.repeat(40)}` },
  negRisk: { ...DOMAIN, verifyingContract: `0x${'6'.repeat(40)}` },
};

function optionsOf(...argv: string[]): MeasureOptions {
  const parsed = parseMeasureOptions(argv, 5);
  assert(parsed.ok, parsed.ok ? '' : parsed.problem);
  return parsed.options;
}

test('the help names every option with its default, and a wrong value is named', () => {
  for (const name of ['rate', 'batch', 'mix', 'wallets', 'markets', 'duration', 'url', 'spawn']) {
    assert.match(MEASURE_USAGE, new RegExp(`\n  --${name}\\b`));
  }
  assert.match(MEASURE_USAGE, /seconds that count \(10\)/);
  const { rate, mix, warmup, arrivals } = optionsOf();
  assert.deepEqual({ rate, warmup, arrivals }, { rate: 1000, warmup: 2, arrivals: 'even' });
  assert.deepEqual(mix, { fok: 50, gtc: 25, cancel: 25 });
  assert.equal(optionsOf('--rate', 'max').rate, undefined);
  for (const [argv, problem] of [
    [['--rate', '0'], /--rate must be max or a whole number/],
    [['--batch', '0'], /--batch must be a whole number from 1 to 5000, it is "0"/],
    [['--mix', 'fok=99'], /--mix must be percents that add up to 100/],
    [['--mix', 'fok=20,gtc=20,cancel=60'], /no more cancel than gtc/],
    [['--processes', '17'], /fewer --processes/],
    [['--rate', '100000', '--duration', '3600'], /orders are signed ahead and would take/],
    [['--arrivals', 'late'], /--arrivals must be even or poisson/],
    [['--quick'], /--quick/],
  ] as const) {
    const parsed = parseMeasureOptions(argv, 5);
    assert(!parsed.ok);
    assert.match(parsed.problem, problem);
  }
});

test('a mix falls on its kinds in its shares', () => {
  const mix = parseMix('fok=20,gtc=50,cancel=30');
  assert(mix !== undefined);
  const kinds = Array.from({ length: 100 }, (_, percent) => kindAt(mix, percent));
  assert.equal(kinds.filter((kind) => kind === 'fok').length, 20);
  assert.equal(kinds.filter((kind) => kind === 'cancel').length, 30);
});

test('even arrivals of several processes interleave, Poisson ones have the rate of their share', () => {
  const random = new Random('arrivals');
  const all = [0, 1, 2].flatMap((index) => [
    ...arrivalsOf('even', 10, 100, { index, processes: 3 }, random),
  ]);
  assert.deepEqual(
    all.sort((a, b) => a - b),
    [0, 10, 20, 30, 40, 50, 60, 70, 80, 90],
  );
  const poisson = arrivalsOf('poisson', 20_000, 1000, { index: 1, processes: 2 }, random);
  const last = poisson.at(-1) ?? 0;
  assert.equal(poisson.length, 10_000);
  assert(last > 19_000 && last < 21_000, `10,000 arrivals at 500/s took ${last} ms`);
  assert(poisson.every((due, i) => i === 0 || due >= poisson[i - 1]!));
});

test('unsigned orders equal signed ones, but for the signature', () => {
  const wallet = Wallet.fromSeed('unsigned');
  const random = new Random('unsigned');
  const terms = { ticksPerUnit: 100, minSizeMicro: 5 * MICRO, tradable: true } as const;
  const conditionId = `0x${'1'.repeat(64)}`;
  const market = { ...terms, negRisk: true, conditionId, tokenIds: ['171', '172'] };
  const [chosen] = chooseMarkets([market], 1, random);
  const order = takerOrder(random, chosen!.tokens[0]!, 0);
  const signed = signOrder(order, { wallet, owner: 'key' }, EXCHANGE, '91');
  const other = { wallet: unsignedBy(wallet.address), owner: 'key' };
  const unsigned = signOrder(order, other, EXCHANGE, '91');
  assert.equal(unsigned.id, signed.id);
  const [one, two] = [signed, unsigned].map(({ item }) => JSON.parse(item));
  assert.notEqual(one.order.signature, two.order.signature);
  two.order.signature = one.order.signature;
  assert.deepEqual(one, two);
});

test('outcomes count orders by their answers', () => {
  const outcomes = new Outcomes();
  const reply = (status: number, json: unknown): { status: number; body: Buffer } => {
    return { status, body: Buffer.from(JSON.stringify(json)) };
  };
  const well = { success: true, errorMsg: '' };
  const killed = { success: false, errorMsg: 'not filled' };
  outcomes.count('fok', 2, reply(200, [well, well]));
  outcomes.count('fok', 2, reply(200, [well, killed]));
  outcomes.count('gtc', 1, reply(200, well));
  outcomes.count('cancel', 2, reply(200, { canceled: ['a', 'b'], not_canceled: {} }));
  outcomes.count('cancel', 2, reply(200, { canceled: ['a'], not_canceled: { b: 'gone' } }));
  outcomes.count('gtc', 3, reply(503, { error: 'engine busy' }));
  outcomes.count('gtc', 3, reply(429, {}));
  outcomes.count('gtc', 4, { status: 0, body: Buffer.alloc(0) });
  assert.deepEqual(Object.fromEntries(outcomes.counts), {
    filled: 3,
    'fok: not filled': 1,
    resting: 1,
    canceled: 3,
    'cancel: gone': 1,
    'HTTP 503 {"error":"engine busy"}': 3,
    'HTTP 429': 3,
    'connection lost': 4,
  });
});

const REQUESTS = 20_000;

/** Twenty thousand requests over ten seconds; the n-th took n times five microseconds. */
function knownFigures(...more: Partial<Sample>[]): Figures {
  const collector = new FigureCollector({ warmupSeconds: 1, durationSeconds: 10 });
  const rows = new SampleRows();
  const usual = { toolLateMs: 0.05, serviceMs: 0.5, kind: 'fok', orders: 2 } as const;
  for (let n = 1; n <= REQUESTS; n += 1) {
    const dueMs = 1000 + (10_000 * (n - 1)) / REQUESTS;
    rows.add({ ...usual, dueMs, latencyMs: n / 200, fate: Fate.answered });
  }
  for (const sample of more) {
    rows.add({ ...usual, dueMs: 2000, latencyMs: 1, fate: Fate.answered, ...sample });
  }
  collector.add(rows.take());
  return collector.figures();
}

const KNOWN = knownFigures();

test('percentiles are right to three digits as far as p99.99, and the longest is kept', () => {
  const { latencyMs, percentiles, requests, ordersPerSecond, overTime } = KNOWN;
  const isNear = (actual: number, expected: number): void =>
    assert(Math.abs(actual - expected) <= expected / 1000, `${actual} is not ${expected}`);
  isNear(latencyMs.p50, 50);
  isNear(latencyMs.p99, 99);
  isNear(latencyMs.p99_9, 99.9);
  isNear(latencyMs.p99_99, 99.99);
  isNear(latencyMs.max, 100);
  assert.deepEqual(requests, { answered: REQUESTS, failed: 0, unanswered: 0 });
  isNear(ordersPerSecond, (2 * REQUESTS) / 10.1);
  assert(
    percentiles.every(([percent, ms], i) => i === 0 || ms >= percentiles[i - 1]![1] || !percent),
  );
  isNear(percentiles.at(-1)?.[1] ?? 0, 100);
  const fifth = overTime.find(({ fromSeconds }) => fromSeconds === 5);
  assert(fifth?.latencyMs !== undefined && fifth.latencyMs.p50 > 49 && fifth.latencyMs.p50 < 52);
});

test('the warm-up does not count, failures do, and unanswered requests count with the longest time', () => {
  const figures = knownFigures(
    { dueMs: 999, latencyMs: 5000 },
    { fate: Fate.failed, latencyMs: 7000 },
    { fate: Fate.unanswered, latencyMs: 9000 },
  );
  assert.deepEqual(figures.requests, { answered: REQUESTS, failed: 1, unanswered: 1 });
  assert(Math.abs(figures.latencyMs.max - 9000) < 10);
});

function resultOf(figures: Figures): Result {
  const { url, ...options } = optionsOf('--rate', '4000', '--duration', '10');
  const outcomes = { filled: 2 * REQUESTS };
  return {
    format: 'load-measure/1',
    startedAt: '2026-11-21T00:00:00.000Z',
    machine: { processors: 2, model: 'a model', node: 'v20', commit: undefined, loadAverage: 0 },
    options: { ...options, url: url.href },
    exchangeInfo: {},
    outcomes,
    warnings: warningsOf(figures, options, outcomes),
    ...figures,
  };
}

test('a picture is an SVG with latency by percentile and over time', () => {
  const svg = picture(resultOf(KNOWN));
  assert.match(svg, /^<svg [\s\S]*<\/svg>$/);
  for (const text of [
    'latency by percentile',
    'latency over time',
    '99.99%',
    'p99.9',
    'from due',
  ]) {
    assert(svg.includes(`>${text}<`), text);
  }
});

test('a report lists doubtful conditions of its measurements', () => {
  const text = reportLines(resultOf(KNOWN)).join('\n');
  assert.match(
    text,
    /latency from due +p50 50\.\d ms .* p99\.99 (?:99\.9|100\.0) ms +max 100\.\d ms/,
  );
  const warnings = warningsOf(
    knownFigures({ fate: Fate.failed }),
    { rate: 8000, batch: 2 },
    {
      'HTTP 429': 1,
      'fok: odd': 1,
    },
  ).join('\n');
  assert.match(warnings, /had no answer of 200/);
  assert.match(warnings, /RATE_LIMITS=off/);
  assert.match(warnings, /ended otherwise than meant: fok: odd/);
  assert.match(warnings, /sent 8000 orders\/s/);
});
