/** Test files in groups of one process each. The groups that take longest come first. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

/** Ending of files that `npm run test:all` runs and `npm test` leaves out. */
const SLOW = '.slow.test.ts';
/** Folders whose tests take long: their groups begin first, and are small. */
const LONG_FOLDERS = ['cluster', 'torture', 'cli', 'node', 'page', 'admin', 'fixtures', 'engine'];
const FILES_MAX = { long: 4, other: 12 };

export type Speed = 'fast' | 'slow' | 'all';

export interface Suite {
  readonly name: string;
  readonly files: readonly string[];
}

export function testFiles(): readonly string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.test.ts'))
    .sort();
}

/**
 * Selects test files.
 *
 * @param wishes folders (`orders`) and files (`test/orders/pool.test.ts`), whose slow files are selected too; none
 *   selects every file
 * @param speed files that are selected where there are no wishes
 * @returns the files, or the first wish that names nothing
 */
export function selectFiles(
  wishes: readonly string[],
  speed: Speed,
): { readonly files: readonly string[] } | { readonly unknown: string } {
  const all = testFiles();
  if (wishes.length === 0) {
    return { files: all.filter((name) => speed === 'all' || isSlow(name) === (speed === 'slow')) };
  }
  const selected = new Set<string>();
  for (const wish of wishes) {
    const path = wish.replace(/^(?:\.\/)?(?:dist\/)?test\//, '').replace(/\/$|\.js$/, '');
    const named = all.filter(
      (name) => name.startsWith(`${path}/`) || name === path || name === `${path}.ts`,
    );
    if (named.length === 0) return { unknown: wish };
    for (const name of named) selected.add(name);
  }
  return { files: [...selected] };
}

export function isSlow(name: string): boolean {
  return name.endsWith(SLOW);
}

/** Groups files by folder. Small folders share a group. */
export function suitesOf(files: readonly string[]): readonly Suite[] {
  const folders = new Map<string, string[]>();
  for (const file of files) {
    const folder = file.split('/')[0]!;
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  const suites: { folders: Set<string>; files: string[] }[] = [];
  const byLength = [...folders].sort(([a], [b]) => rankOf(a) - rankOf(b) || a.localeCompare(b));
  for (const [folder, names] of byLength) {
    const most = LONG_FOLDERS.includes(folder) ? FILES_MAX.long : FILES_MAX.other;
    const parts = Math.ceil(names.length / most);
    for (let part = 0; part < parts; part += 1) {
      const own = names.filter((_, i) => i % parts === part);
      const last = suites.at(-1);
      const fits = last !== undefined && most === FILES_MAX.other;
      if (
        fits &&
        last.files.length + own.length <= most &&
        !LONG_FOLDERS.includes([...last.folders][0]!)
      ) {
        last.folders.add(folder);
        last.files.push(...own);
      } else suites.push({ folders: new Set([folder]), files: own });
    }
  }
  return suites.map(({ folders, files }, i) => ({
    name: `${String(i + 1).padStart(2, '0')}-${[...folders].join('-')}`,
    files,
  }));
}

function rankOf(folder: string): number {
  const rank = LONG_FOLDERS.indexOf(folder);
  return rank < 0 ? LONG_FOLDERS.length : rank;
}
