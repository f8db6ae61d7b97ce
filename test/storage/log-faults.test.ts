import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { FileLog } from '../../storage/log/file-log.ts';
import type { LogEntry } from '../../storage/log/log.ts';
import type { Random } from '../common/random.ts';
import { chain, logOf } from './log-stage.ts';
import { directoryOf, seeded } from './stored-exchange.ts';

const ONE_SEGMENT = { segmentBytes: 1 << 18 };

function segmentOf(dataDir: string, number = 1): { readonly path: string; readonly bytes: Buffer } {
  const path = join(dataDir, 'log', `0000000${number}.segment`);
  return { path, bytes: readFileSync(path) };
}

function endOf(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

function sequencesOf(log: FileLog): number[] {
  if (log.last === 0) return [];
  const reader = log.read(log.first);
  const found: number[] = [];
  for (let entry = reader.next(log.last); entry !== undefined; entry = reader.next(log.last)) {
    found.push(entry.sequence);
  }
  reader.close();
  return found;
}

function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Opens the log, appends to it, and reads all of it; returns its warnings. */
async function reopened(t: TestContext, dataDir: string, last: number): Promise<string[]> {
  const lines: string[] = [];
  const options = { ...ONE_SEGMENT, log: (line: string) => void lines.push(line) };
  const log = await logOf(t, dataDir, options);
  assert.equal(log.last, last);
  assert.deepEqual(sequencesOf(log), upTo(last));
  const after = log.digest + 1;
  const entry = { sequence: last + 1, time: 1, before: log.digest, after };
  await log.append([{ ...entry, payload: Buffer.from('the next') }], last);
  await log.close();
  const again = await logOf(t, dataDir, ONE_SEGMENT);
  assert.deepEqual(sequencesOf(again), upTo(last + 1));
  await again.close();
  return lines;
}

/** Ten records on disk, then one more write of three; returns the offset of that write. */
async function written(t: TestContext, dataDir: string, random: Random): Promise<number> {
  const log = await logOf(t, dataDir, ONE_SEGMENT);
  const small = (entries: LogEntry[]) =>
    entries.map((entry) => ({ ...entry, payload: Buffer.alloc(random.between(1, 900), 7) }));
  await log.append(small(chain(log, random, 10)), 0);
  const start = Math.ceil(endOf(segmentOf(dataDir).bytes) / 8) * 8;
  await log.append(small(chain(log, random, 3)), 10);
  await log.close();
  return start;
}

test('a last write that was torn anywhere is cut off, with a message', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const start = await written(t, dataDir, random);
    const { bytes, path } = segmentOf(dataDir);
    const end = endOf(bytes);
    const cuts = [
      start + 1,
      start + 47,
      end - 1,
      ...Array.from({ length: 12 }, () => random.between(start + 1, end - 1)),
    ];
    for (const cut of cuts) {
      writeFileSync(
        path,
        Buffer.concat([bytes.subarray(0, cut), Buffer.alloc(bytes.length - cut)]),
      );
      const log = await logOf(t, dataDir, ONE_SEGMENT);
      const { last } = log;
      await log.close();
      assert(last >= 10 && last < 13, `cut at ${cut} of ${start} to ${end} leaves ${last}`);
      writeFileSync(
        path,
        Buffer.concat([bytes.subarray(0, cut), Buffer.alloc(bytes.length - cut)]),
      );
      const lines = await reopened(t, dataDir, last);
      if (endOf(bytes.subarray(0, cut)) === 0) continue;
      const expected = new RegExp(
        `^log: batch ${last + 1} was being written when the process ended`,
      );
      if (lines.length > 0) assert.match(lines[0]!, expected);
    }
  }));

test('a last write whose sectors reached the disk in any order is cut off, never refused as damage', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const start = await written(t, dataDir, random);
    const { bytes, path } = segmentOf(dataDir);
    const end = endOf(bytes);
    const sector = 64;
    for (let round = 0; round < 12; round++) {
      const torn = Buffer.from(bytes);
      for (let at = start; at < end; at += sector) {
        if (random.chance(50)) torn.fill(0, at, Math.min(end, at + sector));
      }
      writeFileSync(path, torn);
      const log = await logOf(t, dataDir, ONE_SEGMENT);
      assert(log.last >= 10);
      await log.close();
    }
  }));

