import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { crc32 } from 'node:zlib';
import { audit } from '../../engine/audit.ts';
import { CommandBuffer, encodeFunds } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { findInvited, inviteBatches } from '../../engine/invites.ts';
import { agentView, findAgent } from '../../engine/ledger/agents.ts';
import { exposureLeft } from '../../engine/ledger/exposure.ts';
import { ledgerIsOn, ledgerTotals, nextResolving } from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { unsettledCount } from '../../engine/orders/unsettled.ts';
import { marketFees } from '../../engine/reads.ts';
import { relayedCount } from '../../engine/relay.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { Ledger, State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { resizeTables } from '../../storage/snapshot/resize-tables.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import type { Random } from '../common/random.ts';
import { addressWords, ROOMY, replay } from '../engine/engine-driver.ts';
import { LedgerDuel, WITH_LEDGER } from '../engine/ledger-duel.ts';
import { LedgerScript, UNIT } from '../engine/ledger-script.ts';
import { LedgerStream } from '../engine/ledger-stream.ts';
import { FakeLog, type FakeStore } from './fake-log.ts';
import { appended, directoryOf, Exchange, saved, seeded } from './stored-exchange.ts';

const COMMANDS = 2_500;
const FOOTER_BYTES = 16;

function ledgerDay(random: Random): LedgerDuel {
  const duel = new LedgerDuel();
  const stream = new LedgerStream(random);
  for (let i = 0; i < COMMANDS; i++) duel.step(stream.next());
  for (const command of stream.last()) duel.step(command);
  duel.compareAll();
  duel.driver.close();
  return duel;
}

test('a ledger is equal from a snapshot and from the log, also in larger tables', (t) =>
  seeded(async (random) => {
    const { logged } = ledgerDay(random).driver;
    const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
    const store: FakeStore = { entries: [] };
    const log = new FakeLog(store);
    const exchange = new Exchange(WITH_LEDGER);
    const saveAt = random.between(1, logged.length - 1);
    for (const [i, batch] of logged.entries()) {
      await appended(log, exchange.apply(batch));
      if (i === saveAt) saved(snapshots, exchange.t);
    }
    const end = stateHash(exchange.t);
    const warnings: string[] = [];
    const again = (capacities: Capacities) =>
      recover(capacities, snapshots, new FakeLog(store), undefined, (line) => warnings.push(line));
    for (const positions of [WITH_LEDGER.positions, 10_000]) {
      const { engine, snapshot } = again({ ...WITH_LEDGER, positions });
      assert(snapshot > 0, 'it began with the snapshot');
      assert.equal(stateHash(engine.t), end);
      assert.equal(ledgerTotals(engine.t).imbalance, 0);
      assert.equal(nextResolving(engine.t), nextResolving(exchange.t));
      audit(engine.t);
    }
    assert.deepEqual(warnings, []);
    const positions = exchange.t.ledger[Ledger.positionRows]! - 1;
    assert.throws(() => again({ ...WITH_LEDGER, positions }), /POSITIONS_MAX/);
  }));

/** Converts a snapshot to an older format, whose header has fewer tables. */
function makeOlder(path: string, format: number, unknown: readonly (keyof Capacities)[]): void {
  const file = readFileSync(path);
  const jsonBytes = file.readUInt32LE(file.length - 8);
  const start = file.length - FOOTER_BYTES - jsonBytes;
  const header = JSON.parse(file.toString('utf8', start, start + jsonBytes));
  for (const name of unknown) delete header.capacities[name];
  const json = Buffer.from(JSON.stringify(header));
  const footer = Buffer.from(file.subarray(file.length - FOOTER_BYTES));
  footer.writeUInt32LE(format, 4);
  footer.writeUInt32LE(json.length, 8);
  footer.writeUInt32LE(crc32(json), 12);
  writeFileSync(path, Buffer.concat([file.subarray(0, start), json, footer]));
}

