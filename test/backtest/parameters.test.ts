/** Parameters of a strategy, the grid of a sweep, the order of its results, and walk-forward windows. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { backtest, type ParameterValues } from '../../server/backtest/backtest.ts';
import {
  completeValues,
  declaredParameters,
  parsedAssignments,
} from '../../server/backtest/parameters.ts';
import { combinationsOf, sweptValues } from '../../server/backtest/sweep/grid.ts';
import type { SweepRow } from '../../server/backtest/sweep/job.ts';
import { combined, ranked } from '../../server/backtest/sweep/ranking.ts';
import { windowsOf } from '../../server/backtest/sweep/walk-forward.ts';
import { book, catalog } from './entries.ts';

const DECLARED = { spread: 0.02, size: 10, mode: 'calm', isFast: false };

test('assignments get the types of the defaults, and the others keep their defaults', () => {
  const given = parsedAssignments(DECLARED, ['spread=3e-2', 'mode=a=b', 'isFast=true', 'spread=1']);
  assert.deepEqual(given, { spread: 1, mode: 'a=b', isFast: true });
  assert.deepEqual(completeValues(DECLARED, given), {
    spread: 1,
    size: 10,
    mode: 'a=b',
    isFast: true,
  });
});

test('a wrong name or value is refused by its name', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['spraed=1', /^the strategy has no parameter "spraed"; it has spread, size, mode, isFast$/],
    ['toString=1', /no parameter "toString"/],
    ['spread=wide', /^parameter spread is a number, not "wide"$/],
    ['spread=Infinity', /^parameter spread is a number, not "Infinity"$/],
    ['size=', /^parameter size is a number, not ""$/],
    ['isFast=1', /^parameter isFast is true or false, not "1"$/],
    ['spread', /^a parameter is set as in spread=0.03, not "spread"$/],
    ['=1', /not "=1"$/],
  ];
  for (const [text, message] of cases)
    assert.throws(() => parsedAssignments(DECLARED, [text]), { name: 'RangeError', message });
  assert.throws(() => parsedAssignments({}, ['size=1']), /no parameter "size"; it has none$/);
  assert.throws(() => completeValues(DECLARED, { size: '10' }), /size is a number, not "10"$/);
});

test('parameters are declared as an object of numbers, texts and booleans', () => {
  assert.deepEqual(declaredParameters(undefined), {});
  assert.deepEqual(declaredParameters(DECLARED), DECLARED);
  for (const wrong of [5, null, ['size'], { size: null }, { size: Number.NaN }, { 'a b': 1 }])
    assert.throws(() => declaredParameters(wrong), { name: 'NoStrategy' });
});

test('a range has exact decimals, and its end where the step reaches it', () => {
  const valuesOf = (text: string) => [...sweptValues(DECLARED, text).values()];
  assert.deepEqual(valuesOf('spread=0.01..0.07:0.01'), [
    [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07],
  ]);
  assert.deepEqual(valuesOf('size=-1..1:0.75'), [[-1, -0.25, 0.5]]);
  assert.deepEqual(valuesOf('size=5..5:1'), [[5]]);
  assert.deepEqual(valuesOf('spread=0.1,0.1,0.20..0.3:0.1,size=10,50,mode=a..b:c,x'), [
    [0.1, 0.2, 0.3],
    [10, 50],
    ['a..b:c', 'x'],
  ]);
  assert.equal(valuesOf('spread=0..9.9999:0.0001')[0]?.length, 100_000);
});

test('a wrong sweep is refused by the part that is wrong', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['0.01..0.05:0.01', /does not begin with "0.01..0.05:0.01"$/],
    ['spraed=1..2:1', /no parameter "spraed"/],
    ['size=1,size=2', /^the sweep names size twice$/],
    ['size=5..1:1', /^a range goes upwards by a step above 0, not size=5..1:1$/],
    ['size=1..5:0', /not size=1..5:0$/],
    ['size=1..5', /^parameter size is a number, not "1..5"$/],
    ['size=0..1:0.00001', /^a range has at most 100000 values/],
    ['isFast=true,maybe', /^parameter isFast is true or false, not "maybe"$/],
  ];
  for (const [text, message] of cases)
    assert.throws(() => sweptValues(DECLARED, text), { name: 'RangeError', message });
  const many = sweptValues(DECLARED, 'size=1..400:1,spread=1..400:1');
  assert.throws(() => combinationsOf(DECLARED, many), /at most 100000 combinations, not 160000$/);
});

test('all combinations are made, the last parameter fastest', () => {
  const swept = sweptValues(DECLARED, 'size=1,2,mode=a,b');
  const shown = combinationsOf(DECLARED, swept).map(
    ({ mode, size, spread }) => `${size} ${mode} ${spread}`,
  );
  assert.deepEqual(shown, ['1 a 0.02', '1 b 0.02', '2 a 0.02', '2 b 0.02']);
});

function row(size: number, recording: string, figures: SweepRow['figures']): SweepRow {
  const counts = { messages: 1, messagesDamaged: 0, timesDecreasing: 0, levelsRefused: 0 };
  return { recording, values: { size }, span: {}, figures, ...counts, pausesCut: 0 };
}

test('a combination has the sums, largest values and means of its recordings', () => {
  const [first, second] = combined([
    row(1, 'a', { profit: 2, drawdown: 1, sharpe: null }),
    row(2, 'a', { profit: 3, drawdown: 7, sharpe: null }),
    row(1, 'b', { profit: -5, drawdown: 6, sharpe: 3 }),
  ]);
  assert.deepEqual(first?.figures, { profit: -3, drawdown: 6, sharpe: 3 });
  assert.deepEqual(second?.figures, { profit: 3, drawdown: 7, sharpe: null });
});

test('the best combination is first by the figure of the rank, and one without a value last', () => {
  const rows = combined([
    row(1, 'a', { profit: 1, drawdown: 2, sharpe: null }),
    row(2, 'a', { profit: 1, drawdown: 1, sharpe: -4 }),
    row(3, 'a', { profit: 5, drawdown: 3, sharpe: 2 }),
  ]);
  const sizes = (rank: string) => ranked(rows, rank).map(({ values }) => values.size);
  assert.deepEqual(sizes('profit'), [3, 1, 2]);
  assert.deepEqual(sizes('drawdown'), [2, 1, 3]);
  assert.deepEqual(sizes('sharpe'), [3, 2, 1]);
  assert.throws(
    () => sizes('luck'),
    /^RangeError: --rank is one of profit, drawdown, sharpe, not "luck"$/,
  );
});

test('test spans of walk-forward windows follow each other, and the last one may be shorter', () => {
  const windows = windowsOf('a', { from: 100, to: 150 }, { trainMs: 20, testMs: 12 });
  assert.deepEqual(
    windows.map(({ test: { from, to }, train }) => [train.from, train.to, from, to]),
    [
      [100, 119, 120, 131],
      [112, 131, 132, 143],
      [124, 143, 144, 150],
    ],
  );
  assert.deepEqual(windowsOf('a', { from: 0, to: 19 }, { trainMs: 20, testMs: 1 }), []);
});

test('the function that makes a strategy gets the values, which stand in the result', async () => {
  const given: (ParameterValues | undefined)[] = [];
  const make = (values?: { readonly size: number }) => {
    given.push(values);
    return {};
  };
  const entries = [catalog(), book(0, { '0.40': 100 }, { '0.44': 100 })];
  const result = await backtest(entries, make, { parameters: { size: 7 } });
  assert.deepEqual(result.parameters, { size: 7 });
  assert.deepEqual((await backtest(entries, make)).parameters, {});
  assert.deepEqual(given, [{ size: 7 }, undefined]);
});
