/**
 * Markets whose terms change while orders rest: tick, minimum, fee, pause, end
 * (docs/protocol.md#market-terms).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { TICK_GRIDS } from '../../engine/tables/units.ts';
import { check, Duel } from './duel.ts';
import type { OrderLine } from './naive-types.ts';

test('a finer tick keeps every order, its price and its queue position', () => {
  check(`
    sell #1 5 @ 0.60          rests
    sell #2 5 @ 0.60          rests
    buy #3 5 @ 0.35 No        rests
    change 1 grid 1000        done
    book 1                    bids none; asks 5 @ 0.65, 10 @ 0.6
    buy #4 6 @ 0.605          fills #1 5 @ 0.6, fills #2 1 @ 0.6
    sell #5 1 @ 0.599         rests
    book 2                    bids 5 @ 0.35, 4 @ 0.4, 1 @ 0.401; asks none
  `);
});

test('a coarser tick cancels orders off the new grid and keeps the queues of the rest', () => {
  check(`
    sell #1 5 @ 0.61          rests
    sell #2 5 @ 0.70          rests
    buy #3 5 @ 0.30 No        rests
    buy #4 5 @ 0.31 No        rests
    change 1 grid 10          ends #1 tickChange, ends #4 tickChange
    book 1                    bids none; asks 10 @ 0.7
    buy #5 6 @ 0.7            fills #2 5 @ 0.7, mints #3 1 @ 0.7
  `);
});

test('a tick may go up and down again and the best prices go with it', () => {
  check(`
    buy #1 5 @ 0.4 Yes        rests
    sell #2 5 @ 0.6 Yes       rests
    change 1 grid 10000       done
    buy #3 5 @ 0.4001         rests
    sell #4 5 @ 0.5999        rests
    change 1 grid 1000        ends #3 tickChange, ends #4 tickChange
    buy #5 5 @ 0.6            fills #2 5 @ 0.6
    change 1 grid 10          done
    sell #6 5 @ 0.4           fills #1 5 @ 0.4
    book 1                    bids none; asks none
  `);
});

test('a finer tick that is no multiple of the old one cancels orders off the new grid', () => {
  check(`
    change 1 grid 400         done
    sell #1 5 @ 0.6025        rests
    sell #2 5 @ 0.605         rests
    buy #3 5 @ 0.4 Yes        rests
    buy #4 5 @ 0.3975 No      rests
    buy #5 5 @ 0.3951         refused tick
    change 1 grid 1000        ends #1 tickChange, ends #4 tickChange
    book 1                    bids 5 @ 0.4; asks 5 @ 0.605
    sell #6 5 @ 0.601         rests
    change 1 grid 200         ends #6 tickChange
    buy #7 5 @ 0.605          fills #2 5 @ 0.605
  `);
});

test('every tick may become every other one, and orders on both keep their queue positions', () => {
  for (const from of TICK_GRIDS) {
    for (const to of TICK_GRIDS) {
      const duel = new Duel();
      const terms = { baseFeeBps: 0, minSize: 0n, tradable: true, ended: false, negRisk: false };
      duel.step({ kind: 'at', time: 1_000_000 });
      duel.step({ kind: 'market', condition: 1, outcomes: 2, grid: from, ...terms });
      let id = 0;
      const place = (grid: number, ticks: number, side: OrderLine['side'], token: number): void => {
        id += 1;
        const [shares, collateral] = [BigInt(grid) * 10_000n, BigInt(ticks) * 10_000n];
        const who = { maker: id % 5, signer: id % 5, signatureType: 0, feeRateBps: 0 };
        const kind = { kind: 'order', type: 'GTC', postOnly: false, faults: [] } as const;
        duel.step({ ...kind, id, token, side, shares, collateral, expiration: 0, ...who });
      };
      const step = Math.max(1, from / 100);
      for (let ticks = 1; ticks < from; ticks += step) {
        const isBid = ticks < from / 2;
        place(from, ticks, isBid ? 'BUY' : 'SELL', 1);
        place(from, from - ticks, isBid ? 'SELL' : 'BUY', 2);
      }
      duel.step({ kind: 'change', market: 1, grid: to, ...terms });
      duel.compareAll();
      // What stayed can be met at its price, on both sides.
      for (let i = 0; i < 8; i++)
        place(to, i % 2 === 0 ? to - 1 : 1, i % 2 === 0 ? 'BUY' : 'SELL', 1);
      duel.step({ kind: 'change', market: 1, grid: from, ...terms });
      duel.compareAll();
      duel.checkConservation();
    }
  }
});

test('orders are checked with the tick in force', () => {
  check(`
    buy #1 5 @ 0.405          refused tick
    change 1 grid 1000        done
    buy #1 5 @ 0.405          rests
    change 1 grid 100         ends #1 tickChange
    buy #1 5 @ 0.405          refused duplicate
  `);
});

test('every book of a market with three outcomes changes its tick', () => {
  check(`
    at 1000
    market 1 outcomes 3 grid 1000
    buy #1 5 @ 0.405 token 1  rests
    sell #2 5 @ 0.61 token 2  rests
    sell #3 5 @ 0.615 token 3   rests
    change 1 grid 100         ends #1 tickChange, ends #3 tickChange
    sell #4 1 @ 0.61 token 2  rests
    book 2                    bids none; asks 6 @ 0.61
  `);
});

test('an ended market loses its orders once, and opens empty', () => {
  check(`
    buy #1 5 @ 0.40           rests
    sell #2 5 @ 0.70 No       rests
    change 1 ended            ends #1 marketEnded, ends #2 marketEnded
    change 1 ended            done
    buy #3 5 @ 0.40           refused marketNotReady
    book 1                    bids none; asks none
    change 1 open             done
    buy #3 5 @ 0.40           rests
  `);
});

test('a paused market keeps its orders, refuses new ones, and lets owners cancel', () => {
  check(`
    buy #1 5 @ 0.40 by 1      rests
    buy #2 5 @ 0.40 by 2      rests
    change 1 paused           done
    sell #3 5 @ 0.40          refused marketNotReady
    cancel #1 by 1            ends #1 canceled
    book 1                    bids 5 @ 0.4; asks none
    change 1 open             done
    sell #3 5 @ 0.40          fills #2 5 @ 0.4
  `);
});

test('orders expire in a paused market', () => {
  check(`
    buy #1 5 @ 0.40 GTD until 1010   rests
    change 1 paused           done
    at 1010                   ends #1 expired
  `);
});

test('minimum size and fee apply from the change on and leave resting orders unchanged', () => {
  check(`
    sell #1 1 @ 0.50          rests
    change 1 min 5 fee 100    done
    buy #2 1 @ 0.50 fee 100   refused sizeBelowMinimum
    buy #3 5 @ 0.50 fee 99    refused feeBelowBase
    buy #4 5 @ 0.50 fee 100   fills #1 1 @ 0.5, rests, gets 0.99, fee 0.01
    sell #5 4 @ 0.50 fee 100  refused sizeBelowMinimum
    sell #6 5 @ 0.50 fee 100 FAK   fills #4 4 @ 0.5, kills 1, gets 1.98
  `);
});

test('neg-risk never changes, and unknown or registered markets are refused', () => {
  const duel = check(`
    change 1 neg-risk         refused marketRefused
    change 7 grid 100         refused marketRefused
    market 1                  refused marketRefused
  `);
  const before = stateHash(duel.driver.t);
  const terms = { grid: 10, baseFeeBps: 0, minSize: 0n, tradable: true, ended: false };
  const change = { kind: 'change', market: 1, negRisk: true, ...terms } as const;
  assert.equal(duel.step(change).reason, RejectReason.marketRefused);
  assert.equal(stateHash(duel.driver.t), before, 'and nothing of the change is taken');
});
