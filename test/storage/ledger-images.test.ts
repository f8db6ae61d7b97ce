/** A ledger comes back from images and from the log; images from before there was one load as they did. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { crc32 } from 'node:zlib';
import { audit } from '../../engine/audit.ts';
import { ledgerIsOn, ledgerTotals, nextResolving } from '../../engine/ledger/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { Ledger, State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import type { Random } from '../common/random.ts';
import { ROOMY } from '../engine/engine-driver.ts';
import { LedgerDuel, WITH_LEDGER } from '../engine/ledger-duel.ts';
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

test('a ledger is the same from an image and the log, also in larger tables', (t) =>
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
      assert(snapshot > 0, 'it began with the image');
      assert.equal(stateHash(engine.t), end);
      assert.equal(ledgerTotals(engine.t).imbalance, 0);
      assert.equal(nextResolving(engine.t), nextResolving(exchange.t));
      audit(engine.t);
    }
    assert.deepEqual(warnings, []);
    const positions = exchange.t.ledger[Ledger.positionRows]! - 1;
    assert.throws(() => again({ ...WITH_LEDGER, positions }), /POSITIONS_MAX/);
  }));

/** Takes the capacity for positions out of the header, which images of before do not have. */
function withoutPositions(path: string): void {
  const file = readFileSync(path);
  const jsonBytes = file.readUInt32LE(file.length - 8);
  const start = file.length - FOOTER_BYTES - jsonBytes;
  const header = JSON.parse(file.toString('utf8', start, start + jsonBytes));
  assert.equal(header.capacities.positions, 0);
  delete header.capacities.positions;
  const json = Buffer.from(JSON.stringify(header));
  const footer = Buffer.from(file.subarray(file.length - FOOTER_BYTES));
  footer.writeUInt32LE(json.length, 8);
  footer.writeUInt32LE(crc32(json), 12);
  writeFileSync(path, Buffer.concat([file.subarray(0, start), json, footer]));
}

function formatOf(path: string): number {
  const file = readFileSync(path);
  return file.readUInt32LE(file.length - 12);
}

test('an image without a ledger is of the format from before, and one from before loads', (t) => {
  const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
  const exchange = new Exchange(ROOMY);
  exchange.configure(1_000);
  const info = saved(snapshots, exchange.t);
  assert.equal(formatOf(info.path), 5);
  withoutPositions(info.path);
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

test('an image with a ledger is of a format of its own', (t) => {
  const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
  const duel = new LedgerDuel();
  assert.equal(formatOf(saved(snapshots, duel.driver.t).path), 6);
});
