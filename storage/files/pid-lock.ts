/**
 * Keeps a second serving process out of a data directory where the system has no lock of its own to offer
 * (directory-lock.ts), among the processes of one PID namespace: a file with a line for each process that
 * wanted it, pid and start time, so that a recycled pid is not mistaken for its owner. The owner is
 * the first line whose process lives. Lines are only ever appended, which is one step for the
 * system: of processes that find the owner dead at once, all see the same one first. The owner then
 * replaces the file, as a whole, by one with its line alone.
 */
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type PidLock =
  | { readonly ok: true; readonly isHeld: boolean; readonly release: () => void }
  | { readonly ok: false; readonly detail: string };

/** Between append and look the owner may have released the file, which removes it. */
const ATTEMPTS_MAX = 3;

export function takePidLock(dataDir: string): PidLock {
  const path = join(dataDir, 'node.pid');
  const mine = `${process.pid} ${startTime(process.pid)}`;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    let owner = ownerOf(path);
    if (owner === undefined) {
      // What is there may lack its end of line.
      const isWritten = succeeds(() => appendFileSync(path, `\n${mine}\n`, { mode: 0o644 }));
      // Where nothing can be written, nothing needs to be kept apart: such a node only reads.
      if (!isWritten) return { ok: true, isHeld: false, release: () => undefined };
      owner = ownerOf(path);
      if (owner === mine) {
        replace(path, mine);
        return { ok: true, isHeld: true, release: () => release(path, mine) };
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

/** The first line whose process lives. */
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

/** Leaves the owner's line alone in the file; where there is no room for that, the others stay. */
function replace(path: string, mine: string): void {
  const own = `${path}.${process.pid}`;
  const isReplaced = succeeds(() => {
    writeFileSync(own, `${mine}\n`, { mode: 0o644 });
    renameSync(own, path);
  });
  if (!isReplaced) succeeds(() => rmSync(own, { force: true }));
}

/** Removes the file, if it is still the owner's. */
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

/** Field 22 of /proc/PID/stat: clock ticks since boot; 'alive' or '' where there is no /proc. */
function startTime(pid: number): string {
  if (!Number.isInteger(pid) || pid <= 0) return '';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; it only waits for its parent.
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