function formatOf(path: string): number {
  const file = readFileSync(path);
  return file.readUInt32LE(file.length - 12);
}

test('a snapshot of a version without a ledger loads into tables with room for one', (t) => {
  const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
  const exchange = new Exchange(ROOMY);
  exchange.configure(1_000);
  const info = saved(snapshots, exchange.t);
  assert.equal(formatOf(info.path), 7);
  makeOlder(info.path, 5, ['positions', 'operatorIds']);
  const nothing = new FakeLog({ entries: [] });
  const log = { ...nothing, first: 2, last: 1, digest: exchange.t.state[State.digest]! };
  const { engine } = recover(
    WITH_LEDGER,
    snapshots,
    log as unknown as FakeLog,
    undefined,
    assert.fail,
  );
  assert.equal(stateHash(engine.t), stateHash(exchange.t));
  assert.equal(ledgerIsOn(engine.t), false);
});

test('a snapshot with a ledger has its own format', (t) => {
  const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
  const duel = new LedgerDuel();
  assert.equal(formatOf(saved(snapshots, duel.driver.t).path), 8);
});

test('a snapshot of a ledger from before ids that are texts loads, and the next id is accepted', (t) => {
  const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
  const script = new LedgerScript().fund('deposit', 1, 10 * UNIT);
  const { driver } = script.duel;
  driver.close();
  const hash = stateHash(driver.t);
  const { path } = saved(snapshots, driver.t);
  makeOlder(path, 6, ['operatorIds']);
  const [loaded] = snapshots.list().map((info) => snapshots.load(info));
  assert(typeof loaded === 'object' && loaded.tables.capacities.operatorIds === 0);
  const tables = resizeTables(loaded.tables, WITH_LEDGER);
  assert.equal(stateHash(tables), hash);
  const engine = new Engine(tables.memory);
  const out = new CommandBuffer();
  const id = { isOperator: true, ms: undefined, key: Int32Array.of(1, 2, 3, 4) };
  encodeFunds(out, 'deposit', { id, wallet: addressWords(2), amount: 5 });
  for (const reason of [RejectReason.accepted, RejectReason.idRepeated]) {
    engine.begin(3_000, 0);
    assert.equal(engine.apply(out.i32, out.f64, 0), reason);
    engine.end();
  }
  audit(tables);
});

test('ids that are texts are kept when their ring wraps, and a smaller ring is refused by name', (t) =>
  seeded(async (random) => {
    const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
    const capacities = { ...WITH_LEDGER, operatorIds: 10 };
    const script = new LedgerScript(capacities);
    const id = (key: number) => ({ id: { isOperator: true, isText: true, ms: 0, key } }) as const;
    const years = random.between(2, 5);
    for (let year = 1; year <= years; year++) {
      script.do(`at ${year * 401 * 86_400}`);
      const kept = year === years ? 7 : 10;
      for (let key = 1; key <= kept; key++) script.fund('deposit', 1, year, id(100 * year + key));
    }
    script.duel.driver.close();
    const info = saved(snapshots, script.t);
    const loaded = snapshots.load(info);
    assert(typeof loaded === 'object');
    for (const operatorIds of [10, 12, 16, 1_000]) {
      const tables = resizeTables(loaded.tables, { ...capacities, operatorIds });
      assert.equal(stateHash(tables), stateHash(script.t));
      audit(tables);
    }
    assert.throws(
      () => resizeTables(loaded.tables, { ...capacities, operatorIds: 9 }),
      /10 ids of operators \(OPERATOR_IDS_MAX\) are in use, more than the configured 9/,
    );
  }));

test('a snapshot with a fee schedule has its own format, and loads with the schedule', (t) => {
  const directory = directoryOf(t);
  const snapshots = new SnapshotFiles(directory, 'committed');
  const script = new LedgerScript().do('fees 1 0.07 2 0.2');
  script.duel.settle();
  const info = saved(snapshots, script.t);
  assert.equal(formatOf(info.path), 9);
  const loaded = new SnapshotFiles(directory, 'committed').load(info);
  assert(typeof loaded !== 'string');
  assert.equal(stateHash(loaded.tables), stateHash(script.t));
  const terms = marketFees(loaded.tables, 1 as MarketRow);
  assert.deepEqual(terms, { rate: 70_000, exponent: 2, rebate: 200_000 });
});

