/** The name and version of this package. Thread: any. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { nearest } from './nearest.ts';

/** The version of its manifest. */
export function packageVersion(): string {
  const manifest = nearest(import.meta.url, 'package.json');
  assert(manifest !== undefined, 'the package has a manifest');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
