import assert from 'node:assert/strict';
import test from 'node:test';
import { EquityCurve, sharpeOf } from '../../server/backtest/equity.ts';
import { Holding } from '../../server/backtest/holding.ts';
import { Series } from '../../server/backtest/series.ts';

const DAY = 86_400_000;

function near(actual: number | undefined, expected: number): void {
  assert(actual !== undefined && Math.abs(actual - expected) < 1e-9, `${actual} is ${expected}`);
}

test('closed shares are counted at the average cost', () => {
  const holding = new Holding();
  assert.equal(holding.take(10, 0.4), undefined);
  assert.equal(holding.take(30, 0.6), undefined);
  // 40 shares for 22, so 0.55 each: 20 sold at 0.7 bring 3.
  near(holding.take(-20, 0.7), 3);
  // The other 20 at 0.5 lose 1, and 5 more are a sale at 0.5.
  near(holding.take(-25, 0.5), -1);
  assert.equal(holding.net, -5);
  // Bought back at 0.3, 5 x 0.2.
  near(holding.take(5, 0.3), 1);
  assert.equal(holding.net, 0);
  assert.deepEqual([holding.closings, holding.hits], [3, 2]);
  assert.equal(holding.take(0, 0.9), undefined);
});

test('drawdown is measured from the highest equity before', () => {
  const curve = new EquityCurve(100);
  for (const [time, equity] of [100, 110, 99, 120, 105, 119].entries()) curve.add(time, equity, 0);
  assert.deepEqual(curve.drawdown, { amount: 15, share: 15 / 120, time: 4 });
  assert.deepEqual(new EquityCurve(5).drawdown, { amount: 0, share: 0, time: undefined });
});

test('equity is cash and positions, and a day has its last value', () => {
  const curve = new EquityCurve(100);
  curve.add(0, 100, 0);
  curve.add(DAY - 1, 60, 50);
  // On the second day something comes and equity stays; on the third nothing comes.
  curve.pass(DAY + 7);
  curve.add(3 * DAY + 5, 60, 39);
  curve.end();
  assert.deepEqual(
    curve.days.map(({ day, equity }) => [day, equity]),
    [
      ['1970-01-01', 110],
      ['1970-01-02', 110],
      ['1970-01-04', 99],
    ],
  );
  const [first, second, third] = curve.days.map((day) => day.return);
  near(first, 0.1);
  near(second, 0);
  near(third, -0.1);
  assert.equal(curve.quietDays, 1);
});

test('the Sharpe ratio is the mean over the deviation of days, times the root of 365', () => {
  // Mean 0.01; deviation of a sample: root of ((0.02^2 + 0.02^2) / 2) = 0.02.
  near(sharpeOf([0.01, 0.03, -0.01]), 0.5 * Math.sqrt(365));
  near(sharpeOf([0.03, -0.01], 1), sharpeOf([0.03, 0, -0.01])!);
  assert.equal(sharpeOf([0.01]), undefined);
  assert.equal(sharpeOf([0.01, 0.01, 0.01]), undefined);
  assert.equal(sharpeOf([]), undefined);
});

test('a series stays short, and keeps its first row and the last and largest values of each stretch', () => {
  const series = new Series(2, 8, 1);
  for (let second = 0; second < 1_000; second++) series.add(second * 1_000, second, second % 100);
  assert(series.times.length <= 8 && series.times.length > 3, `${series.times.length} rows`);
  assert.deepEqual([series.times[0], series.times.at(-1)], [0, 999_000]);
  assert.deepEqual([series.columns[0]!.at(-1), series.columns[1]![1]], [999, 99]);
  assert(series.times.every((time, i) => i === 0 || time > series.times[i - 1]!));
  for (const column of series.columns) assert.equal(column.length, series.times.length);
});
