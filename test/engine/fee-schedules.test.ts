/** Fee schedules of markets, rule by rule (docs/protocol.md#fees). Every command also runs on the naive exchange. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { ledgerTotals, venueShares } from '../../engine/ledger/reads.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { fillRebate, fillRow } from '../../engine/reads.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { rounds, withSeed } from '../common/random.ts';
import { check } from './duel.ts';
import { replay } from './engine-driver.ts';
import { LedgerDuel, WITH_LEDGER } from './ledger-duel.ts';
import { LedgerScript, UNIT } from './ledger-script.ts';
import { LedgerStream } from './ledger-stream.ts';

const { feeScheduleInvalid, marketRefused, notEnough } = RejectReason;

function funded(): LedgerScript {
  const script = new LedgerScript();
  script.fund('deposit', 1, 1_000 * UNIT).fund('deposit', 2, 1_000 * UNIT);
  return script.fund('split', 1, 100 * UNIT).fund('split', 2, 100 * UNIT);
}

test('a taker pays the schedule in collateral whatever its side, and the maker nothing', () => {
  check(`
    fees 1 0.05 1 0.25         done
    sell #1 22.84 @ 0.52       rests
    buy #2 22.84 @ 0.52        fills #1 22.84 @ 0.52, gives 11.8768, gets 22.84, fee 0.28504
    buy #3 22.84 @ 0.52        rests
    sell #4 22.84 @ 0.52       fills #3 22.84 @ 0.52, gives 22.84, gets 11.8768, fee 0.28504
  `);
});

test('a fee below 0.00001 is none, and each fill is rounded down by itself', () => {
  check(`
    fees 1 0.05 1              done
    sell #1 0.0007 @ 0.50      rests
    sell #2 0.0008 @ 0.50      rests
    buy #3 0.0015 @ 0.50       fills #1 0.0007 @ 0.5, fills #2 0.0008 @ 0.5, fee 0.00001
  `);
});

test('the schedule replaces the base fee, and without a rate the base fee holds again', () => {
  check(`
    change 1 fee 200           done
    fees 1 0.07 2 0.2          done
    sell #1 100 @ 0.50 fee 200   rests
    buy #2 100 @ 0.50 fee 200    fills #1 100 @ 0.5, gets 100, fee 0.4375
    buy #3 10 @ 0.50             refused feeBelowBase
    fees 1 0 0                 done
    sell #4 100 @ 0.50 fee 200   rests
    buy #5 100 @ 0.50 fee 200    fills #4 100 @ 0.5, gets 98, fee 2
  `);
});

test('a fee without regard to the price is refused where a sale could not pay it', () => {
  const script = new LedgerScript();
  assert.equal(script.reason('fees 1 0.010001 0'), feeScheduleInvalid);
  script.do('fees 1 0.01 0');
  assert.equal(script.reason('change 1 grid 1000'), feeScheduleInvalid);
  script.do('change 1 grid 10', 'fees 1 0.1 0', 'fees 1 1 1', 'change 1 grid 10000');
});

test('a schedule out of bounds or of an unknown market changes nothing', () => {
  const script = new LedgerScript();
  script.do('fees 1 0.07 1 0.2');
  const before = stateHash(script.t);
  for (const line of ['fees 1 1.000001 1', 'fees 1 0.1 5', 'fees 1 0.1 -1', 'fees 1 0.1 1 1.1'])
    assert.equal(script.reason(line), feeScheduleInvalid, line);
  assert.equal(script.reason('fees 2 0.1 1'), marketRefused);
  assert.equal(stateHash(script.t), before);
});

test('a purchase pays on top of its cost, a sale out of its proceeds, and the venue has both', () => {
  const script = funded().do('fees 1 0.05 1', 'sell #1 20 @ 0.50 by 1', 'buy #2 20 @ 0.60 by 2');
  assert.deepEqual(script.cash(2), [900 * UNIT - 10 * UNIT - 250_000, 0]);
  assert.deepEqual(script.shares(2, 1), [120 * UNIT, 0]);
  script.do('buy #3 20 @ 0.50 by 1', 'sell #4 20 @ 0.40 by 2');
  assert.deepEqual(script.cash(2), [900 * UNIT - 500_000, 0]);
  assert.equal(ledgerTotals(script.t).fees, 500_000);
  assert.equal(venueShares(script.t, 1 as TokenRow), 0);
});

test('a purchase that takes needs the largest fee up to its limit, and one that rests none', () => {
  const script = new LedgerScript();
  script.fund('deposit', 1, 100 * UNIT).fund('split', 1, 100 * UNIT);
  script.do('fees 1 0.1 1', 'sell #1 10 @ 0.10 by 1');
  // 10 at 0.8 cost 8 at most. The dearest fee is that of one half: 0.25.
  script.fund('deposit', 2, 8_249_999);
  assert.equal(script.reason('buy #2 10 @ 0.80 by 2'), notEnough);
  script.do('buy #3 10 @ 0.80 No by 2', 'cancel #3 by 2');
  assert.equal(script.reason('buy #4 10 @ 0.80 by 2 post-only'), RejectReason.postOnlyCrossesAsk);
  script.fund('deposit', 2, 1).do('buy #5 10 @ 0.80 by 2');
  assert.deepEqual(script.cash(2), [8_250_000 - 1_000_000 - 90_000, 0]);
});

test('what a taker leaves in the book reserves no fee', () => {
  const script = funded().do('fees 1 0.1 1', 'sell #1 10 @ 0.50 by 1', 'buy #2 30 @ 0.50 by 2');
  assert.deepEqual(script.cash(2), [900 * UNIT - 5_250_000, 10 * UNIT]);
  script.do('cancel #2 by 2');
  assert.deepEqual(script.cash(2), [900 * UNIT - 5_250_000, 0]);
});

test('a change of the schedule counts for the takers after it', () => {
  const script = funded();
  script.do('fees 1 0.05 1 0.2', 'sell #1 20 @ 0.50 by 1', 'buy #2 10 @ 0.50 by 2');
  script.do('fees 1 0.1 1 0.5', 'buy #3 10 @ 0.50 by 2');
  assert.equal(ledgerTotals(script.t).fees, 125_000 + 250_000);
  const rebates = [0, 1].map((fill) => fillRebate(script.t, fillRow(script.t, fill)));
  assert.deepEqual(rebates, [25_000, 125_000]);
});

test('a rebate is paid out of the fees of the venue, once for its id', () => {
  const script = funded().do('fees 1 0.1 1 0.2', 'sell #1 10 @ 0.5 by 1', 'buy #2 10 @ 0.5 by 2');
  assert.equal(script.ask('payRebate', 1, 250_001), notEnough);
  const line = script.line('payRebate', 1, 50_000);
  assert.equal(script.duel.step(line), RejectReason.accepted);
  assert.equal(script.duel.step(line), RejectReason.idRepeated);
  assert.equal(ledgerTotals(script.t).fees, 200_000);
  assert.deepEqual(script.cash(1), [900 * UNIT + 5_050_000, 0]);
});

test('schedules, rebates and their money agree with the naive ledger, and replay', () => {
  withSeed((random) => {
    const duel = new LedgerDuel();
    const stream = new LedgerStream(random, { fees: 2 });
    for (let i = 0; i < rounds(12_000); i++) duel.step(stream.next());
    for (const command of stream.last()) duel.step(command);
    duel.compareAll();
    const { driver } = duel;
    driver.close();
    const { t } = replay(driver.logged, WITH_LEDGER);
    audit(t);
    assert.equal(stateHash(t), stateHash(driver.t));
    const scheduled = Array.from({ length: 500 }, (_, i) => driver.fillLine(i)).filter(
      ({ fee, isScheduled }) => isScheduled && Number(fee) > 0,
    );
    assert(scheduled.length > 20, 'takers paid schedules');
  });
});
