/**
 * Token of the operations where ADMIN_TOKEN is not set: DATA_DIR/admin.token, made again at each start,
 * readable only by the user of the node. The command line reads it there.
 *
 * Thread: I/O, at start.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN_BYTES = 32;

/** Throws the system's Error where it cannot be written. */
export function newToken(dataDir: string): string {
  const path = pathOf(dataDir);
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  // The mode applies to new files only.
  rmSync(path, { force: true });
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return token;
}

/** Undefined where there is none, or it belongs to another user. */
export function readToken(dataDir: string): string | undefined {
  try {
    return readFileSync(pathOf(dataDir), 'utf8').trim();
  } catch {
    return undefined;
  }
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'admin.token');
}
