/**
 * Runs the test files of a room, or of several, in one process: starting a process and loading the product
 * into it takes longer than most files do.
 *
 * A file still runs by itself; files must not depend on one another, nor set hooks for all tests of the
 * process.
 */
import { readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { afterEach } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ROOT } from './root.ts';
import { useMemoryForTemporaryFiles } from './scratch.ts';

/**
 * A process that reserves more than the machine has can start no other one (ENOMEM), and tables that no test
 * uses any more stay reserved until they are collected.
 */
const RESERVED_BYTES_MAX = 8e9;

/** This form of the tests: source, or compiled. */
const TESTS = join(import.meta.dirname, '..');
const EXTENSION = extname(import.meta.filename);

/** Names, without an extension, of the test files of a room: all, or, of `parts` parts of about the same size, those of part `part` (from 1). */
export function filesOf(room: string, part: number, parts: number): string[] {
  // The source says which there are: what was compiled once stays.
  const sources = readdirSync(join(ROOT, 'test', room)).filter((name) => name.endsWith('.test.ts'));
  const names = sources.map((name) => basename(name, '.ts'));
  return names.sort().filter((_, i) => i % parts === part - 1);
}

useMemoryForTemporaryFiles();
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
let isCollecting = false;

function collectAfterTests(): void {
  if (isCollecting) return;
  isCollecting = true;
  afterEach(() => {
    if (process.memoryUsage().arrayBuffers > RESERVED_BYTES_MAX) collect();
  });
}

export async function importRoom(room: string, part = 1, parts = 1): Promise<void> {
  collectAfterTests();
  for (const name of filesOf(room, part, parts)) {
    await import(pathToFileURL(join(TESTS, room, `${name}${EXTENSION}`)).href);
  }
}
