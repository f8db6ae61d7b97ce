import assert from 'node:assert/strict';
import { existsSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { withFile } from '../../storage/files/with-file.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { FileLog, logDirectory } from '../../storage/log/file-log.ts';
import { wholeEnd } from '../../storage/log/readable-end.ts';
import { recordBytes, writeRecord } from '../../storage/log/record.ts';
import { backUp, restore } from '../../storage/operations/backup.ts';
import { type Finding, verify } from '../../storage/operations/verify.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { putPage, putRuns, RunState } from '../../storage/projection/id-runs.ts';
import { rebuild } from '../../storage/recovery/rebuild.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { lived } from './lived-directory.ts';
import { logOf } from './log-stage.ts';
import { directoryOf, saved, TIGHT } from './stored-exchange.ts';

const onProgress = (): void => undefined;
const OPTIONS = { derived: true, key: true, audit: true, onProgress };

/** Writes two records in parts that another process may see: the second, and half of the first. */
function writeHalf(dataDir: string, last: number): void {
  const { bytes, segments } = wholeEnd(logDirectory(dataDir))!;
  const payload = Buffer.alloc(24, 7);
  const out = Buffer.alloc(2 * recordBytes(payload.length));
  for (const i of [0, 1]) {
    const entry = { sequence: last + 1 + i, time: 1, before: 0, after: 0, payload };
    writeRecord(out, i * recordBytes(payload.length), entry, 0, last + i);
  }
  out.fill(0, 8, 32);
  const file = openSync(segments.at(-1)!.path, 'r+');
  withFile(file, () => writeSync(file, out, 0, out.length, bytes));
}

function at(dataDir: string, to?: number): string {
  return stateHash(rebuild({ dataDir, capacities: TIGHT, to }).t);
}

async function findingsOf(dataDir: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const finding of verify({ dataDir, capacities: TIGHT, onProgress }))
    findings.push(finding);
  return findings;
}

test('a copy ends with the last whole record, and every batch that it keeps can be rebuilt', async (t) => {
  const { dataDir, hashes, snapshots, last } = await lived(t);
  writeHalf(dataDir, last);
  await assert.rejects(
    FileLog.open({ dataDir, durability: 'committed', segmentBytes: 1 << 14, log: onProgress }),
    /is whole/,
    'a start would take what is half written here for damage',
  );
  const [copy, place] = [join(directoryOf(t), 'copy'), directoryOf(t)];
  const manifest = await backUp(dataDir, copy, OPTIONS);
  assert.equal(manifest.sequence, last);
  await restore(copy, place, onProgress);

  const lines: string[] = [];
  const log = await logOf(t, place, { log: (line) => lines.push(line) });
  assert.deepEqual([log.last, lines], [last, []]);
  await log.close();
  assert(log.first > 1, 'the log was trimmed');
  for (const sequence of [...snapshots, snapshots[0]! + 7, last - 1, last]) {
    assert.equal(at(place, sequence), hashes.get(sequence), `batch ${sequence}`);
  }
  assert.equal(at(place), hashes.get(last));
  assert.throws(() => at(place, snapshots[0]! - 1), /is not kept any more: \d+ is the oldest$/);
  assert.throws(() => at(place, last + 1), new RegExp(`the log ends with batch ${last}$`));
});

test('verification begins with the oldest snapshot, and compares the newer one with the log', async (t) => {
  const { dataDir, hashes, snapshots, last } = await lived(t);
  const sound = await findingsOf(dataDir);
  assert(
    sound.every(({ ok }) => ok),
    JSON.stringify(sound),
  );
  assert.match(sound[0]!.text, new RegExp(`to ${last}, state ${hashes.get(last)}$`));
  const [older, newer] = sound.filter(({ part }) => part.startsWith('image'));
  assert.equal(older!.text, `state ${hashes.get(snapshots[0]!)}, where the replay begins`);
  assert.equal(newer!.text, `state ${hashes.get(snapshots[1]!)}, as the log leads to`);

  // A snapshot of another history has a valid checksum, and is detected.
  const other = await lived(t);
  const exchange = rebuild({ dataDir: other.dataDir, capacities: TIGHT, to: other.snapshots[1]! });
  exchange.t.state[State.batch] = snapshots[1]!;
  saved(new SnapshotFiles(dataDir, 'committed'), exchange.t);
  const wrong = (await findingsOf(dataDir)).filter(({ ok }) => !ok);
  assert.deepEqual(
    wrong.map(({ part }) => part),
    [`image ${snapshots[1]}`],
  );
  assert.match(wrong[0]!.text, /^its state is [0-9a-f]{16}, the log leads to [0-9a-f]{16}$/);
});

test('verification names a snapshot that is ahead of the log, and faults that end a start', async (t) => {
  const { dataDir, last } = await lived(t);
  const { t: ahead } = rebuild({ dataDir, capacities: TIGHT });
  ahead.state[State.batch] = last + 1;
  saved(new SnapshotFiles(dataDir, 'committed'), ahead);
  const root = openEnvironment({ path: join(dataDir, 'keys'), durability: 'committed' });
  openTable(root, 'keys');
  openTable(root, 'meta').putSync(Buffer.from(`heartbeat/${'a'.repeat(20)}`), Buffer.alloc(5));
  await root.close();
  const wrong = (await findingsOf(dataDir)).filter(({ ok }) => !ok);
  assert.deepEqual(
    wrong.map(({ part }) => part),
    [`image ${last + 1}`, 'keys'],
  );
  assert.equal(wrong[0]!.text, `the log ends with batch ${last}`);
  assert.match(wrong[1]!.text, /^heartbeat row of keys (61){20}: damaged/);
});

