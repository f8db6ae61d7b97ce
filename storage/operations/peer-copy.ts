/**
 * A backup (backup.ts) on its way from one node of a cluster to another, as a stream: the manifest, then the
 * contents of its files in the order of the manifest.
 *
 *   give      a backup of a directory that is in use, made in a thread, and removed at the end
 *   receive   into DATA_DIR/joining.unfinished, which becomes `joining` once every file is there, has the digest
 *             of the manifest, and is on disk
 *   settle    each start begins with it: moves what `joining` holds into its place; may be interrupted and
 *             begun again
 *
 * So a node never begins with a half of it, whatever ends while it is under way.
 */
import assert from 'node:assert/strict';
import { createHash, type Hash } from 'node:crypto';
import { existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from '../files/make-directory.ts';
import { Pieces } from '../files/pieces.ts';
import { startThread } from '../files/thread.ts';
import { withFile } from '../files/with-file.ts';
import { syncDirectory } from '../log/segments.ts';
import { PROJECTIONS } from '../projection/environment.ts';
import { MANIFEST, type Manifest, parseManifest, readManifest } from './backup.ts';
import type { CopySetup } from './backup-thread.ts';

/** Parts that a copy replaces. Others, such as the audit log, stay. */
const PARTS = ['images', PROJECTIONS, 'derived', 'keys', 'catalog', 'log'];
const NODE_KEY = 'node.key';
const NODE_KEY_MODE = 0o600;
const JOINING = 'joining';
const UNFINISHED = `${JOINING}.unfinished`;
const GIVING = 'giving';
const PIECE_BYTES = 256 * 1_024;
/** Milliseconds between two signs that a copy is being made. */
const SIGN_MS = 1_000;
const LENGTH_BYTES = 4;
const MANIFEST_BYTES_MAX = 2 ** 26;

let given = 0;
/** Copies of each directory that are being made or sent. */
const underWay = new Map<string, number>();

/** Removes copies that were under way when the node ended. */
export function removeGiven(dataDir: string): void {
  // A restart within this process finds its own copies; each is removed at its end.
  if (underWay.has(dataDir)) return;
  rmSync(join(dataDir, GIVING), { recursive: true, force: true });
}

/** Stream of a new copy of a directory. Yields empty pieces while it is made, as a sign of life. */
export async function* give(dataDir: string): AsyncGenerator<Buffer, void, void> {
  given += 1;
  const into = join(dataDir, GIVING, String(given));
  makeDirectory(dirname(into));
  count(dataDir, 1);
  const copying = copied({ dataDir, into });
  try {
    while (await Promise.race([copying, sleep(SIGN_MS, true, { ref: false })])) {
      yield Buffer.alloc(0);
    }
    yield* bytesOf(into);
  } finally {
    // The reader may disconnect before the copy is complete.
    await copying.catch(() => undefined);
    rmSync(into, { recursive: true, force: true });
    count(dataDir, -1);
  }
}

function count(dataDir: string, more: number): void {
  const now = (underWay.get(dataDir) ?? 0) + more;
  if (now === 0) underWay.delete(dataDir);
  else underWay.set(dataDir, now);
}

async function copied(workerData: CopySetup): Promise<undefined> {
  const thread = startThread(new URL('./backup-thread', import.meta.url), { workerData });
  const problem = await new Promise<string | undefined>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread of the backup ended without a word')));
  });
  if (problem !== undefined) throw new Error(problem);
  return undefined;
}

async function* bytesOf(backup: string): AsyncGenerator<Buffer, void, void> {
  const manifest = readManifest(backup);
  const text = Buffer.from(JSON.stringify(manifest));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  yield Buffer.concat([length, text]);
  for (const { bytes, path } of manifest.files) {
    const file = await open(join(backup, ...path.split('/')), 'r');
    try {
      for (let at = 0; at < bytes; ) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes - at));
        const { bytesRead } = await file.read(piece, 0, piece.length, at);
        assert(bytesRead > 0, 'a copy has the length that its manifest says');
        yield piece.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
  }
}

