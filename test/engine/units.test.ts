import assert from 'node:assert/strict';
import test from 'node:test';
import { exactTicks, nearestTicks } from '../../engine/tables/prices.ts';
import {
  collateralOf,
  feeOf,
  isSchedule,
  isTickGrid,
  largestScheduleFee,
  type MicroCollateral,
  type MicroShares,
  mulDivFloor,
  pipsOf,
  scheduleFeeOf,
  TICK_GRIDS,
  type Ticks,
  type TicksPerUnit,
} from '../../engine/tables/units.ts';
import { type Random, withSeed } from '../common/random.ts';
import { ticksOf } from './naive-book.ts';
import type { OrderLine, SideName, TypeName } from './naive-types.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const ROUNDS = 20_000;

const asShares = (n: number): MicroShares => n as MicroShares;
const asCollateral = (n: number): MicroCollateral => n as MicroCollateral;
const asTicks = (n: number): Ticks => n as Ticks;

/** Sizes from 1 to 2^53 - 1, each number of digits equally likely, and both ends. */
function anyAmount(random: Random): number {
  if (random.chance(5)) return random.pick([1, 2, 999_999, 1_000_000, MAX - 1, MAX]);
  const bits = random.between(1, 53);
  const value = random.next() * 2 ** 21 + (random.next() >>> 11);
  return Math.max(1, Math.floor(value / 2 ** (53 - bits)));
}

test('a product over a quotient is exact for every amount', () => {
  withSeed((random) => {
    for (let i = 0; i < ROUNDS; i++) {
      const quantity = random.chance(3) ? 0 : anyAmount(random);
      const denominator = random.pick([1, 3, 7, 10, 9_999, 10_000, 99_990_000]);
      const numerator = random.between(0, denominator);
      const expected = (BigInt(quantity) * BigInt(numerator)) / BigInt(denominator);
      const actual = mulDivFloor(quantity, numerator, denominator);
      assert.equal(BigInt(actual), expected, `${quantity} x ${numerator} / ${denominator}`);
    }
  });
});

test('the cost of shares is rounded down, at every price of every grid', () => {
  withSeed((random) => {
    for (let i = 0; i < ROUNDS; i++) {
      const grid = random.pick(TICK_GRIDS);
      const ticks = random.between(1, grid - 1);
      const shares = anyAmount(random);
      const expected = (BigInt(shares) * BigInt(ticks)) / BigInt(grid);
      assert.equal(BigInt(collateralOf(asShares(shares), asTicks(ticks), grid)), expected);
    }
  });
});

test('a fee follows the formula, rounded down once', () => {
  withSeed((random) => {
    for (let i = 0; i < ROUNDS; i++) {
      const grid = random.pick(TICK_GRIDS);
      const ticks = random.between(1, grid - 1);
      const shares = anyAmount(random);
      const bps = random.below(1_001);
      const isBuy = random.chance(50);
      const rate = BigInt(bps) * BigInt(Math.min(ticks, grid - ticks)) * BigInt(shares);
      const expected = rate / (10_000n * BigInt(isBuy ? ticks : grid));
      assert.equal(BigInt(feeOf(isBuy, asShares(shares), asTicks(ticks), grid, bps)), expected);
    }
  });
  // docs/protocol.md#fees: 200 bps, 100 shares at one half.
  assert.equal(feeOf(true, asShares(100_000_000), asTicks(50), 100, 200), 2_000_000);
  assert.equal(feeOf(false, asShares(100_000_000), asTicks(50), 100, 200), 1_000_000);
  assert.equal(feeOf(true, asShares(MAX), asTicks(1), 10, 0), 0);
});

test('a fee of a schedule follows the formula, rounded down once to 0.00001', () => {
  withSeed((random) => {
    for (let i = 0; i < ROUNDS; i++) {
      const grid = random.pick(TICK_GRIDS);
      const ticks = random.between(1, grid - 1);
      const shares = anyAmount(random);
      const rate = random.pick([0, 1, 70_000, 999_999, 1_000_000, random.below(1_000_000)]);
      const exponent = random.below(5);
      const spread = BigInt(ticks) * BigInt(grid - ticks);
      const paid = BigInt(shares) * BigInt(rate) * spread ** BigInt(exponent);
      const parts = 10_000_000n * (BigInt(grid) * BigInt(grid)) ** BigInt(exponent);
      const fee = scheduleFeeOf(asShares(shares), asTicks(ticks), grid, rate, exponent);
      assert.equal(BigInt(fee), (paid / parts) * 10n);
      if (isSchedule(grid, rate, exponent, 0)) {
        assert(fee <= collateralOf(asShares(shares), asTicks(ticks), grid), 'a sale can pay it');
      }
    }
  });
  // A live row: 22.84 shares at 0.52 and a rate of 0.05 cost 0.28504 more.
  assert.equal(scheduleFeeOf(asShares(22_840_000), asTicks(52), 100, 50_000, 1), 285_040);
  assert.equal(scheduleFeeOf(asShares(MAX), asTicks(1), 10, 0, 4), 0);
});

