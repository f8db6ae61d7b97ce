/**
 * Runs the test files of a room in one process: starting a process and loading the product into it
 * takes longer than most files do.
 *
 * A file still runs by itself; files of a room must not depend on one another, nor set hooks for all
 * tests of the process.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const TESTS = join(import.meta.dirname, '..');

/** Names of the test files of a room: all, or, of `parts` parts of about the same size, those of part `part` (from 1). */
export function filesOf(room: string, part: number, parts: number): string[] {
  const names = readdirSync(join(TESTS, room)).filter((name) => /\.test\.[jt]s$/.test(name));
  return names.sort().filter((_, i) => i % parts === part - 1);
}

export async function importRoom(room: string, part = 1, parts = 1): Promise<void> {
  for (const name of filesOf(room, part, parts)) {
    await import(pathToFileURL(join(TESTS, room, name)).href);
  }
}
