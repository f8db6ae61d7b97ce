/** The commit that this program was built from, where it runs in its own repository. Thread: any. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { nearest } from './nearest.ts';

/** Undefined where it is not known: an installed package, a copy without history. */
export function buildCommit(): string | undefined {
  const manifest = nearest(import.meta.url, 'package.json');
  if (manifest === undefined) return undefined;
  const git = join(dirname(manifest), '.git');
  try {
    const head = readFileSync(join(git, 'HEAD'), 'utf8').trim();
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    const commit = ref === undefined ? head : readFileSync(join(git, ref), 'utf8').trim();
    return /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
  } catch {
    return undefined;
  }
}
