/**
 * Makes a directory with its parents. Node's own recursive call never returns where a parent takes
 * no entries, such as /proc: it uses a core at 100 % without end.
 *
 * Thread: any.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Throws the system's Error when it cannot be made. An existing directory is left as it is. */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.push(at);
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each);
    } catch (error) {
      // Another process may have made it at the same time.
      if (!isThere(each)) throw error;
    }
  }
}

function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === false) throw new Error(`${path} is not a directory`);
  return found !== undefined;
}
