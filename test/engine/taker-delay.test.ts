/** Taker delays, rule by rule (docs/protocol.md#taker-delay). Every command also runs on the naive exchange. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { earliestDue } from '../../engine/due.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables, usedSpans } from '../../engine/tables/tables.ts';
import { rounds, withSeed } from '../common/random.ts';
import { check } from './duel.ts';
import { replay } from './engine-driver.ts';
import { LedgerDuel, WITH_LEDGER } from './ledger-duel.ts';
import { LedgerScript, UNIT } from './ledger-script.ts';
import { LedgerStream } from './ledger-stream.ts';
import { ScriptReader } from './script.ts';

function funded(): LedgerScript {
  const script = new LedgerScript();
  script.fund('deposit', 1, 1_000 * UNIT).fund('deposit', 2, 1_000 * UNIT);
  return script.fund('split', 1, 100 * UNIT).fund('split', 2, 100 * UNIT);
}

test('an order that would match waits for the delay of its market, and others do not', () => {
  check(`
    delay 1 3               done
    sell #1 10 @ 0.60       rests
    buy #2 5 @ 0.50         rests
    buy #3 4 @ 0.60         waits, gives 0, gets 0
    book 1                  bids 5 @ 0.5; asks 10 @ 0.6
    at 1002.999             done
    at 1003                 fills #1 4 @ 0.6
    book 1                  bids 5 @ 0.5; asks 6 @ 0.6
  `);
});

test('orders of one due time are placed in the order in which they came', () => {
  check(`
    sell #1 10 @ 0.60              rests
    buy #2 7 @ 0.60 delay 2        waits
    buy #3 7 @ 0.60 delay 2        waits
    at 1001                        done
    buy #4 7 @ 0.60 delay 1        waits
    at 1002                        fills #1 7 @ 0.6, fills #1 3 @ 0.6
    book 1                         bids 11 @ 0.6; asks none
  `);
});

test('an order that finds nobody at the end of its delay rests, or ends where its type says so', () => {
  check(`
    sell #1 10 @ 0.60 by 1               rests
    buy #2 4 @ 0.60 delay 2              waits
    buy #3 4 @ 0.60 FAK delay 2          waits
    buy #4 4 @ 0.60 FOK delay 2          waits
    cancel #1 by 1                       ends #1 canceled
    at 1002                              ends #3 unmatched, ends #4 unmatched
    book 1                               bids 4 @ 0.6; asks none
  `);
});

test('a delayed order may be cancelled by its id, and with all orders of its owner', () => {
  check(`
    delay 1 5                          done
    sell #1 10 @ 0.60                  rests
    buy #2 4 @ 0.60 by 9               waits
    buy #3 4 @ 0.60 by 9               waits
    buy #4 4 @ 0.60 by 9               waits
    buy #5 4 @ 0.10 by 9               rests
    cancel #2 by 8                     refused orderNotFound
    cancel #2 by 9                     ends #2 canceled
    cancel #2 by 9                     refused orderNotFound
    cancel-all by 9 limit 1            ends #3 canceled
    cancel-all by 9 limit 2            ends #4 canceled, ends #5 canceled
    at 1005                            done
  `);
});

test('a delayed order expires at its time, ends with its market, and moves with its grid', () => {
  check(`
    at 1000
    market 1
    delay 1 60                         done
    sell #1 10 @ 0.60                  rests
    buy #2 4 @ 0.60 GTD until 1010     waits
    at 1010                            ends #2 expired
    buy #3 4 @ 0.60                    waits
    buy #4 4 @ 0.65                    waits
    change 1 grid 10                   ends #4 tickChange
    change 1 grid 1000                 done
    change 1 paused                    done
    at 1070                            ends #3 unmatched
    change 1 open                      done
    buy #5 4 @ 0.60                    waits
    change 1 ended                     ends #1 marketEnded, ends #5 marketEnded
  `);
});

test('a delayed order meets the policy about its own orders when it is placed', () => {
  check(`
    policy cancel-taker                done
    sell #1 10 @ 0.61 by 1             rests
    buy #2 4 @ 0.61 by 2 delay 2       waits
    sell #3 4 @ 0.60 by 2 delay 1      rests
    at 1002                            ends #2 selfTrade
  `);
});

test('of a delay of the market and of the order the longer one counts', () => {
  check(`
    delay 1 2                          done
    sell #1 10 @ 0.60                  rests
    buy #2 4 @ 0.60 delay 1            waits
    buy #3 4 @ 0.60 delay 4            waits
    at 1002                            fills #1 4 @ 0.6
    at 1004                            fills #1 4 @ 0.6
  `);
});

test('a delay out of bounds or of an unknown market changes nothing', () => {
  const script = new LedgerScript();
  const before = stateHash(script.t);
  assert.equal(script.reason('delay 1 3601'), RejectReason.takerDelayInvalid);
  assert.equal(script.reason('delay 1 -1'), RejectReason.takerDelayInvalid);
  assert.equal(script.reason('delay 2 1'), RejectReason.marketRefused);
  assert.equal(stateHash(script.t), before);
});

test('its money is reserved with the largest fee until it is placed or ends', () => {
  const script = funded().do('fees 1 0.1 1', 'delay 1 2', 'sell #1 10 @ 0.50 by 1');
  script.do('buy #2 10 @ 0.50 by 2');
  assert.deepEqual(script.cash(2), [900 * UNIT, 5_250_000]);
  assert.equal(script.ask('withdraw', 2, 894_750_001), RejectReason.notEnough);
  script.do('cancel #2 by 2');
  assert.deepEqual(script.cash(2), [900 * UNIT, 0]);
  script.do('buy #3 10 @ 0.50 by 2', 'at 4');
  assert.deepEqual(script.cash(2), [900 * UNIT - 5_250_000, 0]);
  script.do('buy #4 10 @ 0.40 by 1', 'sell #5 10 @ 0.40 by 2');
  assert.deepEqual(script.shares(2, 1), [110 * UNIT, 10 * UNIT]);
  script.do('at 6');
  assert.deepEqual(script.shares(2, 1), [100 * UNIT, 0]);
});

test('a fee that rises meanwhile is reserved, and an order that cannot pay it ends', () => {
  const script = new LedgerScript();
  script.fund('deposit', 1, 100 * UNIT).fund('split', 1, 100 * UNIT);
  script.fund('deposit', 2, 10_500_000).do('delay 1 2', 'sell #1 50 @ 0.50 by 1');
  script.do('buy #2 10 @ 0.50 by 2', 'buy #3 10 @ 0.50 by 2');
  assert.deepEqual(script.cash(2), [10_500_000, 10_000_000]);
  script.do('fees 1 0.1 1');
  assert.deepEqual(script.cash(2), [10_500_000, 10_500_000]);
  script.do('fees 1 0.2 1');
  assert.deepEqual(script.cash(2), [10_500_000, 5_500_000]);
  script.do('at 4');
  assert.deepEqual(script.cash(2), [5_000_000, 0]);
});

test('a resolution ends delayed orders and frees their money', () => {
  const script = funded().do('delay 1 9', 'sell #1 10 @ 0.50 by 1', 'buy #2 10 @ 0.50 by 2');
  assert.equal(script.resolve([1, 0]), RejectReason.accepted);
  assert.deepEqual(script.cash(2), [900 * UNIT, 0]);
  script.finish();
  script.duel.compareAll();
});

test('the next due time is that of the first delayed order', () => {
  const { driver } = check(`
    sell #1 10 @ 0.60             rests
    buy #2 1 @ 0.60 delay 9       waits
    buy #3 1 @ 0.60 delay 3       waits
  `);
  assert.equal(earliestDue(driver.t), 1_003_000);
});

/** Orders of these signers, one each, which a batch of now would place in turn. */
function waitingScript(signers: readonly number[]): string {
  const lines = signers.map((signer, i) => `buy #${i + 2} 1 @ 0.60 by ${signer} delay 2   waits`);
  return ['sell #1 5000 @ 0.60 by 9999   rests', ...lines].join('\n');
}