test('a snapshot with delayed orders has its own format, and loads with them', (t) => {
  const directory = directoryOf(t);
  const snapshots = new SnapshotFiles(directory, 'committed');
  const script = new LedgerScript().fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 100 * UNIT);
  script.fund('split', 1, 10 * UNIT).do('sell #1 5 @ 0.5 by 1', 'buy #2 5 @ 0.5 by 2 delay 9');
  script.duel.settle();
  const info = saved(snapshots, script.t);
  assert.equal(formatOf(info.path), 10);
  const loaded = new SnapshotFiles(directory, 'committed').load(info);
  assert(typeof loaded !== 'string');
  audit(loaded.tables);
  assert.equal(stateHash(loaded.tables), stateHash(script.t));
  assert.equal(loaded.tables.delayed.size, 1);
});

test('a snapshot with unsettled fills has the same format, and they fail after it is loaded', (t) => {
  const directory = directoryOf(t);
  const snapshots = new SnapshotFiles(directory, 'committed');
  const script = new LedgerScript().fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 100 * UNIT);
  script.fund('split', 1, 10 * UNIT).do('sell #1 5 @ 0.5 by 1', 'buy #2 5 @ 0.5 by 2 fails 500');
  script.duel.settle();
  const info = saved(snapshots, script.t);
  assert.equal(formatOf(info.path), 10);
  const loaded = new SnapshotFiles(directory, 'committed').load(info);
  assert(typeof loaded !== 'string');
  assert.equal(stateHash(loaded.tables), stateHash(script.t));
  const capacities = { ...script.t.capacities, accounts: 9_000, positions: 9_000 };
  for (const tables of [loaded.tables, resizeTables(loaded.tables, capacities)]) {
    audit(tables);
    assert.equal(unsettledCount(tables), 1);
  }
  const engine = new Engine(loaded.tables.memory);
  engine.begin(9_000, 0);
  engine.end();
  audit(engine.t);
  script.do('at 9');
  script.duel.settle();
  assert.equal(stateHash(engine.t), stateHash(script.t));
});

test('a snapshot after a relayed batch has the format of delays, and loads with the nonce', (t) => {
  const directory = directoryOf(t);
  const snapshots = new SnapshotFiles(directory, 'committed');
  const script = new LedgerScript().fund('deposit', 1, 100 * UNIT);
  const calls = [{ kind: 'split', market: 1, amount: 4 * UNIT }] as const;
  script.duel.step({ kind: 'relay', wallet: 1, off: 0, calls });
  script.duel.settle();
  const info = saved(snapshots, script.t);
  assert.equal(formatOf(info.path), 10);
  const loaded = new SnapshotFiles(directory, 'committed').load(info);
  assert(typeof loaded !== 'string');
  audit(loaded.tables);
  assert.equal(stateHash(loaded.tables), stateHash(script.t));
  assert.equal(relayedCount(loaded.tables, findAccount(loaded.tables, addressWords(1), 0)), 1);
});

test('a snapshot with invitations has the format of delays, and loads with what is used', (t) => {
  const directory = directoryOf(t);
  const script = new LedgerScript();
  const { duel } = script;
  duel.step({ kind: 'invite', codes: [1, 2, 3], cash: 5 * UNIT });
  duel.step({ kind: 'redeem', code: 2, wallet: 7 });
  duel.step({ kind: 'revoke', code: 3, wallet: 0 });
  duel.settle();
  const info = saved(new SnapshotFiles(directory, 'committed'), script.t);
  assert.equal(formatOf(info.path), 10);
  const loaded = new SnapshotFiles(directory, 'committed').load(info);
  assert(typeof loaded !== 'string');
  audit(loaded.tables);
  assert.equal(stateHash(loaded.tables), stateHash(script.t));
  const [batch] = inviteBatches(loaded.tables);
  assert.deepEqual([batch?.note, batch?.open, batch?.redeemed], ['a note', 1, 1]);
  assert.notEqual(findInvited(loaded.tables, addressWords(7), 0), 0);
});