test('a log is not copied when a segment between two cannot be read', async (t) => {
  const { dataDir } = await lived(t);
  const segments = readdirSync(logDirectory(dataDir)).sort();
  const file = openSync(join(logDirectory(dataDir), segments[1]!), 'r+');
  withFile(file, () => writeSync(file, Buffer.alloc(64), 0, 64, 0));
  const copy = join(directoryOf(t), 'copy');
  const what = new RegExp(`a segment before .*${segments[2]} begins with no record`);
  await assert.rejects(backUp(dataDir, copy, OPTIONS), what);
  assert(!existsSync(copy));
});

test('a log is not copied when it is whole only up to a batch before a snapshot', async (t) => {
  const { dataDir, last } = await lived(t);
  saved(new SnapshotFiles(dataDir, 'committed'), rebuild({ dataDir, capacities: TIGHT }).t);
  const { bytes, segments } = wholeEnd(logDirectory(dataDir))!;
  const file = openSync(segments.at(-1)!.path, 'r+');
  withFile(file, () => writeSync(file, Buffer.alloc(4, 9), 0, 4, bytes - 4));
  const what = new RegExp(`log: whole up to batch ${last - 1}, but an image holds batch ${last}`);
  await assert.rejects(backUp(dataDir, join(directoryOf(t), 'copy'), OPTIONS), what);
});

test('verification finds a missing page of ids, and a damaged list of them', async (t) => {
  const { dataDir } = await lived(t);
  const { ids, meta, root } = openDerivedTables(dataDir, {
    durability: 'committed',
    readOnly: false,
  });
  t.after(() => root.close());
  const runs = [{ from: 0, to: 2 }] as const;
  const derived = async (write: () => void): Promise<Finding | undefined> => {
    root.transactionSync(write);
    return (await findingsOf(dataDir)).find(({ part }) => part === 'derived');
  };
  const put = (): void => putRuns(meta, [[runs[0], RunState.live]]);
  const gone = await derived(put);
  assert.equal(gone?.text, 'derived: page 0 of the ids of finished orders 0 to 1 is damaged');
  const there = await derived(() => putPage(ids, runs[0], 0, Uint32Array.of(1, 0, 2, 1)));
  assert.equal(there?.ok, true);
  const damaged = await derived(() => void meta.put(Buffer.from('ids'), Buffer.alloc(8, 1)));
  assert.equal(damaged?.text, 'derived: the list of its id runs is damaged');
});

test('projections are copied before the log, and their sources after it', async (t) => {
  const { dataDir } = await lived(t);
  for (const name of ['derived', 'keys', 'catalog']) {
    await openEnvironment({ path: join(dataDir, name), durability: 'committed' }).close();
  }
  const { files } = await backUp(dataDir, join(directoryOf(t), 'copy'), OPTIONS);
  const folders = new Set(files.map(({ path }) => path.split('/')[0]));
  assert.deepEqual([...folders], ['images', 'derived', 'keys', 'log', 'catalog']);
});

test('a failed backup leaves nothing, and none is overwritten', async (t) => {
  const { dataDir } = await lived(t);
  const place = directoryOf(t);
  await assert.rejects(backUp(place, join(place, 'copy'), OPTIONS), /holds no log/);
  await assert.rejects(backUp(dataDir, place, OPTIONS), /is there already$/);
  const [image = ''] = readdirSync(join(dataDir, 'images'));
  for (const name of readdirSync(join(dataDir, 'images'))) {
    if (name !== image) rmSync(join(dataDir, 'images', name));
  }
  // The log does not lead up to the oldest snapshot that is left, as if it was trimmed meanwhile.
  const [first = ''] = readdirSync(logDirectory(dataDir)).sort();
  rmSync(join(logDirectory(dataDir), first));
  await assert.rejects(
    backUp(dataDir, join(place, 'copy'), OPTIONS),
    /is not in the log any more$/,
  );
  assert(!existsSync(join(place, 'copy')));
  assert(!existsSync(join(place, 'copy.unfinished')));
});

test('an invalid list of files is refused with a reason, and nothing is restored', async (t) => {
  const from = directoryOf(t);
  const wrong = { format: 1, files: [{ path: 'log/00000001.segment', bytes: 'many' }] };
  for (const [text, reason] of [
    ['null', /its format is undefined, this version reads 1/],
    ['{"format":1}', /backup.json does not say which files there are/],
    [JSON.stringify(wrong), /backup.json does not say which files there are/],
  ] as const) {
    writeFileSync(join(from, 'backup.json'), text);
    const place = join(directoryOf(t), 'restored');
    await assert.rejects(restore(from, place, onProgress), reason);
    assert(!existsSync(place));
  }
});