test('damage to an acknowledged record is refused by naming it, and nothing is changed', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir, ONE_SEGMENT);
    const starts: number[] = [];
    for (let n = 1; n <= 8; n++) {
      starts.push(Math.ceil(endOf(segmentOf(dataDir).bytes) / 8) * 8);
      await log.append(chain(log, random, 1), log.last);
    }
    await log.close();
    const { bytes, path } = segmentOf(dataDir);
    for (let n = 1; n < 8; n++) {
      const bad = Buffer.from(bytes);
      bad[random.between(starts[n - 1]!, starts[n]! - 1)]! ^= 1 << random.below(8);
      writeFileSync(path, bad);
      await assert.rejects(logOf(t, dataDir, ONE_SEGMENT), ({ message }: Error) => {
        assert.match(
          message,
          new RegExp(`^log: batch ${n}: .*, and batch ${n + 1} after it is whole; `),
        );
        assert.match(message, /what to do: docs\/guides\/operations\.md, "A damaged log"$/);
        return true;
      });
      assert.deepEqual(readFileSync(path), bad);
    }
  }));

test('a segment that cannot be opened is refused by naming it, never skipped', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir);
    await log.append(chain(log, random, 20), log.last);
    await log.close();
    const { path } = segmentOf(dataDir);
    rmSync(path);
    // As root nothing else is refused on opening.
    symlinkSync(path, path);
    await assert.rejects(
      logOf(t, dataDir),
      /^Error: log: .*00000001\.segment cannot be read: ELOOP/,
    );
  }));

test('a segment that is missing between two is refused by naming it', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir, { segmentBytes: 4_096 });
    for (let n = 0; n < 80; n++) await log.append(chain(log, random, 1), log.last);
    await log.close();
    rmSync(segmentOf(dataDir, 2).path);
    await assert.rejects(logOf(t, dataDir), /^Error: log: .*00000002\.segment is missing; /);
  }));

test('damage in a full segment is found when it is read', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir, { segmentBytes: 4_096 });
    for (let n = 0; n < 80; n++) await log.append(chain(log, random, 1), log.last);
    await log.close();
    // The first one has nothing where the first record does not fit it.
    const filled = [1, 2].map((number) => segmentOf(dataDir, number));
    const { bytes, path } = filled.find((segment) => endOf(segment.bytes) > 0)!;
    bytes[random.below(endOf(bytes))]! ^= 1;
    writeFileSync(path, bytes);
    const again = async () => sequencesOf(await logOf(t, dataDir, { segmentBytes: 4_096 }));
    const named = /^Error: log: batch \d+: .*; what to do: docs\/guides\/operations/;
    const first = /^Error: log: .*[12]\.segment does not begin with a whole record[,;] /;
    await assert.rejects(again, (error) => named.test(`${error}`) || first.test(`${error}`));
    // The format of the first record.
    bytes[4]! ^= 1;
    writeFileSync(path, bytes);
    await assert.rejects(again, first);
  }));

test('an empty segment is refused, also when it is the only one', async (t) => {
  const dataDir = directoryOf(t);
  await (await logOf(t, dataDir)).close();
  truncateSync(segmentOf(dataDir).path);
  await assert.rejects(
    logOf(t, dataDir),
    /^Error: log: .*1\.segment has no bytes any more; what to do/,
  );
});

test('a segment that ends in the middle of a record is refused, never treated as a torn write', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir, ONE_SEGMENT);
    const starts: number[] = [];
    for (let n = 1; n <= 3; n++) {
      starts.push(Math.ceil(endOf(segmentOf(dataDir).bytes) / 8) * 8);
      await log.append(chain(log, random, 1), log.last);
    }
    await log.close();
    const { bytes, path } = segmentOf(dataDir);
    const sizes = Array.from({ length: 40 }, () => random.between(1, starts[2]! + 40));
    for (const size of [1, 8, 47, 49, ...sizes].filter((of) => !starts.includes(of))) {
      writeFileSync(path, bytes.subarray(0, size));
      const batch = starts.filter((start) => start < size).length;
      const named = new RegExp(
        `^Error: log: batch ${batch}: .*1.segment ends in the middle of it;`,
      );
      await assert.rejects(logOf(t, dataDir, ONE_SEGMENT), named);
    }
  }));

test('segments may have any size: one that was closed whole is never cut', async (t) => {
  const dataDir = directoryOf(t);
  const lines: string[] = [];
  const options = { segmentBytes: 4_097, log: (line: string) => void lines.push(line) };
  for (const payload of [11, 3_910, 20]) {
    const log = await logOf(t, dataDir, options);
    const { digest: before, last } = log;
    const entry = { sequence: last + 1, time: 1, before, after: last + 1 };
    await log.append([{ ...entry, payload: Buffer.alloc(payload, 7) }], last);
    await log.close();
  }
  assert.deepEqual(sequencesOf(await logOf(t, dataDir, options)), [1, 2, 3]);
  assert.deepEqual(lines, []);
});

test('a log of another format is refused by naming both', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir, ONE_SEGMENT);
    await log.append(chain(log, random, 2), 0);
    await log.close();
    const { bytes, path } = segmentOf(dataDir);
    const crcAt = Math.ceil((48 + bytes.readUInt32LE(8) + 4) / 8) * 8 - 4;
    bytes.writeUInt32LE(7, 4);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, crcAt)), crcAt);
    writeFileSync(path, bytes);
    await assert.rejects(
      logOf(t, dataDir),
      /its format is 7, this node reads 2; .* begin with another DATA_DIR; /,
    );
  }));

