/**
 * Files served by the admin listener: those of server/page/assets, and the files of installed packages that
 * the page uses. All are read once, at start; there is no build step.
 *
 * Thread: I/O, at start.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { nearest } from '../common/nearest.ts';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Replaces the policy of the listener. */
  readonly policy?: string;
}

/** Maps a path on the listener to a file of a package, relative to node_modules. */
type PackageFiles = Readonly<Record<string, string>>;

export const PACKAGE_FILES: PackageFiles = {
  '/assets/lib/uPlot.esm.js': 'uplot/dist/uPlot.esm.js',
  '/assets/lib/uPlot.min.css': 'uplot/dist/uPlot.min.css',
};

const INDEX = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** Folder of the page; undefined when it is not installed. */
export function pageFolder(): string | undefined {
  return nearest(import.meta.url, 'server/page/assets');
}

/**
 * Every file by its path: those of the folder under /assets/, and its index at /. Throws for a file of
 * unknown type, or one that is not installed.
 *
 * @param folder undefined: there is no page
 */
export function readPageFiles(
  folder: string | undefined,
  packages: PackageFiles,
): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  if (folder === undefined) return files;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length).replaceAll('\\', '/').replace(/^\/+/, '');
    files.set(`/assets/${name}`, read(path));
  }
  for (const [path, file] of Object.entries(packages)) files.set(path, read(installed(file)));
  const index = files.get(`/assets/${INDEX}`);
  if (index !== undefined) files.set('/', index);
  return files;
}

function read(path: string): PageFile {
  const type = TYPES[extname(path)];
  if (type === undefined) throw new Error(`the page has a file of an unknown type: ${path}`);
  return { type, bytes: readFileSync(path) };
}

/** Path in the nearest node_modules that contains the file, wherever this package is installed. */
function installed(file: string): string {
  const path = nearest(import.meta.url, join('node_modules', file));
  if (path === undefined) throw new Error(`${file} is not installed: run "npm ci"`);
  return path;
}
