import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { Header } from '../../engine/book/memory.ts';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { fillCopy } from '../../storage/projection/fills.ts';
import { RecoveryAssistant } from '../../storage/recovery/recovery-assistant.ts';
import { WordSum } from '../../storage/snapshot/snapshot-checksum.ts';
import {
  type LoadedSnapshot,
  SnapshotFiles,
  type SnapshotInfo,
} from '../../storage/snapshot/snapshots.ts';
import { scriptArgs } from '../common/forms.ts';
import { directoryOf, Exchange, saved, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

function snapshotsOf(directory: string): SnapshotFiles {
  return new SnapshotFiles(directory, 'committed');
}

function sumOf(bytes: Buffer): string {
  const sum = new WordSum();
  sum.add(Uint8Array.from(bytes));
  return sum.text();
}

function filesOf(directory: string): string[] {
  return readdirSync(join(directory, 'images')).sort();
}

function loaded(snapshots: SnapshotFiles, info: SnapshotInfo): LoadedSnapshot {
  const found = snapshots.load(info);
  assert(typeof found === 'object', String(found));
  return found;
}

function hashOf(snapshots: SnapshotFiles, info: SnapshotInfo): string {
  return stateHash(loaded(snapshots, info).tables);
}

async function withTrading(
  body: (context: Exchange, trade: (batches: number) => void) => void | Promise<void>,
): Promise<void> {
  await seeded(async (random) => {
    const day = [...tradingDay(random, 1_000)];
    const context = new Exchange();
    const trade = (batches: number): void => {
      for (const batch of day.splice(0, batches)) context.apply(batch);
    };
    trade(30);
    await body(context, trade);
  });
}

test('a snapshot loads unchanged, also when its tables take many pieces', (t) =>
  withTrading((context) => {
    // Every price level of every ladder: more than two pieces.
    const { state } = context.t;
    const { header, rowI } = context.t.matching;
    assert(rowI.byteLength > 2 * 2 ** 20);
    header[Header.levelRows] = TIGHT.levels;
    rowI[rowI.length - 1] = 77;
    const snapshots = snapshotsOf(directoryOf(t));
    const info = saved(snapshots, context.t);
    assert.equal(info.sequence, state[State.batch]);
    const { tables } = loaded(snapshots, info);
    assert.equal(stateHash(tables), stateHash(context.t));
    assert.equal(tables.matching.rowI[rowI.length - 1], 77);
    assert.deepEqual(tables.capacities, TIGHT);
  }));

test('a snapshot has the tables of the moment at which it began, with the newest fills', (t) =>
  withTrading((context, trade) => {
    trade(100);
    const snapshots = snapshotsOf(directoryOf(t));
    const end = context.t.state[State.fills]!;
    const first = end - TIGHT.trades;
    assert(first > 0);
    const hash = stateHash(context.t);
    const fills = Array.from({ length: TIGHT.trades }, (_, i) => fillCopy(context.t, first + i));
    const saving = snapshots.save(context.t, first);
    saving.next();
    let info: SnapshotInfo | undefined;
    while (info === undefined) {
      // The projector continues while the snapshot is written.
      trade(1);
      const { done, value } = saving.next();
      if (done === true) info = value;
    }
    const snapshot = loaded(snapshots, info);
    assert.equal(stateHash(snapshot.tables), hash);
    assert.equal(snapshot.firstFill, first);
    fills.forEach((fill, i) => {
      assert.deepEqual(fillCopy(snapshot.tables, first + i), fill);
    });
  }));

test('fills find their rows in a ring of another length than the stored one', (t) =>
  withTrading((context) => {
    const tables = context.t;
    const { buffers } = tables.memory;
    const count = TIGHT.trades;
    // Sequences that lie in one run of rows there, and in two here.
    const first = 3 * tables.fillRows - Math.floor(count / 2);
    const fills = Array.from({ length: count }, (_, i) => fillCopy(tables, i));
    const bytes = fills[0]!.length;
    fills.forEach((fill, i) => {
      buffers.fills.set(fill, ((first + i) % tables.fillRows) * bytes);
    });
    tables.state[State.fills] = first + count;
    const directory = directoryOf(t);
    const info = saved(snapshotsOf(directory), tables);
    const file = readFileSync(info.path);
    const at = file.length - 16 - file.readUInt32LE(file.length - 8);
    const header = JSON.parse(file.toString('utf8', at, file.length - 16)) as {
      spans: { name: string; start: number; bytes: number; sum: string }[];
    };
    const [head, tail] = header.spans.filter(({ name }) => name === 'fills');
    assert(tail !== undefined && head!.bytes + tail.bytes === count * bytes, 'two runs here');
    const runs = Buffer.concat(fills);
    const one = { name: 'fills', start: 9 * runs.length, bytes: runs.length, sum: sumOf(runs) };
    header.spans = [...header.spans.filter(({ name }) => name !== 'fills'), one];
    const json = Buffer.from(JSON.stringify(header));
    const footer = Buffer.from(file.subarray(file.length - 16));
    footer.writeUInt32LE(json.length, 8);
    footer.writeUInt32LE(crc32(json), 12);
    writeFileSync(info.path, Buffer.concat([file.subarray(0, at), json, footer]));
    const snapshot = loaded(snapshotsOf(directory), info);
    assert.equal(snapshot.firstFill, first);
    fills.forEach((fill, i) => {
      assert.deepEqual(fillCopy(snapshot.tables, first + i), fill);
    });
  }));

test('the newest two snapshots are kept, each with its own batch sequence', (t) =>
  withTrading((context, trade) => {
    const directory = directoryOf(t);
    const snapshots = snapshotsOf(directory);
    assert.deepEqual(snapshots.list(), []);
    const hashes: string[] = [];
    const infos: SnapshotInfo[] = [];
    for (let i = 0; i < 4; i++) {
      trade(5);
      hashes.push(stateHash(context.t));
      infos.push(saved(snapshots, context.t));
    }
    assert.deepEqual(snapshots.list(), [infos[3], infos[2]]);
    assert.equal(filesOf(directory).length, 2);
    assert.equal(hashOf(snapshots, infos[3]!), hashes[3]);
    assert.equal(hashOf(snapshots, infos[2]!), hashes[2]);
  }));

test('an unfinished snapshot does not count, and is removed with the next one', (t) =>
  withTrading((context, trade) => {
    const directory = directoryOf(t);
    const snapshots = snapshotsOf(directory);
    const first = saved(snapshots, context.t);
    trade(5);
    const saving = snapshots.save(context.t, 0);
    for (let i = 0; i < 3; i++) saving.next();
    assert.equal(filesOf(directory).length, 2, 'it lies there under another name');
    assert.deepEqual(snapshots.list(), [first]);
    trade(5);
    const next = saved(snapshotsOf(directory), context.t);
    assert.deepEqual(snapshots.list(), [next, first]);
    assert.equal(filesOf(directory).length, 2);
  }));

test('damage to any part is found, and the older snapshot is kept for it', (t) =>
  withTrading((context, trade) => {
    const directory = directoryOf(t);
    const first = saved(snapshotsOf(directory), context.t);
    trade(5);
    const second = saved(snapshotsOf(directory), context.t);
    const good = readFileSync(second.path);
    const reason = (bad: Buffer): string => {
      writeFileSync(second.path, bad);
      return String(snapshotsOf(directory).load(second));
    };
    const flipped = (at: number): Buffer => {
      const bad = Buffer.from(good);
      bad[at]! ^= 16;
      return bad;
    };
    const jsonBytes = good.readUInt32LE(good.length - 8);
    const tables = good.length - 16 - jsonBytes;
    for (let i = 0; i < 40; i++) {
      const at = Math.floor((tables * (i + Math.random())) / 40);
      assert.match(reason(flipped(at)), /^the checksum of its table \w+ is wrong$/);
    }
    for (let at = tables; at < good.length - 16; at += 7) {
      assert.equal(reason(flipped(at)), 'the checksum of its header is wrong');
    }
    for (let at = good.length - 16; at < good.length; at++) {
      assert.match(reason(flipped(at)), /magic number|its format is|checksum of its header/);
    }
    assert.match(reason(good.subarray(0, good.length - 1)), /magic number/);
    assert.equal(reason(good.subarray(0, 10)), 'it is too short');
    const snapshots = snapshotsOf(directory);
    assert.equal(typeof snapshots.load(second), 'string');
    trade(5);
    const third = saved(snapshots, context.t);
    assert.deepEqual(snapshots.list(), [third, first], 'two that can be used');
    loaded(snapshots, first);
  }));

test('a second thread reads half of a snapshot, audits half of its tables, and reports its findings', (t) =>
  withTrading(async (context) => {
    const snapshots = snapshotsOf(directoryOf(t));
    const info = saved(snapshots, context.t);
    const good = readFileSync(info.path);
    const beside = new RecoveryAssistant();
    try {
      const snapshot = snapshots.load(info, beside);
      assert(typeof snapshot === 'object', String(snapshot));
      assert.equal(stateHash(snapshot.tables), stateHash(context.t));
      const { memory, orderIndex } = snapshot.tables;
      assert.equal(beside.ask({ kind: 'orders', memory })(), undefined);
      orderIndex.fill(0);
      assert.match(beside.ask({ kind: 'orders', memory })()!, /known by its id/);
      const tables = good.length - 16 - good.readUInt32LE(good.length - 8);
      for (let i = 0; i < 20; i++) {
        const bad = Buffer.from(good);
        bad[Math.floor((tables * i) / 20)]! ^= 16;
        writeFileSync(info.path, bad);
        assert.match(
          String(snapshotsOf(directoryOf(t)).load(info, beside)),
          /^the checksum of its table/,
        );
      }
      // Half of the file, but all that says what is in it.
      writeFileSync(info.path, good.subarray(good.length / 2));
      assert.match(String(snapshotsOf(directoryOf(t)).load(info, beside)), /is missing|checksum/);
      const nothing = { path: info.path, memory: undefined as never, spans: [{} as never] };
      assert.throws(
        beside.ask({ kind: 'spans', ...nothing }),
        /undefined/,
        'a bug is not a finding',
      );
    } finally {
      await beside.close();
    }
  }));

const SAVER = `
import { SnapshotFiles } from './storage/snapshot/snapshots.ts';
import { Exchange, saved } from './test/storage/stored-exchange.ts';
const [directory] = process.argv.slice(-1);
const snapshots = new SnapshotFiles(directory, 'committed');
const { t } = new Exchange();
t.matching.header[2] = t.capacities.levels;
t.state[1] = snapshots.list()[0]?.sequence ?? 0;
for (;;) {
  t.state[1] += 1;
  t.matching.rowF.fill(t.state[1]);
  saved(snapshots, t);
  process.send(t.state[1]);
  await new Promise((resolve) => setImmediate(resolve));
}
`;

test('an unreadable snapshot is skipped with a reason', (t) =>
  withTrading((context) => {
    const snapshots = snapshotsOf(directoryOf(t));
    const info = saved(snapshots, context.t);
    rmSync(info.path);
    mkdirSync(info.path);
    assert.match(String(snapshots.load(info)), /^EISDIR/);
    assert.deepEqual(snapshots.list(), [], 'and does not count');
  }));

test('a process killed while it writes or renames snapshots leaves a whole one, the newest announced', async (t) => {
  assert.deepEqual([State.batch, Header.levelRows], [1, 2], 'as the child writes them');
  const directory = directoryOf(t);
  for (let round = 0; round < 3; round++) {
    const { args, cwd } = scriptArgs(SAVER);
    const child = spawn(process.execPath, [...args, directory], {
      cwd,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let announced = 0;
    child.on('message', (sequence: number) => {
      announced = sequence;
    });
    await once(child, 'message');
    await sleep(Math.random() * 40);
    child.kill('SIGKILL');
    await once(child, 'close');
    const snapshots = snapshotsOf(directory);
    const [newest] = snapshots.list();
    assert(newest !== undefined && newest.sequence >= announced, 'what was announced is there');
    for (const info of snapshots.list()) {
      const { tables } = loaded(snapshots, info);
      assert.equal(tables.matching.rowF.at(-1), info.sequence, 'and of one piece');
    }
  }
});

test('a full disk fails the snapshot with its reason, and the older one stays', async (t) => {
  const disk = join(directoryOf(t), 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk], { stdio: 'pipe' });
  } catch {
    t.skip('mounting a tmpfs is not allowed here');
    return;
  }
  try {
    await withTrading((context, trade) => {
      const snapshots = snapshotsOf(disk);
      const first = saved(snapshots, context.t);
      const hash = stateHash(context.t);
      trade(5);
      context.t.matching.header[Header.levelRows] = TIGHT.levels;
      context.t.matching.rowF.fill(Math.PI);
      assert.throws(() => saved(snapshots, context.t), /ENOSPC/);
      assert.deepEqual(snapshots.list(), [first]);
      assert.equal(filesOf(disk).length, 1, 'and what it took is given back');
      assert.equal(hashOf(snapshots, first), hash);
    });
  } finally {
    execFileSync('umount', ['--lazy', disk]);
  }
});

test('a snapshot of another format is skipped with both formats and advice', (t) =>
  withTrading((context) => {
    const directory = directoryOf(t);
    const info = saved(snapshotsOf(directory), context.t);
    const bytes = readFileSync(info.path);
    bytes.writeUInt32LE(99, bytes.length - 12);
    writeFileSync(info.path, bytes);
    assert.match(
      String(snapshotsOf(directory).load(info)),
      /^its format is 99, this node reads 7; .* begin with another DATA_DIR$/,
    );
    rmSync(info.path);
    assert.match(String(snapshotsOf(directory).load(info)), /ENOENT/);
  }));
