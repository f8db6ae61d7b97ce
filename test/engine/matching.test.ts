/** Trading sessions; each line runs on the engine and on the naive exchange (script.ts). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { check } from './duel.ts';
import { ScriptReader } from './script.ts';

test('a taker walks the ladder from the best price outwards, at the prices of the makers', () => {
  check(`
    sell #1 5 @ 0.61          rests
    sell #2 5 @ 0.60          rests
    buy #3 8 @ 0.61           fills #2 5 @ 0.6, fills #1 3 @ 0.61, gives 4.83, gets 8
    book 1                    bids none; asks 2 @ 0.61
    last 1                    0.61 BUY
  `);
});

test('equal prices trade in order of arrival, and a partial fill keeps its place', () => {
  check(`
    buy #1 5 @ 0.40           rests
    buy #2 5 @ 0.40           rests
    sell #3 2 @ 0.40          fills #1 2 @ 0.4
    sell #4 4 @ 0.40          fills #1 3 @ 0.4, fills #2 1 @ 0.4
    book 1                    bids 4 @ 0.4; asks none
  `);
});

test('a cancelled order loses its place and a new one goes to the end', () => {
  check(`
    sell #1 1 @ 0.50          rests
    sell #2 1 @ 0.50          rests
    sell #3 1 @ 0.50          rests
    cancel #2 by 2            ends #2 canceled
    sell #4 1 @ 0.50          rests
    buy #5 3 @ 0.50           fills #1 1 @ 0.5, fills #3 1 @ 0.5, fills #4 1 @ 0.5
  `);
});

test('price improvement belongs to the taker on both sides', () => {
  check(`
    sell #1 10 @ 0.30         rests
    buy #2 10 @ 0.70          fills #1 10 @ 0.3, gives 3, gets 10
    buy #3 10 @ 0.70          rests
    sell #4 10 @ 0.30         fills #3 10 @ 0.7, gives 10, gets 7
  `);
});

test('the rest of a good-till-cancelled order rests at its own limit', () => {
  check(`
    sell #1 3 @ 0.50          rests
    buy #2 10 @ 0.55          fills #1 3 @ 0.5, rests, gives 1.5, gets 3
    book 1                    bids 7 @ 0.55; asks none
    sell #3 7 @ 0.55          fills #2 7 @ 0.55
    book 1                    bids none; asks none
  `);
});

test('orders that do not match rest on both sides, best level last', () => {
  check(`
    buy #1 1 @ 0.40           rests
    buy #2 2 @ 0.45           rests
    buy #3 3 @ 0.45           rests
    sell #4 4 @ 0.60          rests
    sell #5 5 @ 0.55          rests
    book 1                    bids 1 @ 0.4, 5 @ 0.45; asks 4 @ 0.6, 5 @ 0.55
    book 2                    bids 4 @ 0.4, 5 @ 0.45; asks 1 @ 0.6, 5 @ 0.55
    last 1                    none
  `);
});

test('a good-till-date order is gone in the second of its expiration, before anything else', () => {
  check(`
    sell #1 5 @ 0.50 GTD until 1010   rests
    at 1009.999               done
    buy #2 1 @ 0.50           fills #1 1 @ 0.5
    at 1010                   ends #1 expired
    buy #3 1 @ 0.50           rests
    sell #4 5 @ 0.60 GTD until 1010   refused expirationPast
    sell #5 5 @ 0.60 GTD until 1011   rests
    sell #6 5 @ 0.60 GTD      refused expirationRequired
    sell #7 5 @ 0.60 until 1020   refused expirationInvalid
    sell #8 5 @ 0.60 FOK until 1020   refused expirationInvalid
  `);
});

test('orders that expire together leave together, others stay', () => {
  check(`
    buy #1 1 @ 0.10 GTD until 1005   rests
    buy #2 1 @ 0.20 GTD until 1003   rests
    buy #3 1 @ 0.30 GTD until 1005   rests
    buy #4 1 @ 0.40           rests
    cancel #3 by 3            ends #3 canceled
    at 1100                   ends #1 expired, ends #2 expired
    book 1                    bids 1 @ 0.4; asks none
  `);
});

test('fill-or-kill takes the whole quantity from several levels or nothing at all', () => {
  check(`
    sell #1 5 @ 0.50          rests
    sell #2 5 @ 0.52          rests
    buy #3 11 @ 0.60 FOK      refused fokUnfilled
    buy #4 10 @ 0.51 FOK      refused fokUnfilled
    book 1                    bids none; asks 5 @ 0.52, 5 @ 0.5
    buy #5 10 @ 0.52 FOK      fills #1 5 @ 0.5, fills #2 5 @ 0.52, gives 5.1, gets 10
    buy #6 1 @ 0.99 FOK       refused fokUnfilled
  `);
});

test('a killed order may be sent again, an accepted one never', () => {
  check(`
    buy #1 5 @ 0.50 FOK       refused fokUnfilled
    sell #2 5 @ 0.50          rests
    buy #1 5 @ 0.50 FOK       fills #2 5 @ 0.5
    buy #1 5 @ 0.50 FOK       refused duplicate
    sell #2 5 @ 0.50          refused duplicate
    buy #3 5 @ 0.50           rests
    buy #3 5 @ 0.50           refused duplicate
    cancel #3 by 3            ends #3 canceled
    buy #3 5 @ 0.50           refused duplicate
    buy #4 1 @ 0.10 known     refused duplicate
  `);
});

test('fill-and-kill takes the available size, kills the rest, and is refused when there is none', () => {
  check(`
    buy #1 5 @ 0.50 FAK       refused fakUnfilled
    sell #2 3 @ 0.50          rests
    buy #1 5 @ 0.50 FAK       fills #2 3 @ 0.5, kills 2, gives 1.5, gets 3
    book 1                    bids none; asks none
    buy #1 5 @ 0.50 FAK       refused duplicate
    sell #3 3 @ 0.60          rests
    buy #4 5 @ 0.59 FAK       refused fakUnfilled
  `);
});

test('post-only never takes: it rests one tick away, and is refused at the price', () => {
  check(`
    sell #1 5 @ 0.50          rests
    buy #2 5 @ 0.50 post-only   refused postOnlyCrossesAsk
    buy #2 5 @ 0.49 post-only   rests
    sell #3 5 @ 0.49 post-only  refused postOnlyCrossesBid
    buy #4 5 @ 0.51 No post-only   refused postOnlyCrossesAsk
    buy #5 5 @ 0.49 FOK post-only   refused postOnlyType
    buy #6 5 @ 0.49 FAK post-only   refused postOnlyType
    sell #7 1 @ 0.70 GTD until 2000 post-only   rests
  `);
});

test('two buyers of a pair mint: the maker pays its price, the taker the rest of a unit', () => {
  check(`
    buy #1 50 @ 0.40 No       rests
    book 1                    bids none; asks 50 @ 0.6
    buy #2 50 @ 0.65          mints #1 50 @ 0.6, gives 30, gets 50, legs 30 / 20
    last 1                    0.6 BUY
    last 2                    0.4 BUY
  `);
});

test('two sellers of a pair merge: each gets its side of a unit', () => {
  check(`
    sell #1 50 @ 0.40 No      rests
    book 1                    bids 50 @ 0.6; asks none
    sell #2 20 @ 0.55         merges #1 20 @ 0.6, gives 20, gets 12, legs 12 / 8
    last 1                    0.6 SELL
    last 2                    0.4 SELL
    book 2                    bids none; asks 30 @ 0.4
  `);
});

test('an ordinary trade moves the last price of its own token alone', () => {
  check(`
    sell #1 5 @ 0.30 No       rests
    buy #2 5 @ 0.30 No        fills #1 5 @ 0.3
    last 2                    0.3 BUY
    last 1                    none
  `);
});

test('real and mirrored orders of one price share one queue', () => {
  check(`
    sell #1 5 @ 0.60 Yes      rests
    buy #2 5 @ 0.40 No        rests
    sell #3 5 @ 0.60 Yes      rests
    buy #4 12 @ 0.60 Yes      fills #1 5 @ 0.6, mints #2 5 @ 0.6, fills #3 2 @ 0.6
    buy #5 3 @ 0.60 Yes       fills #3 3 @ 0.6
  `);
});

test('a taker of the second token walks the mirror from its own best price', () => {
  check(`
    buy #1 5 @ 0.62 Yes       rests
    sell #2 5 @ 0.39 No       rests
    buy #3 5 @ 0.60 Yes       rests
    buy #4 12 @ 0.41 No FAK   mints #1 5 @ 0.38, fills #2 5 @ 0.39, mints #3 2 @ 0.4
    book 2                    bids none; asks 3 @ 0.4
  `);
});

test('the tokens of a market with three outcomes do not mirror one another', () => {
  check(`
    at 1000
    market 1 outcomes 3
    buy #1 5 @ 0.40 token 1   rests
    buy #2 5 @ 0.70 token 2   rests
    sell #3 5 @ 0.30 token 3  rests
    book 1                    bids 5 @ 0.4; asks none
    book 2                    bids 5 @ 0.7; asks none
    book 3                    bids none; asks 5 @ 0.3
    sell #4 5 @ 0.40 token 1  fills #1 5 @ 0.4
    last 1                    0.4 SELL
    last 2                    none
  `);
});

test('orders of different markets do not match', () => {
  check(`
    market 2 grid 1000        done
    sell #1 5 @ 0.50 token 1  rests
    buy #2 5 @ 0.50 token 3   rests
    buy #3 5 @ 0.505 token 3  rests
    book 4                    bids none; asks 5 @ 0.5, 5 @ 0.495
  `);
});

test('only its owner cancels an order, and only while it is open', () => {
  check(`
    buy #1 5 @ 0.40 by 1      rests
    cancel #1 by 2            refused orderNotFound
    cancel #9 by 1            refused orderNotFound
    cancel #1 by 1            ends #1 canceled
    cancel #1 by 1            refused orderNotFound
    buy #2 5 @ 0.40 by 1      rests
    sell #3 5 @ 0.40 by 2     fills #2 5 @ 0.4
    cancel #2 by 1            refused orderNotFound
  `);
});

test('only the signer owns an order: a wallet does not cancel orders of its signer', () => {
  check(`
    buy #1 5 @ 0.40 by 7/1    rests
    cancel #1 by 7            refused orderNotFound
    cancel-all by 7           done
    cancel-all by 1           ends #1 canceled
  `);
});

test('an owner cancels everything, one market, or one token', () => {
  check(`
    market 2                  done
    buy #1 1 @ 0.40 Yes by 1  rests
    buy #2 1 @ 0.40 No by 1   rests
    buy #3 1 @ 0.40 token 3 by 1   rests
    buy #4 1 @ 0.40 token 3 by 2   rests
    cancel-all by 9           done
    cancel-all by 1 token 2   ends #2 canceled
    cancel-all by 1 market 2  ends #3 canceled
    cancel-all by 1 market 2 token 1   done
    buy #5 1 @ 0.40 token 4 by 1   rests
    cancel-all by 1           ends #1 canceled, ends #5 canceled
    book 3                    bids 1 @ 0.4; asks none
  `);
});

test('a bounded cancel visits the newest orders of its owner first', () => {
  check(`
    market 2                  done
    buy #1 1 @ 0.40 by 1      rests
    buy #2 1 @ 0.41 by 1      rests
    buy #3 1 @ 0.40 token 3 by 1   rests
    cancel-all by 1 market 1 limit 1   done
    cancel-all by 1 market 1 limit 2   ends #2 canceled
    cancel-all by 1 limit 1   ends #3 canceled
    cancel-all by 1 limit 9   ends #1 canceled
  `);
});

test('a deep level is swept in one command', () => {
  const makers = Array.from({ length: 2_000 }, (_, i) => `sell #${i + 1} 1 @ 0.50`);
  const duel = check(makers.join('\n'));
  const { fills } = duel.step(new ScriptReader().read('buy #9000 1999.5 @ 0.50 FOK'));
  assert.deepEqual(
    fills.map((fill) => fill.maker),
    makers.map((_, i) => i + 1),
    'every maker in its turn',
  );
  duel.compareAll();
  assert.deepEqual(duel.driver.book(1).asks, [[5_000, 500_000]]);
});