test('a snapshot with limits of wallets has the format of delays, and loads with what positions cost', (t) => {
  const directory = directoryOf(t);
  const limits = { openOrdersPerWallet: 5, exposurePerWallet: 60 * UNIT };
  const script = new LedgerScript(WITH_LEDGER, limits);
  script.fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 100 * UNIT);
  script.do('buy #1 50 @ 0.40 by 1', 'buy #2 20 @ 0.60 No by 2');
  script.duel.settle();
  const info = saved(new SnapshotFiles(directory, 'committed'), script.t);
  assert.equal(formatOf(info.path), 10);
  const loaded = new SnapshotFiles(directory, 'committed').load(info);
  assert(typeof loaded !== 'string');
  audit(loaded.tables);
  assert.equal(stateHash(loaded.tables), stateHash(script.t));
  const wallet = findAccount(loaded.tables, addressWords(1), 0);
  // 20 of them traded; 30 rest.
  assert.equal(loaded.tables.walletCosts[wallet], 8 * UNIT);
  assert.equal(exposureLeft(loaded.tables, wallet), 40 * UNIT);
});

test('a snapshot with agents has the format of delays, and loads with what they spent and have open', (t) => {
  const directory = directoryOf(t);
  const script = new LedgerScript();
  script.fund('deposit', 1, 1_000 * UNIT).fund('deposit', 2, 1_000 * UNIT);
  const terms = { cash: 50 * UNIT, size: 100 * UNIT, end: 9_000_000, markets: [1] };
  const agent = { kind: 'agent' as const, wallet: 1, agent: 901, owner: 1, isDerived: false };
  script.duel.step({ ...agent, terms });
  script.duel.step({ ...agent, agent: 902, terms });
  script.duel.step({ ...agent, agent: 902 });
  script.do('buy #1 20 @ 0.50 No by 2', 'buy #2 20 @ 0.50 by 1/901', 'buy #3 50 @ 0.40 by 1/901');
  script.do('buy #4 9 @ 0.10 No by 2', 'delay 1 5', 'buy #5 4 @ 0.90 by 1/901');
  script.duel.settle();
  const info = saved(new SnapshotFiles(directory, 'committed'), script.t);
  assert.equal(formatOf(info.path), 10);
  const loaded = new SnapshotFiles(directory, 'committed').load(info);
  assert(typeof loaded !== 'string');
  const larger = resizeTables(loaded.tables, { ...WITH_LEDGER, accounts: 9_000 });
  for (const tables of [loaded.tables, larger]) {
    audit(tables);
    assert.equal(stateHash(tables), stateHash(script.t));
    const wallet = findAccount(tables, addressWords(1), 0);
    const row = findAgent(tables, wallet, addressWords(901), 0);
    assert(row !== 0);
    const { left, markets, openOrders, reserved, spent } = agentView(tables, row, 2_000);
    assert.deepEqual([spent, reserved, left], [10 * UNIT, 23_600_000, 16_400_000]);
    assert.deepEqual([openOrders, markets], [2, [1]]);
  }
  // The rest of the log leads to the same end from both.
  const from = script.duel.driver.logged.length;
  script.do('at 9', 'buy #6 5 @ 0.60 No by 2', 'cancel #3 by 901');
  script.duel.step({ ...agent });
  script.duel.driver.close();
  const rest = script.duel.driver.logged.slice(from);
  assert.equal(stateHash(replay(rest, WITH_LEDGER, loaded.tables).t), stateHash(script.t));
});
