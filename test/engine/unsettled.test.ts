/**
 * Fills that are settled later, rule by rule (docs/protocol.md#unsettled-trades). Every command also runs on the naive
 * exchange with the naive ledger.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { earliestDue } from '../../engine/due.ts';
import { decidedFill, Event, EventKind, eventWords } from '../../engine/events.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { isUnsettled, unsettledCount } from '../../engine/orders/unsettled.ts';
import { fillSize, tokenLastPrice } from '../../engine/reads.ts';
import { UNSETTLED_FILLS_MAX, UNSETTLED_STEP_MAX } from '../../engine/tables/capacities.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables, usedSpans } from '../../engine/tables/tables.ts';
import type { FillRow, TokenRow } from '../../engine/tables/units.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { replay } from './engine-driver.ts';
import { type LedgerCommand, LedgerDuel, WITH_LEDGER } from './ledger-duel.ts';
import { LedgerScript, UNIT } from './ledger-script.ts';
import { LedgerStream } from './ledger-stream.ts';
import { SourceStream } from './source-stream.ts';

function funded(): LedgerScript {
  const script = new LedgerScript();
  script.fund('deposit', 1, 1_000 * UNIT).fund('deposit', 2, 1_000 * UNIT);
  return script.fund('split', 1, 100 * UNIT).fund('split', 2, 100 * UNIT);
}

/** Checks that the tables are those of the naive reference, and sound. */
function compare(script: LedgerScript): void {
  script.duel.settle();
  script.duel.compareAll();
  audit(script.t);
}

const YES = 1 as TokenRow;

test('what both sides received is held until a fill is confirmed', () => {
  const script = funded().do('sell #1 10 @ 0.50 by 1', 'buy #2 10 @ 0.50 by 2 confirms 500');
  assert.deepEqual(script.cash(1), [905 * UNIT, 5 * UNIT]);
  assert.deepEqual(script.shares(2, 1), [110 * UNIT, 10 * UNIT]);
  assert.deepEqual(script.cash(2), [895 * UNIT, 0]);
  compare(script);
  script.do('at 2.499');
  assert.equal(unsettledCount(script.t), 1);
  assert.equal(isUnsettled(script.t, 0), true);
  script.do('at 2.5');
  assert.equal(isUnsettled(script.t, 0), false);
  assert.deepEqual(script.cash(1), [905 * UNIT, 0]);
  assert.deepEqual(script.shares(2, 1), [110 * UNIT, 0]);
  compare(script);
});

test('what is held can be neither sold, merged nor withdrawn', () => {
  const script = funded().do('sell #1 10 @ 0.50 by 1', 'buy #2 10 @ 0.50 by 2 confirms 500');
  assert.equal(script.ask('withdraw', 1, 900 * UNIT + 1), RejectReason.notEnough);
  script.fund('withdraw', 1, 900 * UNIT);
  assert.equal(script.ask('split', 1, 1), RejectReason.notEnough);
  assert.equal(script.reason('buy #3 10 @ 0.10 by 1'), RejectReason.notEnough);
  assert.equal(script.reason('sell #4 101 @ 0.90 by 2'), RejectReason.notEnough);
  script.fund('merge', 2, 90 * UNIT).do('sell #5 10 @ 0.90 by 2');
  assert.equal(script.ask('merge', 2, 1), RejectReason.notEnough);
  compare(script);
});

test('a fill that fails returns everything to both, fees too', () => {
  for (const terms of ['fees 1 0.07 1', 'change 1 fee 200']) {
    for (const [maker, taker] of [
      ['sell #1 10 @ 0.53 fee 200 by 1', 'buy #2 7 @ 0.53 fee 200 by 2'],
      ['buy #1 10 @ 0.53 fee 200 by 1', 'sell #2 7 @ 0.53 fee 200 by 2'],
      ['buy #1 10 @ 0.53 fee 200 by 1', 'buy #2 7 @ 0.47 fee 200 by 2 No'],
      ['sell #1 10 @ 0.53 fee 200 by 1', 'sell #2 7 @ 0.47 fee 200 by 2 No'],
    ] as const) {
      const script = funded().do(terms);
      const money = () =>
        [1, 2].flatMap((wallet) => [
          script.cash(wallet)[0],
          script.shares(wallet, 1)[0],
          script.shares(wallet, 2)[0],
        ]);
      const before = money();
      script.do(maker, `${taker} fails 500`);
      assert.notDeepEqual(money(), before);
      compare(script);
      script.do('at 2.5');
      assert.deepEqual(money(), before, `${terms}: ${maker}, ${taker}`);
      assert.equal(script.duel.ledger.fees, 0n);
      compare(script);
    }
  }
});

