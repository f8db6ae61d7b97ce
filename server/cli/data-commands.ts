/** `backup`, `restore`, `verify` and `log cut`: operations on the files of DATA_DIR. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backUp, type Manifest, restore } from '../../storage/operations/backup.ts';
import { cutLog } from '../../storage/operations/cut-log.ts';
import { verify } from '../../storage/operations/verify.ts';
import { openNodeKey } from '../auth/credentials.ts';
import type { Run } from './context.ts';
import { configOf, numberOf } from './settings.ts';

const PART_WIDTH = 12;
const MIB = 2 ** 20;
/** Lock file, and the names that a file system has in its root directory. */
const OWN_NAMES = new Set(['node.lock', 'node.pid', 'lost+found']);

export const backup: Run = async ({ dataDir, progress, stdout }, [into = ''], options) => {
  const manifest = await backUp(dataDir, resolve(into), {
    derived: options.derived !== false,
    key: options.key !== false,
    audit: true,
    onProgress: progress.show,
  });
  progress.clear();
  stdout.line(`${into}: ${describe(manifest)}`);
  return 'done';
};

export const restoreFrom: Run = async ({ dataDir, progress, stderr, stdout }, [from = '']) => {
  const there = readdirSync(dataDir).filter((name) => !OWN_NAMES.has(name));
  if (there.length > 0) {
    throw new Error(`DATA_DIR ${dataDir} is not empty: it holds ${there.slice(0, 3).join(', ')}`);
  }
  const manifest = await restore(resolve(from), dataDir, progress.show);
  progress.clear();
  stdout.line(`${dataDir}: ${describe(manifest)}`);
  if (manifest.files.every(({ path }) => path !== 'node.key')) {
    stderr.line(`node.key is not in it: put yours into ${dataDir}, or every API key is dead`);
  }
  return 'done';
};

function describe({ at, files, sequence }: Manifest): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const when = new Date(at).toISOString();
  return `up to batch ${sequence}, ${files.length} files, ${(bytes / MIB).toFixed(1)} MiB, of ${when}`;
}

export const verifyAll: Run = async (context) => {
  const { dataDir, paint, progress, stdout } = context;
  const { capacities } = configOf(context);
  let isSound = true;
  const report = (part: string, ok: boolean, text: string): void => {
    isSound &&= ok;
    progress.clear();
    const word = ok ? paint.green('ok     ') : paint.red('damaged');
    stdout.line(word, ` ${part.padEnd(PART_WIDTH)} ${text}`);
  };
  const findings = verify({ dataDir, capacities, onProgress: progress.show });
  for await (const { ok, part, text } of findings) report(part, ok, text);
  // Opening a missing key file would create it.
  if (existsSync(join(dataDir, 'node.key'))) {
    const key = openNodeKey(dataDir);
    report('node.key', key.ok, key.ok ? 'it can be read, by its owner only' : key.problem);
  }
  return isSound ? 'done' : 'differs';
};

/** Last resort when a damaged log has no copy (docs/guides/operations.md). */
export const cutting: Run = async ({ dataDir, stderr }, [text = ''], options) => {
  const sequence = numberOf(text, 'SEQUENCE', 1);
  const cut = await cutLog(dataDir, sequence, options.force === true);
  for (const path of cut) stderr.line(`set aside: ${path}`);
  return 'done';
};
