/**
 * Imports test files into one process, because a start and the load of the product take longer than
 * most files. Each file also runs by itself. Files must not depend on one another, nor set hooks
 * for all tests of the process.
 */
import { join } from 'node:path';
import test, { afterEach } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { useMemoryForTemporaryFiles } from './scratch.ts';

/**
 * Bound of reserved bytes: a process that reserves more memory than the machine has cannot start
 * another one (ENOMEM). Unused tables stay reserved until they are collected.
 */
const RESERVED_BYTES_MAX = 8e9;

export async function importFiles(names: readonly string[]): Promise<void> {
  useMemoryForTemporaryFiles();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  afterEach(() => {
    if (process.memoryUsage().arrayBuffers > RESERVED_BYTES_MAX) collect();
  });
  for (const name of names) {
    const imported = import(pathToFileURL(join(import.meta.dirname, '..', name)).href);
    // Hooks after all tests run as soon as no test is pending, which may be before this file has named its own.
    void test(`${name} is imported`, () => imported);
    await imported;
  }
}