test('the orders of a failed fill stay as they are', () => {
  const script = funded().do('sell #1 10 @ 0.50 by 1', 'buy #2 4 @ 0.50 by 2 fails 500', 'at 2.5');
  assert.deepEqual(script.shares(1, 1), [100 * UNIT, 6 * UNIT]);
  assert.equal(script.reason('cancel #2 by 2'), RejectReason.orderNotFound);
  script.do('cancel #1 by 1');
  assert.deepEqual(script.shares(1, 1), [100 * UNIT, 0]);
  compare(script);
});

test('fees of an unsettled fill can be neither paid out nor drawn', () => {
  const script = funded().do('fees 1 0.1 1', 'sell #1 10 @ 0.50 by 1', 'buy #2 4 @ 0.50 by 2');
  script.do('buy #3 6 @ 0.50 by 2 fails 500');
  assert.equal(script.duel.ledger.fees, 250_000n);
  assert.equal(script.ask('drawFees', 0, 100_001), RejectReason.notEnough);
  assert.equal(script.ask('payRebate', 1, 100_001), RejectReason.notEnough);
  script.fund('payFees', 1, 100_000).do('at 2.5');
  assert.equal(script.duel.ledger.fees, 0n);
  compare(script);
});

test('a wallet that sold all its shares gets them back', () => {
  const script = funded();
  script.do('sell #1 100 @ 0.50 by 1', 'buy #2 100 @ 0.50 by 2 fails 500');
  assert.deepEqual(script.shares(1, 1), [0, 0]);
  script.do('at 2.5');
  assert.deepEqual(script.shares(1, 1), [100 * UNIT, 0]);
  compare(script);
});

test('the last price is that of the newest trade that stands, in whatever order trades fail', () => {
  for (const [first, second, third] of [
    [100, 200, 300],
    [100, 300, 200],
    [200, 100, 300],
    [200, 300, 100],
    [300, 100, 200],
    [300, 200, 100],
  ]) {
    const script = funded().do('sell #1 1 @ 0.40 by 1', 'buy #2 1 @ 0.40 by 2');
    script.do('sell #3 1 @ 0.50 by 1', `buy #4 1 @ 0.50 by 2 fails ${first}`);
    script.do('sell #5 1 @ 0.60 by 1', `buy #6 1 @ 0.60 by 2 fails ${second}`);
    script.do('buy #7 1 @ 0.70 by 1', `buy #8 1 @ 0.30 by 2 No fails ${third}`);
    for (const at of ['2.1', '2.2', '2.3']) {
      script.do(`at ${at}`);
      compare(script);
    }
    assert.equal(tokenLastPrice(script.t, YES), 4_000);
    assert.equal(tokenLastPrice(script.t, 2 as TokenRow), 0);
  }
});

test('a later trade that stands keeps its price', () => {
  const script = funded().do('sell #1 1 @ 0.50 by 1', 'buy #2 1 @ 0.50 by 2 fails 100');
  script.do('sell #3 1 @ 0.60 by 1', 'buy #4 1 @ 0.60 by 2');
  script.do('sell #5 1 @ 0.70 by 1', 'buy #6 1 @ 0.70 by 2 fails 200', 'at 2.1');
  assert.equal(tokenLastPrice(script.t, YES), 7_000);
  script.do('at 2.2');
  assert.equal(tokenLastPrice(script.t, YES), 6_000);
  compare(script);
});

test('a resolution settles the fills of its market first, each by its decision', () => {
  const script = funded().do('sell #1 10 @ 0.50 by 1', 'buy #2 4 @ 0.50 by 2 fails 9000');
  script.do('buy #3 6 @ 0.50 by 2 confirms 9000');
  assert.equal(script.resolve([1, 0]), RejectReason.accepted);
  assert.equal(unsettledCount(script.t), 0);
  assert.deepEqual(script.shares(2, 1), [106 * UNIT, 0]);
  script.finish();
  assert.deepEqual(script.cash(2), [900 * UNIT - 3 * UNIT + 106 * UNIT, 0]);
  compare(script);
});

