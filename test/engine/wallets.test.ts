import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { CommandBuffer, commandKind, encodeConfigure } from '../../engine/commands.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { withSeed } from '../common/random.ts';
import { copyTables } from './copy-tables.ts';
import { check, type Duel } from './duel.ts';
import { ROOMY, replay } from './engine-driver.ts';
import { BUSY, MARKETS, Stream } from './stream.ts';

function bounded(walletsPerSigner: number): Duel {
  const duel = check('');
  for (const each of [duel.driver, duel.naive]) each.walletsPerSigner = walletsPerSigner;
  duel.step({ kind: 'policy', policy: 'allow' });
  return duel;
}

/** Reject reason of an order for 5 shares at 0.40. */
function place(duel: Duel, id: number, maker: number, signer: number, derived = false): number {
  return duel.step({
    kind: 'order',
    id,
    token: 1,
    side: 'BUY',
    type: 'GTC',
    postOnly: false,
    shares: 5_000_000n,
    collateral: 2_000_000n,
    expiration: 0,
    feeRateBps: 0,
    maker,
    signer,
    signatureType: maker === signer ? 0 : 1,
    faults: [],
    ...(derived ? { derived } : {}),
  }).reason;
}

test('a signer has a bound of wallets; cancels free none, and its own address does not count', () => {
  const duel = bounded(3);
  const { accepted, tooManyWallets } = RejectReason;
  assert.equal(place(duel, 1, 1, 1), accepted);
  for (const id of [2, 3, 4]) assert.equal(place(duel, id, 100 + id, 1), accepted);
  const accounts = duel.driver.t.state[State.accounts];
  assert.equal(place(duel, 5, 105, 1), tooManyWallets);
  duel.step({ kind: 'cancel-all', signer: 1, market: 0, token: 0, limit: 100 });
  assert.equal(place(duel, 6, 106, 1), tooManyWallets, 'a cancel frees no wallet');
  assert.equal(duel.driver.t.state[State.accounts], accounts, 'a refusal takes no row');
  assert.equal(place(duel, 7, 102, 1), accepted, 'a wallet that it has goes on');
  assert.equal(place(duel, 8, 1, 1), accepted, 'and so does its own address');
  assert.equal(place(duel, 9, 105, 2), accepted, 'another signer is not meant');
  duel.compareAll();
});

test('a wallet that goes to its owner leaves the count of its former signer', () => {
  const duel = bounded(1);
  const { accepted, tooManyWallets } = RejectReason;
  assert.equal(place(duel, 1, 100, 1), accepted);
  assert.equal(place(duel, 2, 101, 1), tooManyWallets);
  assert.equal(place(duel, 3, 100, 2, true), accepted);
  assert.equal(place(duel, 4, 101, 1), accepted);
  assert.equal(place(duel, 5, 102, 2), tooManyWallets);
  // A wallet that signs for itself belongs to nobody else either.
  assert.equal(place(duel, 6, 101, 101), accepted);
  assert.equal(place(duel, 7, 103, 1), accepted);
  duel.compareAll();
});

test('the engine agrees with the naive exchange with few wallets for each signer, also from its log', () => {
  withSeed((random) => {
    const duel = bounded(random.between(1, 3));
    const markets = MARKETS.slice(0, 2);
    const stream = new Stream(random, { ...BUSY, accounts: 12, changes: 0 }, markets);
    let refused = 0;
    for (let i = 0; i < 4_000; i++) {
      if (random.chance(10)) {
        const maker = random.between(1, 30);
        const signer = random.between(1, 12);
        const rule = place(duel, 1_000_000 + i, maker, signer, random.chance(30));
        if (rule === RejectReason.tooManyWallets) refused += 1;
      }
      const command = stream.next();
      // The first market is there.
      if (command.kind === 'market' && command.condition === 1) continue;
      if (duel.step(command).reason === RejectReason.tooManyWallets) refused += 1;
    }
    assert(refused > 10, `the bound is met, not ${refused} times`);
    duel.compareAll();
    duel.driver.close();
    audit(duel.driver.t);
    const again = replay(duel.driver.logged);
    assert.equal(stateHash(again.t), stateHash(duel.driver.t));
    audit(again.t);
  });
});

test('counts of wallets are restored with their rows', () => {
  const duel = bounded(2);
  place(duel, 1, 100, 1);
  place(duel, 2, 101, 1);
  place(duel, 3, 100, 2, true);
  duel.driver.close();
  const copy = new Tables(allocateEngine(ROOMY));
  copyTables(duel.driver.t, copy);
  rebuildIndexes(copy);
  assert.deepEqual(copy.wallets, duel.driver.t.wallets);
  audit(copy);
});

test('a configuration of an older version has no bound of wallets', () => {
  const duel = check('');
  const buffer = new CommandBuffer();
  const configure = (walletsPerSigner: number, words: number): void => {
    buffer.clear();
    const at = encodeConfigure(buffer, 0, ROOMY.history, 0, 0, walletsPerSigner);
    buffer.i32[at] = commandKind(buffer.i32, at) | (words << 8);
    assert.equal(duel.driver.engine.apply(buffer.i32, buffer.f64, at), RejectReason.accepted);
  };
  const { state } = duel.driver.t;
  configure(7, 6);
  assert.equal(state[State.walletsPerSigner], 0);
  configure(7, 8);
  assert.equal(state[State.walletsPerSigner], 7);
  configure(0, 6);
  assert.equal(state[State.walletsPerSigner], 7, 'as it was');
});
