/** Money: fees, rounding, what orders may pay at most, and the sums that must hold (GAPS 1.6, 12). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { check, Duel } from './duel.ts';
import { withSeed } from './random.ts';
import { BUSY, Stream } from './stream.ts';

test('a seller pays its fee in collateral, a buyer in shares, the maker none', () => {
  check(`
    change 1 fee 200          done
    buy #1 100 @ 0.50 fee 200   rests
    sell #2 100 @ 0.50 fee 200   fills #1 100 @ 0.5, gives 100, gets 49, fee 1
    sell #3 100 @ 0.50 fee 200   rests
    buy #4 100 @ 0.50 fee 200   fills #3 100 @ 0.5, gives 50, gets 98, fee 2
  `);
});

test('the fee follows the price of the fill, not the limit of the taker', () => {
  check(`
    change 1 fee 100          done
    sell #1 100 @ 0.25 fee 100   rests
    buy #2 100 @ 0.99 fee 100   fills #1 100 @ 0.25, gives 25, gets 99, fee 1
    buy #3 100 @ 0.80 fee 100   rests
    sell #4 100 @ 0.01 fee 100   fills #3 100 @ 0.8, gives 100, gets 79.8, fee 0.2
  `);
});

test('above one half the fee of a buyer shrinks with the other side of the price', () => {
  check(`
    change 1 fee 200          done
    sell #1 100 @ 0.80 fee 200   rests
    buy #2 100 @ 0.80 fee 200   fills #1 100 @ 0.8, gets 99.5, fee 0.5
  `);
});

test('a fee is rounded down at every fill', () => {
  check(`
    change 1 fee 1            done
    sell #1 0.0001 @ 0.50 fee 1   rests
    sell #2 0.0199 @ 0.50 fee 1   rests
    buy #3 0.02 @ 0.50 fee 1  fills #1 0.0001 @ 0.5, fills #2 0.0199 @ 0.5, fee 0.000001, gets 0.019999
  `);
});

test('in a mint the fee follows the price of the token that the taker buys', () => {
  check(`
    change 1 fee 100          done
    buy #1 100 @ 0.75 No fee 100   rests
    buy #2 100 @ 0.25 Yes fee 100   mints #1 100 @ 0.25, gives 25, gets 99, fee 1
  `);
});

test('in a merge the fee is collateral', () => {
  check(`
    change 1 fee 100          done
    sell #1 100 @ 0.75 No fee 100   rests
    sell #2 100 @ 0.25 Yes fee 100   merges #1 100 @ 0.25, gives 100, gets 24.75, fee 0.25
  `);
});

test('both sides of a trade use the same leg, rounded down', () => {
  check(
    `
    sell #1 0.0001 @ 0.33     rests
    buy #2 0.00001 for 0.0000033 FAK   fills #1 0.00001 @ 0.33, legs 0.000003 / 0.000003
    rounding 1                0
  `.replace('0.0000033', '0.000004'),
  );
});

test('in a mint the maker pays its part rounded down and the taker the rest', () => {
  check(`
    change 1 grid 10
    buy #1 0.00001 @ 0.3 No   rests
    buy #2 0.000001 for 0.000001 Yes FAK   refused tick
    buy #3 0.000005 for 0.000004 Yes FAK   mints #1 0.000005 @ 0.7, legs 0.000004 / 0.000001
    rounding 1                0
  `);
});

test('a buyer never pays more than it signed for: what is missing is counted as rounding', () => {
  check(`
    change 1 grid 10
    buy #1 0.000005 @ 0.4 No by 1   rests
    buy #2 0.000005 @ 0.4 No by 2   rests
    buy #3 0.00001 @ 0.6 Yes  mints #1 0.000005 @ 0.6, mints #2 0.000005 @ 0.6, gives 0.000006
    rounding 1                0
    buy #4 0.000003 for 0.000001 No FAK   refused tick
    buy #10 0.00001 @ 0.1 No  rests
    buy #11 0.000005 @ 0.8 No rests
    buy #12 0.000015 @ 0.2 Yes   mints #11 0.000005 @ 0.2, rests
    sell #13 0.00001 @ 0.2 Yes   fills #12 0.00001 @ 0.2
  `);
});

test('a buyer that took by mints pays less as a maker, down to its makerAmount', () => {
  // Two fills of 1 micro-share at 0.5: each costs the taker a whole micro-unit, and it has one.
  check(`
    change 1 grid 10
    buy #1 0.000001 for 0.000001 No   refused tick
    buy #2 0.000002 @ 0.5 No by 2   rests
    buy #3 0.000002 @ 0.5 No by 3   rests
    sell #4 0.000001 for 0.000001 No FAK   refused tick
    buy #5 0.000004 @ 0.5 Yes   mints #2 0.000002 @ 0.5, mints #3 0.000002 @ 0.5, gives 0.000002
    rounding 1                0
  `);
  check(
    `
    change 1 grid 1000
    buy #1 0.001 @ 0.333 No   rests
    sell #2 0.000501 for 0.000168 No FAK   fills #1 0.000501 @ 0.333
    buy #3 0.0015 for 0.001002 Yes   mints #1 0.000499 @ 0.667, rests
  `.replace('buy #3 0.0015 for 0.001002', 'buy #3 0.002 for 0.001334'),
  );
});

test('an order of odd fills ends within what it signed, and the market knows what it lacks', () => {
  const duel = check(`
    change 1 grid 1000
    buy #1 0.000001 for 0.000001 No FAK   refused tick
    buy #2 0.001 @ 0.5 No     rests
    sell #3 0.000999 for 0.000499 No FAK   fills #2 0.000999 @ 0.5
    buy #4 0.001 @ 0.5 No     rests
    sell #5 0.000999 for 0.000499 No FAK   fills #2 0.000001 @ 0.5, fills #4 0.000998 @ 0.5
    buy #6 0.001 @ 0.5 Yes    mints #4 0.000002 @ 0.5, rests
  `);
  assert(duel.driver.rounding(1) <= 0);
});

test('shares and collateral are conserved on a stream of odd sizes and fees', () => {
  withSeed((random) => {
    const duel = new Duel();
    const odd = [
      [2, { grid: 1_000, baseFeeBps: 777 }],
      [2, { grid: 10 }],
      [3, { grid: 10_000, baseFeeBps: 1 }],
    ] as const;
    const stream = new Stream(random, { ...BUSY, accounts: 25, faults: 0 }, odd);
    for (let i = 0; i < 15_000; i++) duel.step(stream.next());
    duel.checkConservation();
    assert(duel.naive.fills > 1_000, 'there were trades to conserve');
  });
});
