/**
 * Imports test files into one process: starting a process and loading the product into it takes longer than most
 * files do. Each file also runs by itself. Files must not depend on one another, nor set hooks for all tests of the
 * process.
 */
import { join } from 'node:path';
import { afterEach } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { useMemoryForTemporaryFiles } from './scratch.ts';

/**
 * A process that reserves more memory than the machine has cannot start another one (ENOMEM). Tables that no test
 * uses any more stay reserved until they are collected.
 */
const RESERVED_BYTES_MAX = 8e9;

/** Imports compiled test files, by their paths below the folder of tests. */
export async function importFiles(names: readonly string[]): Promise<void> {
  useMemoryForTemporaryFiles();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  afterEach(() => {
    if (process.memoryUsage().arrayBuffers > RESERVED_BYTES_MAX) collect();
  });
  for (const name of names) {
    await import(pathToFileURL(join(import.meta.dirname, '..', name)).href);
  }
}
