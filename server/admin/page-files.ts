/**
 * Files of the operator's desk, which the build makes (build/page-files.ts). All are read once, at start.
 *
 * Thread: I/O, at start.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Replaces the policy of the listener. */
  readonly policy?: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Every file of a folder by its path, and the index at /. Throws for a file of unknown type.
 *
 * @param folder undefined: there is no page
 */
export function readPageFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  if (folder === undefined) return files;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const type = TYPES[extname(path)];
    if (type === undefined) throw new Error(`the page has a file of an unknown type: ${path}`);
    const name = path.slice(folder.length).replaceAll('\\', '/');
    files.set(name === '/index.html' ? '/' : name, { type, bytes: readFileSync(path) });
  }
  return files;
}
