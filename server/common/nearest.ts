/**
 * Finds files that stand next to the code, whether the code is source, compiled, bundled, or
 * installed in another package's node_modules.
 *
 * Thread: any.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The path of a file or folder in the nearest parent folder of a module that contains it, or
 * undefined.
 * @param url of the module @param name relative to that folder
 */
export function nearest(url: string, name: string): string | undefined {
  let folder = fileURLToPath(url);
  for (;;) {
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
    const path = join(folder, name);
    if (existsSync(path)) return path;
  }
}
