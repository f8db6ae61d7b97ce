import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { audit } from '../../engine/audit.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { marketFlags, tokenMarket } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { bookVersion, Depth, readDepth } from '../../engine/tables/depth.ts';
import { BOOK_I, Book } from '../../engine/tables/layout.ts';
import type { MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { startThread } from '../common/forms.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { check } from './duel.ts';
import { EngineDriver, ROOMY } from './engine-driver.ts';
import { ScriptReader } from './script.ts';
import { BUSY, MARKETS, Stream } from './stream.ts';

const BOOK = 1 << BOOK_I;
const YES = 1 as TokenRow;
const NO = 2 as TokenRow;

test('a book that is being written is not read', () => {
  const { driver } = check('buy #1 5 @ 0.40');
  driver.close();
  const { t } = driver;
  const depth = new Depth();
  assert(readDepth(t, YES, depth));
  t.bookI[BOOK + Book.version]! += 1;
  assert(!readDepth(t, YES, depth), 'a writer is inside');
  t.bookI[BOOK + Book.version]! += 1;
  assert(readDepth(t, YES, depth), 'and left');
  const reader = new ScriptReader();
  driver.run(reader.read('at 2000'));
  driver.run(reader.read('buy #2 5 @ 0.40'));
  assert(!readDepth(t, YES, depth), 'what a batch does is seen when it ends');
  driver.close();
  assert(readDepth(t, YES, depth));
  assert.deepEqual([depth.bids.sizes[0], depth.changedAt], [10_000_000, 2_000_000]);
});

test('a version moves with every change of its book, and only then', () => {
  const duel = check(`
    market 2                  done
    sell #1 5 @ 0.50          rests
  `);
  const { t } = duel.driver;
  const versions = (): number[] => {
    duel.driver.settle();
    return [1, 2, 3].map((token) => bookVersion(t, token as TokenRow));
  };
  const [yes, no, other] = versions();
  assert.equal(yes, no, 'a pair has one version');
  duel.step(new ScriptReader().read('buy #2 9 @ 0.50 FOK'));
  assert.deepEqual(versions(), [yes, no, other], 'a killed order changes nothing');
  duel.step({ kind: 'cancel', id: 1, signer: 1 });
  assert.notEqual(versions()[0], yes);
  assert.equal(versions()[0], versions()[1]);
  assert.equal(versions()[2], other, 'the other market is as it was');
});

test('versions wrap around without an effect on readers', () => {
  const duel = check('');
  const { t } = duel.driver;
  t.bookI[BOOK + Book.version] = 2 ** 31 - 2;
  withSeed((random) => {
    const stream = new Stream(random, { ...BUSY, changes: 0 }, MARKETS.slice(0, 1));
    for (let i = 0; i < 300; i++) {
      const command = stream.next();
      if (command.kind !== 'market') duel.step(command);
    }
  });
  assert(t.bookI[BOOK + Book.version]! < 0, 'it went below zero');
  duel.compareAll();
});

test('a reader gets the terms of the market with the book', () => {
  const { t } = check(`
    at 1000
    market 1 grid 1000 min 5 neg-risk
    buy #1 7 @ 0.405          rests
    at 1001.5
    sell #2 6 @ 0.405         fills #1 6 @ 0.405
  `).driver;
  const depth = new Depth();
  assert(readDepth(t, NO, depth));
  assert.equal(depth.ticksPerUnit, 1_000);
  assert.equal(depth.minSize, 5_000_000);
  assert.equal(depth.changedAt, 1_001_500);
  assert.equal(depth.lastPrice, 0, 'No never traded');
  assert.deepEqual([depth.asks.count, depth.asks.ticks[0], depth.asks.sizes[0]], [1, 595, 1e6]);
  assert.equal(depth.bids.count, 0);
  assert.equal(tokenMarket(t, NO), 1);
  assert.equal(marketFlags(t, 1 as MarketRow), MarketFlag.tradable | MarketFlag.negRisk);
});

test('every level of the finest grid can be full', () => {
  const driver = new EngineDriver({ ...ROOMY, accounts: 20_000 });
  const reader = new ScriptReader();
  driver.run(reader.read('at 1000'));
  driver.run(reader.read('market 1 grid 10000'));
  for (let tick = 1; tick < 10_000; tick++) {
    const price = (tick / 10_000).toFixed(4);
    const side = tick < 5_000 ? 'buy' : 'sell';
    const { reason } = driver.run(reader.read(`${side} #${tick} 1 @ ${price}`));
    assert.equal(reason, RejectReason.accepted);
  }
  driver.close();
  audit(driver.t);
  const { bids, asks } = driver.book(2);
  assert.equal(bids.length + asks.length, 9_999);
  assert.deepEqual([bids[0]?.[0], bids.at(-1)?.[0]], [1, 5_000], 'from the worst bid to the best');
  assert.deepEqual([asks[0]?.[0], asks.at(-1)?.[0]], [9_999, 5_001], 'and of the asks');
});

function writeBatches(driver: EngineDriver, random: Random, words: Int32Array): void {
  const stream = new Stream(random, { ...BUSY, changes: 1 }, MARKETS.slice(0, 1));
  for (let i = 0; i < rounds(40_000); i++) {
    const command = stream.next();
    if (command.kind === 'market') continue;
    if (command.kind === 'at') {
      driver.close();
      for (let spin = random.below(5_000); spin > 0; spin--) Atomics.load(words, 1);
    }
    driver.run(command);
  }
  driver.close();
}

test('a thread that reads while another writes sees whole books only', async () => {
  const driver = new EngineDriver();
  const reader = new ScriptReader();
  driver.run(reader.read('at 1000'));
  driver.run(reader.read('market 1 grid 100'));
  const signals = new SharedArrayBuffer(8);
  const words = new Int32Array(signals);
  const worker = startThread('engine/depth-reader', { memory: driver.t.memory, signals });
  try {
    const answer = once(worker, 'message');
    while (Atomics.load(words, 0) === 0) await Promise.race([setTimeout(5), answer]);
    withSeed((random) => writeBatches(driver, random, words));
    Atomics.store(words, 1, 1);
    const [counts] = (await answer) as [{ read: number; broken: number }];
    assert.equal(counts.broken, 0, `of ${counts.read} books`);
    assert(counts.read > 0, 'some reads succeeded');
  } finally {
    await worker.terminate();
  }
});