test('of one signer at most 64 orders wait, and the next waits when one has left', () => {
  check(`
    ${waitingScript(Array(64).fill(7))}
    buy #90 1 @ 0.60 by 8/7 delay 2     refused tooManyDelayed
    buy #91 1 @ 0.60 by 7               fills #1 1 @ 0.6
    buy #92 1 @ 0.60 by 8 delay 2       waits
    buy #93 1 @ 0.50 by 7 delay 2       rests
    cancel #2 by 7                      ends #2 canceled
    buy #94 1 @ 0.60 by 7 delay 2       waits
    buy #95 1 @ 0.60 by 7 FOK delay 2   refused tooManyDelayed
    at 1002
    buy #96 1 @ 0.60 by 7 delay 2       waits
  `);
});

test('of all signers at most 2,048 orders wait, and one batch places 128 of them', () => {
  const signers = Array.from({ length: 2_048 }, (_, i) => 100 + Math.floor(i / 64));
  const duel = check(waitingScript(signers));
  const reader = new ScriptReader();
  const run = (line: string) => duel.step(reader.read(line));
  assert.equal(run('buy #3000 1 @ 0.60 by 8 delay 2').reason, RejectReason.tableFull);
  assert.equal(run('buy #3001 1 @ 0.60 by 8').fills.length, 1, 'others go on');
  for (let left = 2_048; left > 0; left -= 128) {
    assert.equal(duel.driver.t.delayed.size, left);
    const { fills } = run('at 1002');
    assert.deepEqual(
      fills.map(({ taker }) => taker),
      Array.from({ length: 128 }, (_, i) => 2 + 2_048 - left + i),
    );
  }
  assert.equal(run('at 1002').fills.length, 0);
  duel.compareAll();
});

test('delays, cancels and their money agree with the naive ledger, replay, and load', () => {
  withSeed((random) => {
    const duel = new LedgerDuel();
    const stream = new LedgerStream(random, { delays: 6, fees: 1 });
    let most = 0;
    for (let i = 0; i < rounds(12_000); i++) {
      duel.step(stream.next());
      most = Math.max(most, duel.driver.t.delayed.size);
      if (i % 500 === 0) duel.compareAll();
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
    assert(most > 3, 'orders waited');
  });
});
