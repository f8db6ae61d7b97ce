/**
 * Tokens of the operations where ADMIN_TOKEN or RESOLVER_TOKEN is not set: DATA_DIR/admin.token and resolver.token,
 * made again at each start, readable only by the user of the node. The command line reads them there.
 *
 * Thread: I/O, at start.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from './access.ts';

const TOKEN_BYTES = 32;
const NAMES = { operator: 'admin.token', resolver: 'resolver.token' } as const;

/** Throws the system's Error where it cannot be written. */
export function newToken(dataDir: string, role: Role): string {
  const path = join(dataDir, NAMES[role]);
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  // The mode applies to new files only.
  rmSync(path, { force: true });
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return token;
}

/** Undefined where there is none, or it belongs to another user. */
export function readToken(dataDir: string, role: Role = 'operator'): string | undefined {
  try {
    return readFileSync(join(dataDir, NAMES[role]), 'utf8').trim();
  } catch {
    return undefined;
  }
}
