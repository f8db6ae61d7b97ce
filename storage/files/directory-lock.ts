/**
 * Keeps a second process out of a data directory, wherever it runs: a lock of the kernel on DATA_DIR/node.lock,
 * which sees neither PID namespaces nor containers, only the file. It belongs to the open file and ends with
 * the last descriptor of it, so a kill leaves nothing to clean up, and a process that is stopped keeps it. Node
 * closes its descriptors in children, so nobody inherits it by accident.
 *
 * Node has no call for it: util-linux `flock` locks a descriptor that it inherits, and the lock stays when it
 * has ended. Where there is no such command the lock is that of pid-lock.ts.
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
      /** False: nothing can be written there, so nothing is kept apart; who only reads may go on. */
      readonly isHeld: boolean;
      readonly release: () => void;
      /** What it does not keep apart. */
      readonly warning?: string;
    }
  | { readonly ok: false; readonly detail: string };

/** Exit code of the command that stands for "somebody else has it"; 1 is any other failure. */
const CONFLICT = 75;
/** Written as a whole, so that nobody reads half of it; more than the longest name of a host. */
const TEXT_BYTES = 256;
const PID_ONLY =
  'no command flock (util-linux): the lock on DATA_DIR sees the processes of this container only';

/** @param dataDir a directory that is there */
export function takeDirectoryLock(dataDir: string): DirectoryLock {
  if (process.platform !== 'linux') return byPid(takePidLock(dataDir));
  const path = lockPath(dataDir);
  const file = opened(path);
  if (file === undefined) return { ok: true, isHeld: false, release: () => undefined };
  const result = locked(file);
  if (result === 'taken') {
    tell(file, `${process.pid} ${pidNamespace()} ${hostname()}`);
    let isHeld = true;
    const release = (): void => {
      // The number may be that of another file by then.
      if (!isHeld) return;
      isHeld = false;
      tell(file, '');
      closeSync(file);
    };
    return { ok: true, isHeld, release };
  }
  closeSync(file);
  if (result === 'held')
    return { ok: false, detail: `DATA_DIR ${dataDir} is in use by ${holder(path)}` };
  return byPid(takePidLock(dataDir), PID_ONLY);
}

/**
 * Why this process must not open LMDB there although others may: a process of another PID namespace serves
 * it, and LMDB tells readers and writers apart by their numbers. Undefined = it may.
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

/** Opened for writing, or for reading where that is refused: a lock needs no more. Undefined = neither. */
function opened(path: string): number | undefined {
  for (const flags of [constants.O_RDWR | constants.O_CREAT, constants.O_RDONLY]) {
    try {
      return openSync(path, flags, 0o644);
    } catch {
      // The next, or none.
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

/** Who has it, for who is refused; not written on a full disk. */
function tell(file: number, text: string): void {
  try {
    writeSync(file, `${text.padEnd(TEXT_BYTES - 1)}\n`, 0);
  } catch {
    // It is a courtesy.
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
