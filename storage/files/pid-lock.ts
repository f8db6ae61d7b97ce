/**
 * Keeps a second serving process out of a data directory where the system has no kernel lock
 * (directory-lock.ts). It works among the processes of one PID namespace: a file has a line for
 * each process that tried to lock it, with pid and start time, so that a reused pid is not mistaken
 * for the owner. The owner is the first line whose process lives. Lines are only appended, and an
 * append is atomic: if several processes find that the owner is dead, all of them see the same
 * first line. The new owner then replaces the whole file by one with its own line.
 */
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type PidLock =
  | { readonly ok: true; readonly isLocked: boolean; readonly release: () => void }
  | { readonly ok: false; readonly detail: string };

/** Between append and read the owner may have released the lock, which removes the file. */
const ATTEMPTS_MAX = 3;

export function takePidLock(dataDir: string): PidLock {
  const path = join(dataDir, 'node.pid');
  const mine = `${process.pid} ${startTime(process.pid)}`;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    let owner = ownerOf(path);
    if (owner === undefined) {
      // The existing text may lack its end of line.
      const isWritten = succeeds(() => appendFileSync(path, `\n${mine}\n`, { mode: 0o644 }));
      // Where nothing can be written, no lock is needed: such a node only reads.
      if (!isWritten) return { ok: true, isLocked: false, release: () => undefined };
      owner = ownerOf(path);
      if (owner === mine) {
        replace(path, mine);
        return { ok: true, isLocked: true, release: () => release(path, mine) };
      }
    }
    if (owner !== undefined) {
      return {
        ok: false,
        detail: `DATA_DIR ${dataDir} is in use by process ${owner.split(' ')[0]}`,
      };
    }
  }
  return { ok: false, detail: `DATA_DIR ${dataDir}: its lock file node.pid keeps changing` };
}

function ownerOf(path: string): string | undefined {
  return readText(path).split('\n').find(isLive);
}

function isLive(line: string): boolean {
  const [pid = '', started = ''] = line.split(' ');
  return started !== '' && startTime(Number(pid)) === started;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Leaves only the owner's line in the file. When the disk is full, the other lines stay. */
function replace(path: string, mine: string): void {
  const own = `${path}.${process.pid}`;
  const isReplaced = succeeds(() => {
    writeFileSync(own, `${mine}\n`, { mode: 0o644 });
    renameSync(own, path);
  });
  if (!isReplaced) succeeds(() => rmSync(own, { force: true }));
}

function release(path: string, mine: string): void {
  if (ownerOf(path) === mine) succeeds(() => rmSync(path, { force: true }));
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Field 22 of /proc/PID/stat: clock ticks since boot; 'alive' or '' when there is no /proc. */
function startTime(pid: number): string {
  if (!Number.isInteger(pid) || pid <= 0) return '';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended. It only waits for its parent.
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch {
    return process.platform === 'linux' ? '' : isAlive(pid);
  }
}

function isAlive(pid: number): string {
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch {
    return '';
  }
}
