import assert from 'node:assert/strict';
import test from 'node:test';
import type { Pips, Ticks } from '../../engine/tables/units.ts';
import {
  DECIMAL_BYTES_MAX,
  microText,
  parseMicroUp,
  pipsText,
  ratioMicro,
  writeInteger,
  writeTicks,
} from '../../server/common/decimal.ts';
import { type Random, withSeed } from '../common/random.ts';

const MAX = Number.MAX_SAFE_INTEGER;

test('amounts print plain, without trailing zeros and without an exponent', () => {
  const cases: readonly [number, string][] = [
    [0, '0'],
    [1, '0.000001'],
    [500_000, '0.5'],
    [1_000_000, '1'],
    [1_000_001, '1.000001'],
    [100_000_000, '100'],
    [15_991_750_000, '15991.75'],
    [10_000_000_000_000, '10000000'],
    [MAX, '9007199254.740991'],
  ];
  for (const [micro, text] of cases) assert.equal(microText(micro), text);
  assert.equal(microText(MAX).length, DECIMAL_BYTES_MAX);
});

test('prices print from pips and from the ticks of every grid', () => {
  assert.equal(pipsText(4_800 as Pips), '0.48');
  assert.equal(pipsText(1 as Pips), '0.0001');
  assert.equal(pipsText(9_999 as Pips), '0.9999');
  const out = Buffer.alloc(20);
  for (const [ticks, grid, text] of [
    [1, 10, '0.1'],
    [48, 100, '0.48'],
    [50, 100, '0.5'],
    [999, 1_000, '0.999'],
    [1, 10_000, '0.0001'],
  ] as const) {
    assert.equal(out.toString('latin1', 0, writeTicks(ticks as Ticks, grid, out, 0)), text);
  }
});

test('a printed number changes only its own bytes of the buffer', () => {
  const out = Buffer.alloc(24, '#');
  assert.equal(writeInteger(1_713_471_000_000, out, 5), 18);
  assert.equal(out.toString('latin1'), `#####1713471000000${'#'.repeat(6)}`);
});

test('every amount prints as BigInt arithmetic says, and reads back as itself', () => {
  withSeed((random) => {
    for (let i = 0; i < 20_000; i++) {
      const micro = anyAmount(random);
      const digits = String(micro).padStart(7, '0');
      const expected = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
      assert.equal(microText(micro), expected);
      assert.equal(parseMicroUp(expected), micro);
    }
  });
});

test('a threshold with more than six decimals is rounded up', () => {
  assert.equal(parseMicroUp('0.0000001'), 1);
  assert.equal(parseMicroUp('1.0000000000'), 1_000_000);
  assert.equal(parseMicroUp('1.00000000001'), 1_000_001);
  assert.equal(parseMicroUp('0.12345649'), 123_457);
  assert.equal(parseMicroUp('5e-324'), 1);
  assert.equal(parseMicroUp('1e-7'), 1);
});

test('a threshold may be any JSON number that is not negative', () => {
  assert.equal(parseMicroUp('0'), 0);
  assert.equal(parseMicroUp('0.000e9'), 0);
  assert.equal(parseMicroUp('007.50'), 7_500_000);
  assert.equal(parseMicroUp('1E2'), 100_000_000);
  assert.equal(parseMicroUp('1e+2'), 100_000_000);
  assert.equal(parseMicroUp('12345.678e-3'), 12_345_678);
  assert.equal(parseMicroUp('9007199254.740991'), MAX);
  for (const large of ['9007199254.7409911', '9007199254.740992', '1e21', '9'.repeat(400)]) {
    assert.equal(parseMicroUp(large), 2 ** 53, large);
  }
  for (const bad of [
    '',
    ' ',
    '-1',
    '-0',
    '+1',
    '.5',
    '5.',
    '1e',
    'e5',
    '0x10',
    '1_0',
    '1,5',
    '١',
  ]) {
    assert.equal(parseMicroUp(bad), -1, bad);
  }
  for (const bad of ['NaN', 'Infinity', '1 ', ' 1', '1\n', '1e99999', '1.2.3']) {
    assert.equal(parseMicroUp(bad), -1, bad);
  }
});

test('an average price is the exact quotient to the nearest millionth, halves up', () => {
  assert.equal(ratioMicro(193_430_000, 420_500_000), 460_000);
  assert.equal(ratioMicro(1, 3), 333_333);
  assert.equal(ratioMicro(2, 3), 666_667);
  assert.equal(ratioMicro(1, 2_000_000), 1);
  assert.equal(ratioMicro(1, 2_000_001), 0);
  assert.equal(ratioMicro(0, 5), 0);
  assert.equal(ratioMicro(5, 5), 1_000_000);
  withSeed((random) => {
    for (let i = 0; i < 20_000; i++) {
      const whole = anyAmount(random) || 1;
      const part = Math.floor((whole / 1_000) * random.below(1_000)) + (whole === 1 ? 0 : 1);
      if (part > whole) continue;
      const doubled = 2n * BigInt(part) * 1_000_000n + BigInt(whole);
      assert.equal(ratioMicro(part, whole), Number(doubled / (2n * BigInt(whole))));
    }
  });
});

/** An amount of any magnitude, often with few significant digits, sometimes at the very end. */
function anyAmount(random: Random): number {
  if (random.chance(2)) return MAX - random.below(5);
  const scale = 10 ** random.below(16);
  const amount = Math.floor((random.next() / 2 ** 32) * 10 * scale);
  const rounded = random.chance(50) ? amount : amount - (amount % 10 ** random.below(8));
  return Math.min(MAX, rounded);
}
