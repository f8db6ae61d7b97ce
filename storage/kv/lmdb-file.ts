/**
 * Check that a data file of LMDB has all the pages that its header promises. LMDB maps the file without a check:
 * access to a missing page ends the process by a signal.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFile } from '../files/with-file.ts';

const FILE = 'data.mdb';
const LOCK = 'lock.mdb';
const HEADER_BYTES = 24;
const MAGIC = 0xbeefc0de;
const MAGIC_AT = HEADER_BYTES;
const PAGE_SIZE_AT = HEADER_BYTES + 24;
const LAST_PAGE_AT = PAGE_SIZE_AT + 96;
const TRANSACTION_AT = LAST_PAGE_AT + 8;
const META_BYTES = TRANSACTION_AT + 8;
const PAGE_BYTES_MAX = 65_536;
const PROBE_MS_MAX = 600_000;

export class TruncatedFile extends Error {
  constructor(path: string, what: string) {
    super(
      `${join(path, FILE)} is damaged: ${what}; put back a copy of ${path}, or see docs/guides/operations.md`,
    );
  }
}

/**
 * Throws an Error that names an unreadable file, TruncatedFile when pages are missing. A missing or
 * empty environment is valid.
 */
export function checkDataFile(path: string): void {
  checkLockFile(join(path, LOCK));
  const lack = seen(join(path, FILE), (name) => {
    const file = openSync(name, 'r');
    return withFile(file, () => lackOf(file));
  });
  // Pages that the last transaction allocated and freed need not be in the file. Only reading the
  // tree shows whether they are needed.
  if (lack !== undefined && !(lack.mayBeWhole && canBeRead(path))) {
    throw new TruncatedFile(path, lack.what);
  }
}

/**
 * The lmdb package ends the process by a signal when it cannot open this file. Only access rights
 * are checked: to open and close the file would release the locks that this process has on it.
 */
function checkLockFile(path: string): void {
  seen(path, (name) => {
    if (!statSync(name).isFile()) throw new Error('it is not a file');
    accessSync(name, constants.R_OK | constants.W_OK);
  });
}

/** Runs `look` on a file; undefined when there is no such file, or the disk is read-only. */
function seen<T>(path: string, look: (path: string) => T): T | undefined {
  try {
    return look(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EROFS') return undefined;
    throw new Error(`${path} cannot be read: ${message}`);
  }
}

interface Lack {
  readonly what: string;
  readonly mayBeWhole: boolean;
}

function lackOf(file: number): Lack | undefined {
  // First the pages, then the size, because another process may be writing.
  const first = readMeta(file, 0);
  const second = first === undefined ? undefined : readMeta(file, first.pageBytes);
  const { size } = fstatSync(file);
  if (first === undefined || second === undefined) {
    return { what: `its first pages are not there, ${size} bytes are`, mayBeWhole: false };
  }
  const newest = second.transaction > first.transaction ? second : first;
  const bytes = (newest.lastPage + 1) * first.pageBytes;
  if (size >= bytes) return undefined;
  const isCutInside = size % first.pageBytes !== 0;
  return { what: `it has ${size} bytes of ${bytes}`, mayBeWhole: !isCutInside };
}

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: bigint;
}

function readMeta(file: number, at: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, at) < META_BYTES) return undefined;
  if (bytes.readUInt32LE(MAGIC_AT) !== MAGIC) return undefined;
  const pageBytes = bytes.readUInt32LE(PAGE_SIZE_AT);
  if (pageBytes === 0 || pageBytes > PAGE_BYTES_MAX) return undefined;
  return {
    pageBytes,
    lastPage: Number(bytes.readBigUInt64LE(LAST_PAGE_AT)),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
  };
}

/** Reads the whole environment in a process of its own, because the read may end that process. */
function canBeRead(path: string): boolean {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const probe = fileURLToPath(new URL(`./lmdb-probe.${extension}`, import.meta.url));
  const loader = extension === 'ts' ? ['--import', import.meta.resolve('tsx')] : [];
  const { status } = spawnSync(process.execPath, [...loader, probe, path], {
    stdio: 'ignore',
    timeout: PROBE_MS_MAX,
  });
  return status === 0;
}
