import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { ladderRows } from '../../engine/book/matching.ts';
import { CommandBuffer, commandKind, encodeConfigure } from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { State } from '../../engine/tables/layout.ts';
import { digestOf, stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { copyTables } from './copy-tables.ts';
import { check, Duel } from './duel.ts';
import { type EngineDriver, ROOMY, replay } from './engine-driver.ts';
import type { Command, OrderLine } from './naive-types.ts';
import { BUSY, MARKETS, Stream } from './stream.ts';

/** Runs a stream with late flushes; returns how often a table was full. */
function runSmall(
  duel: Duel,
  stream: Stream,
  random: Random,
  length: number,
  look = (): void => {},
): number {
  const { driver } = duel;
  const before = new Tables(allocateEngine(driver.t.capacities));
  let full = 0;
  for (let i = 0; i < length; i++) {
    const command = stream.next();
    if (command.kind === 'at' && random.chance(70)) {
      driver.persistedClosedSequence = driver.t.state[State.closed]! - random.below(3);
      if (driver.persistedClosedSequence < 0) driver.persistedClosedSequence = 0;
    }
    // A copy costs far less than the hash, which few commands need.
    copyTables(driver.t, before);
    const { reason } = duel.step(command);
    look();
    if (reason === RejectReason.tableFull) {
      full += 1;
      assert.equal(
        stateHash(driver.t),
        stateHash(before),
        `a full table at ${duel.commands.length}`,
      );
    }
    if (i % 100 === 99) {
      driver.settle();
      audit(driver.t);
    }
  }
  driver.close();
  audit(driver.t);
  return full;
}

const LEVELS = ladderRows(100) * 3 + ladderRows(10);
const CASES = {
  'open orders': { orders: 12, history: 5 },
  accounts: { accounts: 4 },
  'price levels': { levels: LEVELS },
  history: { orders: 30, history: 2 },
  markets: { markets: 3 },
  tokens: { tokens: 7 },
} as const;

for (const [table, capacities] of Object.entries(CASES)) {
  test(`a full table of ${table} refuses without a change, and other commands continue`, () => {
    withSeed((random) => {
      const small = { ...ROOMY, orders: 400, accounts: 40, history: 300, ...capacities };
      const duel = new Duel(small);
      const shape = { ...BUSY, accounts: 8, faults: 1, huge: 0, changes: 1.5 };
      const stream = new Stream(random, shape, MARKETS.slice(0, 5));
      const full = runSmall(duel, stream, random, rounds(1_500));
      assert(full > 0, 'the table was full at times');
      const again = replay(duel.driver.logged, small);
      assert.equal(stateHash(again.t), stateHash(duel.driver.t), 'a replay ends in the same state');
    });
  });
}

const FEW_ACCOUNTS = { ...ROOMY, accounts: 40 };

/** A replay in larger tables, where as many order rows may be used as in the smaller ones. */
function replayInLarger(duel: Duel): EngineDriver['t'] {
  const { driver } = duel;
  driver.settle();
  driver.close();
  const { history, orders } = driver.t.capacities;
  const more = Math.floor(history / 2);
  const { t } = replay(driver.logged, {
    ...FEW_ACCOUNTS,
    orders: orders + more,
    history: history - more,
  });
  audit(t);
  return t;
}

function assertSameEnd(duel: Duel): void {
  const { t } = duel.driver;
  const larger = replayInLarger(duel);
  assert.equal(digestOf(larger), digestOf(t), 'digests');
  for (const count of [State.openOrders, State.closed, State.delays, State.fills]) {
    assert.equal(larger.state[count], t.state[count]);
  }
}

for (const [table, capacities] of Object.entries({
  'open orders': { orders: 24 },
  'price levels': { levels: ladderRows(100) * 2 + ladderRows(400) + ladderRows(200) },
})) {
  test(`a log with taker delays replays alike in a larger table of ${table}`, () => {
    withSeed((random) => {
      const duel = new Duel({ ...FEW_ACCOUNTS, orders: 400, history: 300, ...capacities });
      // It sets the length of history, which the larger tables would take from their size.
      duel.step({ kind: 'at', time: 1_000_000 });
      duel.step({ kind: 'policy', policy: 'allow' });
      const shape = {
        ...BUSY,
        accounts: 8,
        faults: 1,
        huge: 0,
        changes: 3,
        cancels: 12,
        delays: 25,
      };
      const stream = new Stream(random, shape, MARKETS.slice(0, 5));
      let waited = 0;
      const full = runSmall(duel, stream, random, rounds(1_500), () => {
        waited = Math.max(waited, duel.driver.t.delayed.size);
      });
      assert(full > 0 && waited > 0, 'the table was full at times, and orders waited');
      assertSameEnd(duel);
    });
  });
}

test('a delayed order holds a place among the open orders, whatever comes in meanwhile', () => {
  const duel = new Duel({ ...FEW_ACCOUNTS, orders: 3, history: 300 });
  const { accepted, tableFull } = RejectReason;
  const cheap = { collateral: 10_000n };
  duel.step({ kind: 'at', time: 1_000_000 });
  duel.step({ kind: 'policy', policy: 'allow' });
  duel.step({ kind: 'market', condition: 1, outcomes: 2, ...TERMS });
  assert.equal(duel.step(orderOf(1, { side: 'SELL', maker: 2, signer: 2 })).reason, accepted);
  assert.equal(duel.step(orderOf(2, { delay: 2 })).waits, true);
  assert.equal(duel.step(orderOf(3, cheap)).reason, accepted);
  assert.equal(duel.step(orderOf(4, cheap)).reason, tableFull);
  assert.equal(duel.step(orderOf(5, { delay: 2 })).reason, tableFull);
  duel.step({ kind: 'cancel', id: 1, signer: 2 });
  assert.equal(duel.step(orderOf(6, cheap)).reason, accepted);
  duel.step({ kind: 'at', time: 1_002_000 });
  assert.equal(duel.driver.t.state[State.openOrders], 3, 'it rests');
  assertSameEnd(duel);
});

test('a book keeps its price levels for a delayed order when its tick changes', () => {
  const levels = ladderRows(100) + ladderRows(200);
  const duel = new Duel({ ...FEW_ACCOUNTS, levels, orders: 10, history: 300 });
  duel.step({ kind: 'at', time: 1_000_000 });
  duel.step({ kind: 'policy', policy: 'allow' });
  duel.step({ kind: 'market', condition: 1, outcomes: 2, ...TERMS });
  duel.step({ kind: 'market', condition: 2, outcomes: 2, ...TERMS, grid: 200 });
  duel.step(orderOf(1, { side: 'SELL', maker: 2, signer: 2 }));
  assert.equal(duel.step(orderOf(2, { delay: 2 })).waits, true);
  duel.step({ kind: 'cancel', id: 1, signer: 2 });
  const change = { kind: 'change', market: 1, ...TERMS } as const;
  assert.equal(duel.step({ ...change, grid: 1_000 }).reason, RejectReason.tableFull);
  assert.equal(duel.step({ ...change, grid: 200 }).reason, RejectReason.accepted);
  const other = orderOf(3, { token: 3 });
  assert.equal(duel.step(other).reason, RejectReason.tableFull, 'the levels are held');
  duel.step({ kind: 'at', time: 1_002_000 });
  assert.equal(duel.driver.t.state[State.openOrders], 1, 'it rests');
  assertSameEnd(duel);
});

const TERMS = {
  grid: 100,
  baseFeeBps: 0,
  minSize: 0n,
  tradable: true,
  ended: false,
  negRisk: false,
} as const;

function orderOf(id: number, over: Partial<OrderLine> = {}): Command {
  return {
    kind: 'order',
    id,
    token: 1,
    side: 'BUY',
    type: 'GTC',
    postOnly: false,
    shares: 1_000_000n,
    collateral: 500_000n,
    expiration: 0,
    feeRateBps: 0,
    maker: 1,
    signer: 1,
    signatureType: 0,
    faults: [],
    ...over,
  };
}

test('ids of closed orders leave memory oldest first, and only once they are flushed', () => {
  const duel = check('', { ...ROOMY, history: 3 });
  const { driver } = duel;
  const remembered = (): number[] => [1, 2, 3, 4, 5, 6].filter((id) => driver.isInMemory(id));
  for (const id of [1, 2, 3, 4, 5, 6]) {
    duel.step(orderOf(id));
    duel.step({ kind: 'cancel', id, signer: 1 });
  }
  assert.deepEqual(remembered(), [1, 2, 3, 4, 5, 6], 'nothing leaves inside a batch');
  duel.step({ kind: 'at', time: 1_001_000 });
  assert.deepEqual(remembered(), [1, 2, 3, 4, 5, 6], 'nothing is flushed yet');
  driver.persistedClosedSequence = 2;
  duel.step({ kind: 'at', time: 1_002_000 });
  assert.deepEqual(remembered(), [3, 4, 5, 6], 'two are flushed, and three may go');
  driver.persistedClosedSequence = 6;
  duel.step({ kind: 'at', time: 1_003_000 });
  assert.deepEqual(remembered(), [4, 5, 6], 'the history keeps three');
  driver.settle();
  audit(driver.t);
  assert.equal(duel.step(orderOf(4)).reason, RejectReason.duplicate, 'memory knows it');
  assert.equal(
    duel.step(orderOf(1)).reason,
    RejectReason.duplicate,
    'the request brings what memory forgot',
  );
});

test('the length of history is set by a command, and takes effect with the next batch', () => {
  const duel = check('', { ...ROOMY, history: 8 });
  const { driver } = duel;
  const remembered = (): number[] => [1, 2, 3, 4, 5, 6].filter((id) => driver.isInMemory(id));
  for (const id of [1, 2, 3, 4, 5, 6]) {
    duel.step(orderOf(id));
    duel.step({ kind: 'cancel', id, signer: 1 });
  }
  driver.persistedClosedSequence = 6;
  duel.step({ kind: 'at', time: 1_001_000 });
  assert.deepEqual(remembered(), [1, 2, 3, 4, 5, 6]);
  const buffer = new CommandBuffer();
  const at = encodeConfigure(buffer, 0, 2, 0, 0);
  assert.equal(driver.engine.apply(buffer.i32, buffer.f64, at), RejectReason.accepted);
  assert.deepEqual(remembered(), [1, 2, 3, 4, 5, 6]);
  duel.step({ kind: 'at', time: 1_002_000 });
  assert.deepEqual(remembered(), [5, 6]);
  duel.compareAll();
});

test('the number of usable rows is set by a command, and older commands leave it unchanged', () => {
  const duel = check('');
  const configure = (orderRows: number, words: number): void => {
    const { i32, f64 } = buffer;
    const at = encodeConfigure(buffer, 0, ROOMY.history, 0, orderRows);
    i32[at] = commandKind(i32, at) | (words << 8);
    assert.equal(duel.driver.engine.apply(i32, f64, at), RejectReason.accepted);
  };
  const buffer = new CommandBuffer();
  configure(3, 6);
  const rules = (...ids: number[]): number[] => ids.map((id) => duel.step(orderOf(id)).reason);
  assert.deepEqual(rules(1, 2, 3, 4), [
    ...Array(3).fill(RejectReason.accepted),
    RejectReason.tableFull,
  ]);
  configure(0, 4);
  assert.deepEqual(rules(5), [RejectReason.tableFull]);
  configure(4, 6);
  assert.deepEqual(rules(6, 7), [RejectReason.accepted, RejectReason.tableFull]);
});

test('open orders never leave memory at any age', () => {
  const duel = check('', { ...ROOMY, history: 1 });
  duel.step(orderOf(1, { collateral: 10_000n }));
  for (let id = 2; id < 20; id++) {
    duel.step(orderOf(id));
    duel.step({ kind: 'cancel', id, signer: 1 });
    duel.driver.persistedClosedSequence = duel.driver.t.state[State.closed]!;
    duel.step({ kind: 'at', time: 1_000_000 + id });
  }
  assert(duel.driver.isInMemory(1));
  assert.equal(duel.step({ kind: 'cancel', id: 1, signer: 1 }).reason, RejectReason.accepted);
  duel.compareAll();
});

test('closed orders without a flush fill the table in the end', () => {
  const duel = check('', { ...ROOMY, orders: 4, history: 4 });
  const rules: number[] = [];
  for (let id = 1; id <= 10; id++) {
    rules.push(duel.step(orderOf(id)).reason);
    duel.step({ kind: 'cancel', id, signer: 1 });
  }
  assert.deepEqual(rules.slice(0, 8), Array(8).fill(RejectReason.accepted));
  assert.deepEqual(rules.slice(8), [RejectReason.tableFull, RejectReason.tableFull]);
  duel.driver.persistedClosedSequence = 8;
  duel.step({ kind: 'at', time: 1_001_000 });
  assert.equal(duel.step(orderOf(11)).reason, RejectReason.accepted, 'a flush makes room');
});

test('an account has a bound of open orders, which never refuses a taker', () => {
  const duel = check('');
  for (const each of [duel.driver, duel.naive]) each.openOrdersPerAccount = 2;
  duel.step({ kind: 'policy', policy: 'allow' });
  const rules = (...orders: Command[]) => orders.map((order) => duel.step(order).reason);
  const cheap = { collateral: 100_000n };
  assert.deepEqual(rules(orderOf(1, cheap), orderOf(2, cheap), orderOf(3, cheap)), [
    RejectReason.accepted,
    RejectReason.accepted,
    RejectReason.tooManyOpen,
  ]);
  const sell = { side: 'SELL', maker: 2, signer: 2 } as const;
  assert.equal(duel.step(orderOf(4, sell)).reason, RejectReason.accepted, 'others are not meant');
  assert.equal(duel.step(orderOf(5, { type: 'FOK' })).reason, RejectReason.accepted);
  const wallet = { maker: 7, signatureType: 2 };
  assert.equal(duel.step(orderOf(6, wallet)).reason, RejectReason.tooManyOpen, 'the signer counts');
  duel.step({ kind: 'cancel', id: 1, signer: 1 });
  assert.deepEqual(rules(orderOf(7, cheap), orderOf(8, cheap)), [
    RejectReason.accepted,
    RejectReason.tooManyOpen,
  ]);
  duel.compareAll();
  duel.driver.close();
  const again = replay(duel.driver.logged);
  assert.equal(again.t.state[State.openOrdersPerAccount], 2);
  assert.equal(stateHash(again.t), stateHash(duel.driver.t));
});

test('a full table of open orders accepts orders that need no row', () => {
  const duel = check('', { ...ROOMY, orders: 4, history: 4 });
  const { driver } = duel;
  for (let id = 1; id <= 4; id++) duel.step(orderOf(id));
  const take = {
    side: 'SELL',
    maker: 2,
    signer: 2,
    shares: 10_000n,
    collateral: 5_000n,
  } as const;
  for (let id = 10; id < 40; id += 2) {
    assert.equal(duel.step(orderOf(id, take)).reason, RejectReason.tableFull, 'it might rest');
    assert.equal(duel.step(orderOf(id, { ...take, type: 'FOK' })).reason, RejectReason.accepted);
    assert.equal(
      duel.step(orderOf(id + 1, { ...take, type: 'FAK' })).reason,
      RejectReason.accepted,
    );
    driver.persistedClosedSequence = driver.t.state[State.closed]!;
    duel.step({ kind: 'at', time: 1_000_000 + id });
    driver.settle();
    audit(driver.t);
  }
  const known = orderOf(10, { ...take, type: 'FOK' });
  assert.equal(
    duel.step(known).reason,
    RejectReason.duplicate,
    'an id that had to leave is on disk',
  );
  duel.compareAll();
  driver.close();
  const again = replay(driver.logged, { ...ROOMY, orders: 4, history: 4 });
  assert.equal(stateHash(again.t), stateHash(driver.t));
});

test('a market that ends and changes its tick at once needs no row, and trades no more', () => {
  const levels = ladderRows(100);
  const duel = check('', { ...ROOMY, levels });
  duel.step(orderOf(1));
  const terms = { baseFeeBps: 0, minSize: 0n, negRisk: false, grid: 1_000 } as const;
  const change = { kind: 'change', market: 1, ...terms } as const;
  const open = { tradable: true, ended: false };
  assert.equal(
    duel.step({ ...change, ...open }).reason,
    RejectReason.tableFull,
    'no ladder is left',
  );
  assert.equal(
    duel.step({ ...change, tradable: false, ended: true }).reason,
    RejectReason.accepted,
  );
  assert.equal(duel.driver.t.state[State.openOrders], 0);
  duel.compareAll();
  assert.equal(
    duel.step({ ...change, ...open, grid: 10_000 }).reason,
    RejectReason.accepted,
    'it is empty',
  );
  duel.compareAll();
});

test('the ring of fills wraps around', () => {
  const duel = new Duel();
  const { t } = duel.driver;
  // As if all but the last few rows had been written before.
  t.state[State.fills] = t.fillRows - 3;
  duel.naive.fills = t.fillRows - 3;
  withSeed((random) => {
    const stream = new Stream(random);
    for (let i = 0; i < 2_000; i++) duel.step(stream.next());
    duel.compareAll();
  });
  assert(t.state[State.fills]! > t.fillRows, 'it went round');
});