test('a read-only opening changes nothing, and a missing log counts as an empty one', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const none = await logOf(t, dataDir, { readOnly: true });
    assert.equal(none.last, 0);
    assert.deepEqual(readdirSync(dataDir), []);
    const start = await written(t, dataDir, random);
    const { bytes, path } = segmentOf(dataDir);
    writeFileSync(path, bytes.fill(0, start + 60));
    const log = await logOf(t, dataDir, { ...ONE_SEGMENT, readOnly: true });
    assert.equal(log.last, 10);
    assert.deepEqual(sequencesOf(log), upTo(10));
    assert.deepEqual(readFileSync(path), bytes);
  }));

test('shared memory is refused before it is written', async (t) => {
  const log = await logOf(t, directoryOf(t));
  const payload = Buffer.from(new SharedArrayBuffer(100));
  await assert.rejects(
    log.append([{ sequence: 1, time: 1, after: 1, payload }], 0),
    /the log is handed ordinary memory only/,
  );
});

function turnOfEvents(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * A log on a disk of 1 MB whose next segment has just found no room; `undefined` without such a
 * disk.
 */
async function fullDisk(t: TestContext) {
  const disk = mkdtempSync(join(tmpdir(), 'log-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'pipe' });
  } catch {
    rmSync(disk, { recursive: true });
    t.skip('mounting a tmpfs is not allowed here');
    return undefined;
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', disk]);
    rmSync(disk, { recursive: true });
  });
  const log = await logOf(t, disk, { segmentBytes: 200_000, durability: 'flushed' });
  const told: (string | undefined)[] = [];
  log.onRoom = (problem) => void told.push(problem);
  const append = async (bytes: number): Promise<void> => {
    const sequence = log.last + 1;
    const entry = { sequence, time: 1, before: log.digest, after: sequence };
    await log.append([{ ...entry, payload: Buffer.alloc(bytes, 9) }], log.last);
  };
  const { bavail, bsize } = statfsSync(disk);
  appendFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - 50_000, 1));
  while (told.length === 0) {
    await append(5_000);
    for (let i = 0; i < 20; i++) await turnOfEvents();
  }
  assert.match(told[0]!, /^the next segment cannot be made: .*ENOSPC/);
  return { append, disk, log, told };
}

test('a segment is never created twice, also when the disk was full at the switch', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = await fullDisk(t);
  if (stage === undefined) return;
  const { append, disk, log } = stage;
  rmSync(join(disk, 'filler'));
  const second = join(disk, 'log', '00000002.segment');
  while (!existsSync(second)) {
    let isAppended = false;
    const appended = append(5_000).then(() => {
      isAppended = true;
    });
    while (!isAppended && !existsSync(second)) await turnOfEvents();
    // Now the log would try again by itself, while the record goes into the segment that is there.
    if (existsSync(second)) t.mock.timers.tick(1_000);
    await appended;
  }
  await append(5_000);
  await log.close();
  const again = await logOf(t, disk, { readOnly: true });
  assert.equal(again.last, log.last);
  assert.deepEqual(sequencesOf(again), upTo(log.last));
});

test('a full disk is noticed before a record is at risk, and ends by itself', async (t) => {
  const stage = await fullDisk(t);
  if (stage === undefined) return;
  const { append, disk, log, told } = stage;
  const { last } = log;
  for (let i = 0; i < 10; i++) await append(5_000);
  assert.equal(log.last, last + 10, 'what is in flight has room');
  rmSync(join(disk, 'filler'));
  for (let i = 0; i < 2_000 && told.length < 2; i++) await sleep(20);
  assert.deepEqual(told.slice(1), [undefined], 'and it says when there is room again');
  for (let i = 0; i < 60; i++) await append(5_000);
  assert.equal(told.length, 2);

  const filler = statfsSync(disk);
  appendFileSync(join(disk, 'filler'), Buffer.alloc(filler.bavail * filler.bsize, 1));
  let failed = 0;
  const failure = new Promise<string>((resolve) => {
    const go = (): void =>
      void append(5_000).then(go, (error: Error) => {
        failed = log.last + 1;
        resolve(error.message);
      });
    go();
  });
  assert.match(await failure, /ENOSPC/, 'who does not listen is refused in the end');
  await assert.rejects(append(1), /ENOSPC/, 'and nothing is taken after that');
  await log.close();
  const again = await logOf(t, disk, { readOnly: true });
  assert.equal(again.last, failed - 1, 'every acknowledged record is whole');
  assert.deepEqual(sequencesOf(again), upTo(again.last));
});
