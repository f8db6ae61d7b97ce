/**
 * Selection of a request for price history: windows, steps, bounds and errors
 * (docs/protocol.md#price-history).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { renderPoints } from '../../server/market-data/history-routes.ts';
import { HISTORY_QUERY } from '../../server/market-data/history-schemas.ts';
import { bucketsOf, startOf, windowOf } from '../../server/market-data/history-window.ts';
import { STEP_MINUTES } from '../../storage/projection/prices.ts';

const NOW = 1_800_000_123;
const HOUR = 3_600;
const POINTS_MAX = 10_080;
const DAY = 24 * HOUR;

function ask(query: string) {
  const parsed = HISTORY_QUERY.parse(query, []);
  if (typeof parsed === 'string') return (JSON.parse(parsed) as { error: string }).error;
  return windowOf(parsed as Parameters<typeof windowOf>[0], NOW);
}

/** Minutes of the step, and the times of the first and last points. */
function points(query: string, firstTrade = 0) {
  const window = ask(query);
  assert(typeof window !== 'string', String(window));
  const buckets = bucketsOf(window, firstTrade);
  if (buckets === undefined) return undefined;
  const { first, last, step } = buckets;
  assert(last - first < POINTS_MAX);
  return [STEP_MINUTES[step], startOf(first, step), startOf(last, step)];
}

test('a request without market, without a window or with two of them is refused', () => {
  const errors: readonly (readonly [string, string])[] = [
    ['', 'market is required'],
    ['interval=1d', 'market is required'],
    ['market=&interval=1d', 'market is required'],
    ['market=7', 'interval or startTs is required'],
    ['market=7&endTs=5&fidelity=1', 'interval or startTs is required'],
    ['market=7&interval=1d&startTs=5', 'interval cannot be combined with startTs or endTs'],
    ['market=7&interval=max&endTs=5', 'interval cannot be combined with startTs or endTs'],
    ['market=7&startTs=6&endTs=5', 'startTs must not be after endTs'],
    [`market=7&startTs=${NOW}000`, 'startTs must not be after endTs'],
    ['market=7&interval=2d', 'invalid interval'],
    ['market=7&startTs=-1', 'invalid startTs'],
    ['market=7&startTs=1.5', 'invalid startTs'],
    ['market=7&startTs=1&endTs=soon', 'invalid endTs'],
    ['market=7&interval=1d&fidelity=0', 'invalid fidelity'],
    ['market=7&interval=1d&fidelity=x', 'invalid fidelity'],
  ];
  for (const [query, error] of errors) assert.equal(ask(query), error, query);
});

test('an interval ends now; 1m is a month, 5m and 15m are minutes', () => {
  const seconds = {
    '5m': 300,
    '15m': 900,
    '1h': HOUR,
    '6h': 6 * HOUR,
    '1d': DAY,
    '1w': 7 * DAY,
    '1m': 30 * DAY,
  };
  for (const [interval, length] of Object.entries(seconds)) {
    const window = ask(`market=7&interval=${interval}&fidelity=`);
    assert.deepEqual(window, { from: NOW - length, to: NOW, fidelity: undefined });
  }
  for (const interval of ['max', 'all']) {
    const window = ask(`market=7&interval=${interval}`);
    assert.deepEqual(window, { from: undefined, to: NOW, fidelity: undefined });
  }
});

test('fidelity is rounded up to a step, and follows the length of the window by default', () => {
  const fidelities = [1, 2, 5, 6, 30, 31, 180, 181, 720, 1_440];
  const steps = fidelities.map(
    (minutes) => points(`market=7&interval=1d&fidelity=${minutes}`)?.[0],
  );
  assert.deepEqual(steps, [1, 5, 5, 30, 30, 180, 180, 720, 720, 720]);
  const lengths = [HOUR, 6 * HOUR, 6 * HOUR + 1, 2 * DAY, 2 * DAY + 1, 7 * DAY, 7 * DAY + 1];
  const more = [30 * DAY, 30 * DAY + 1, 400 * DAY];
  const byLength = [...lengths, ...more].map(
    (length) => points(`market=7&startTs=${NOW - length}`, NOW - 400 * DAY)?.[0],
  );
  assert.deepEqual(byLength, [1, 1, 5, 5, 30, 30, 180, 180, 720, 720]);
  assert.equal(points('market=7&interval=max', NOW - HOUR)?.[0], 1);
  assert.equal(points('market=7&interval=max', NOW - 31 * DAY)?.[0], 720);
});

test('points begin with the bucket that holds the start, and none lies in the future', () => {
  const minute = NOW - (NOW % 60);
  assert.deepEqual(points(`market=7&startTs=${minute - 61}`), [1, minute - 120, minute]);
  const future = `market=7&startTs=${minute - 60}&endTs=${NOW + 10 * DAY}&fidelity=1`;
  assert.deepEqual(points(future), [1, minute - 60, minute]);
  assert.equal(points(`market=7&startTs=${NOW + 5}&endTs=${NOW + 9}`), undefined);
  assert.equal(points('market=7&startTs=100&endTs=200', 201), undefined);
  const five = NOW - (NOW % 300);
  assert.deepEqual(points('market=7&interval=5m&fidelity=5'), [5, five - 300, five]);
});

test('a window of too many points gets the next longer step, and points count from the first trade', () => {
  const week = POINTS_MAX * 60;
  assert.equal(points(`market=7&startTs=${NOW - week + 60}&fidelity=1`)?.[0], 1);
  assert.equal(points(`market=7&startTs=${NOW - week - 60}&fidelity=1`)?.[0], 5);
  assert.equal(points('market=7&startTs=0&fidelity=1', NOW - week + 60)?.[0], 1);
  assert.equal(points('market=7&startTs=0&fidelity=1', NOW - 600 * DAY)?.[0], 180);
  const [step, first, last] = points('market=7&startTs=0&fidelity=1', 0)!;
  assert.deepEqual([step, (last! - first!) / (720 * 60)], [720, POINTS_MAX - 1]);
});

test('points are written as numbers, without those before the first trade', async () => {
  const buckets = { step: 1, first: 6_000_000, last: 6_000_004 } as const;
  const text = async (pips: readonly number[]): Promise<string> =>
    (await renderPoints(Uint16Array.from(pips), buckets)).toString();
  assert.equal(await text([0, 0]), '[]');
  assert.equal(
    await text([0, 4_200, 5, 9_999]),
    '[{"t":1800000300,"p":0.42},{"t":1800000600,"p":0.0005},{"t":1800000900,"p":0.9999}]',
  );
  const all = { step: 0, first: 30_000_000, last: 30_000_000 + POINTS_MAX - 1 } as const;
  const long = await renderPoints(new Uint16Array(POINTS_MAX).fill(2_500), all);
  const points = JSON.parse(long.toString()) as { t: number; p: number }[];
  assert.equal(points.length, POINTS_MAX);
  assert(points.every(({ t, p }, i) => t === (30_000_000 + i) * 60 && p === 0.25));
});
