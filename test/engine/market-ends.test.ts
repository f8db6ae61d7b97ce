/**
 * Markets that end at a time: the end of their orders, and the effects of changes, resolutions,
 * replays and copies of the tables. Rules: docs/protocol.md#end-of-a-market
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { CommandBuffer, encodeMarketChange } from '../../engine/commands.ts';
import { earliestDue } from '../../engine/due.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { endsReached, marketEnd, marketFlags } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, MicroShares, TicksPerUnit } from '../../engine/tables/units.ts';
import { copyTables } from './copy-tables.ts';
import { check } from './duel.ts';
import { EngineDriver, ROOMY, replay } from './engine-driver.ts';
import { LedgerScript, UNIT } from './ledger-script.ts';
import { ScriptReader } from './script.ts';

const FIRST = 1 as MarketRow;

function driverOf(script: string): EngineDriver {
  const driver = new EngineDriver();
  const reader = new ScriptReader();
  for (const line of script.trim().split('\n')) driver.run(reader.read(line.trim()));
  return driver;
}

test('a market loses its resting orders at its end and refuses new ones', () => {
  check(`
    at 1000
    market 1 end 1010
    buy #1 5 @ 0.40           rests
    sell #2 5 @ 0.70 No       rests
    at 1009.999
    buy #3 5 @ 0.41           rests
    at 1010                   ends #1 endReached, ends #2 endReached, ends #3 endReached
    buy #4 5 @ 0.40           refused marketNotReady
    book 1                    bids none; asks none
    change 1 open             done
    buy #4 5 @ 0.40           refused marketNotReady
  `);
});

test('the earlier of an expiry and the end of a market comes first', () => {
  check(`
    at 1000
    market 1 end 1010
    buy #1 5 @ 0.40 GTD until 1009   rests
    buy #2 5 @ 0.40 GTD until 1010   rests
    buy #3 5 @ 0.40 GTD until 1011   rests
    at 1020                   ends #1 expired, ends #2 expired, ends #3 endReached
  `);
});

test('an end can be changed before it is reached, and never after', () => {
  check(`
    at 1000
    market 1 end 1010
    buy #1 5 @ 0.40           rests
    change 1 end 1030         done
    at 1010
    buy #2 5 @ 0.40           rests
    change 1 end 1020         done
    at 1020                   ends #1 endReached, ends #2 endReached
    change 1 end 1040         done
    change 1 end 0            done
    change 1 open             done
    at 1030
    buy #3 5 @ 0.40           refused marketNotReady
  `);
});

test('an end in the past ends the market at once', () => {
  check(`
    at 1000
    market 1 end 1000
    buy #1 5 @ 0.40           refused marketNotReady
    market 2
    buy #2 5 @ 0.40 token 3   rests
    change 2 end 999          ends #2 endReached
    buy #3 5 @ 0.40 token 3   refused marketNotReady
  `);
});

test('a market without an end trades on, also one whose end was removed', () => {
  check(`
    at 1000
    market 1
    market 2 end 1010
    change 2 end 0            done
    at 2000
    buy #1 5 @ 0.40           rests
    buy #2 5 @ 0.40 token 3   rests
  `);
});

test('a paused market ends, and one that was closed before is not opened again', () => {
  check(`
    at 1000
    market 1 end 1010
    market 2 end 1010
    buy #1 5 @ 0.40           rests
    buy #2 5 @ 0.40 token 3   rests
    change 1 paused           done
    change 2 ended            ends #2 marketEnded
    at 1010                   ends #1 endReached
    change 1 open             done
    change 2 open             done
    buy #3 5 @ 0.40           refused marketNotReady
    buy #4 5 @ 0.40 token 3   refused marketNotReady
  `);
});

test('a batch that only ends a market counts as a change, and one before the end does not', () => {
  const driver = driverOf('at 1000\nmarket 1 end 1010');
  driver.run({ kind: 'at', time: 1_009_999 });
  driver.run({ kind: 'at', time: 1_010_000 });
  driver.close();
  assert.deepEqual(
    driver.logged.map(({ commands, time }) => [time, commands.length]),
    [
      [1_000_000, 1],
      [1_010_000, 0],
    ],
  );
  assert.equal(stateHash(replay(driver.logged).t), stateHash(driver.t));
});

test('the next due time is that of an order or a market, whichever is first', () => {
  const driver = driverOf('at 1000\nmarket 1 end 1010.5\nmarket 2');
  assert.equal(earliestDue(driver.t), 1_010_500);
  const reader = new ScriptReader();
  driver.run(reader.read('buy #1 5 @ 0.40 token 3 GTD until 1005'));
  assert.equal(earliestDue(driver.t), 1_005_000);
  driver.run(reader.read('at 1006'));
  assert.equal(earliestDue(driver.t), 1_010_500);
  driver.run(reader.read('at 1011'));
  assert.equal(earliestDue(driver.t), 0);
});

test('a copy of the tables passes an end like the tables', () => {
  const driver = driverOf(`at 1000
    market 1 end 1010
    market 2 end 1005
    buy #1 5 @ 0.40
    at 1006`);
  driver.close();
  const copy = new Tables(allocateEngine(ROOMY));
  copyTables(driver.t, copy);
  rebuildIndexes(copy);
  const before = driver.logged.length;
  const reader = new ScriptReader();
  for (const line of ['at 1010', 'buy #2 5 @ 0.40 token 3', 'buy #3 5 @ 0.40']) {
    driver.run(reader.read(line));
  }
  driver.close();
  const later = replay(driver.logged.slice(before), ROOMY, copy).t;
  assert.equal(stateHash(later), stateHash(driver.t));
  assert.equal(endsReached(later), 2);
  audit(later);
});

test('a change without an end keeps the end', () => {
  const driver = driverOf('at 1000\nmarket 1 end 1010\nchange 1 fee 100');
  assert.equal(marketEnd(driver.t, FIRST), 1_010_000);
  const out = new CommandBuffer();
  const fields = {
    flags: MarketFlag.tradable,
    ticksPerUnit: 100 as TicksPerUnit,
    baseFeeBps: 0,
    minSize: 1 as MicroShares,
  };
  encodeMarketChange(out, FIRST, fields);
  assert.equal(out.words, 8, 'as older versions wrote it');
  encodeMarketChange(out, FIRST, { ...fields, end: 0 });
  assert.equal(out.words, 18);
});

test('a market that has reached its end splits, merges and resolves, and its holders are paid', () => {
  const script = new LedgerScript();
  script.fund('deposit', 1, 100 * UNIT).fund('split', 1, 40 * UNIT);
  script.do('sell #1 10 @ 0.60 by 1', 'change 1 end 2000');
  assert.deepEqual(script.shares(1, 1), [40 * UNIT, 10 * UNIT]);
  script.do('at 2000');
  assert.deepEqual(script.shares(1, 1), [40 * UNIT, 0], 'nothing is reserved any more');
  assert.equal(script.reason('sell #2 10 @ 0.60 by 1'), RejectReason.marketNotReady);
  script.fund('merge', 1, 10 * UNIT).fund('split', 1, 5 * UNIT);
  assert.equal(script.resolve([1, 0]), RejectReason.accepted);
  script.finish();
  assert.deepEqual(script.cash(1), [100 * UNIT, 0]);
  const { ended, endReached } = MarketFlag;
  assert.equal(marketFlags(script.t, FIRST), ended | endReached);
  script.duel.compareAll();
});

test('a market that resolves before its end does not end again', () => {
  const script = new LedgerScript();
  script.do('change 1 end 2000');
  assert.equal(script.resolve([1, 0]), RejectReason.accepted);
  assert.equal(earliestDue(script.t), 0);
  script.do('at 3000', 'change 1 end 4000');
  assert.equal(endsReached(script.t), 0);
  assert.equal(marketEnd(script.t, FIRST), 2_000_000);
  script.duel.compareAll();
});
