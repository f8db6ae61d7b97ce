/**
 * Keeps a second process out of a data directory, with a kernel lock on DATA_DIR/node.lock. The
 * lock works across PID namespaces and containers, because it depends only on the file. It belongs
 * to the open file and ends with the last descriptor of it: a kill leaves nothing to clean up, and
 * a suspended process keeps it. Node closes its descriptors in child processes, so no child
 * inherits it by accident.
 *
 * Node has no call for it. The util-linux command `flock` locks a descriptor that it inherits, and
 * the lock remains after the command has ended. Where there is no such command, the lock of
 * pid-lock.ts is used.
 *
 * Thread: any; waits some milliseconds for a child process.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type PidLock, takePidLock } from './pid-lock.ts';

export type DirectoryLock =
  | {
      readonly ok: true;
      /**
       * False: the directory cannot be written, so nothing is locked; a process that only reads may
       * continue.
       */
      readonly isLocked: boolean;
      readonly release: () => void;
      readonly warning?: string;
    }
  | { readonly ok: false; readonly detail: string };

/** Exit code of the command when another process has the lock; 1 is any other failure. */
const CONFLICT = 75;
/**
 * The text is written in one call, so that nobody reads half of it. It is longer than the longest
 * host name.
 */
const TEXT_BYTES = 256;
const PID_ONLY =
  'no command flock (util-linux): the lock on DATA_DIR sees the processes of this container only';

export function takeDirectoryLock(dataDir: string): DirectoryLock {
  if (process.platform !== 'linux') return byPid(takePidLock(dataDir));
  const path = lockPath(dataDir);
  const file = opened(path);
  if (file === undefined) return { ok: true, isLocked: false, release: () => undefined };
  const result = locked(file);
  if (result === 'taken') {
    tell(file, `${process.pid} ${pidNamespace()} ${hostname()}`);
    let isLocked = true;
    const release = (): void => {
      // After the release the number may belong to another file.
      if (!isLocked) return;
      isLocked = false;
      tell(file, '');
      closeSync(file);
    };
    return { ok: true, isLocked, release };
  }
  closeSync(file);
  if (result === 'held')
    return { ok: false, detail: `DATA_DIR ${dataDir} is in use by ${holder(path)}` };
  return byPid(takePidLock(dataDir), PID_ONLY);
}

/**
 * Reason why this process must not open LMDB in this directory: a process of another PID namespace
 * serves it, and LMDB tells readers and writers apart by their process numbers. `undefined` where it
 * may.
 */
export function foreignHolder(dataDir: string): string | undefined {
  const path = lockPath(dataDir);
  const [, namespace] = textOf(path).split(' ');
  if (process.platform !== 'linux' || !namespace || namespace === pidNamespace()) return undefined;
  const lock = takeDirectoryLock(dataDir);
  if (!lock.ok) {
    return `${lock.detail}, in another PID namespace: run the command there (docker exec)`;
  }
  lock.release();
  return undefined;
}

function lockPath(dataDir: string): string {
  return join(dataDir, 'node.lock');
}

function byPid(lock: PidLock, warning?: string): DirectoryLock {
  if (!lock.ok) return lock;
  return { ...lock, ...(warning === undefined ? {} : { warning }) };
}

/**
 * Opens the file for writing, or for reading where writing is refused; a lock needs no more.
 * Undefined = neither is possible.
 */
function opened(path: string): number | undefined {
  for (const flags of [constants.O_RDWR | constants.O_CREAT, constants.O_RDONLY]) {
    try {
      return openSync(path, flags, 0o644);
    } catch {
      // Try the next mode.
    }
  }
  return undefined;
}

function locked(file: number): 'taken' | 'held' | 'unknown' {
  // The child's descriptor 3 is the same open file as ours.
  const { status } = spawnSync('flock', ['-n', '-E', String(CONFLICT), '3'], {
    stdio: ['ignore', 'ignore', 'ignore', file],
  });
  if (status === 0) return 'taken';
  return status === CONFLICT ? 'held' : 'unknown';
}

/** Writes who has the lock, for a process that is refused. On a full disk nothing is written. */
function tell(file: number, text: string): void {
  try {
    writeSync(file, `${text.padEnd(TEXT_BYTES - 1)}\n`, 0);
  } catch {
    // The text is only information.
  }
}

function holder(path: string): string {
  const [pid, namespace, host] = textOf(path).split(' ');
  if (!pid || !host) return 'another process';
  return namespace === pidNamespace()
    ? `process ${pid}`
    : `process ${pid} of another container (${host})`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'pid:[?]';
  }
}
