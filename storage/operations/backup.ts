/**
 * Copy of a data directory, also while a node runs on it. A node that starts with the copy has everything up to the
 * newest batch that was on disk when the copy was made.
 *
 *   order   images, then keys and what is derived, then the log: what follows from the log is never ahead of it,
 *           and the log that is there for the images reaches back to the keys; then the catalog, which the log
 *           follows from: a start brings markets up to the catalog, so by an older one it would open again what
 *           was closed since
 *   log     whole records up to that batch, zeros behind them, so that nothing half written is in it
 *   LMDB    a snapshot of each environment, by the package itself
 *
 * The copy has another name until it is complete and on disk.
 *
 * Thread: a command-line tool, in the PID namespace of the node (directory-lock.ts).
 */
import { createHash } from 'node:crypto';
import {
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { makeDirectory } from '../files/make-directory.ts';
import { withFile } from '../files/with-file.ts';
import { openEnvironment } from '../kv/lmdb.ts';
import { logDirectory } from '../log/file-log.ts';
import { LogDamage } from '../log/log.ts';
import { type ReadableEnd, wholeEnd } from '../log/readable-end.ts';
import { syncDirectory } from '../log/segments.ts';
import { PROJECTIONS } from '../projection/environment.ts';
import { SnapshotFiles } from '../snapshot/snapshots.ts';
import { AUDIT, auditFiles } from './audit-log.ts';

export interface Manifest {
  readonly format: number;
  readonly at: number;
  /** Newest batch in it, and the engine's digest after it; 0 = none. */
  readonly sequence: number;
  readonly digest: number;
  readonly files: readonly StoredFile[];
}

interface StoredFile {
  /** Path below the directory, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BackupOptions {
  /** Without projections they are made again from log and snapshots, as far as those reach back. */
  readonly derived: boolean;
  /** node.key is every credential; operators who store it apart leave it out. */
  readonly key: boolean;
  readonly audit: boolean;
  readonly onProgress: (what: string, done: number, total: number) => void;
}

export const MANIFEST = 'backup.json';
const FORMAT = 1;
/** Projections, dependent ones first. */
const DERIVED = [PROJECTIONS, 'derived'] as const;
const DATA_FILE = 'data.mdb';
const NODE_KEY = 'node.key';
const PIECE_BYTES = 1 << 20;
/** Attempts: the node may remove a snapshot, and the log with it, during a copy. */
const ATTEMPTS_MAX = 3;

/** Resolves with the manifest. Rejects with an Error, with nothing left under its name. */
export async function backUp(
  dataDir: string,
  into: string,
  options: BackupOptions,
): Promise<Manifest> {
  if (existsSync(into)) throw new Error(`${into} is there already`);
  if (!existsSync(logDirectory(dataDir))) {
    throw new Error(`${dataDir} holds no log: is it a DATA_DIR?`);
  }
  const unfinished = `${into}.unfinished`;
  for (let attempt = 1; ; attempt++) {
    rmSync(unfinished, { recursive: true, force: true });
    makeDirectory(unfinished);
    try {
      const manifest = await copyAll(dataDir, unfinished, options);
      renameSync(unfinished, into);
      await syncDirectory(join(into, '..'));
      return manifest;
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      const mayPass = error instanceof GivenUp || error instanceof LogDamage;
      if (!mayPass || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

class GivenUp extends Error {}

async function copyAll(
  dataDir: string,
  into: string,
  { audit, derived, key, onProgress }: BackupOptions,
): Promise<Manifest> {
  const files: StoredFile[] = [];
  const keep = (path: string, copy: Copied): void => {
    files.push({ path: relative(into, path).replaceAll('\\', '/'), ...copy });
  };
  const { newest, oldest } = copySnapshots(dataDir, into, keep, onProgress);
  const copyEach = async (environments: readonly string[]): Promise<void> => {
    for (const [i, name] of environments.entries()) {
      onProgress('LMDB', i, environments.length);
      if (!existsSync(join(dataDir, name, DATA_FILE))) continue;
      await copyEnvironment(join(dataDir, name), join(into, name));
      const path = join(into, name, DATA_FILE);
      keep(path, measured(path));
    }
  };
  await copyEach(derived ? [...DERIVED, 'keys'] : ['keys']);
  const end = wholeEnd(logDirectory(dataDir));
  const { digest, last: sequence } = end ?? { digest: 0, last: 0 };
  // The log was ahead of the snapshot when the snapshot was written.
  if (sequence < newest) {
    throw new LogDamage(`whole up to batch ${sequence}, but an image holds batch ${newest}`);
  }
  if (end !== undefined) {
    if (end.first > oldest + 1) throw new GivenUp(`batch ${oldest + 1} is not in the log any more`);
    copyLog(end, logDirectory(into), keep, onProgress);
  }
  await copyEach(['catalog']);
  for (const path of audit ? auditFiles(dataDir) : []) {
    const target = join(into, AUDIT, basename(path));
    makeDirectory(dirname(target));
    keep(target, copyFile(path, target));
  }
  if (key && existsSync(join(dataDir, NODE_KEY))) {
    keep(join(into, NODE_KEY), copyFile(join(dataDir, NODE_KEY), join(into, NODE_KEY)));
  }
  for (const path of readdirSync(into)) {
    if (statSync(join(into, path)).isDirectory()) await syncDirectory(join(into, path));
  }
  const manifest = { format: FORMAT, at: Date.now(), sequence, digest, files };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  writeFileSync(join(into, MANIFEST), text, { flush: true });
  await syncDirectory(into);
  return manifest;
}

type Keep = (path: string, copy: Copied) => void;

/** Copies snapshots. Returns the batches of the newest and the oldest one; 0 = none. */
function copySnapshots(
  dataDir: string,
  into: string,
  keep: Keep,
  onProgress: BackupOptions['onProgress'],
): { readonly newest: number; readonly oldest: number } {
  const snapshots = new SnapshotFiles(dataDir, 'flushed').list();
  if (snapshots.length > 0) makeDirectory(join(into, 'images'));
  let newest = 0;
  let oldest = 0;
  for (const [i, { path, sequence }] of snapshots.entries()) {
    onProgress('images', i, snapshots.length);
    const target = join(into, 'images', basename(path));
    try {
      keep(target, copyFile(path, target));
      newest = Math.max(newest, sequence);
      oldest = sequence;
    } catch (error) {
      // A newer one has taken its place: the one that was copied before it is enough.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || oldest === 0) throw again(error);
    }
  }
  return { newest, oldest };
}

function again(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? new GivenUp(message) : (error as Error);
}

async function copyEnvironment(path: string, into: string): Promise<void> {
  makeDirectory(into);
  const root = openEnvironment({ path, durability: 'flushed', readOnly: true });
  try {
    await root.backup(into, false);
  } finally {
    await root.close();
  }
  const file = openSync(join(into, DATA_FILE), constants.O_RDWR);
  withFile(file, () => fsyncSync(file));
}

function copyLog(
  { bytes, segments }: ReadableEnd,
  into: string,
  keep: Keep,
  onProgress: BackupOptions['onProgress'],
): void {
  makeDirectory(into);
  for (const [i, segment] of segments.entries()) {
    onProgress('log', i, segments.length);
    const target = join(into, basename(segment.path));
    const isLast = i === segments.length - 1;
    try {
      keep(target, copyFile(segment.path, target, isLast ? bytes : segment.bytes));
    } catch (error) {
      throw again(error);
    }
  }
}

/**
 * Copies the files of a backup into a data directory, and checks each. The log comes last and at once: a node
 * refuses a directory with a snapshot and no log.
 *
 * Throws an Error that says how much was restored, and why not all.
 */
export async function restore(
  from: string,
  dataDir: string,
  onProgress: BackupOptions['onProgress'],
): Promise<Manifest> {
  const manifest = readManifest(from);
  const log = logDirectory(dataDir);
  const unfinished = `${log}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  for (const [i, { path, ...wanted }] of manifest.files.entries()) {
    onProgress('files', i, manifest.files.length);
    const [folder = ''] = path.split('/');
    const target =
      folder === 'log' ? join(unfinished, basename(path)) : join(dataDir, ...path.split('/'));
    makeDirectory(join(target, '..'));
    const found = copyFile(join(from, ...path.split('/')), target);
    if (found.sha256 !== wanted.sha256 || found.bytes !== wanted.bytes) {
      throw new Error(`${join(from, path)} is not what was backed up: its checksum is another`);
    }
    await syncDirectory(join(target, '..'));
  }
  if (existsSync(unfinished)) renameSync(unfinished, log);
  await syncDirectory(dataDir);
  return manifest;
}

/** Throws an Error when this version cannot read it as a backup. */
export function readManifest(from: string): Manifest {
  let text: string;
  try {
    text = readFileSync(join(from, MANIFEST), 'utf8');
  } catch (error) {
    throw new Error(`${from} holds no backup: ${(error as Error).message}`);
  }
  return parseManifest(text, from);
}

export function parseManifest(text: string, from: string): Manifest {
  let manifest: Manifest | null;
  try {
    manifest = JSON.parse(text) as Manifest | null;
  } catch (error) {
    throw new Error(`${from} holds no backup: ${(error as Error).message}`);
  }
  const format = manifest?.format;
  if (manifest === null || format !== FORMAT) {
    throw new Error(`${from}: its format is ${format}, this version reads ${FORMAT}`);
  }
  const isList = Array.isArray(manifest.files) && manifest.files.every(isStoredFile);
  if (!isList) throw new Error(`${from}: ${MANIFEST} does not say which files there are`);
  for (const { path } of manifest.files) {
    const isBelow = /^[\w.-]+(\/[\w.-]+)?$/.test(path) && !path.includes('..');
    if (!isBelow) throw new Error(`${from}: ${path} is no name of a file in a backup`);
  }
  return manifest;
}

function isStoredFile(file: Partial<StoredFile> | null): boolean {
  const { bytes, path, sha256 } = file ?? {};
  return typeof path === 'string' && typeof sha256 === 'string' && Number.isInteger(bytes);
}

type Copied = Omit<StoredFile, 'path'>;

/** Copies a file with its mode: `count` bytes, then zeros; on disk when it returns. Returns the sum of the copy. */
function copyFile(from: string, to: string, count = Number.POSITIVE_INFINITY): Copied {
  const source = openSync(from, 'r');
  return withFile(source, () => {
    const { mode, size } = fstatSync(source);
    const target = openSync(to, 'w', mode & 0o777);
    return withFile(target, () => {
      fchmodSync(target, mode & 0o777);
      const hash = createHash('sha256');
      const piece = Buffer.alloc(PIECE_BYTES);
      for (let at = 0; at < size; ) {
        const read = readSync(source, piece, 0, Math.min(PIECE_BYTES, size - at), at);
        if (read === 0) throw new Error(`${from} became shorter while it was copied`);
        if (at + read > count) piece.fill(0, Math.max(0, count - at), read);
        const bytes = piece.subarray(0, read);
        writeAll(target, bytes, at);
        hash.update(bytes);
        at += read;
      }
      fsyncSync(target);
      return { bytes: size, sha256: hash.digest('hex') };
    });
  });
}

function measured(path: string): Copied {
  const hash = createHash('sha256');
  const file = openSync(path, 'r');
  return withFile(file, () => {
    const piece = Buffer.alloc(PIECE_BYTES);
    let bytes = 0;
    for (;;) {
      const read = readSync(file, piece, 0, PIECE_BYTES, bytes);
      if (read === 0) return { bytes, sha256: hash.digest('hex') };
      hash.update(piece.subarray(0, read));
      bytes += read;
    }
  });
}

function writeAll(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, at + done);
  }
}
