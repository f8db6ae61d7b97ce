/** `backup` and `restore`. */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { backUp, type Manifest, restore } from '../../storage/operations/backup.ts';
import type { Run } from './context.ts';

const MIB = 2 ** 20;
/** The lock file, and what a file system puts into its root directory. */
const OWN_NAMES = new Set(['node.lock', 'node.pid', 'lost+found']);

export const backup: Run = async ({ dataDir, progress, stdout }, [into = ''], options) => {
  const manifest = await backUp(dataDir, resolve(into), {
    derived: options.derived !== false,
    key: options.key !== false,
    onProgress: progress.show,
  });
  progress.clear();
  stdout.write(`${into}: ${describe(manifest)}\n`);
  return 'done';
};

export const restoreFrom: Run = async ({ dataDir, progress, stderr, stdout }, [from = '']) => {
  const there = readdirSync(dataDir).filter((name) => !OWN_NAMES.has(name));
  if (there.length > 0) {
    throw new Error(`DATA_DIR ${dataDir} is not empty: it holds ${there.slice(0, 3).join(', ')}`);
  }
  const manifest = await restore(resolve(from), dataDir, progress.show);
  progress.clear();
  stdout.write(`${dataDir}: ${describe(manifest)}\n`);
  if (manifest.files.every(({ path }) => path !== 'node.key')) {
    stderr.write(`node.key is not in it: put yours into ${dataDir}, or every API key is dead\n`);
  }
  return 'done';
};

function describe({ at, files, sequence }: Manifest): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const when = new Date(at).toISOString();
  return `up to batch ${sequence}, ${files.length} files, ${(bytes / MIB).toFixed(1)} MiB, of ${when}`;
}
