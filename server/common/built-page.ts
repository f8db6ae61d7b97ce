/** Folders of the pages that the build makes (build/page-files.ts). Thread: any. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearest } from './nearest.ts';

/** Returns undefined where the page is not built. */
export function builtPage(name: 'app' | 'desk'): string | undefined {
  const inBundle = fileURLToPath(new URL(`../../${name}`, import.meta.url));
  return existsSync(inBundle) ? inBundle : nearest(import.meta.url, join('dist', 'node', name));
}
