/**
 * Money: fees, rounding, limits of what an order pays, and sums that must hold
 * (docs/protocol.md#settlement).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { rounds, withSeed } from '../common/random.ts';
import { check, Duel } from './duel.ts';
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
    change 1 grid 10          done
    buy #1 0.00001 @ 0.3 No   rests
    buy #3 0.000005 for 0.000004 Yes FAK   mints #1 0.000005 @ 0.7, legs 0.000004 / 0.000001
    rounding 1                0
  `);
});

/**
 * Two buyers of No with one micro-share left each: the taker that mints with one pays a whole
 * micro-unit.
 */
const CRUMBS = `
  change 1 grid 10            done
  buy #1 0.000004 @ 0.5 No    rests
  sell #2 0.000003 for 0.000001 No FAK   fills #1 0.000003 @ 0.5, gets 0.000001
  buy #3 0.000005 @ 0.6 No    rests
  sell #4 0.000004 @ 0.5 No FAK   fills #3 0.000004 @ 0.6, gets 0.000002
  book 1                      bids none; asks 0.000001 @ 0.5, 0.000001 @ 0.4
`;

test('a taker never pays more than its signed amount, and the shortfall counts as rounding', () => {
  check(`
    ${CRUMBS}
    buy #5 0.000002 @ 0.5   mints #3 0.000001 @ 0.4, mints #1 0.000001 @ 0.5, gives 0.000001, legs 0.000001 / 0, legs 0 / 0
    rounding 1                -0.000001
  `);
});

test('the shortfall of a budget falls on its last fills, at most one micro-unit each', () => {
  check(`
    buy #1 0.0001 @ 0.42 No   rests
    sell #2 0.000099 for 0.000001 No FAK   fills #1 0.000099 @ 0.42
    buy #3 0.0001 @ 0.43 No   rests
    sell #4 0.000099 for 0.000001 No FAK   fills #3 0.000099 @ 0.43
    buy #5 0.0001 @ 0.44 No   rests
    sell #6 0.000099 for 0.000001 No FAK   fills #5 0.000099 @ 0.44
    buy #7 0.0002 @ 0.41 No   rests
    rounding 1                0
    buy #8 0.0001 @ 0.59   mints #5 0.000001 @ 0.56, mints #3 0.000001 @ 0.57, mints #1 0.000001 @ 0.58, mints #7 0.000097 @ 0.59, gives 0.000059
    rounding 1                -0.000002
  `);
});

test('a buyer that paid everything in mints pays nothing as a maker later, and its seller is paid', () => {
  check(`
    ${CRUMBS}
    buy #5 0.000004 @ 0.5   mints #3 0.000001 @ 0.4, mints #1 0.000001 @ 0.5, rests, gives 0.000002
    rounding 1                0
    sell #6 0.000002 @ 0.5    fills #5 0.000002 @ 0.5, gets 0.000001, legs 0.000001 / 0
    rounding 1                -0.000001
  `);
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
    for (let i = 0; i < rounds(15_000); i++) duel.step(stream.next());
    duel.checkConservation();
    assert(duel.naive.fills > 1_000, 'there were trades to conserve');
  });
});
