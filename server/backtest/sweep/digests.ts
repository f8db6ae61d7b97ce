/**
 * Digests by which a sweep notices that a strategy or a recording has changed.
 *
 * Thread: any.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { StrategyOrigin } from '../strategy-run.ts';

const RELATIVE_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;

export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/**
 * Returns the digest of a file with all that it imports by relative paths, or of a command with the files that its
 * words name. A module of a package counts for nothing.
 */
export function strategyDigest(origin: StrategyOrigin): string {
  const hash = createHash('sha256');
  if ('file' in origin) addModule(hash, resolve(origin.file), new Set());
  else {
    hash.update(origin.command);
    for (const word of origin.command.split(' ')) if (isFile(word)) hash.update(readFileSync(word));
  }
  return hash.digest('hex');
}

function addModule(hash: Hash, path: string, seen: Set<string>): void {
  if (seen.has(path) || !isFile(path)) return;
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  hash.update(`${text.length}\n${text}`);
  for (const [, specifier = ''] of text.matchAll(RELATIVE_IMPORT))
    addModule(hash, resolve(dirname(path), specifier), seen);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
