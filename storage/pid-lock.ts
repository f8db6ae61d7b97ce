/**
 * Keeps a second serving process out of a data directory: a file with the pid and the start time of
 * its owner, so that a recycled pid is not mistaken for it. Left behind by a kill, it is replaced.
 */
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type PidLock =
  | { readonly ok: true; readonly release: () => void }
  | { readonly ok: false; readonly detail: string };

export function takePidLock(dataDir: string): PidLock {
  const path = join(dataDir, 'node.pid');
  const mine = `${process.pid} ${startTime(process.pid)}\n`;
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(path, mine, { flag: 'wx', mode: 0o644 });
      return { ok: true, release: () => release(path, mine) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const found = readText(path);
    const [pid = '', started = ''] = found.trim().split(' ');
    if (started !== '' && startTime(Number(pid)) === started) {
      return { ok: false, detail: `DATA_DIR ${dataDir} is in use by process ${pid}` };
    }
    // Only what was just judged: meanwhile another process may have replaced it with its own.
    release(path, found);
  }
  return { ok: false, detail: `DATA_DIR ${dataDir}: its lock file node.pid keeps changing` };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Removes the file, if it still says what it said. */
function release(path: string, text: string): void {
  try {
    if (readFileSync(path, 'utf8') === text) unlinkSync(path);
  } catch {
    // Somebody else removed it first.
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