/**
 * Writes such a stream below DATA_DIR, for settle(). Rejects with an Error when the copy is incomplete; the
 * directory is then unchanged.
 */
export async function receive(
  pieces: AsyncIterable<Buffer>,
  dataDir: string,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Manifest> {
  const into = join(dataDir, UNFINISHED);
  for (const path of [into, join(dataDir, JOINING)]) rmSync(path, { recursive: true, force: true });
  makeDirectory(into);
  const bytes = new Pieces(pieces);
  const length = (await bytes.exactly(LENGTH_BYTES)).readUInt32BE();
  if (length > MANIFEST_BYTES_MAX) throw new Error(`a manifest of ${length} bytes is none`);
  const text = (await bytes.exactly(length)).toString();
  const manifest = parseManifest(text, 'what a peer has sent');
  const total = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  let done = 0;
  for (const { bytes: count, path, sha256 } of manifest.files) {
    const [folder = ''] = path.split('/');
    if (!PARTS.includes(folder) && path !== NODE_KEY) {
      throw new Error(`${path} does not belong into a copy for a peer`);
    }
    const target = join(into, ...path.split('/'));
    makeDirectory(dirname(target));
    const hash = createHash('sha256');
    const file = await open(target, 'w', path === NODE_KEY ? NODE_KEY_MODE : 0o644);
    try {
      for await (const piece of bytes.take(count)) {
        await written(file, piece, hash);
        done += piece.length;
        onProgress(done, total);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (hash.digest('hex') !== sha256) {
      throw new Error(`${path} is not what the peer has copied: its checksum is another`);
    }
  }
  const mark = await open(join(into, MANIFEST), 'w');
  await mark.writeFile(text);
  await mark.sync();
  await mark.close();
  for (const entry of readdirSync(into, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncDirectory(join(into, entry.name));
  }
  await syncDirectory(into);
  renameSync(into, join(dataDir, JOINING));
  await syncDirectory(dataDir);
  return manifest;
}

async function written(
  file: { write(piece: Buffer): Promise<{ bytesWritten: number }> },
  piece: Buffer,
  hash: Hash,
): Promise<void> {
  hash.update(piece);
  for (let rest = piece; rest.length > 0; ) {
    const { bytesWritten } = await file.write(rest);
    rest = rest.subarray(bytesWritten);
  }
}

/**
 * Moves a received copy into its place. Returns false when there is none. Nobody else may use the directory, and
 * nothing of it may have been read. An existing `node.key` stays.
 */
export function settle(dataDir: string): boolean {
  rmSync(join(dataDir, UNFINISHED), { recursive: true, force: true });
  const joining = join(dataDir, JOINING);
  if (!existsSync(joining)) return false;
  const { files } = readManifest(joining);
  const isIn = (part: string): boolean => files.some(({ path }) => path.startsWith(`${part}/`));
  // The log is last: a directory without it, but with an image, is refused.
  for (const part of PARTS) {
    const [from, to] = [join(joining, part), join(dataDir, part)];
    const isThere = existsSync(from);
    // It was moved before this was interrupted.
    if (!isThere && isIn(part)) continue;
    rmSync(to, { recursive: true, force: true });
    if (isThere) renameSync(from, to);
  }
  const key = join(joining, NODE_KEY);
  if (existsSync(key) && !existsSync(join(dataDir, NODE_KEY))) {
    renameSync(key, join(dataDir, NODE_KEY));
  }
  syncNow(dataDir);
  renameSync(joining, join(dataDir, UNFINISHED));
  rmSync(join(dataDir, UNFINISHED), { recursive: true, force: true });
  return true;
}

function syncNow(directory: string): void {
  const file = openSync(directory, 'r');
  withFile(file, () => fsyncSync(file));
}
