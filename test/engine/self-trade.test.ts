/** Orders of one account that meet, under each policy (docs/protocol.md#self-trade). */
import test from 'node:test';
import { check } from './duel.ts';

test('an account may trade with itself by default', () => {
  check(`
    sell #1 5 @ 0.50 by 1     rests
    buy #2 5 @ 0.50 by 1      fills #1 5 @ 0.5
  `);
});

test('the account of an order is its maker wallet, for any signer', () => {
  check(`
    policy cancel-taker       done
    sell #1 5 @ 0.50 by 8/1   rests
    buy #2 5 @ 0.50 by 8/1    refused selfTrade
    buy #3 5 @ 0.50 by 9/1    fills #1 5 @ 0.5
  `);
});

test('a mirrored order of its own stops a taker like any other', () => {
  check(`
    policy cancel-taker       done
    buy #1 5 @ 0.40 No by 1   rests
    buy #2 5 @ 0.60 Yes by 1  refused selfTrade
    buy #3 5 @ 0.59 Yes by 1  rests
    sell #4 5 @ 0.60 No by 1  rests
    sell #5 5 @ 0.40 No by 1  refused selfTrade
  `);
});

test('cancel-taker: the taker ends at its own order, and the maker stays', () => {
  check(`
    policy cancel-taker       done
    sell #1 3 @ 0.50 by 2     rests
    sell #2 3 @ 0.51 by 1     rests
    sell #3 3 @ 0.52 by 3     rests
    buy #4 9 @ 0.55 by 1      fills #1 3 @ 0.5, cancels 6
    buy #5 9 @ 0.55 by 1      refused selfTrade
    buy #5 9 @ 0.50 by 1      rests
    book 1                    bids 9 @ 0.5; asks 3 @ 0.52, 3 @ 0.51
  `);
});

test('cancel-taker: a fill-and-kill ends at its own order', () => {
  check(`
    policy cancel-taker       done
    sell #1 3 @ 0.50 by 2     rests
    sell #2 3 @ 0.50 by 1     rests
    buy #3 5 @ 0.50 by 1 FAK  fills #1 3 @ 0.5, cancels 2
    buy #4 5 @ 0.50 by 1 FAK  refused selfTrade
  `);
});

test('a taker that is filled before its own order is affected by no policy', () => {
  for (const policy of ['cancel-taker', 'cancel-maker', 'cancel-both']) {
    check(`
      policy ${policy}          done
      sell #1 3 @ 0.50 by 2     rests
      sell #2 3 @ 0.51 by 1     rests
      buy #3 3 @ 0.55 by 1      fills #1 3 @ 0.5
      buy #4 3 @ 0.50 by 1      rests
      book 1                    bids 3 @ 0.5; asks 3 @ 0.51
    `);
  }
});

test('cancel-maker: its own orders are cancelled, and the taker trades on with the others', () => {
  check(`
    policy cancel-maker       done
    sell #1 3 @ 0.50 by 1     rests
    sell #2 3 @ 0.51 by 2     rests
    sell #3 3 @ 0.52 by 1     rests
    sell #4 3 @ 0.60 by 1     rests
    buy #5 9 @ 0.55 by 1      fills #2 3 @ 0.51, ends #1 selfTrade, ends #3 selfTrade, rests
    book 1                    bids 6 @ 0.55; asks 3 @ 0.6
  `);
});

test('cancel-maker: a limit order without others in its way cancels its own and rests', () => {
  check(`
    policy cancel-maker       done
    sell #1 3 @ 0.50 by 1     rests
    buy #2 3 @ 0.50 by 1 FAK  refused fakUnfilled
    buy #3 3 @ 0.50 by 1 FOK  refused fokUnfilled
    book 1                    bids none; asks 3 @ 0.5
    buy #4 3 @ 0.50 by 1      ends #1 selfTrade, rests
  `);
});

test('cancel-both: both are cancelled, and a taker without a fill is refused', () => {
  check(`
    policy cancel-both        done
    sell #1 3 @ 0.50 by 2     rests
    sell #2 3 @ 0.51 by 1     rests
    sell #3 3 @ 0.52 by 1     rests
    buy #4 9 @ 0.55 by 1      fills #1 3 @ 0.5, ends #2 selfTrade, cancels 6
    buy #5 9 @ 0.55 by 1      refused selfTrade, ends #3 selfTrade
    buy #5 9 @ 0.55 by 1      rests
  `);
});

test('a fill-or-kill counts orders of others only, and changes nothing unless they suffice', () => {
  check(`
    sell #1 3 @ 0.50 by 2     rests
    sell #2 3 @ 0.51 by 1     rests
    sell #3 3 @ 0.52 by 2     rests
    policy cancel-taker       done
    buy #4 4 @ 0.55 by 1 FOK  refused selfTrade
    policy cancel-both        done
    buy #5 4 @ 0.55 by 1 FOK  refused selfTrade
    policy cancel-maker       done
    buy #6 7 @ 0.55 by 1 FOK  refused fokUnfilled
    book 1                    bids none; asks 3 @ 0.52, 3 @ 0.51, 3 @ 0.5
    buy #7 4 @ 0.55 by 1 FOK  fills #1 3 @ 0.5, fills #3 1 @ 0.52, ends #2 selfTrade
    book 1                    bids none; asks 2 @ 0.52
  `);
});

test('post-only is refused before the owner of the crossing order is checked', () => {
  check(`
    policy cancel-both        done
    sell #1 3 @ 0.50 by 1     rests
    buy #2 3 @ 0.50 by 1 post-only   refused postOnlyCrossesAsk
    book 1                    bids none; asks 3 @ 0.5
  `);
});

test('the policy in force when an order arrives applies', () => {
  check(`
    policy cancel-taker       done
    sell #1 3 @ 0.50 by 1     rests
    buy #2 3 @ 0.50 by 1      refused selfTrade
    policy allow              done
    buy #2 3 @ 0.50 by 1      fills #1 3 @ 0.5
  `);
});
