/**
 * Makes a directory with its parents. Node's own recursive form never returns where a parent takes no
 * entries, as /proc does: it holds a core at 100 % for ever.
 *
 * Thread: any.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Throws the system's Error where it cannot be made; one that is there is left alone. */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.push(at);
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each);
    } catch (error) {
      // Another process may have been faster.
      if (!isThere(each)) throw error;
    }
  }
}

function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === false) throw new Error(`${path} is not a directory`);
  return found !== undefined;
}
