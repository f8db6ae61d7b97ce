/**
 * Cut of a log at a batch where it is damaged and no copy is left. Nothing is deleted: the rest keeps its name with
 * `.cut` behind it, or lies in a copy; a number follows if the name is taken. A log that is not damaged at that
 * batch is cut by force only.
 *
 * Thread: a command-line tool, while no node runs on the directory.
 */
import {
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { withControlRecords } from '../control-records/control-record-store.ts';
import { withFile } from '../files/with-file.ts';
import { logDirectory } from '../log/file-log.ts';
import { findEnd } from '../log/find-end.ts';
import { entriesOf, LogDamage, type LogEntry } from '../log/log.ts';
import { SegmentReader } from '../log/reader.ts';
import { linkProblem, readRecord, type StoredRecord } from '../log/record.ts';
import { listSegments, syncDirectory } from '../log/segments.ts';
import { type DerivedPosition, openDerivedTables, positionOf } from '../projection/derived.ts';
import { PROJECTIONS } from '../projection/environment.ts';
import { batchOf } from '../recovery/replay.ts';
import { SnapshotFiles } from '../snapshot/snapshots.ts';

/** Returns the names that were set aside. Throws an Error that says why nothing was done. */
export async function cutLog(
  dataDir: string,
  sequence: number,
  isForced: boolean,
): Promise<string[]> {
  const segments = listSegments(logDirectory(dataDir));
  const index = segments.findLastIndex(({ first }) => first > 0 && first <= sequence);
  const segment = segments[index];
  if (segment === undefined) throw new Error(`the log does not reach back to batch ${sequence}`);
  const bytes = readFileSync(segment.path);
  let at = 0;
  let before: StoredRecord | undefined;
  let record = readRecord(bytes, at);
  while (typeof record === 'object' && record.sequence !== sequence) {
    before = record;
    at += record.bytes;
    record = readRecord(bytes, at);
  }
  const last = before?.sequence ?? segment.first - 1;
  if (last !== sequence - 1) {
    throw new Error(`the log is whole up to batch ${last} only: cut it at ${last + 1}`);
  }
  if (!isForced) refuseSound(dataDir, sequence, record, before);
  const cut: string[] = [];
  const setAside = (path: string): void => {
    const aside = freeName(path);
    renameSync(path, aside);
    cut.push(aside);
  };
  if (await isAhead(dataDir, sequence)) {
    for (const name of ['derived', PROJECTIONS]) {
      if (existsSync(join(dataDir, name))) setAside(join(dataDir, name));
    }
  }
  await leadBack(dataDir, sequence);
  const snapshots = new SnapshotFiles(dataDir, 'flushed').list();
  for (const snapshot of snapshots) if (snapshot.sequence >= sequence) setAside(snapshot.path);
  // From the end on: whenever this is broken off, the log has no gap.
  for (const { path } of segments.slice(index + 1).reverse()) setAside(path);
  const copy = freeName(segment.path);
  copyFileSync(segment.path, copy, constants.COPYFILE_EXCL);
  cut.push(copy);
  const copied = openSync(copy, constants.O_RDWR);
  withFile(copied, () => fsyncSync(copied));
  // Nothing is overwritten before all of it has another place, also after a power cut.
  for (const path of new Set([dataDir, ...cut.map((path) => dirname(path))]))
    await syncDirectory(path);
  const file = openSync(segment.path, constants.O_RDWR);
  withFile(file, () => {
    writeSync(file, Buffer.alloc(bytes.length - at), 0, bytes.length - at, at);
    fsyncSync(file);
  });
  return cut;
}

/** Throws unless the record of this batch is damaged, or a later one shows that it is missing. */
function refuseSound(
  dataDir: string,
  sequence: number,
  record: StoredRecord | string,
  before: StoredRecord | undefined,
): void {
  const anyway = '--force cuts it all the same';
  if (typeof record === 'object') {
    if (before !== undefined && linkProblem(record, before) !== undefined) return;
    throw new Error(`batch ${sequence} is not damaged, so nothing is cut; ${anyway}`);
  }
  try {
    if (findEnd(logDirectory(dataDir)).newest?.sequence !== sequence - 1) return;
  } catch (error) {
    if (error instanceof LogDamage) return;
    throw error;
  }
  throw new Error(`the log is not damaged and ends with batch ${sequence - 1}; ${anyway}`);
}

function freeName(path: string): string {
  let name = `${path}.cut`;
  for (let number = 2; existsSync(name); number++) name = `${path}.cut.${number}`;
  return name;
}

/**
 * Sets the position of keys/ back to the batch before the cut. Its rows stay, so keys revoked in a cut batch stay
 * revoked.
 */
async function leadBack(dataDir: string, sequence: number): Promise<void> {
  if (!existsSync(join(dataDir, 'keys'))) return;
  const last = sequence - 1;
  await withControlRecords(dataDir, { durability: 'flushed', readOnly: false }, (store) => {
    if ((store.position()?.sequence ?? 0) < sequence) return;
    store.apply([], { sequence: last, digest: last === 0 ? 0 : entryAt(dataDir, last).after });
  });
}

function entryAt(dataDir: string, sequence: number): LogEntry {
  const [entry] = entriesOf(new SegmentReader(logDirectory(dataDir), sequence), sequence);
  return entry!;
}

async function isAhead(dataDir: string, sequence: number): Promise<boolean> {
  if (!existsSync(join(dataDir, 'derived'))) return false;
  const tables = openDerivedTables(dataDir, { durability: 'flushed', readOnly: true });
  const position = positionOf(tables);
  await tables.root.close();
  return position.sequence >= sequence || hasMoreRows(dataDir, position);
}

/** True when an interrupted commit left rows of batches after the position. */
function hasMoreRows(dataDir: string, { fills, finished, sequence }: DerivedPosition): boolean {
  if (sequence === 0) return fills + finished > 0;
  try {
    const { endFill, closedEnd } = batchOf(entryAt(dataDir, sequence));
    return fills > endFill || finished > closedEnd;
  } catch (error) {
    // The log does not reach back so far.
    if (error instanceof LogDamage) return false;
    throw error;
  }
}