test('the largest fee of a purchase is that of its dearest price up to the limit', () => {
  withSeed((random) => {
    for (let i = 0; i < 300; i++) {
      const grid = random.pick(TICK_GRIDS);
      const limit = random.between(1, grid - 1);
      const shares = asShares(anyAmount(random));
      const [rate, exponent] = [random.below(1_000_001), random.below(5)];
      let largest = 0;
      for (let ticks = 1; ticks <= limit; ticks++) {
        const fee = scheduleFeeOf(shares, asTicks(ticks), grid, rate, exponent);
        largest = Math.max(largest, fee);
      }
      assert.equal(largestScheduleFee(shares, asTicks(limit), grid, rate, exponent), largest);
    }
  });
});

function lineOf(type: TypeName, side: SideName, shares: number, collateral: number): OrderLine {
  return {
    kind: 'order',
    id: 1,
    token: 1,
    side,
    type,
    postOnly: false,
    shares: BigInt(shares),
    collateral: BigInt(collateral),
    expiration: 0,
    feeRateBps: 0,
    maker: 1,
    signer: 1,
    signatureType: 0,
    faults: [],
  };
}

function amountsNear(random: Random, grid: number): { shares: number; collateral: number } {
  const shares = random.chance(30) ? random.between(1, 2_000_000) : anyAmount(random);
  if (random.chance(20)) return { shares, collateral: anyAmount(random) };
  const ticks = BigInt(random.between(0, grid));
  const slack = BigInt(random.between(-3, 3)) * (random.chance(50) ? 1n : BigInt(shares) / 4_000n);
  const collateral = Number((BigInt(shares) * ticks) / BigInt(grid) + slack);
  return { shares, collateral: Math.min(Math.max(collateral, 1), MAX) };
}

test('the limit price of every pair of amounts is that of the reference, on both sides', () => {
  withSeed((random) => {
    const seen = { exact: 0, nearest: 0, refused: 0 };
    for (let i = 0; i < ROUNDS; i++) {
      const grid = random.pick(TICK_GRIDS);
      const { shares, collateral } = amountsNear(random, grid);
      const side: SideName = random.chance(50) ? 'BUY' : 'SELL';
      const text = `${side} ${shares} for ${collateral} on ${grid}`;
      const exact = exactTicks(asCollateral(collateral), asShares(shares), grid);
      assert.equal(exact, ticksOf(lineOf('GTC', side, shares, collateral), grid), text);
      const nearest = nearestTicks(
        side === 'BUY',
        asCollateral(collateral),
        asShares(shares),
        grid,
      );
      assert.equal(nearest, ticksOf(lineOf('FOK', side, shares, collateral), grid), text);
      if (exact !== 0) assert.equal(nearest, exact, `${text}: what is exact is nearest`);
      seen[exact !== 0 ? 'exact' : nearest !== 0 ? 'nearest' : 'refused'] += 1;
    }
    for (const count of Object.values(seen)) assert(count > 100, JSON.stringify(seen));
  });
});

test('amounts of clients that round are on their tick', () => {
  assert.equal(exactTicks(asCollateral(11_782_400), asShares(21_040_000), 100), 56);
  assert.equal(nearestTicks(true, asCollateral(100_000_000), asShares(294_117_600), 100), 34);
  assert.equal(
    exactTicks(asCollateral(100_000_000), asShares(294_117_600), 100),
    0,
    'a resting order has to be exact',
  );
});

test('market orders of every tick and two decimals pass the rule of two per cent', () => {
  withSeed((random) => {
    for (let i = 0; i < ROUNDS; i++) {
      const grid = random.pick(TICK_GRIDS);
      // As many decimals as the tick and two more, which is the length of its text.
      const step = 10 ** (6 - String(1 / grid).length);
      const ticks = random.between(1, grid - 1);
      const cents = random.between(100, 10_000_000) * 10_000;
      // Two-step rounding ends at a multiple of the step: 3, 4, 5 or 6 decimals.
      const round = (value: number): number => Math.round(value / step) * step;
      const forBuy = round((cents * grid) / ticks);
      if (forBuy >= 1_000_000)
        assert.equal(nearestTicks(true, asCollateral(cents), asShares(forBuy), grid) > 0, true);
      const forSell = round((cents * ticks) / grid);
      assert.equal(
        nearestTicks(false, asCollateral(forSell), asShares(cents), grid) > 0,
        true,
        `${cents} @ ${ticks}`,
      );
    }
  });
});

test('prices of zero and of a whole unit are on no tick', () => {
  for (const grid of TICK_GRIDS) {
    assert.equal(exactTicks(asCollateral(5), asShares(5), grid), 0);
    assert.equal(exactTicks(asCollateral(6), asShares(5), grid), 0);
    assert.equal(nearestTicks(true, asCollateral(6_000_000), asShares(5_000_000), grid), 0);
    assert.equal(exactTicks(asCollateral(1), asShares(MAX), grid), 0);
    assert.equal(exactTicks(asCollateral(MAX - 1), asShares(MAX), grid), 0);
  }
});

test('the six grids are grids, and every tick is a whole number of pips', () => {
  for (const grid of TICK_GRIDS) {
    assert(isTickGrid(grid));
    assert.equal(pipsOf(asTicks(1), grid) * grid, 10_000);
  }
  for (const other of [0, 1, 2, -10, 100.5, 20, 500, 100_000, Number.NaN])
    assert(!isTickGrid(other));
  assert.throws(() => pipsOf(asTicks(1), 3 as number as TicksPerUnit));
});