test('the end of a fault settles its fills, and no others', () => {
  const script = funded().do('sell #1 10 @ 0.50 by 1', 'buy #2 4 @ 0.50 by 2 fails 9000 of 1');
  script.do('buy #3 5 @ 0.50 by 2 fails 9000 of 2', 'settle 1');
  assert.deepEqual(script.shares(2, 1), [105 * UNIT, 5 * UNIT]);
  script.do('settle 3');
  assert.equal(unsettledCount(script.t), 1);
  script.do('settle -1');
  assert.deepEqual(script.shares(2, 1), [100 * UNIT, 0]);
  compare(script);
});

test('an order that waits for a taker delay is settled at once when it is placed', () => {
  const script = funded().do('sell #1 10 @ 0.50 by 1');
  script.do('buy #2 4 @ 0.50 by 2 delay 1 fails 500', 'at 3');
  assert.equal(unsettledCount(script.t), 0);
  assert.deepEqual(script.shares(2, 1), [104 * UNIT, 0]);
});

test('a full table settles its first fill', () => {
  const script = funded().do('sell #1 90 @ 0.50 by 1');
  const { driver } = script.duel;
  // The reference has no bound.
  for (let i = 0; i <= UNSETTLED_FILLS_MAX; i++) {
    driver.run(script.read(`buy #${i + 2} 0.01 @ 0.50 by 2 fails 500`));
  }
  assert.equal(unsettledCount(script.t), UNSETTLED_FILLS_MAX);
  assert.equal(isUnsettled(script.t, 0), false);
  assert.equal(isUnsettled(script.t, 1), true);
  assert.equal(isUnsettled(script.t, UNSETTLED_FILLS_MAX), true);
  driver.settle();
  audit(script.t);
  for (let batch = 0; unsettledCount(script.t) > 0; batch++) {
    assert(batch < UNSETTLED_FILLS_MAX / UNSETTLED_STEP_MAX, 'a batch settles its part');
    driver.run({ kind: 'at', time: 2_500 });
  }
  assert.deepEqual(script.shares(2, 1), [100 * UNIT, 0]);
  driver.settle();
  audit(script.t);
});

test('the next due time is that of the first decision, and an event tells it', () => {
  const script = funded().do('sell #1 10 @ 0.50 by 1', 'buy #2 4 @ 0.50 by 2 fails 9000');
  script.do('buy #3 5 @ 0.50 by 2 confirms 300');
  assert.equal(earliestDue(script.t), 2_300);
  script.do('at 2.3');
  const { f64, i32, words } = script.duel.driver.engine.context.events;
  const decided: unknown[] = [];
  for (let at = 0; at < words; at += eventWords(i32, at)) {
    if (i32[at] !== EventKind.decided) continue;
    const size = fillSize(decidedFill(i32, f64, at), 0 as FillRow);
    decided.push([f64[at / 2 + Event.sequence], i32[at + Event.fails], size]);
  }
  assert.deepEqual(decided, [[1, 0, 5 * UNIT]]);
});

/** Unsettled fills at a time, of which a stream has more. */
const TOGETHER = 3;

function agree(streamOf: (random: Random) => { next(): LedgerCommand }, count: number): void {
  withSeed((random) => {
    const duel = new LedgerDuel();
    const stream = streamOf(random);
    let most = 0;
    const least = rounds(count);
    // An unlucky seed has few fills that wait together: it draws more.
    for (let i = 0; i < least || (most <= TOGETHER && i < 10 * least); i++) {
      duel.step(stream.next());
      most = Math.max(most, unsettledCount(duel.driver.t));
      if (i % 200 === 0) duel.compareAll();
    }
    duel.compareAll();
    const { driver } = duel;
    driver.close();
    const { t } = replay(driver.logged, WITH_LEDGER);
    audit(t);
    assert.equal(stateHash(t), stateHash(driver.t));
    const loaded = new Tables(allocateEngine(WITH_LEDGER));
    for (const { bytes, name, start } of usedSpans(t)) {
      const from = t.memory.buffers[name].subarray(start, start + bytes);
      loaded.memory.buffers[name].set(from, start);
    }
    rebuildIndexes(loaded);
    audit(loaded);
    assert.equal(stateHash(loaded), stateHash(t));
    assert(most > TOGETHER, 'fills were not settled at once');
  });
}

test('unsettled fills and their money agree with the naive ledger, replay, and load', () => {
  agree((random) => new LedgerStream(random, { settlements: 30, delays: 2, fees: 1 }), 12_000);
});

test('unsettled fills with a source agree with the naive ledger, replay, and load', () => {
  agree((random) => new SourceStream(random, { settlements: 40 }), 6_000);
});
